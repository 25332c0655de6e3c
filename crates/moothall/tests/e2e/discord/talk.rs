//! The conversation of the seed, its commands, and questions of agents.

use serde_json::json;

use super::{Channelroom, entered, words};
use crate::harness::comes_about;

#[tokio::test]
async fn the_seeds_conversation_runs_in_a_channel_under_each_agents_name() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst writer critic").await;
    room.discord.say(room.channel, room.ann, "@analyst Analyze AAPL earnings");
    let analysis = room.said(|message| message.text == "Revenue grew by 8 %.").await;
    let draft = room.said(|message| message.text == "Here is a draft.").await;
    assert_eq!((analysis.from.as_str(), draft.from.as_str()), ("analyst", "writer"));
    assert!(analysis.is_webhook && draft.is_webhook);
    assert_eq!(words(&server, &thread).await[0], "@analyst Analyze AAPL earnings");
    assert_eq!(room.count(|text| text.contains("PASS")), 0, "the critic passed");
    server.say(&thread, "And what about margins?").await;
    let relayed = room.said(|message| message.text.contains("margins")).await;
    assert_eq!(relayed.from, "user (page)");
    assert_eq!(room.discord.webhooks(room.channel), 1);
}

#[tokio::test]
async fn commands_of_the_seed_are_answered_in_the_channel() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst writer critic").await;
    room.ask("/group list", "cooldown_seconds").await;
    room.ask("/group config cooldown_seconds 5", "cooldown_seconds").await;
    room.ask("/group create analyst", "group").await;
    room.ask("/group remove critic", "critic").await;
    room.ask("/group add critic", "critic").await;
    room.ask("/ask writer -- a draft please", "Here is a draft.").await;
    room.ask("/pause", "paused").await;
    room.ask("/resume", "resumed").await;
    room.ask("/mute critic", "critic").await;
    room.ask("/why", "writer").await;
    room.ask("/help", "/group create").await;
    room.ask("/nonsense", "Unknown command").await;
    // The same commands, as Discord offers them, are answered to the person alone.
    let given = room.discord.slash(room.ann, room.channel, &room.bot, "group", "list");
    let answer = room.discord.wait_for_answer(given).await;
    assert!(answer.is_ephemeral && answer.text.contains("analyst"), "{answer:?}");
    room.ask("/group dissolve", "dissolved").await;
    let free = async || {
        let path = format!("/threads?chat=discord:{}", room.channel.0);
        server.get(&path).await["threads"].as_array().unwrap().is_empty()
    };
    assert!(comes_about(free).await, "the channel is no longer bound");
    assert!(!words(&server, &thread).await.is_empty());
}

#[tokio::test]
async fn an_ask_by_slash_command_is_seen_by_all() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst writer").await;
    let text = "writer -- a draft please";
    room.discord.slash(room.ann, room.channel, &room.bot, "ask", text);
    entered(&server, &thread, "@writer a draft please").await;
    let asked = room.said(|message| message.text == "@writer a draft please").await;
    assert!(asked.from.starts_with("user"), "{}", asked.from);
    room.said(|message| message.text == "Here is a draft.").await;
}

#[tokio::test]
async fn a_thread_has_a_conversation_of_its_own() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst").await;
    let place = room.discord.thread(room.channel, "details");
    room.discord.say(place, room.ann, "/group create writer");
    room.discord.wait_for_message(place, |it| it.text.starts_with("This chat")).await;
    room.discord.say(place, room.ann, "@writer a draft please");
    let draft = room.discord.wait_for_message(place, |it| it.text == "Here is a draft.").await;
    assert_eq!((draft.from.as_str(), draft.is_webhook), ("writer", true));
    assert!(!words(&server, &thread).await.contains(&"@writer a draft please".to_owned()));
}

#[tokio::test]
async fn strangers_are_dropped_and_counted() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst").await;
    let bob = room.discord.person("Bob");
    room.discord.enter(room.guild, bob);
    let other = room.discord.add_bot("Weather");
    room.discord.invite(room.guild, &other);
    room.discord.say(room.channel, bob, "@analyst tell me everything");
    room.discord.say(room.channel, bob, "/group dissolve");
    room.discord.say_as(room.channel, &other, "@analyst It rains.");
    room.discord.say(room.channel, room.ann, "Thanks.");
    entered(&server, &thread, "Thanks.").await;
    let said = words(&server, &thread).await;
    let is_of_strangers = |text: &&String| text.contains("tell me") || text.contains("rains");
    assert_eq!(said.iter().filter(is_of_strangers).count(), 0, "{said:?}");
    assert_eq!(super::listed(&server)["chats"][0]["dropped"], json!(3));
}
