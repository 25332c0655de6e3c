//! Search, export, erasure and deletion in long conversations.

use std::fmt::Write as _;
use std::time::Instant;

use moothall_surfaces::wire::EventTypes;
use serde_json::{Value, json};

use crate::harness::{Home, Server};
use crate::long_talk::fill;

fn every_type() -> String {
    format!("?types={}", EventTypes::EVERY.list())
}

/// Returns the raw JSON of a thread's events, byte for byte.
async fn raw_events(server: &Server<'_>, thread: &str, query: &str) -> String {
    let url = format!("{}/threads/{thread}/events{query}", server.url);
    let text = server.http.get(url).send().await.unwrap().text().await.unwrap();
    let end = text.rfind("],\"count\"").unwrap();
    text[..end].to_owned()
}

fn rebuilt(export: &str) -> String {
    let mut text = "{\"events\":[".to_owned();
    for (place, line) in export.lines().enumerate() {
        let _ = write!(text, "{}{line}", if place == 0 { "" } else { "," });
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_holds_every_event_as_the_server_shows_it() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let path = format!("/threads/{thread}/events");
    server.control(&thread, json!({"policy": "hybrid"})).await;
    server.invite(&thread, "critic", "critic").await;
    server
        .control(&thread, json!({"invite": {"participant_id": "ann", "profile": {"client": "human", "nickname": "Ann \"A.\" Lee"}}}))
        .await;
    let content = json!({"z": [1.0, -0.5, 1e-7, 9_007_199_254_740_991_i64, null], "a": {"q": "\"\\\u{2028}\u{1f600}"}, "": true});
    server.accepted(&path, json!({"type": "x-sensor", "from": "ann", "content": content, "meta": {"tags": ["a,b"]}})).await;
    server.say(&thread, "</script>\u{202e}\t\"quoted\" \\ ![x](https://evil) \u{0}end").await;
    let asked = server.say(&thread, "@critic what do you make of it?").await;
    let reply = server.reply(&thread, &asked, "critic").await;
    server
        .wait_for(&thread, reply["seq"].as_u64().unwrap(), |event| {
            event["content"]["event"] == "round_closed"
        })
        .await;

    let all = server.ok(&["export", &thread, "--format", "jsonl", "--all"]);
    assert_eq!(rebuilt(&all), raw_events(&server, &thread, &every_type()).await);
    let seen = server.ok(&["export", &thread, "--json"]);
    assert_eq!(rebuilt(&seen), raw_events(&server, &thread, "?as=user").await);
    assert!(seen.lines().count() < all.lines().count());

    let page = server.ok(&["export", "-"]);
    assert!(
        page.starts_with("# Test\n") && page.contains("· user ·") && page.contains("in reply to"),
        "{page}"
    );
    assert!(
        page.contains("~~~text\n@critic what do you make of it?\n~~~")
            && !page.contains('\u{202e}'),
        "{page}"
    );
}

const MESSAGES: u64 = 10_000;

/// Writes a conversation of this many messages into a data folder.
async fn long_talk(home: &Home, messages: u64) {
    fill(&home.data(), messages, |seq| format!("message {seq} about topic{}", seq % 100)).await;
}

/// Searches until the index has caught up; returns the answer.
fn found(server: &Server<'_>, query: &[&str]) -> Value {
    loop {
        let answer = server.json(&[&["search"], query].concat());
        if answer["lag_events"] == 0 {
            return answer;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_messages_are_found_and_exported() {
    let home = Home::new();
    long_talk(&home, MESSAGES).await;
    let server = home.serve();
    let answer = found(&server, &["\"message 7777\" from:user in:\"long talk\""]);
    assert_eq!(
        (answer["hits"].as_array().unwrap().len(), &answer["hits"][0]["seq"]),
        (1, &json!(7777))
    );
    assert_eq!(answer["hits"][0]["snippet"][0], json!({"text": "message 7777", "matched": true}));
    let about = found(&server, &["topic42", "--limit", "100"]);
    assert_eq!((about["hits"].as_array().unwrap().len(), about.get("next")), (100, None));
    server.say("long-talk", "an afterthought").await;
    assert_eq!(found(&server, &["afterthought"])["hits"][0]["seq"], MESSAGES + 1);

    let all = server.ok(&["export", "long-talk", "--format", "jsonl", "--all"]);
    assert_eq!(rebuilt(&all), raw_events(&server, "long-talk", &every_type()).await);
    assert!(all.lines().count() as u64 > MESSAGES);
    let text = server.ok(&["search", "\"message 7777\""]);
    assert!(
        text.starts_with("Long talk  2023-11-14 22:13:27Z  7777  user  message 7777 about"),
        "{text}"
    );

    // The Markdown export has every message once, in order, unchanged.
    let page = server.ok(&["export", "long-talk"]);
    let fenced: Vec<&str> =
        page.split("\n~~~text\n").skip(1).map(|part| part.split_once("\n~~~").unwrap().0).collect();
    let said = all
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "message");
    let said: Vec<String> =
        said.map(|event| event["content"].as_str().unwrap().to_owned()).collect();
    assert_eq!(fenced, said);
}

/// Prints the cost of a conversation's length, without assertions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_comes_however_long_the_conversation_is() {
    println!("{:>8} {:>16} {:>14}", "messages", "reply ms (p50)", "resident MiB");
    for messages in [100, 1_000, MESSAGES] {
        let home = Home::new();
        home.configure(
            "[defaults]\ncooldown_seconds = 0\n[agents.parrot]\nreplies = [\"Yes: {message}\"]\n",
        );
        long_talk(&home, messages).await;
        let server = home.serve();
        server.invite("long-talk", "parrot", "parrot").await;
        let mut waits = Vec::new();
        for n in 0..21 {
            let began = Instant::now();
            let asked = server.say("long-talk", &format!("@parrot number {n}")).await;
            let reply = server.reply("long-talk", &asked, "parrot").await;
            waits.push(began.elapsed());
            assert_eq!(reply["content"], format!("Yes: @parrot number {n}"));
        }
        waits.sort_unstable();
        println!(
            "{messages:>8} {:>16.1} {:>14.1}",
            waits[10].as_secs_f64() * 1000.0,
            server.resident_kib() as f64 / 1024.0
        );
    }
}
