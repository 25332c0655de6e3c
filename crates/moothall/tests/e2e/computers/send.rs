//! Messages to sessions of another computer: they arrive once, and their end is told.

use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};

use super::{paired, until_state};
use crate::harness::Server;
use crate::links::{Agent, Hall, asked, call, start, until};

/// Waits until a stand-in of a computer got a prompt with these words, and returns how many did.
async fn arrived(hall: &Hall, words: &str) -> usize {
    let count = || hall.taken().iter().filter(|prompt| prompt.contains(words)).count();
    until(words, async || count() > 0).await;
    count()
}

/// Returns the notices of a server about computers.
async fn notices(server: &Server<'_>) -> Vec<Value> {
    let list = server.get("/threads").await;
    let threads = list["threads"].as_array().unwrap();
    let Some(thread) = threads.iter().find(|thread| thread["name"] == "Computers") else {
        return Vec::new();
    };
    let events = server.events(thread["id"].as_str().unwrap()).await;
    events.into_iter().filter(|event| event["type"] == "notice").collect()
}

/// Asks for a message to a session that the agent has not met, and allows it.
async fn send_with_consent(server: &Server<'_>, agent: &Agent, to: &str, words: &str, nth: usize) {
    let wanted = json!({"session_id": to, "message": words});
    call(server, agent, "send_message", wanted).await;
    let request = asked(server, agent, nth).await;
    assert!(request["action"].as_str().unwrap().contains(to), "{request}");
    let path = format!("/permissions/{}/answer", request["permission"].as_str().unwrap());
    server.accepted(&path, json!({"thread": agent.id, "option": "allow"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sends_a_message_and_reads_the_answer() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let sent = laptop.json(&["send", "builder@workstation", "how far are you?"]);
    assert_eq!(sent["delivered_to"], json!(["builder@workstation"]));
    assert_eq!(sent["away"], Value::Null);
    assert_eq!(arrived(&one, "how far are you?").await, 1);
    let read = async || laptop.get("/sessions/builder@workstation/data").await["text"].clone();
    until("it can be read", async || read().await.as_str().unwrap_or_default().contains("how far"))
        .await;
    // It is the word of an agent there, under the name of its computer.
    let said = crate::links::said(&workstation, &sessions_id(&workstation, "builder").await).await;
    assert!(said.iter().any(|(from, text)| from == "user.laptop" && text == "how far are you?"));

    let unknown = laptop.json(&["send", "nothing@workstation", "hello"]);
    assert_eq!(unknown["delivered_to"], json!(["nothing@workstation"]));
    let is_told = async || {
        notices(&laptop).await.iter().any(|notice| notice.to_string().contains("session_not_found"))
    };
    until("the refusal is told", is_told).await;
}

async fn sessions_id(server: &Server<'_>, name: &str) -> String {
    server.get(&format!("/sessions/{name}")).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_asks_first_and_is_told_when_the_turn_is_over() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let writer = start(&laptop, &other, "writer").await;
    send_with_consent(&laptop, &writer, "builder@workstation", "please build", 1).await;
    assert_eq!(arrived(&one, "please build").await, 1);
    // The yes linked them, so it has met the other, and a plain message is told when it is over.
    let plain = json!({"session_id": "builder@workstation", "message": "and test it"});
    call(&laptop, &writer, "send_message", plain).await;
    assert_eq!(arrived(&one, "and test it").await, 1);
    let notice = r#"get_session_data(session_id="builder@workstation")"#;
    assert_eq!(arrived(&other, notice).await, 1);
    let wanted = json!({"session_id": "builder@workstation"});
    let read = call(&laptop, &writer, "get_session_data", wanted).await;
    assert!(read["text"].as_str().unwrap().contains("and test it"), "{read}");

    send_with_consent(&laptop, &writer, "nothing@workstation", "are you there?", 2).await;
    let is_told = async || {
        let events = laptop.events(&writer.id).await;
        events.iter().any(|event| event.to_string().contains("nothing was not found"))
    };
    until("the refusal is told", is_told).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_computer_that_is_away_arrives_once_when_it_is_back() {
    let Some(mut redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    workstation.stop();
    until_state(&laptop, "workstation", "away").await;
    let sent = laptop.json(&["send", "builder@workstation", "for later"]);
    assert_eq!(sent["away"]["name"], "workstation");
    // The post loses everything, and the sender starts anew.
    redis.kill();
    let laptop = laptop.crash_and_restart();
    redis.restart();
    let workstation = one.serve();
    until_state(&laptop, "workstation", "up").await;
    assert_eq!(arrived(&one, "for later").await, 1);
    let workstation = workstation.crash_and_restart();
    until_state(&laptop, "workstation", "up").await;
    laptop.json(&["send", "builder@workstation", "the last one"]);
    assert_eq!(arrived(&one, "the last one").await, 1);
    assert_eq!(arrived(&one, "for later").await, 1);
    drop(workstation);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_computer_that_does_not_allow_messages_refuses_them() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::with("[computers.laptop]\nallow = [\"list\"]\n"), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    laptop.json(&["send", "builder@workstation", "do something"]);
    let is_told = async || {
        let told = notices(&laptop).await;
        told.iter().any(|notice| notice.to_string().contains("does not allow `message` to laptop"))
    };
    until("the refusal is told", is_told).await;
    assert!(one.taken().is_empty());
}
