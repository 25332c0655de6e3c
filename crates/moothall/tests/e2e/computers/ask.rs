//! Questions between computers: their sessions, what they may tell, and what was said to them.

use moothall_testkit::redis::RedisServer;
use moothall_testkit::redis_wire::{RedisWire, WireFault};
use serde_json::{Value, json};

use super::{pair_at, paired, until_state};
use crate::links::{Hall, start};

/// Returns the names of listed sessions, each with its computer.
fn names(list: &Value) -> Vec<String> {
    let name = |one: &Value| {
        let computer = one["computer"].as_str().unwrap_or("here");
        format!("{}@{computer}", one["name"].as_str().unwrap())
    };
    list["sessions"].as_array().unwrap().iter().map(name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_another_computer_are_listed() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    start(&laptop, &other, "writer").await;
    assert_eq!(names(&laptop.json(&["sessions"])), ["writer@here"]);
    let there = laptop.json(&["sessions", "--computer", "workstation"]);
    assert_eq!(names(&there), ["builder@workstation"]);
    assert_eq!(
        (&there["sessions"][0]["state"], &there["sessions"][0]["cwd"]),
        (&json!("idle"), &json!(""))
    );
    let all = laptop.json(&["sessions", "--computer", "all"]);
    assert_eq!(names(&all), ["writer@here", "builder@workstation"]);
    let shown = laptop.ok(&["sessions", "--computer", "all"]);
    assert!(shown.contains("builder@workstation"), "{shown}");

    // Nothing was said to it from here, so there is nothing to read; what people said there stays.
    workstation.accepted("/sessions/builder/messages", json!({"message": "a secret"})).await;
    let read = laptop.get("/sessions/builder@workstation/data").await;
    assert_eq!((&read["text"], &read["session"]["name"]), (&json!(""), &json!("builder")));
    let gone = laptop.get("/sessions/nothing@workstation/data").await;
    assert_eq!(gone["error"]["code"], "session_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_computer_tells_only_what_its_configuration_allows() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::with("[computers.laptop]\nallow = [\"read\"]\n"), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let refused = laptop.json(&["sessions", "--computer", "workstation"]);
    assert_eq!(names(&refused), [""; 0]);
    let reason = refused["silent"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("does not allow `list` to laptop"), "{reason}");
    let read = laptop.get("/sessions/builder@workstation/data").await;
    assert_eq!(read["session"]["name"], "builder");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_on_a_held_wire_ends_and_says_so() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let wire = RedisWire::to(&redis.socket());
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = (one.serve(), other.serve());
    pair_at(&workstation, &laptop, &redis.url(), Some(&wire.url()));
    until_state(&laptop, "workstation", "up").await;
    wire.set(Some(WireFault::HeldToRedis));
    let silent = laptop.json(&["sessions", "--computer", "workstation"]);
    let reason = silent["silent"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("workstation is away"), "{reason}");
    let read = laptop.get("/sessions/builder@workstation/data").await;
    assert_eq!(read["error"]["code"], "away", "{read}");
    wire.set(None);
    until_state(&laptop, "workstation", "up").await;
    assert_eq!(names(&laptop.json(&["sessions", "--computer", "workstation"])), [""; 0]);
}
