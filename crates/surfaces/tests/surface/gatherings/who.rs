//! Rights to bring participants into a gathering.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    agent, begun, code, id_of, introduce, living, person, plain, plan, refusal, scribe, session,
};
use crate::access::token;
use crate::matrix::code_for;
use crate::mcp::call;
use crate::server::Server;

#[tokio::test]
async fn who_may_bring_whom() {
    let folder = tempfile::tempdir().unwrap();
    let (server, stage) = Server::with_startable(Mode::Local, folder.path()).await;
    for name in ["inside", "beside"] {
        server.session(name).await;
    }
    introduce(&server).await;
    let inside = stage.token("inside");
    let (beside, started) = (session("beside", 1), agent("Dora", 1, "demo"));
    let with = |member: &Value| plan(vec![member.clone(), person("Bob", 2), scribe(3)]);

    // Without a credential: people and models, but not members that reach a terminal.
    assert_eq!(server.post("/gatherings", plain()).await.0, 200);
    for member in [&beside, &started] {
        let refused = server.unproven(Method::POST, "/gatherings", with(member)).await;
        assert_eq!(code(&refused), (403, "forbidden"), "{member}: {}", refused.1);
    }

    // An agent: only sessions it may talk to, and only programs that the operator lets agents
    // start, in the allowed folder.
    let refused = refusal(&server, &inside, "start_gathering", with(&beside)).await;
    assert_eq!(code(&refused).1, "session_not_found", "it does not know of it");
    for wrong in [
        json!({}),
        json!({"cwd": "/"}),
        json!({"cwd": folder.path(), "args": ["--allow-everything"]}),
        json!({"cwd": folder.path(), "model": "another"}),
    ] {
        let mut member = started.clone();
        member.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let refused = refusal(&server, &inside, "start_gathering", with(&member)).await;
        assert_eq!(code(&refused).1, "forbidden", "{member}: {}", refused.1);
    }
    assert_eq!((stage.count(), living(&server).await.len()), (2, 2), "nothing was started");
    let mut there = started.clone();
    there["cwd"] = json!(folder.path());
    let answer = call(&server, Some(&inside), "start_gathering", with(&there)).await;
    assert_eq!((&answer["holder"]["name"], stage.count()), (&json!("Dora"), 3), "{answer}");
    server.introduce(&["inside", "beside"]).await;
    let answer = call(&server, Some(&inside), "start_gathering", with(&beside)).await;
    let holders = answer["participants"].as_array().unwrap();
    let is_in = holders.iter().any(|member| member["participant_id"] == "inside");
    assert!(!is_in, "who begins a gathering is not in it by that: {answer}");
    assert_eq!(answer["holder"]["name"], "beside");

    // The first person without an id is the person who begins the gathering, or `user` if an agent
    // begins it.
    let unnamed = json!({"name": "Zoe", "number": 1, "kind": "human"});
    let by_agent = call(&server, Some(&inside), "start_gathering", with(&unnamed)).await;
    assert_eq!(by_agent["holder"]["participant_id"], "user");
    let scopes = ["threads:read", "threads:write"];
    let (_, ann) = token(&server, json!({"principal": "ann", "scopes": scopes})).await;
    let (_, by_person) = server.post_as(&ann, "/gatherings", with(&unnamed)).await;
    assert_eq!(by_person["holder"]["participant_id"], "ann", "{by_person}");
    for member in [&beside, &started] {
        let refused = server.post_as(&ann, "/gatherings", with(member)).await;
        assert_eq!(code(&refused), (403, "forbidden"), "{member}");
    }
    let mut forged = plain();
    forged["from"] = json!("user");
    assert_eq!(code(&server.post_as(&ann, "/gatherings", forged).await), (403, "forbidden"));
}

#[tokio::test]
async fn an_agent_begins_so_many_gatherings_in_an_hour_and_no_more() {
    let (server, stage) = Server::with_terminals().await;
    server.session("inside").await;
    introduce(&server).await;
    let inside = stage.token("inside");
    for _ in 0..20 {
        assert_eq!(server.post_as(&inside, "/gatherings", plain()).await.0, 200);
    }
    let refused = server.post_as(&inside, "/gatherings", plain()).await;
    assert_eq!(code(&refused), (403, "forbidden"), "{}", refused.1);
    assert_eq!(server.post("/gatherings", plain()).await.0, 200, "people may");
}

#[tokio::test]
async fn a_gathering_that_is_asked_for_twice_is_begun_once() {
    let (server, stage) = Server::with_terminals().await;
    let members = || vec![agent("Dora", 1, "demo"), person("Bob", 2), scribe(3)];
    let (status, first) = server.post_with_key("/gatherings", "k-1", plan(members())).await;
    assert_eq!((status, stage.count()), (200, 1), "{first}");
    let (status, again) = server.post_with_key("/gatherings", "k-1", plan(members())).await;
    assert_eq!((status, &again, stage.count()), (200, &first, 1), "nothing is started twice");
    let other = server.post_with_key("/gatherings", "k-1", plain()).await;
    assert_eq!(code(&other), (422, "idempotency_key_reused"));
    assert_eq!(server.get("/gatherings").await.1["gatherings"].as_array().unwrap().len(), 1);

    // A refused request may be retried with its key.
    let mut wrong = plain();
    wrong["beats_per_turn"] = json!(0);
    for _ in 0..2 {
        let refused = server.post_with_key("/gatherings", "k-2", wrong.clone()).await;
        assert_eq!(code(&refused), (422, "invalid_gathering"));
    }

    // A repeated pass counts once.
    let id = id_of(&begun(&server, plain()).await);
    let path = format!("/gatherings/{id}/pass");
    let pass = || server.post_with_key(&path, "p-1", json!({"from": "ann"}));
    let (status, passed) = pass().await;
    assert_eq!((status, &passed["holder"]["name"]), (200, &json!("Bob")), "{passed}");
    assert_eq!(pass().await, (200, passed));
}

#[tokio::test]
async fn a_code_made_with_the_start_up_credential_is_canceled_when_its_maker_is_taken_out() {
    let server = Server::start().await;
    let scopes = ["threads:read", "threads:write", "participants:invite"];
    let (_, ann) = token(&server, json!({"principal": "ann", "scopes": scopes})).await;
    let user = json!({"name": "Mia", "number": 1, "kind": "human"});
    let id = id_of(&begun(&server, plan(vec![user, person("Ann", 2), scribe(3)])).await);
    let other = server.thread("hybrid").await;
    let code = code_for(&server, &id).await;
    let codes = [code_for(&server, &id).await, code_for(&server, &other).await];
    let accept = async |code: &str| server.post("/invitations/accept", json!({"code": code})).await;
    assert_eq!(accept(&code).await.0, 200);
    let uninvite = json!({"type": "control", "content": {"uninvite": {"participant_id": "user"}}});
    let (status, taken) = server.post_as(&ann, &format!("/threads/{id}/events"), uninvite).await;
    assert_eq!(status, 200, "{taken}");
    assert_eq!(accept(&codes[0]).await.1["error"]["code"], "unauthenticated");
    assert_eq!(accept(&codes[1]).await.0, 200, "it is for another conversation");
    // The code was revoked, and does not only wait for the return of its maker.
    let (_, audit) = server.as_operator(Method::GET, "/audit", Value::Null).await;
    let canceled = |row: &Value| row["detail"] == "open invitations of user, who was taken out";
    assert!(audit["rows"].as_array().unwrap().iter().any(canceled), "{audit}");
}
