//! The protocol of Agent Bridge, over plain HTTP, with an agent that is a program.

use serde_json::{Value, json};

use crate::harness::{Home, Server};

/// A program that repeats the trigger's text from the JSON document on its standard input.
const ECHO: &str = r#"sed -n 's/.*"trigger":{[^}]*"content":"\([^"]*\)".*/echo: \1/p'"#;

fn home() -> Home {
    let home = Home::new();
    let echo = home.script("echo", ECHO);
    home.configure(&format!(
        "[agents.codex]\ncommand = [\"{echo}\"]\n[agents.claude]\ncommand = [\"{echo}\"]\n"
    ));
    home
}

async fn state(server: &Server<'_>, thread: &str) -> Value {
    server.get(&format!("/threads/{thread}/state")).await["state"].clone()
}

#[tokio::test]
async fn a_program_answers_when_it_is_addressed() {
    let home = home();
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "codex", "codex").await;
    let path = format!("/threads/{thread}/events");

    let direct = json!({"type": "message", "from": "user", "to": "codex", "content": "to you"});
    let direct = server.accepted(&path, direct).await["event"].clone();
    let reply = server.reply(&thread, &direct, "codex").await;
    assert_eq!(reply["content"], "echo: to you");
    assert_eq!(reply["meta"]["via"], "moothall");
    assert_eq!(reply["meta"]["tags"], json!(["coordinator"]));

    let mention = server.say(&thread, "well, @codex?").await;
    assert_eq!(server.reply(&thread, &mention, "codex").await["content"], "echo: well, @codex?");

    let seqs: Vec<u64> =
        server.events(&thread).await.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn mute_and_pause_keep_agents_quiet() {
    let home = home();
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "codex", "codex").await;
    let path = format!("/threads/{thread}/events");
    let speak = json!({"type": "message", "from": "codex", "to": "all", "content": "may I?"});

    server.control(&thread, json!({"mute": {"targets": ["codex"], "mode": "hard"}})).await;
    assert_eq!(state(&server, &thread).await["muted"], json!(["codex"]));
    let (status, answer) = server.post(&path, speak.clone()).await;
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("participant_muted")));

    server.control(&thread, json!({"unmute": {"targets": ["codex"]}})).await;
    server.control(&thread, json!({"pause": {"on": true}})).await;
    assert_eq!(state(&server, &thread).await["paused"], true);
    let (status, answer) = server.post(&path, speak.clone()).await;
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("thread_paused")));

    let waiting = server.say(&thread, "@codex are you there?").await;
    server.control(&thread, json!({"pause": {"on": false}})).await;
    assert_eq!(
        server.reply(&thread, &waiting, "codex").await["content"],
        "echo: @codex are you there?"
    );
}

#[tokio::test]
async fn the_switches_decide_who_else_is_asked() {
    let home = home();
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "codex", "codex").await;
    server.invite(&thread, "claude", "claude").await;

    server.control(&thread, json!({"invited_auto": {"on": true}})).await;
    let to_nobody = server.say(&thread, "anyone").await;
    for agent in ["codex", "claude"] {
        assert_eq!(server.reply(&thread, &to_nobody, agent).await["content"], "echo: anyone");
    }
    server.control(&thread, json!({"invited_auto": {"on": false}, "discussion": {"on": true, "allow_agent_mentions": true}})).await;
    let state = state(&server, &thread).await;
    assert_eq!(state["discussion"], json!({"on": true, "allow_agent_mentions": true}));
    assert_eq!(state["invited_auto"], json!({"on": false}));
    let path = format!("/threads/{thread}/events");
    let asking =
        json!({"type": "message", "from": "codex", "to": "all", "content": "@claude what now?"});
    let asking = server.accepted(&path, asking).await["event"].clone();
    assert_eq!(
        server.reply(&thread, &asking, "claude").await["content"],
        "echo: @claude what now?"
    );
}

#[tokio::test]
async fn invites_merge_and_end() {
    let home = home();
    let server = home.serve();
    let thread = server.thread().await;
    let path = format!("/threads/{thread}/events");
    let incomplete = json!({"type": "control", "from": "user", "content": {"invite": {"participant_id": "codex", "profile": {"client": "codex"}}}});
    assert_eq!(server.post(&path, incomplete).await.0, 422);

    server.invite(&thread, "codex", "codex").await;
    server.control(&thread, json!({"invite": {"participant_id": "codex", "profile": {"nickname": "Dex", "roles": ["coder"]}}})).await;
    let invited = state(&server, &thread).await["participants"]["invited"].clone();
    assert_eq!(
        invited[0]["profile"],
        json!({"client": "codex", "model": "m", "nickname": "Dex", "roles": ["coder"]})
    );

    let called = server.say(&thread, "@dex hello").await;
    server.reply(&thread, &called, "codex").await;
    server.control(&thread, json!({"uninvite": {"participant_id": "codex"}})).await;
    assert_eq!(state(&server, &thread).await["participants"]["invited"], json!([]));
}

#[tokio::test]
async fn presence_is_seen_and_an_outside_client_is_welcomed() {
    let home = home();
    let server = home.serve();
    let thread = server.thread().await;
    let outside = server.invite(&thread, "elsewhere", "some-editor").await;
    assert!(!outside["warnings"].as_array().unwrap().is_empty());
    assert!(outside["join"]["prompt"].as_str().unwrap().contains(&thread));

    let path = format!("/threads/{thread}/presence");
    server.accepted(&path, json!({"from": "elsewhere", "state": "listening", "details": {"model": "m", "takes_turns": true}})).await;
    let presence = server.get(&path).await;
    assert_eq!(presence["ttl_seconds"], 120);
    assert_eq!(presence["participants"][0]["id"], "elsewhere");

    let asked = server.say(&thread, "@elsewhere hello").await;
    let granted = |event: &Value| event["type"] == "turn" && event["content"]["event"] == "granted";
    server.wait_for(&thread, asked["seq"].as_u64().unwrap(), granted).await;
    let answer = json!({"type": "message", "from": "elsewhere", "to": "all", "content": "here", "meta": {"reply_to": asked["id"]}});
    server.accepted(&format!("/threads/{thread}/events"), answer).await;
    let ended = |event: &Value| {
        event["type"] == "turn"
            && event["content"]["event"] == "ended"
            && event["content"]["outcome"] == "spoke"
    };
    server.wait_for(&thread, asked["seq"].as_u64().unwrap(), ended).await;
}
