//! Registration of agents over HTTP: names, codes, claims. The bodies are those of the protocol.

use moothall_engine::access::Mode;
use moothall_surfaces::HttpOptions;
use serde_json::{Value, json};

use super::client::boundless;
use super::{Client, open_server, register};
use crate::server::{Server, soon};

const OWNER: &str = "77777777-7777-4777-8777-777777777777";
const OTHER: &str = "88888888-8888-4888-8888-888888888888";

/// Sends a body of any shape; returns the status and the answer.
async fn post(server: &Server, path: &str, body: impl Into<String>) -> (u16, Value) {
    let request = server.client.post(server.url(path)).header("content-type", "application/json");
    let response = soon(request.body(body.into()).send()).await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

pub async fn registers(server: &Server, body: Value) -> (u16, Value) {
    post(server, "/api/v1/auth/register", body.to_string()).await
}

#[tokio::test]
async fn an_agent_gets_what_it_needs_to_connect_and_to_be_claimed() {
    let server = open_server().await;
    let (status, made) = registers(&server, json!({"name": "a-b_9", "description": "ä"})).await;
    assert_eq!(status, 201);
    let mut members: Vec<_> = made.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["agentId", "apiKey", "claimToken", "claimUrl"]);
    assert_eq!(made["claimUrl"], format!("http://{}/api/v1/auth/claim", server.address));
    let mut client = Client::open(&server).await;
    let hello = client.connect(made["apiKey"].as_str().unwrap()).await;
    assert_eq!(hello["result"]["agentId"], made["agentId"]);
    let card = client.done("agents/list", json!({})).await["agents"].clone();
    assert_eq!(card[made["agentId"].as_str().unwrap()]["description"], "ä");
}

#[tokio::test]
async fn a_name_is_plain_is_nobodys_and_means_nobody() {
    let server = open_server().await;
    register(&server, "taken").await;
    for bad in ["", "ab", "-ab", "ab-", "Abc", "a b", "a.b", "äbc", "a\u{0}b", &"a".repeat(33)] {
        let (status, said) = registers(&server, json!({"name": bad})).await;
        assert_eq!((status, &said["error"]), (400, &json!("Invalid parameters")), "{bad}");
    }
    for taken in ["taken", "user", "admin", "system", "all", "everyone"] {
        let (status, said) = registers(&server, json!({"name": taken})).await;
        assert_eq!((status, &said["code"]), (409, &json!("REGISTRATION_CONFLICT")), "{taken}");
        assert!(said["error"].is_string() && said.get("apiKey").is_none());
    }
    for body in [
        json!({}),
        json!({"name": 7}),
        json!({"name": null}),
        json!({"name": "abc", "more": 1}),
        json!({"name": "abc", "description": "d".repeat(501)}),
        json!({"name": "abc", "description": null}),
    ] {
        let (status, said) = registers(&server, body.clone()).await;
        assert_eq!((status, &said["error"]), (400, &json!("Invalid parameters")), "{body}");
    }
    for bad in ["{", "[]", "\"abc\"", "{\"name\":\"abc\",\"name\":\"abd\"}"] {
        let (status, said) = post(&server, "/api/v1/auth/register", bad).await;
        assert_eq!((status, &said["error"]), (400, &json!("Invalid JSON")), "{bad}");
    }
    register(&server, "abc").await;
}

#[tokio::test]
async fn two_that_want_one_name_at_once_do_not_both_get_it() {
    let server = open_server().await;
    let tries = (0..8).map(|_| registers(&server, json!({"name": "wanted"})));
    let answers = futures_util::future::join_all(tries).await;
    let made = answers.iter().filter(|(status, _)| *status == 201).count();
    let refused = answers.iter().filter(|(status, _)| *status == 409).count();
    assert_eq!((made, refused), (1, 7), "{answers:?}");
}

#[tokio::test]
async fn in_token_mode_a_code_lets_agents_in_and_nothing_else_does() {
    let closed = Server::start_in(Mode::Token).await;
    let (status, said) = registers(&closed, json!({"name": "abc"})).await;
    assert_eq!((status, &said["error"]), (403, &json!("Invalid or missing invite code")));
    let (status, _) = registers(&closed, json!({"name": "abc", "inviteCode": ""})).await;
    assert_eq!(status, 403);
    for mode in [Mode::Token, Mode::Local] {
        let server = Server::open_with(mode, None, |options| HttpOptions {
            invite_code: Some("open sesame".into()),
            limits: boundless(),
            ..options
        });
        let server = server.await;
        for wrong in [json!("open"), json!("open sesame "), json!(""), json!("OPEN SESAME")] {
            let (status, _) = registers(&server, json!({"name": "abc", "inviteCode": wrong})).await;
            assert_eq!(status, 403);
        }
        assert_eq!(registers(&server, json!({"name": "abc"})).await.0, 403);
        // The code is checked before the name, so a caller without a code learns nothing.
        assert_eq!(registers(&server, json!({"name": "user"})).await.0, 403);
        let right = json!({"name": "abc", "inviteCode": "open sesame"});
        let (status, made) = registers(&server, right).await;
        assert_eq!(status, 201, "{made}");
        let mut client = Client::open(&server).await;
        let hello = client.connect(made["apiKey"].as_str().unwrap()).await;
        assert!(hello.get("result").is_some(), "{hello}");
        let token = &made["claimToken"];
        let claim = json!({"claimToken": token, "ownerUserId": OWNER});
        assert_eq!(post(&server, "/api/v1/auth/claim", claim.to_string()).await.0, 403);
    }
}

#[tokio::test]
async fn an_agent_is_claimed_once_and_stays_whose_it_is() {
    let server = open_server().await;
    let (_, made) = registers(&server, json!({"name": "abc"})).await;
    let (_, second) = registers(&server, json!({"name": "abd"})).await;
    let token = made["claimToken"].as_str().unwrap().to_owned();
    let claim = |token: &str, owner: &str| {
        let body = json!({"claimToken": token, "ownerUserId": owner});
        let server = &server;
        async move { post(server, "/api/v1/auth/claim", body.to_string()).await }
    };
    let owned = json!({"agentId": made["agentId"], "ownerUserId": OWNER});
    assert_eq!(claim(&token, OWNER).await, (201, owned.clone()));
    assert_eq!(claim(&token, OWNER).await, (200, owned));
    let (status, said) = claim(&token, OTHER).await;
    assert_eq!((status, &said["code"]), (403, &json!("CLAIM_OWNER_MISMATCH")), "{said}");
    for wrong in ["", "MZAP-", &token.to_lowercase(), &format!("{token} ")] {
        let (status, said) = claim(wrong, OWNER).await;
        assert_eq!((status, &said["code"]), (401, &json!("CLAIM_NOT_FOUND")), "{wrong}: {said}");
    }
    assert_eq!(claim(&token, "somebody").await.0, 400);
    // Agents of one owner see each other in their lists.
    let mut client = Client::open(&server).await;
    client.connect(made["apiKey"].as_str().unwrap()).await;
    let listed = client.done("agents/list", json!({})).await["agents"].clone();
    assert_eq!(listed.as_object().unwrap().len(), 1, "{listed}");
    claim(second["claimToken"].as_str().unwrap(), OWNER).await;
    let listed = client.done("agents/list", json!({})).await["agents"].clone();
    assert_eq!(listed.as_object().unwrap().len(), 2, "{listed}");
    assert_eq!(listed[second["agentId"].as_str().unwrap()]["ownerUserId"], OWNER);
}

#[tokio::test]
async fn a_claim_is_no_key_and_a_key_is_no_claim() {
    let server = open_server().await;
    let (_, made) = registers(&server, json!({"name": "abc"})).await;
    let mut client = Client::open(&server).await;
    let refused = client.connect(made["claimToken"].as_str().unwrap()).await;
    assert_eq!(refused["error"]["code"], -32000);
    // People's credentials are refused too.
    let refused = client.connect(&server.key).await;
    assert_eq!(refused["error"]["code"], -32000, "{refused}");
    let body = json!({"claimToken": made["apiKey"], "ownerUserId": OWNER});
    assert_eq!(post(&server, "/api/v1/auth/claim", body.to_string()).await.0, 401);
}
