//! Messages that had to wait, in the prompts of agents.

use moothall_engine::agent::Job;
use moothall_kernel::command::{Control, Post};
use moothall_kernel::event::Recipient;

use super::*;

#[tokio::test(start_paused = true)]
async fn an_agent_is_told_what_waited_however_long_ago_its_time_came() {
    let ((asked, runs), (other, other_runs)) = (slow(), slow());
    let world = World::with(&[("slow", runs), ("other", other_runs)]).await;
    let stream = world.create_as(PolicyName::Hybrid).await;
    for (id, client) in [("a", "slow"), ("b", "other")] {
        world.invite(&stream, id, client).await;
    }
    let to_other = async |body: &str| {
        let post = Post { to: Recipient::One("b".into()), ..Post::new(Actor::human("user"), body) };
        world.hall.submit(&stream, ClientCommand::Post(post), None).await.unwrap();
    };
    world.post(&stream, "@b and @a, begin").await.unwrap();
    eventually(async || (!other.asked().is_empty()).then_some(())).await;
    to_other("this had to wait").await;
    other.say("done");
    eventually(async || (!asked.asked().is_empty()).then_some(())).await;
    let waited = |job: &Job| job.prompt.text.contains("this had to wait");
    assert!(!waited(&asked.jobs.lock().unwrap()[0]), "its time has not come");
    asked.say("done too");
    eventually(async || (other.asked().len() == 2).then_some(())).await;
    other.say("heard");
    let controls = vec![Control::Mute(vec!["b".into()])];
    let mute = ClientCommand::Control { by: Actor::human("user"), controls };
    world.hall.submit(&stream, mute, None).await.unwrap();
    for n in 0..300 {
        to_other(&format!("news {n}")).await;
    }
    let events = world.events(&stream).await;
    let taken = events.iter().find(|recorded| recorded.event.kind() == "taken").unwrap();
    assert!(events.len() as u64 > taken.seq.0 + 1000, "{} events", events.len());
    world.post(&stream, "@a and now?").await.unwrap();
    eventually(async || (asked.asked().len() == 2).then_some(())).await;
    let job = asked.jobs.lock().unwrap()[1].clone();
    assert!(waited(&job), "{}", job.prompt.text);
    assert!(job.prompt.text.find("this had to wait") < job.prompt.text.find("news 0"));
}
