//! In local mode a client may state a name, but not that of a registered agent: the agent's words
//! need its key, on every way in.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Agent, agents};
use super::{open_server, register};
use crate::server::Server;

/// Returns every way to act under a name without a credential.
fn ways(thread: &str, name: &str) -> Vec<(Method, String, Value)> {
    let post = |path: &str, body: Value| (Method::POST, format!("/threads/{thread}{path}"), body);
    vec![
        post("/events", json!({"type": "message", "from": name, "content": "it is me"})),
        post("/events", json!({"type": "x.note", "from": name, "content": {"a": 1}})),
        post(
            "/events",
            json!({"type": "control", "from": name, "content": {"pause": {"on": true}}}),
        ),
        post("/events", json!({"type": "pass", "from": name})),
        post("/presence", json!({"from": name, "state": "typing"})),
        post("/commands", json!({"from": name, "text": "/pause"})),
        post("/stop", json!({"from": name})),
        (Method::PUT, format!("/threads/{thread}/read"), json!({"from": name, "seq": 1})),
        (Method::GET, format!("/threads/{thread}/events/stream?as={name}&turns=1"), Value::Null),
        (Method::POST, "/threads".into(), json!({"name": "Mine", "from": name})),
        (
            Method::POST,
            "/mcp".into(),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send_message",
                "arguments": {"thread": thread, "message": "it is me", "from": name}}}),
        ),
    ]
}

async fn tries(server: &Server, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let request = server
        .client
        .request(method, server.url(path))
        .header("accept", "application/json, text/event-stream")
        .json(body);
    crate::server::answer(crate::server::soon(request.send()).await.unwrap()).await
}

#[tokio::test]
async fn words_under_a_registered_agents_id_or_name_need_its_key() {
    let server = open_server().await;
    let ([_, bob], [mut a, mut b]) = agents(&server, ["ann", "bob"]).await;
    let (_, conversation) = a.task_with(&[&bob]).await;
    let upper = bob.id.to_uppercase();
    for name in [&*bob.id, &upper, "bob"] {
        for (method, path, body) in ways(&conversation, name) {
            let (status, said) = tries(&server, method, &path, &body).await;
            let refused = match path.as_str() {
                "/mcp" => said["result"]["structuredContent"]["error"]["code"] == "forbidden",
                _ => status == 403,
            };
            assert!(refused, "{path} {body}: {status} {said}");
        }
    }
    let said = b.settle().await;
    assert!(!said.iter().any(|frame| frame.contains("it is me")), "{said:?}");
    // The key works, and other names can be stated as before.
    let (_, conversation) = b.task_with(&[]).await;
    let (status, _) = server
        .post(
            &format!("/threads/{conversation}/events"),
            json!({"type": "message", "from": "user", "content": "hi"}),
        )
        .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_name_that_was_freed_or_never_registered_is_a_name_as_any_other() {
    let server = open_server().await;
    let thread = server.thread("mention_only").await;
    let say = |name: &str| {
        let body = json!({"type": "message", "from": name, "content": "hi"});
        let path = format!("/threads/{thread}/events");
        let server = &server;
        async move { server.post(&path, body).await }
    };
    assert_eq!(say("scout").await.0, 200);
    let Agent { id, .. } = register(&server, "scout-2").await;
    let (status, said) = say(&id).await;
    assert_eq!((status, &said["error"]["code"]), (403, &json!("forbidden")), "{said}");
    assert!(said["error"]["message"].as_str().unwrap().contains("/ws"), "{said}");
}
