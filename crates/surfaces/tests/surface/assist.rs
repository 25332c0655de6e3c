//! Previews, slash commands and publishing what was kept.

use serde_json::json;

use crate::server::Server;

#[tokio::test]
async fn a_preview_says_who_would_answer_and_decides_nothing() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    server.invite(&thread, "a", "echo").await;
    server.invite(&thread, "b", "quiet").await;
    server.control(&thread, json!({"mute": {"targets": ["a"]}})).await;
    let before = server.events(&thread, "").await.len();
    let (status, answer) = server.post(&format!("/threads/{thread}/preview"), json!({"content": "@b and @a?"})).await;
    assert_eq!(status, 200);
    let expected = json!([{"participant": "b", "why": "forced"}, {"participant": "a", "why_not": "muted"}]);
    assert_eq!(answer["forecast"], expected);
    assert_eq!(server.events(&thread, "").await.len(), before);
    let (status, _) = server.post("/threads/nowhere/preview", json!({"content": "x"})).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn slash_commands_run_here_and_only_here() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/commands");
    let run = async |text: &str| server.post(&path, json!({"text": text})).await;
    let (status, answer) = run("/group create quiet echo").await;
    assert_eq!((status, answer["event"]["type"].clone()), (200, json!("control")));
    assert!(run("/group list").await.1["text"].as_str().unwrap().contains("name: \"hybrid\""));
    let (status, answer) = run("/mut echo").await;
    assert_eq!((status, answer["error"]["code"].clone()), (422, json!("bad_command")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("/mute"));
    let (status, answer) = server.post(&path, json!({"from": "echo", "text": "/pause"})).await;
    assert_eq!((status, answer["error"]["code"].clone()), (403, json!("humans_only")));
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    assert_eq!(run("/ask echo -- what now?").await.0, 200);
    stream.until(|event| event["content"]["event"] == "round_closed").await;
    let why = run("/why").await.1["text"].as_str().unwrap().to_owned();
    assert!(why.contains("echo: asked (forced), spoke") && why.contains("quiet: asked (polled), passed"), "{why}");
    server.say(&thread, "user", "/stop is a word in a message").await;
    assert_eq!(server.state(&thread).await["paused"], json!(false));
    assert!(server.get("/commands").await.1["commands"].as_array().unwrap().len() > 10);
}

#[tokio::test]
async fn kept_words_can_be_published_by_a_person() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "ext", "somewhere-else").await;
    server.control(&thread, json!({"mute": {"targets": ["ext"]}})).await;
    let (status, _) = server.refuse(&thread, json!({"type": "message", "from": "ext", "content": "I was muted"})).await;
    assert_eq!(status, 409);
    let kept = server.events(&thread, "").await.into_iter().find(|event| event["content"]["event"] == "kept").unwrap();
    let path = format!("/threads/{thread}/kept/{}/publish", kept["seq"]);
    assert_eq!(server.post(&path, json!({"from": "ext"})).await.0, 403);
    let (status, answer) = server.post_with_key(&path, "once", json!({})).await;
    assert_eq!((status, &answer["event"]["from"], &answer["event"]["content"]), (200, &json!("ext"), &json!("I was muted")));
    assert_eq!(server.post_with_key(&path, "once", json!({})).await.1["event"]["id"], answer["event"]["id"]);
    assert_eq!(server.post(&format!("/threads/{thread}/kept/1/publish"), json!({})).await.0, 422);
    assert_eq!(server.post(&format!("/threads/{thread}/kept/999/publish"), json!({})).await.0, 404);
}
