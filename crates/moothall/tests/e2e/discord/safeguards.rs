//! The edge cases of the seed in a channel: loops, failures, crowds of messages and of agents.

use serde_json::json;

use super::{Channelroom, entered, words};
use crate::harness::comes_about;

#[tokio::test]
async fn agents_that_call_each_other_stop_after_the_limit() {
    let agents = r#"
[agents.analyst]
replies = ["@writer your turn."]

[agents.writer]
replies = ["@analyst your turn."]
"#;
    let room = Channelroom::with_agents(agents).await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst writer").await;
    let policy = json!({"policy": {"name": "hybrid", "cooldown_seconds": 0, "max_depth": 9}});
    server.control(&thread, policy).await;
    room.discord.say(room.channel, room.ann, "@analyst begin.");
    let said = || room.count(|text| text.ends_with("your turn."));
    assert!(comes_about(async || said() == 3).await, "{:?}", room.discord.texts(room.channel));
    room.discord.say(room.channel, room.ann, "Enough.");
    entered(&server, &thread, "Enough.").await;
    let listed = words(&server, &thread).await;
    let before = listed.iter().position(|text| text == "Enough.").unwrap();
    let turns = listed[..before].iter().filter(|text| text.ends_with("your turn.")).count();
    assert_eq!(turns, 3, "max_agent_turns_per_message is 3: {listed:?}");
}

#[tokio::test]
async fn an_agent_that_fails_is_told_and_the_others_answer() {
    let agents = r#"
[agents.analyst]
command = ["/bin/sh", "-c", "exit 7"]

[agents.writer]
replies = ["Here is a draft."]
"#;
    let room = Channelroom::with_agents(agents).await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst writer").await;
    room.discord.say(room.channel, room.ann, "/ask analyst writer -- the numbers and a draft");
    room.said(|message| message.text == "Here is a draft.").await;
    room.said(|message| message.text.contains("analyst failed")).await;
    assert!(!thread.is_empty());
}

#[tokio::test]
async fn messages_of_several_people_at_once_keep_their_order_and_enter_once() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "critic").await;
    let bob = room.discord.person("Bob");
    room.discord.enter(room.guild, bob);
    room.pair(&server, bob).await;
    for number in 0..20 {
        let by = if number % 2 == 0 { room.ann } else { bob };
        room.discord.say(room.channel, by, &format!("number {number}"));
    }
    entered(&server, &thread, "number 19").await;
    let wanted: Vec<String> = (0..20).map(|number| format!("number {number}")).collect();
    assert_eq!(words(&server, &thread).await, wanted);
}

#[tokio::test]
async fn a_channel_of_many_agents_needs_one_bot_and_one_webhook() {
    let names: Vec<String> = (0..12).map(|number| format!("agent{number}")).collect();
    let agents: String = names
        .iter()
        .map(|name| format!("[agents.{name}]\nreplies = [\"I am {name}.\"]\n"))
        .collect();
    let room = Channelroom::with_agents(&agents).await;
    let server = room.serve().await;
    room.open(&server, &names.join(" ")).await;
    let asked = format!("/ask {} -- Who are you?", names.join(" "));
    room.discord.say(room.channel, room.ann, &asked);
    for name in &names {
        let shown = room.said(|message| message.text == format!("I am {name}.")).await;
        assert_eq!(&shown.from, name);
    }
    assert_eq!(room.discord.webhooks(room.channel), 1);
}
