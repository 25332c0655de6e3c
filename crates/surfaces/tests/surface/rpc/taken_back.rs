//! Registration is limited, is listed in pages, and can be revoked by a person.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::agents;
use super::{Agent, Client, agent, open_server, register, registers};
use crate::server::{Server, soon};

const APP: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn manifest() -> Value {
    json!({"manifest": {"appId": APP, "name": "Review"}})
}

async fn acts(server: &Server, agent: &str, action: &str) -> (u16, Value) {
    let path = format!("/registrations/{agent}/{action}");
    server.as_operator(Method::POST, &path, json!({})).await
}

#[tokio::test]
async fn a_person_takes_the_key_of_an_agent_back_and_its_name_stays_its_own() {
    let server = open_server().await;
    let (ada, mut line) = agent(&server, "ada").await;
    let (status, revoked) = acts(&server, "ada", "revoke").await;
    assert_eq!((status, &revoked["changed"]), (200, &json!(true)), "{revoked}");
    assert_eq!(line.closed().await.map(|(code, _)| code), Some(1008));
    let mut again = Client::open(&server).await;
    assert_eq!(again.connect(&ada.key).await["error"]["code"], -32000);
    assert_eq!(acts(&server, &ada.id, "revoke").await.1["changed"], false, "by its id too");
    assert_eq!(registers(&server, json!({"name": "ada"})).await.0, 409);
    let (_, page) = server.as_operator(Method::GET, "/registrations", Value::Null).await;
    assert_eq!(page["agents"][0]["revoked"], true);
    assert_eq!(acts(&server, "nobody", "revoke").await.1["error"]["code"], "unknown_agent");
    assert_eq!(acts(&server, "nobody", "free").await.1["error"]["code"], "unknown_agent");
}

#[tokio::test]
async fn a_freed_name_is_a_new_agent_without_app_task_or_claim_of_the_old_one() {
    let server = open_server().await;
    let ([old, bob], [mut line, mut b]) = agents(&server, ["ada", "bob"]).await;
    line.done("apps/register", manifest()).await;
    let place = line.task_with(&[&bob]).await;
    let wish = json!({"appId": APP, "invitedAgentIds": []});
    let managed = b.done("task/request", wish).await["task"]["id"].clone();
    assert_eq!(acts(&server, "ada", "free").await.0, 200);
    assert_eq!(line.closed().await.map(|(code, _)| code), Some(1008));
    let (new, mut line) = agent(&server, "ada").await;
    assert_ne!(new.id, old.id);
    assert_eq!(line.done("task/list", json!({})).await["tasks"], json!([]));
    let (code, _) = line.refused("apps/register", manifest()).await;
    assert_eq!(code, -32003, "the app is still that of the old id, until a person says otherwise");
    for task in [json!(place.0), managed] {
        assert_eq!(line.refused("task/close", json!({"taskId": task})).await.0, -32001);
    }
    let mut again = Client::open(&server).await;
    assert_eq!(again.connect(&old.key).await["error"]["code"], -32000);
    let invite = json!({"taskId": place.0, "agentId": old.id});
    assert_eq!(b.refused("task/addParticipant", invite).await.0, -32001);
    let found = b.done("agents/lookupByName", json!({"names": ["ada"]})).await;
    assert_eq!(found["agents"][0]["id"], new.id);
}

#[tokio::test]
async fn tokens_and_registered_agents_are_listed_in_pages() {
    let server = open_server().await;
    for name in ["cid", "ann", "bob"] {
        register(&server, name).await;
    }
    for (path, list, field) in
        [("/registrations", "agents", "name"), ("/tokens", "tokens", "label")]
    {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("{path}?limit=2{cursor}");
            let (status, page) = server.as_operator(Method::GET, &path, Value::Null).await;
            assert_eq!(status, 200, "{page}");
            let rows = page[list].as_array().unwrap();
            assert!(rows.len() <= 2);
            seen.extend(rows.iter().map(|row| row[field].as_str().unwrap().to_owned()));
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        seen.sort();
        assert_eq!(seen, ["ann", "bob", "cid"], "{path}");
    }
    let (status, said) = server.as_operator(Method::GET, "/tokens?cursor=x", Value::Null).await;
    assert_eq!((status, &said["error"]["code"]), (422, &json!("invalid_parameter")));
}

#[tokio::test]
async fn registering_without_end_is_refused_with_the_time_to_wait() {
    let server = open_server().await;
    let mut through = 0;
    let refused = loop {
        let body = json!({"name": format!("agent-{through}")});
        let request = server.client.post(server.url("/api/v1/auth/register")).json(&body);
        let response = soon(request.send()).await.unwrap();
        if response.status() != 201 {
            break response;
        }
        through += 1;
    };
    assert_eq!((through, refused.status().as_u16()), (600, 429));
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=3600).contains(&wait), "{wait}");
    let said: Value = refused.json().await.unwrap();
    assert_eq!(said["code"], "RATE_LIMITED");
    assert!(said["error"].as_str().unwrap().contains("600 an hour"), "{said}");
}

#[tokio::test]
async fn one_key_has_a_bounded_number_of_connections_in_local_mode_too() {
    let server = open_server().await;
    let ada: Agent = register(&server, "ada").await;
    let mut lines = Vec::new();
    for _ in 0..64 {
        lines.push(Client::of(&server, &ada).await);
    }
    let mut more = Client::open(&server).await;
    assert_eq!(more.connect(&ada.key).await["error"]["code"], -32004);
    lines.pop().unwrap().leave().await;
    // The place is free only after the server notices the closed connection.
    while more.connect(&ada.key).await.get("result").is_none() {}
}
