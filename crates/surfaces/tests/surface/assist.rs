//! Previews, slash commands, and publishing of kept text.

use serde_json::{Value, json};

use crate::server::Server;

#[tokio::test]
async fn a_preview_says_who_would_answer_and_decides_nothing() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    server.invite(&thread, "a", "echo").await;
    server.invite(&thread, "b", "quiet").await;
    server.control(&thread, json!({"mute": {"targets": ["b"]}})).await;
    let before = server.events(&thread, "").await;
    let (status, preview) = server
        .post(&format!("/threads/{thread}/preview"), json!({"content": "@a what now?"}))
        .await;
    assert_eq!(status, 200, "{preview}");
    assert_eq!(
        preview["forecast"],
        json!([{"participant": "a", "why": "forced"}, {"participant": "b", "why_not": "muted", "reason": "is muted"}])
    );
    assert_eq!(server.events(&thread, "").await, before);
    assert_eq!(server.post("/threads/nowhere/preview", json!({"content": "x"})).await.0, 404);
    let (status, refused) = server.post(&format!("/threads/{thread}/preview"), json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("missing_content")));
}

#[tokio::test]
async fn commands_are_listed_and_run_where_they_are_asked_for_and_nowhere_else() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/commands");
    let (_, list) = server.get("/commands").await;
    assert!(list["commands"].as_array().unwrap().iter().any(|command| command["name"] == "/pause"));
    let (_, help) = server.post(&path, json!({"text": "/help"})).await;
    assert!(help["text"].as_str().unwrap().contains("/group create") && help["event"].is_null());
    let (_, paused) = server.post(&path, json!({"text": "/pause"})).await;
    assert_eq!(
        (&paused["event"]["type"], &paused["event"]["content"]),
        (&json!("control"), &json!({"pause": {"on": true}}))
    );
    assert_eq!(server.say(&thread, "user", "/resume").await["type"], "message");
    assert_eq!(server.state(&thread).await["paused"], true);
    let (status, error) = server.post(&path, json!({"text": "/resume", "from": "bot"})).await;
    assert_eq!((status, &error["error"]["code"]), (403, &json!("humans_only")));
    for text in ["", "resume", "/explode", "/policy hybird"] {
        assert_eq!(server.post(&path, json!({"text": text})).await.0, 422, "{text}");
    }
    for text in ["/help", "/why", "/pause"] {
        assert_eq!(
            server.post("/threads/nowhere/commands", json!({"text": text})).await.0,
            404,
            "{text}"
        );
    }
}

/// Runs a command; returns the status and the text of the answer.
async fn run_command(server: &Server, thread: &str, text: &str) -> (u16, String) {
    let (status, answer) =
        server.post(&format!("/threads/{thread}/commands"), json!({"text": text})).await;
    let reply =
        answer["text"].as_str().or(answer["error"]["code"].as_str()).unwrap_or_default().to_owned();
    (status, reply)
}

#[tokio::test]
async fn a_command_means_whom_a_mention_means_and_does_what_it_says() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for (id, nickname) in [("a1", "Ann Lee"), ("a2", "Ann Bo"), ("b1", "Bob")] {
        let profile = json!({"client": "quiet", "model": "m-1", "nickname": nickname});
        server
            .control(&thread, json!({"invite": {"participant_id": id, "profile": profile}}))
            .await;
    }
    let run = async |text: &str| run_command(&server, &thread, text).await;
    assert_eq!(run("/mute Bob, @Ann Lee").await, (200, "Muted: b1, a1.".into()));
    assert_eq!(server.state(&thread).await["muted"], json!(["a1", "b1"]));
    assert_eq!(run("/unmute b1 a1").await, (200, "No longer muted: b1, a1.".into()));
    for (text, status, code) in [
        ("/mute Ann", 422, "ambiguous_name"),
        ("/mute nosuch", 404, "not_invited"),
        ("/mute Bob nosuch", 404, "not_invited"),
        ("/uninvite quiet", 422, "ambiguous_name"),
        ("/ask nosuch what now?", 404, "not_invited"),
        ("/ask Ann what now?", 422, "ambiguous_name"),
        ("/policy talking_piece", 409, "needs_gathering"),
    ] {
        assert_eq!(run(text).await, (status, code.into()), "{text}");
    }
    assert_eq!(run("/ask bob what do you think?").await, (200, "Asked: b1.".into()));
    let asked = server.events(&thread, "").await;
    assert!(asked.iter().any(|event| event["content"] == "@b1 what do you think?"), "{asked:?}");
    assert_eq!(run("/uninvite Ann Bo").await, (200, "a2 was removed.".into()));
}

#[tokio::test]
async fn a_group_keeps_who_is_here_and_their_profiles_and_a_policy_the_settings() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "a", "echo").await;
    let profile = json!({"client": "quiet", "model": "gpt-5", "nickname": "Bob"});
    server
        .control(&thread, json!({"invite": {"participant_id": "quiet", "profile": profile}}))
        .await;
    server
        .control(
            &thread,
            json!({"config": {"max_agent_turns_per_message": 1, "cooldown_seconds": 9}}),
        )
        .await;
    let run = async |text: &str| run_command(&server, &thread, text).await;
    assert_eq!(
        run("/group create quiet echo").await,
        (200, "This is now a group with quiet, echo. Other participants stay: a.".into())
    );
    assert_eq!(run("/group add quiet").await, (200, "quiet is already here.".into()));
    let (status, warned) = run("/group add nosuch").await;
    assert!(status == 200 && warned.contains("no agent called \"nosuch\""), "{warned}");
    let state = server.state(&thread).await;
    let quiet = state["participants"]["invited"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == "quiet")
        .unwrap()
        .clone();
    assert_eq!(quiet["profile"]["model"], "gpt-5", "{quiet}");
    assert_eq!(run("/policy round_robin").await.0, 200);
    server.control(&thread, json!({"policy": "hybrid"})).await;
    let policy = server.state(&thread).await["policy"].clone();
    assert_eq!(
        (&policy["name"], &policy["max_agent_turns_per_message"], &policy["cooldown_seconds"]),
        (&json!("hybrid"), &json!(1), &json!(9.0))
    );
    let (status, refused) =
        server.post("/threads", json!({"name": "x", "policy": "talking_piece"})).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("needs_gathering")));
}

#[tokio::test]
async fn a_keyed_command_runs_once() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/commands");
    let (_, first) = server.post_with_key(&path, "k", json!({"text": "/rename Better"})).await;
    assert_eq!(
        server.post_with_key(&path, "k", json!({"text": "/rename Better"})).await,
        (200, first)
    );
    assert_eq!(server.post_with_key(&path, "k", json!({"text": "/rename Best"})).await.0, 422);
    assert_eq!(server.events(&thread, "").await.len(), 2);
}

#[tokio::test]
async fn kept_words_are_published_by_people_once() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "far", "elsewhere").await;
    server.control(&thread, json!({"mute": {"targets": ["far"]}})).await;
    server.refuse(&thread, json!({"from": "far", "content": "hear me"})).await;
    let seq = server.events(&thread, "").await.pop().unwrap()["seq"].as_u64().unwrap();
    let path = format!("/threads/{thread}/kept/{seq}/publish");
    assert_eq!(server.post(&path, json!({"from": "far"})).await.0, 403);
    let (status, answer) = server.post_with_key(&path, "k", json!({})).await;
    assert_eq!(status, 200, "{answer}");
    let event = &answer["event"];
    assert_eq!(
        (&event["type"], &event["from"], &event["content"], &event["meta"]["published"]),
        (&json!("message"), &json!("far"), &json!("hear me"), &json!(seq))
    );
    assert_eq!(server.post_with_key(&path, "k", json!({})).await, (200, answer.clone()));
    let server = {
        let (status, again) = server.post(&path, json!({})).await;
        let message = again["error"]["message"].as_str().unwrap();
        assert_eq!((status, &again["error"]["code"]), (409, &json!("already_published")));
        assert!(message.contains(answer["event"]["id"].as_str().unwrap()), "{again}");
        server.restarted(|options| options).await
    };
    let (status, again) = server.post(&path, json!({})).await;
    assert_eq!((status, &again["error"]["code"]), (409, &json!("already_published")), "{again}");
    let refused = [
        (format!("/threads/{thread}/kept/1/publish"), 422),
        (format!("/threads/{thread}/kept/99/publish"), 404),
        (format!("/threads/{thread}/kept/x/publish"), 404),
        ("/threads/nowhere/kept/1/publish".into(), 404),
        (format!("/threads/{thread}/kept/%ff/publish"), 404),
    ];
    for (path, expected) in refused {
        let (status, answer): (u16, Value) = server.post(&path, json!({})).await;
        assert_eq!(status, expected, "{path}: {answer}");
    }
}
