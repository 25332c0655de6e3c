//! Checks that everything stored in a folder, or in progress in it, is still there and continues.

use nix::sys::signal::Signal;
use reqwest::Method;
use serde_json::{Value, json};

use super::make::{Line, answered};
use super::{APP, CODE, TURNS, under_key};
use crate::harness::{Server, stderr};
use crate::links::{Hall, said, until};

/// Sends a request with this credential; returns the status.
async fn status(server: &Server<'_>, key: &Value, method: Method, path: &str, body: Value) -> u16 {
    let request = server.http.request(method.clone(), format!("{}{path}", server.url));
    let request = request.bearer_auth(key.as_str().unwrap());
    let request = if method == Method::GET { request } else { request.json(&body) };
    request.send().await.unwrap().status().as_u16()
}

/// Returns the statuses of reading and writing in a conversation with this credential.
async fn reads_and_says(server: &Server<'_>, key: &Value, thread: &str) -> (u16, u16) {
    let events = format!("/threads/{thread}/events");
    let body = json!({"type": "message", "content": "hello again"});
    (
        status(server, key, Method::GET, &events, Value::Null).await,
        status(server, key, Method::POST, &events, body).await,
    )
}

async fn credentials(server: &Server<'_>, made: &Value) {
    let of = &made["credentials"];
    let (thread, other) = (of["thread"].as_str().unwrap(), made["held"].as_str().unwrap());
    assert_eq!(reads_and_says(server, &of["ann"], thread).await, (200, 200), "a person");
    assert_eq!(reads_and_says(server, &of["critic"], thread).await, (200, 200), "an agent");
    assert_eq!(reads_and_says(server, &of["reader"], thread).await, (200, 403), "it only reads");
    assert_eq!(reads_and_says(server, &of["gone"], thread).await, (401, 401), "it was revoked");
    for key in ["bound", "early"] {
        assert_eq!(reads_and_says(server, &of[key], thread).await, (200, 200), "{key}");
        assert_eq!(reads_and_says(server, &of[key], other).await, (404, 404), "{key}");
    }
    let used = json!({"code": of["used"]});
    assert_ne!(server.post("/invitations/accept", used).await.0, 200, "a code turns once");
    let late = server.accepted("/invitations/accept", json!({"code": of["code"]})).await;
    assert_eq!(reads_and_says(server, &late["token"], thread).await, (200, 200), "a code turns");
    let agent = json!({"name": "cleo", "inviteCode": CODE});
    assert_eq!(server.post("/api/v1/auth/register", agent).await.0, 201, "agents register");
}

/// Checks that a repeated request under its key is done once, and that another request under the
/// key is refused.
async fn keys(server: &Server<'_>, made: &Value) {
    let thread = made["credentials"]["thread"].as_str().unwrap();
    let (code, again) = under_key(thread, server, "said once").await;
    assert_eq!((code, &again["event"]), (200, &made["keyed"]), "the same answer");
    assert_eq!(under_key(thread, server, "other words").await.0, 422);
}

async fn guards(server: &Server<'_>, made: &Value) {
    let held = made["held"].as_str().unwrap();
    let state = async || server.get(&format!("/threads/{held}/state")).await;
    assert!(state().await["state"]["held"].is_string(), "{}", state().await);
    let asked = server.say(held, "go on").await;
    until("both answer", async || {
        answered(server, held, &asked, "echo").await > 0
            && answered(server, held, &asked, "chorus").await > 0
    })
    .await;

    let paused = made["paused"].as_str().unwrap();
    let of = server.get(&format!("/threads/{paused}/state")).await;
    assert_eq!(of["state"]["paused"], true, "{of}");
    server.control(paused, json!({"pause": false})).await;
    until("what waited is answered", async || {
        said(server, paused).await.iter().any(|(from, _)| from == "echo")
    })
    .await;
    let muted = server.get(&format!("/threads/{paused}/state")).await;
    assert_eq!(muted["state"]["muted"], json!(["chorus"]), "{muted}");
}

/// Checks that the command agent answers its messages once.
async fn work(server: &Server<'_>, hall: &Hall, made: &Value) {
    std::fs::write(hall.home.path().join("go"), "").unwrap();
    let thread = made["work"]["thread"].as_str().unwrap();
    let asked = made["work"]["asked"].as_array().unwrap();
    let last = asked.last().unwrap();
    until("the last is answered", async || answered(server, thread, last, "slow").await == 1).await;
    // The kill lost the first message's turn; the turn of the later ones covers it.
    let words = said(server, thread).await;
    assert_eq!(words.iter().filter(|(from, _)| from == "slow").count(), 1, "{words:?}");

    // One turn of this hour's budget was used before. If a new hour begins meanwhile, the full
    // budget is available again.
    let is_over = async || {
        let events = server.events(thread).await;
        events.iter().any(|event| event["content"]["code"] == "over_budget")
    };
    let mut asked = 0;
    while !is_over().await {
        asked += 1;
        assert!(asked <= 2 * TURNS, "the budget binds");
        let next = server.say(thread, &format!("@thrifty {asked}")).await;
        until("thrifty answers, or its budget binds", async || {
            answered(server, thread, &next, "thrifty").await == 1 || is_over().await
        })
        .await;
    }
    assert!(asked == TURNS || asked > TURNS + 1, "{asked}: what was spent before counts");
}

async fn gathering(server: &Server<'_>, made: &Value) {
    let id = made["gathering"].as_str().unwrap();
    let shown = server.get(&format!("/gatherings/{id}")).await;
    assert_eq!((&shown["status"], &shown["holder"]["name"]), (&json!("active"), &json!("Ann")));
    let pass = format!("/gatherings/{id}/pass");
    server.accepted(&pass, json!({"from": "ann"})).await;
    let words = json!({"type": "message", "from": "pat", "to": "all", "content": "another"});
    server.accepted(&format!("/threads/{id}/events"), words).await;
    server.accepted(&pass, json!({"from": "pat"})).await;
    server.accepted(&format!("/gatherings/{id}/end"), json!({})).await;
    until("it is harvested", async || {
        said(server, id).await.iter().any(|(_, words)| words.contains("What emerged"))
    })
    .await;
}

/// Checks that a task of an earlier version has no manager until a person assigns one.
async fn task(server: &Server<'_>, made: &Value) {
    let of = &made["task"];
    let key = |at: usize| of["agents"][at]["key"].as_str().unwrap();
    let (mut ada, mut bob) = (Line::of(server, key(0)).await, Line::of(server, key(1)).await);
    let listed = bob.done("task/list", json!({})).await;
    assert_eq!(
        (&listed["tasks"][0]["id"], &listed["tasks"][0]["status"]),
        (&of["task"], &json!("active"))
    );
    let say = json!({"taskId": of["task"], "conversationId": of["conversation"],
        "parts": [{"type": "text", "text": "and on"}]});
    bob.done("messages/send", say).await;
    let list = json!({"taskId": of["task"], "conversationId": of["conversation"]});
    let seen = bob.done("messages/list", list).await["messages"].to_string();
    assert!(seen.contains("under way") && seen.contains("and on"), "{seen}");

    ada.done("apps/register", json!({"manifest": {"appId": APP, "name": "Review"}})).await;
    let transfer = json!({"agent": of["agents"][0]["id"]});
    let (code, given) = server.post(&format!("/apps/{APP}/transfer"), transfer).await;
    assert_eq!(code, 200, "{given}");
    ada.done("task/close", json!({"taskId": of["task"]})).await;
    let closed = bob.done("task/list", json!({})).await;
    assert_eq!(closed["tasks"][0]["status"], "closed", "{closed}");
}

/// Checks that a session answers its prompt once; without its terminal, the turn ends.
async fn session(server: &Server<'_>, hall: &Hall, made: &Value, alive: bool) {
    let of = &made["session"];
    let (id, message_id) = (of["id"].as_str().unwrap(), &of["told"]);
    if alive {
        until("the session answers", async || {
            answered(server, id, message_id, "planner").await == 1
        })
        .await;
        let again = server.say(id, "[say:and now]").await;
        until("it answers", async || answered(server, id, &again, "planner").await == 1).await;
        assert_eq!(hall.taken().len(), 2, "each prompt was typed once");
        assert_eq!(answered(server, id, message_id, "planner").await, 1);
        assert_eq!(reads_and_says(server, &of["token"], id).await.0, 200, "its token is good");
    } else {
        until("its turn ends", async || {
            let turns = server.get(&format!("/threads/{id}/turns")).await;
            let turns = turns["turns"].as_array().unwrap();
            !turns.is_empty() && turns.iter().all(|turn| turn["ended_at"].is_string())
        })
        .await;
        assert_eq!(hall.taken().len(), 0, "nothing is typed anywhere");
    }
}

/// Checks that all parts of a folder continue, and that it is undamaged at the end.
pub async fn whole(server: Server<'_>, hall: &Hall, made: &Value, alive: bool) {
    whole_log(hall, &["audit", "verify"]);
    credentials(&server, made).await;
    keys(&server, made).await;
    guards(&server, made).await;
    gathering(&server, made).await;
    task(&server, made).await;
    session(&server, hall, made, alive).await;
    work(&server, hall, made).await;
    whole_log(hall, &["audit", "verify"]);
    server.signal(Signal::SIGTERM);
    server.end();
    whole_log(hall, &["verify"]);
}

/// Checks that the log and its tables are undamaged.
fn whole_log(hall: &Hall, check: &[&str]) {
    let data = hall.home.data();
    let verified = hall.home.run(&[check, &["--data", data.to_str().unwrap()]].concat());
    assert!(verified.status.success(), "{check:?}: {}", stderr(&verified));
}
