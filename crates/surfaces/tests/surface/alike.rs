//! Lookalike names are refused at every way in, for all names known to the server: people, agents,
//! registered agents, the server's own agents, and a conversation's participants.

use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::rpc;
use crate::server::Server;

async fn invites(server: &Server, thread: &str, id: &str, profile: Value) -> (u16, Value) {
    let content = json!({"invite": {"participant_id": id, "profile": profile}});
    let event = json!({"type": "control", "from": "user", "content": content});
    server.as_operator(Method::POST, &format!("/threads/{thread}/events"), event).await
}

async fn hands_out(server: &Server, thread: &str, principal: &str) -> (u16, Value) {
    let path = format!("/threads/{thread}/invitations");
    server.as_operator(Method::POST, &path, json!({"principal": principal})).await
}

async fn registers(server: &Server, name: &str) -> (u16, Value) {
    rpc::registers(server, json!({"name": name})).await
}

fn agent(nickname: Option<&str>) -> Value {
    json!({"client": "external", "model": "m", "nickname": nickname})
}

#[tokio::test]
async fn a_name_that_looks_like_that_of_a_person_is_refused() {
    let server = Server::start().await;
    token(&server, json!({"principal": "paula"})).await;
    let thread = server.thread("mention_only").await;
    for like in ["Paula", "PAULA", "pau1a", "pauIa"] {
        let (status, said) = hands_out(&server, &thread, like).await;
        assert_eq!((status, &said["error"]["code"]), (409, &json!("principal_taken")), "{like}");
        let wanted = json!({"principal": like, "kind": "agent"});
        let (status, said) = server.as_operator(Method::POST, "/tokens", wanted).await;
        assert_eq!(status, 409, "{like}: {said}");
        let (status, said) = invites(&server, &thread, like, agent(None)).await;
        assert_eq!((status, &said["error"]["code"]), (409, &json!("name_taken")), "{like}");
        let (status, said) = invites(&server, &thread, "helper", agent(Some(like))).await;
        assert_eq!((status, &said["error"]["code"]), (409, &json!("name_taken")), "{like}");
    }
    assert_eq!(registers(&server, "pau1a").await.0, 409);
    assert_eq!(registers(&server, "paula").await.0, 409);
    // A person can use their own name everywhere.
    assert_eq!(hands_out(&server, &thread, "paula").await.0, 200);
    let person = json!({"client": "human", "model": "human"});
    assert_eq!(invites(&server, &thread, "paula", person).await.0, 200);
}

#[tokio::test]
async fn a_look_alike_of_a_participant_is_not_invited() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let person = json!({"client": "human", "model": "human", "nickname": "Zoe"});
    assert_eq!(invites(&server, &thread, "ann", person).await.0, 200);
    for like in ["Ann", "ANN", "zoe", "Z0E"] {
        let (status, said) = hands_out(&server, &thread, like).await;
        assert_eq!((status, &said["error"]["code"]), (409, &json!("principal_taken")), "{like}");
    }
    let (status, said) = hands_out(&server, &thread, "ann").await;
    assert_eq!(status, 200, "{said}");
}

#[tokio::test]
async fn no_agent_registers_under_the_name_of_another_or_of_the_servers_own() {
    let server = Server::start().await;
    for taken in ["echo", "ping", "ech0"] {
        let (status, said) = registers(&server, taken).await;
        assert_eq!((status, &said["code"]), (409, &json!("REGISTRATION_CONFLICT")), "{taken}");
    }
    assert_eq!(registers(&server, "scout1").await.0, 201);
    assert_eq!(registers(&server, "scoutl").await.0, 409, "it looks like scout1");
    let (status, _) =
        server.as_operator(Method::POST, "/tokens", json!({"principal": "Scout1"})).await;
    assert_eq!(status, 409);
    let thread = server.thread("mention_only").await;
    assert_eq!(invites(&server, &thread, "Scout1", agent(None)).await.0, 409);
    // The server's own agents can be invited under their names any number of times.
    server.invite(&thread, "echo", "echo").await;
    server.invite(&thread, "echo-2", "echo").await;
}

#[tokio::test]
async fn an_agent_is_not_nicknamed_like_who_runs_the_server() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for like in ["Adm1n", "ann (person)", "Human operator", "The 0perator", "r00t"] {
        let (status, said) = invites(&server, &thread, "helper", agent(Some(like))).await;
        assert_eq!((status, &said["error"]["code"]), (422, &json!("reserved_name")), "{like}");
    }
    let (status, said) = invites(&server, &thread, "helper", agent(Some("Ann (reviewer)"))).await;
    assert_eq!(status, 200, "{said}");
}

#[tokio::test]
async fn a_gathering_brings_no_look_alike_of_a_person() {
    let server = Server::start().await;
    token(&server, json!({"principal": "paula"})).await;
    let member = |name: &str, number: u32, role: &str, client: &str| json!({"name": name, "number": number, "role": role, "kind": "agent", "client": client});
    let wish = json!({"rhythm": "daily", "opening_question": "What now?", "participants": [
        member("Pau1a", 1, "speaker", "echo"), member("Pong", 2, "speaker", "pong"),
        member("Ping", 3, "harvester", "ping")]});
    let (status, said) = server.as_operator(Method::POST, "/gatherings", wish).await;
    assert_eq!((status, &said["error"]["code"]), (409, &json!("name_taken")), "{said}");
}
