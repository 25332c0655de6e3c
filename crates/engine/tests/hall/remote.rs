//! Remote clients: which of them get turns, and for how long.

use std::time::Duration;

use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::event::{Event, Outcome, WhyNot};
use moothall_kernel::participant::{AgentFacts, Profile};
use moothall_kernel::policy::PolicyName;

use crate::common::{World, has, post_by};

fn ended(event: &Event) -> Option<Outcome> {
    if let Event::TurnEnded { outcome, .. } = event { Some(*outcome) } else { None }
}

#[tokio::test(start_paused = true)]
async fn a_remote_participant_is_offline_until_it_connects_and_answers_by_posting() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "somebody-elses").await;
    world.post(&stream, "@r are you there?").await.unwrap();
    let offline = |event: &Event| matches!(event, Event::Skipped { why_not: WhyNot::Offline, .. });
    assert!(has(&world.events(&stream).await, offline));

    let connected = world.hall.connect(&stream, "r".into(), true).await.unwrap();
    world.post(&stream, "@r and now?").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    world.hall.submit(&stream, post_by("r", "here I am"), None).await.unwrap();
    assert!(has(&world.events(&stream).await, |event| ended(event) == Some(Outcome::Spoke)));
    assert_eq!(world.hall.presence(&stream).await.unwrap(), [], "its presence is its own affair");

    drop(connected);
    world.post(&stream, "@r still?").await.unwrap();
    let skipped =
        world.events(&stream).await.iter().filter(|recorded| offline(&recorded.event)).count();
    assert_eq!(skipped, 2);
}

#[tokio::test(start_paused = true)]
async fn a_remote_participant_that_is_present_counts_until_its_presence_lapses() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "somebody-elses").await;
    world.hall.set_presence(&stream, "r".into(), "listening".into(), None).await.unwrap();
    world.post(&stream, "@r do you only read?").await.unwrap();
    assert!(has(&world.events(&stream).await, |event| matches!(
        event,
        Event::Skipped { why_not: WhyNot::ReadsOnly, .. }
    )));
    let takes = serde_json::Map::from_iter([("takes_turns".to_owned(), true.into())]);
    world.hall.set_presence(&stream, "r".into(), "listening".into(), Some(takes)).await.unwrap();
    world.post(&stream, "@r are you there?").await.unwrap();
    assert!(has(&world.events(&stream).await, |event| event.kind() == "turn_granted"));
    world
        .hall
        .submit(&stream, ClientCommand::Stop { by: Actor::human("user") }, None)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(120)).await;
    world.post(&stream, "@r and now?").await.unwrap();
    assert!(has(&world.events(&stream).await, |event| matches!(
        event,
        Event::Skipped { why_not: WhyNot::Offline, .. }
    )));
}

#[tokio::test(start_paused = true)]
async fn the_turn_of_a_client_that_went_away_ends_and_the_next_goes_on() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "somebody-elses").await;
    // After a start of the server, no client counts as gone until all had time to reconnect.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let connected = world.hall.connect(&stream, "r".into(), true).await.unwrap();
    world.post(&stream, "@r are you there?").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    drop(connected);
    let back = world.hall.connect(&stream, "r".into(), true).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let is_over = |event: &Event| ended(event).is_some();
    assert!(!has(&world.events(&stream).await, is_over), "it came back");
    drop(back);
    world.until(&stream, |events| has(events, is_over)).await;
    let events = world.events(&stream).await;
    let why = events.iter().find_map(|recorded| match &recorded.event {
        Event::TurnEnded { outcome, fault, .. } => {
            Some((*outcome, fault.as_ref().map(|fault| fault.code.clone())))
        }
        _ => None,
    });
    assert_eq!(why, Some((Outcome::Failed, Some("offline".into()))));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_invited_and_is_not_here_is_given_no_turn_in_the_same_decision() {
    let world = World::new().await;
    let stream = world.create_as(PolicyName::Hybrid).await;
    let by = || Actor::human("user");
    let pause = ClientCommand::Control { by: by(), controls: vec![Control::Pause(true)] };
    world.hall.submit(&stream, pause, None).await.unwrap();
    world.post(&stream, "who is here?").await.unwrap();
    let (client, model) = (Some("r".into()), Some("m".into()));
    let profile = Profile { client, model, ..Profile::default() };
    let invite = Control::Invite(Invite::new("r", profile, AgentFacts::external()));
    let controls = vec![invite, Control::Pause(false)];
    world.hall.submit(&stream, ClientCommand::Control { by: by(), controls }, None).await.unwrap();
    let events = world.events(&stream).await;
    assert!(!has(&events, |event| event.kind() == "turn_granted"), "{events:#?}");
    assert!(has(&events, |event| matches!(event, Event::Skipped { why_not: WhyNot::Offline, .. })));
}
