//! The folder of a conversation: the place in which known programs work for it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn an_agent_of_a_conversation_is_started_in_its_folder() {
    let (server, stage) = Server::with_terminals().await;
    let folder = tempfile::tempdir().unwrap();
    let new = json!({"name": "Plan", "policy": "mention_only", "folder": folder.path()});
    let (status, made) = server.post("/threads", new).await;
    assert_eq!(status, 200, "{made}");
    let thread = made["id"].as_str().unwrap();
    let invite =
        json!({"invite": {"participant_id": "dot", "profile": {"client": "demo", "model": "m"}}});
    server.take(thread, json!({"type": "control", "from": "user", "content": invite})).await;
    server.say(thread, "user", "@dot hello").await;
    server.event(thread, "turn", "started").await;
    assert_eq!(stage.launched().cwd, folder.path());
}

#[tokio::test]
async fn only_people_who_may_start_programs_choose_a_folder() {
    let (server, _) = Server::with_terminals().await;
    let folder = tempfile::tempdir().unwrap();
    let new = json!({"name": "Plan", "folder": folder.path()});
    for (folder, wrong) in [("relative", "invalid_session"), ("/none/such", "invalid_session")] {
        let refused = server.post("/threads", json!({"folder": folder})).await;
        assert_eq!(code(&refused), (422, wrong), "{folder}: {}", refused.1);
    }
    let unproven = server.unproven(Method::POST, "/threads", new.clone()).await;
    assert_eq!(code(&unproven), (403, "forbidden"), "{}", unproven.1);
    for (kind, scopes, expected) in [
        ("human", json!(["threads:read", "threads:write"]), 403),
        ("agent", json!(["threads:read", "threads:write", "sessions:drive"]), 403),
        ("human", json!(["threads:read", "threads:write", "sessions:drive"]), 200),
    ] {
        let wanted =
            json!({"principal": format!("{kind}-{expected}"), "kind": kind, "scopes": scopes});
        let (_, made) = server.post("/tokens", wanted).await;
        let token = made["token"].as_str().unwrap();
        let answer = server.with(token, Method::POST, "/threads", new.clone()).await;
        assert_eq!(answer.0, expected, "{kind} {scopes}: {}", answer.1);
    }
    let (_, listed) = server.get("/threads").await;
    assert_eq!(listed["threads"].as_array().unwrap().len(), 1, "a refusal creates nothing");
}
