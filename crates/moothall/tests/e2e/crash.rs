//! kill -9: acknowledged events survive, no reply is duplicated, and every message is answered or
//! explained.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Mutex;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, RunningProcess, Server};

/// Number of kills under load.
const KILLS: usize = 5;

fn messages_of<'a>(events: &'a [Value], from: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == "message" && event["from"] == from)
}

/// Sends messages until the server dies; records the acknowledged events.
async fn speak(
    server: &Server<'_>,
    thread: &str,
    acknowledged: &Mutex<Vec<Value>>,
    enough: &tokio::sync::Notify,
) {
    for number in 0.. {
        let body = json!({"type": "message", "from": "user", "to": "all", "content": format!("@analyst {number}")});
        match server.try_post(&format!("/threads/{thread}/events"), &body).await {
            Ok((200, answer)) => acknowledged.lock().unwrap().push(answer["event"].clone()),
            _ => return,
        }
        if number == 4 {
            enough.notify_one();
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_is_kept_through_every_crash() {
    let home = Home::new();
    let mut server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "analyst", "analyst").await;
    let acknowledged = Mutex::new(Vec::new());
    for _ in 0..KILLS {
        let enough = tokio::sync::Notify::new();
        let speaking = async {
            tokio::join!(
                speak(&server, &thread, &acknowledged, &enough),
                speak(&server, &thread, &acknowledged, &enough)
            )
        };
        tokio::select! {
            _ = speaking => panic!("the server went away by itself"),
            () = enough.notified() => {}
        }
        server = server.crash_and_restart();
    }
    server.ok(&["say", &thread, "@analyst the last", "--wait"]);
    check(&server, &thread, &acknowledged.into_inner().unwrap()).await;
}

/// Checks the invariants of a conversation at rest.
pub async fn check(server: &Server<'_>, thread: &str, acknowledged: &[Value]) {
    let events = server.events(thread).await;
    let seqs: Vec<u64> = events.iter().map(seq).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "no gap");
    for event in acknowledged {
        assert!(events.contains(event), "acknowledged and lost: {event}");
    }
    at_most_once("answered", events.iter().filter_map(|event| event["meta"]["turn"].as_str()));
    at_most_once("ended", turn_events(&events, "ended"));
    assert_eq!(
        turn_events(&events, "granted").count(),
        turn_events(&events, "ended").count(),
        "every turn ends"
    );
    let turns =
        server.get(&format!("/threads/{thread}/turns")).await["turns"].as_array().unwrap().clone();
    for message in messages_of(&events, "user") {
        let answered =
            turns.iter().any(|turn| covers(turn, seq(message)) && !turn["outcome"].is_null());
        let explained = turns.iter().any(|turn| turn["message"] == message["id"]);
        assert!(answered || explained, "neither answered nor explained: {message}");
    }
}

fn seq(event: &Value) -> u64 {
    event["seq"].as_u64().unwrap()
}

/// Returns the turns with this step in the trace.
fn turn_events<'a>(events: &'a [Value], what: &'a str) -> impl Iterator<Item = &'a str> {
    let said = events
        .iter()
        .filter(move |event| event["type"] == "turn" && event["content"]["event"] == what);
    said.map(|event| event["content"]["turn"].as_str().unwrap())
}

fn at_most_once<'a>(what: &str, turns: impl Iterator<Item = &'a str>) {
    let mut seen = BTreeSet::new();
    for turn in turns {
        assert!(seen.insert(turn), "turn {turn} was {what} twice");
    }
}

fn covers(turn: &Value, seq: u64) -> bool {
    turn["from_seq"].as_u64().is_some_and(|from| from < seq)
        && turn["through_seq"].as_u64().is_some_and(|through| seq <= through)
}

#[tokio::test]
async fn a_turn_that_a_crash_interrupted_is_run_again_and_answered_once() {
    let home = Home::new();
    let slow = home.script("slow", "cat >/dev/null; [ -e go ] && echo done || exec sleep 20");
    home.configure(&format!(
        "[agents.slow]\ncommand = [\"{slow}\"]\ncwd = \"{}\"\n",
        home.path().display()
    ));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "slow", "slow").await;
    let asked = server.say(&thread, "@slow please").await;
    let started = |event: &Value| event["type"] == "turn" && event["content"]["event"] == "started";
    server.wait_for(&thread, asked["seq"].as_u64().unwrap(), started).await;

    std::fs::write(home.path().join("go"), "").unwrap();
    let server = server.crash_and_restart();
    assert_eq!(server.reply(&thread, &asked, "slow").await["content"], "done");
    let turns = server.get(&format!("/threads/{thread}/turns")).await["turns"].clone();
    assert_eq!(turns[0]["outcome"], "spoke");
    assert_eq!(turns[0]["attempt"], 2);
    let events = server.events(&thread).await;
    assert_eq!(messages_of(&events, "slow").count(), 1);
}

#[tokio::test]
async fn a_request_repeated_after_a_crash_takes_effect_once() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let said = server.say_with_key(&thread, "once", "key-1").await;
    let server = server.crash_and_restart();
    assert_eq!(server.say_with_key(&thread, "once", "key-1").await, said);
    let events = server.events(&thread).await;
    assert_eq!(messages_of(&events, "user").count(), 1);
}

#[tokio::test]
async fn a_calm_end_lets_a_running_program_answer() {
    let home = Home::new();
    let (begun, go) = (home.path().join("begun"), home.path().join("go"));
    let work = format!(
        "echo run >> {}; while [ ! -e {} ]; do sleep 0.02; done; echo finished the work",
        begun.display(),
        go.display()
    );
    let worker = home.script("worker", &work);
    home.configure(&format!("[agents.worker]\ncommand = [\"{worker}\"]\n"));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "worker", "worker").await;
    let said = server.say(&thread, "@worker please").await;
    let running = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, running).await.expect("it never ran");
    let stream = format!("{}/threads/{thread}/events/stream?after={}", server.url, seq(&said));
    let reader = server.http().get(stream).send().await.unwrap();
    server.signal(Signal::SIGTERM);
    let refused = async {
        let body = json!({"type": "message", "from": "user", "to": "all", "content": "too late"});
        while server.try_post(&format!("/threads/{thread}/events"), &body).await.unwrap().0 != 503 {
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("it goes on taking messages");
    std::fs::write(&go, "").unwrap();
    let seen =
        tokio::time::timeout(PATIENCE, reader.text()).await.expect("the stream goes on").unwrap();
    let (answer, away) = (seen.find("finished the work"), seen.find("going-away"));
    assert!(answer.is_some() && answer < away, "{seen}");
    assert!(server.end().success());

    let server = home.serve();
    let events = server.events(&thread).await;
    assert_eq!(
        messages_of(&events, "worker").map(|event| &event["content"]).collect::<Vec<_>>(),
        ["finished the work"]
    );
    assert_eq!(std::fs::read_to_string(&begun).unwrap(), "run\n", "it is not run again");
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let home = Home::new();
    let begun = home.path().join("begun");
    let worker = home.script("worker", &format!("echo run >> {}; sleep 60", begun.display()));
    home.configure(&format!("[agents.worker]\ncommand = [\"{worker}\"]\n"));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "worker", "worker").await;
    server.say(&thread, "@worker please").await;
    let running = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, running).await.expect("it never ran");
    server.signal(Signal::SIGTERM);
    let refused = async {
        let body = json!({"type": "message", "from": "user", "to": "all", "content": "too late"});
        while server.try_post(&format!("/threads/{thread}/events"), &body).await.unwrap().0 != 503 {
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("it goes on taking messages");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.end().code(), Some(130));
}

#[tokio::test]
async fn whoever_waits_for_an_answer_waits_through_a_restart_too() {
    let home = Home::new();
    // The script ends with this test, even if the test fails.
    let answers = home.script("answers", "cat >/dev/null; while [ -d \"$1\" ] && [ ! -e \"$1/go\" ]; do sleep 0.05; done; echo here it is");
    home.configure(&format!(
        "[agents.late]\ncommand = [\"{answers}\", \"{}\"]\n",
        home.path().display()
    ));
    let server = home.serve();
    server.ok(&["new", "Room", "--with", "late"]);
    let mut waiting = server.command(&["say", "Room", "@late well?", "--wait"]);
    let mut waiting =
        RunningProcess::of(waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let heard = waiting.errors();
    let address = server.address().to_string();
    let list = server.get("/threads").await;
    server
        .wait_for(list["threads"][0]["id"].as_str().unwrap(), 0, |event| {
            event["content"]["event"] == "started"
        })
        .await;
    server.kill();
    // A temporary failure is reported once, as waiting, and not as an error.
    let line = heard.recv_timeout(PATIENCE).unwrap();
    assert!(line.contains("retrying"), "{line}");
    let _server = home.serve_on(&address);
    std::fs::write(home.path().join("go"), "").unwrap();
    let answer = waiting.line();
    assert!(answer.ends_with("  here it is"), "{answer}");
    assert!(waiting.end().success());
    assert_eq!(heard.iter().collect::<Vec<_>>(), [] as [String; 0]);
}
