//! Turns across: a conversation of one computer has a session of another as its member.

use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};

use super::{paired, until_state};
use crate::harness::Server;
use crate::links::{Hall, said, start, until};

/// A workstation whose sessions may be invited from the laptop.
fn hosting() -> Hall {
    let rights = r#"["list", "message", "link", "read", "invite", "permissions"]"#;
    Hall::with(&format!("[computers.laptop]\nallow = {rights}\n"))
}

/// Makes a conversation with the workstation's session `builder`.
async fn thread_with_builder(laptop: &Server<'_>) -> String {
    let thread = laptop.thread().await;
    let invite = json!({"invite": {"profile": {"session": "builder@workstation"}}});
    laptop.control(&thread, invite).await;
    thread
}

/// Waits until a conversation has these words of this participant, and returns how often it has.
async fn until_said(server: &Server<'_>, thread: &str, from: &str, words: &str) -> usize {
    let wanted = (from.to_owned(), words.to_owned());
    let count = async || said(server, thread).await.iter().filter(|one| **one == wanted).count();
    until(words, async || count().await > 0).await;
    count().await
}

/// Waits for the end of a turn that failed, and returns its event.
async fn until_failed(server: &Server<'_>, thread: &str) -> Value {
    let ended = |event: &Value| {
        event["content"]["event"] == "ended" && event["content"]["outcome"] == "failed"
    };
    let failed = async || server.events(thread).await.into_iter().find(ended);
    until("a turn fails", async || failed().await.is_some()).await;
    failed().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invited_session_of_another_computer_is_asked_and_its_answer_comes_back() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    let builder = start(&workstation, &one, "builder").await;
    let thread = thread_with_builder(&laptop).await;
    let state = laptop.get(&format!("/threads/{thread}/state")).await;
    assert!(state.to_string().contains("builder.workstation"), "{state}");
    laptop.say(&thread, "@builder@workstation [say:it builds]").await;
    assert_eq!(until_said(&laptop, &thread, "builder.workstation", "it builds").await, 1);
    // It was typed with the name of the computer, and the answer is kept at its home too.
    assert!(one.taken().iter().any(|prompt| prompt.contains("from the computer laptop")));
    assert_eq!(until_said(&workstation, &builder.id, "builder", "it builds").await, 1);

    let (workstation, laptop) = (workstation.crash_and_restart(), laptop.crash_and_restart());
    until_state(&laptop, "workstation", "up").await;
    until_state(&workstation, "laptop", "up").await;
    laptop.say(&thread, "@builder@workstation [say:still here]").await;
    assert_eq!(until_said(&laptop, &thread, "builder.workstation", "still here").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_waits_for_its_computer_and_is_taken_once() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let thread = thread_with_builder(&laptop).await;
    workstation.stop();
    until_state(&laptop, "workstation", "away").await;
    laptop.say(&thread, "@builder@workstation [say:one]").await;
    let is_told = async || {
        let turns = laptop.get(&format!("/threads/{thread}/turns")).await;
        turns.to_string().contains("workstation is away since")
    };
    until("its age is shown", is_told).await;
    let laptop = laptop.crash_and_restart();
    // Its prompt is made when it is sent, so later words belong to it.
    laptop.say(&thread, "@builder@workstation [say:two]").await;
    let workstation = one.serve();
    until_state(&laptop, "workstation", "up").await;
    let answered = async || {
        let said = said(&laptop, &thread).await;
        said.iter().any(|(from, _)| from == "builder.workstation")
    };
    until("it answers", answered).await;
    let prompts = one.taken().iter().filter(|prompt| prompt.contains("[say:one]")).count();
    assert_eq!(prompts, 1, "{:?}", one.taken());
    drop(workstation);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_computer_that_does_not_allow_invitations_refuses_them() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let thread = laptop.thread().await;
    let content = json!({"invite": {"profile": {"session": "builder@workstation"}}});
    let invite = json!({"type": "control", "from": "user", "to": "all", "content": content});
    let (status, refused) = laptop.post(&format!("/threads/{thread}/events"), invite).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("computer_refused")), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ended_fails_its_turns_at_home() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    let builder = start(&workstation, &one, "builder").await;
    let thread = thread_with_builder(&laptop).await;
    laptop.say(&thread, "@builder@workstation [say:first]").await;
    until_said(&laptop, &thread, "builder.workstation", "first").await;
    workstation.accepted(&format!("/sessions/{}/end", builder.id), json!({})).await;
    laptop.say(&thread, "@builder@workstation [say:second]").await;
    let failed = until_failed(&laptop, &thread).await;
    assert!(failed.to_string().contains("session_ended"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_its_program_is_asked_and_answered_where_the_conversation_lives() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    let builder = start(&workstation, &one, "builder").await;
    let thread = thread_with_builder(&laptop).await;
    laptop.say(&thread, "@builder@workstation [ask:rm -r build] [say:it is done]").await;
    let asks = |event: &Value| event["content"]["event"] == "requested";
    let asked = async |server: &Server<'_>, thread: &str| {
        server.events(thread).await.into_iter().find(asks).map(|event| event["content"].clone())
    };
    until("it asks here", async || asked(&laptop, &thread).await.is_some()).await;
    let question = asked(&laptop, &thread).await.unwrap();
    assert!(question["action"].as_str().unwrap().contains("rm -r build"), "{question}");
    assert!(question["look"].as_str().unwrap().contains("ssh workstation"), "{question}");
    assert!(asked(&workstation, &builder.id).await.is_some(), "and at the session's home");
    // The words of the question stand in its prompt twice, so the stand-in asks twice.
    let answered = async |nth: usize| {
        let all = async || {
            let events = laptop.events(&thread).await.into_iter().filter(asks);
            events.map(|event| event["content"]["permission"].clone()).collect::<Vec<_>>()
        };
        until("it asks again", async || all().await.len() > nth).await;
        let path = format!("/permissions/{}/answer", all().await[nth].as_str().unwrap());
        laptop.accepted(&path, json!({"thread": thread, "option": "allow"})).await;
    };
    answered(0).await;
    answered(1).await;
    until_said(&laptop, &thread, "builder.workstation", "it is done").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_at_home_ends_the_turn_at_the_terminal() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    let builder = start(&workstation, &one, "builder").await;
    let thread = thread_with_builder(&laptop).await;
    laptop.say(&thread, "@builder@workstation [work:600] [say:too late]").await;
    let state = async || crate::links::state(&workstation, &builder).await;
    until("it works", async || state().await == "busy").await;
    laptop.accepted(&format!("/threads/{thread}/stop"), json!({})).await;
    until("it is interrupted", async || state().await == "idle").await;
    assert!(said(&laptop, &thread).await.iter().all(|(_, words)| words != "too late"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_turns_that_wait_for_a_computer_end_when_it_is_forgotten() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let thread = thread_with_builder(&laptop).await;
    workstation.stop();
    until_state(&laptop, "workstation", "away").await;
    laptop.say(&thread, "@builder@workstation [say:never]").await;
    laptop.json(&["computers", "forget", "workstation"]);
    let failed = until_failed(&laptop, &thread).await;
    assert!(failed.to_string().contains("unknown_computer"), "{failed}");
    laptop.say(&thread, "@builder@workstation [say:never again]").await;
    let failures = async || {
        let events = laptop.events(&thread).await;
        events.iter().filter(|event| event.to_string().contains("unknown_computer")).count()
    };
    until("the next fails too", async || failures().await >= 2).await;
}
