//! An app belongs to an agent's id, and a task to the manager in its log. A connection, a restart
//! or a name cannot make another agent the manager.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Agent, Client, agents, saying, words};
use super::open_server;
use crate::server::Server;

const APP: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn manifest(app: &str) -> Value {
    json!({"manifest": {"appId": app, "name": "Review"}})
}

/// Requests a task of the app in which ann and bob talk.
async fn task_of_app(ann: &mut Client, bob: &Agent) -> (String, String) {
    let wish =
        json!({"appId": APP, "invitedAgentIds": [bob.id], "initialConversation": {"name": "One"}});
    let made = ann.done("task/request", wish).await;
    let id = |what: &str| made[what]["id"].as_str().unwrap().to_owned();
    (id("task"), id("conversation"))
}

/// Checks that everything reserved for the manager is refused, and that nothing can be read.
async fn manages_nothing(mallory: &mut Client, place: &(String, String), id: &str) {
    let (task, conversation) = place;
    let here = json!({"taskId": task, "conversationId": conversation});
    let with = |more: Value| {
        let mut params = here.clone();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    for (method, params) in [
        ("messages/list", here.clone()),
        ("messages/send", saying(place, "let me in")),
        ("task/addParticipant", json!({"taskId": task, "agentId": id})),
        ("task/removeParticipant", json!({"taskId": task, "agentId": id})),
        ("task/conversation/create", json!({"taskId": task, "participants": [id]})),
        ("task/conversation/archive", here.clone()),
        ("task/conversation/participants/add", with(json!({"agentId": id}))),
        ("task/conversation/participants/remove", with(json!({"agentId": id}))),
        ("task/close", json!({"taskId": task})),
    ] {
        assert_eq!(mallory.refused(method, params).await.0, -32001, "{method}");
    }
    assert_eq!(mallory.done("task/list", json!({})).await["tasks"], json!([]));
    assert_eq!(mallory.done("task/conversation/list", json!({})).await["items"], json!([]));
}

#[tokio::test]
async fn no_other_agent_takes_an_app_over_while_its_manager_is_away() {
    let server = open_server().await;
    let ([tim, _, bob, mallory], [mut t, mut a, _b, mut m]) =
        agents(&server, ["tim", "ann", "bob", "mallory"]).await;
    t.done("apps/register", manifest(APP)).await;
    let place = task_of_app(&mut a, &bob).await;
    a.say(&place, "for those in it").await;
    manages_nothing(&mut m, &place, &mallory.id).await;
    t.leave().await;
    let (code, message) = m.refused("apps/register", manifest(APP)).await;
    assert_eq!(code, -32003);
    assert!(message.contains("moothall apps transfer"), "{message}");
    manages_nothing(&mut m, &place, &mallory.id).await;
    // The agent's key manages, over any connection.
    let mut t = Client::of(&server, &tim).await;
    let here = json!({"taskId": place.0, "conversationId": place.1});
    let read = t.done("messages/list", here).await;
    assert_eq!(words(&read["messages"][0]), "for those in it");
    t.done("apps/register", manifest(APP)).await;
    t.done("task/close", json!({"taskId": place.0})).await;
}

#[tokio::test]
async fn an_app_and_its_tasks_outlive_a_restart() {
    let server = open_server().await;
    let ([tim, ann, bob, mallory], [mut t, mut a, _b, _m]) =
        agents(&server, ["tim", "ann", "bob", "mallory"]).await;
    t.done("apps/register", manifest(APP)).await;
    let place = task_of_app(&mut a, &bob).await;
    let server = server.restarted(|options| options).await;
    let mut m = Client::of(&server, &mallory).await;
    assert_eq!(m.refused("apps/register", manifest(APP)).await.0, -32003);
    manages_nothing(&mut m, &place, &mallory.id).await;
    let mut a = Client::of(&server, &ann).await;
    let wish = json!({"appId": APP, "invitedAgentIds": []});
    assert_eq!(a.refused("task/request", wish).await.0, -32024, "its manager is away");
    let mut t = Client::of(&server, &tim).await;
    t.done("task/addParticipant", json!({"taskId": place.0, "agentId": mallory.id})).await;
}

#[tokio::test]
async fn an_agent_has_at_most_eight_apps() {
    let server = open_server().await;
    let (_, [mut t]) = agents(&server, ["tim"]).await;
    let app = |n: usize| format!("aaaaaaaa-0000-4000-8000-00000000000{n}");
    for n in 0..8 {
        t.done("apps/register", manifest(&app(n))).await;
    }
    let (code, message) = t.refused("apps/register", manifest(&app(8))).await;
    assert_eq!(code, -32003);
    assert!(message.contains("at most 8") && message.contains("moothall apps free"), "{message}");
    t.done("apps/register", manifest(&app(0))).await;
    let path = format!("/apps/{}", app(0));
    assert_eq!(server.as_operator(Method::DELETE, &path, Value::Null).await.0, 200);
    t.done("apps/register", manifest(&app(8))).await;
}

async fn apps(server: &Server) -> Vec<(String, String)> {
    let (status, list) = server.as_operator(Method::GET, "/apps", Value::Null).await;
    assert_eq!(status, 200, "{list}");
    let text = |app: &Value, field: &str| app[field].as_str().unwrap_or("-").to_owned();
    let rows = list["apps"].as_array().unwrap().iter();
    rows.map(|app| (text(app, "id"), text(app, "agent_name"))).collect()
}

async fn transfers(server: &Server, app: &str, agent: &str) -> (u16, Value) {
    let path = format!("/apps/{app}/transfer");
    server.as_operator(Method::POST, &path, json!({"agent": agent})).await
}

#[tokio::test]
async fn a_person_gives_an_app_and_its_tasks_to_another_agent() {
    let server = open_server().await;
    let ([_, _, bob, _], [mut t, mut a, _b, mut o]) =
        agents(&server, ["tim", "ann", "bob", "tom"]).await;
    t.done("apps/register", manifest(APP)).await;
    let place = task_of_app(&mut a, &bob).await;
    let over = task_of_app(&mut a, &bob).await;
    t.done("task/close", json!({"taskId": over.0})).await;
    assert_eq!(apps(&server).await, [(APP.into(), "tim".into())]);
    let (status, given) = transfers(&server, &APP.to_uppercase(), "tom").await;
    assert_eq!((status, &given["agent_name"]), (200, &json!("tom")), "{given}");
    assert_eq!(apps(&server).await, [(APP.into(), "tom".into())]);
    // The former manager has no rights any more, and is not asked.
    assert_eq!(t.refused("task/close", json!({"taskId": place.0})).await.0, -32001);
    assert_eq!(t.refused("apps/register", manifest(APP)).await.0, -32003);
    let listed = o.done("task/list", json!({})).await;
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1, "the one that is not over");
    o.done("task/close", json!({"taskId": place.0})).await;
}

#[tokio::test]
async fn a_freed_app_goes_to_the_next_agent_and_its_tasks_to_none() {
    let server = open_server().await;
    let ([_, _, bob, _], [mut t, mut a, _b, mut o]) =
        agents(&server, ["tim", "ann", "bob", "tom"]).await;
    t.done("apps/register", manifest(APP)).await;
    let place = task_of_app(&mut a, &bob).await;
    let path = format!("/apps/{APP}");
    assert_eq!(server.as_operator(Method::DELETE, &path, Value::Null).await.0, 200);
    assert_eq!(server.as_operator(Method::DELETE, &path, Value::Null).await.0, 404);
    o.done("apps/register", manifest(APP)).await;
    for client in [&mut t, &mut o] {
        assert_eq!(client.refused("task/close", json!({"taskId": place.0})).await.0, -32001);
    }
    let actions = server.as_operator(Method::GET, "/audit?limit=3", Value::Null).await.1;
    let actions: Vec<_> =
        actions["rows"].as_array().unwrap().iter().map(|row| &row["deed"]).collect();
    assert_eq!(actions, ["app_held", "app_freed", "app_held"]);
    assert_eq!(transfers(&server, APP, "nobody").await.1["error"]["code"], "unknown_agent");
    assert_eq!(transfers(&server, "x", "tom").await.1["error"]["code"], "unknown_app");
    assert_eq!(transfers(&server, super::client::DEFAULT_APP, "tom").await.0, 403);
}

#[tokio::test]
async fn a_manager_without_hooks_learns_of_its_tasks_and_may_take_part() {
    let server = open_server().await;
    let ([tim, ann, bob], [mut t, mut a, mut b]) = agents(&server, ["tim", "ann", "bob"]).await;
    t.done("apps/register", manifest(APP)).await;
    let place = task_of_app(&mut a, &bob).await;
    assert_eq!(t.next_notice("task/created").await["task"]["id"], place.0);
    let begun = t.next_notice("task/conversation/created").await;
    assert_eq!(
        begun,
        json!({"taskId": place.0, "conversationId": place.1, "name": "One", "participants": [bob.id]})
    );
    let listed = t.done("task/list", json!({})).await;
    assert_eq!(listed["tasks"][0]["id"], place.0);
    let listed = t.done("task/conversation/list", json!({})).await;
    assert_eq!(listed["items"][0]["conversation"]["id"], place.1);
    a.say(&place, "hello").await;
    let here = json!({"taskId": place.0, "conversationId": place.1});
    assert_eq!(words(&t.done("messages/list", here.clone()).await["messages"][0]), "hello");
    // The manager speaks only as a member of the conversation, as every agent does. It may add
    // itself.
    assert_eq!(t.refused("messages/send", saying(&place, "hm")).await.0, -32001);
    t.done("task/addParticipant", json!({"taskId": place.0, "agentId": tim.id})).await;
    let mut inside = here.clone();
    inside["agentId"] = json!(tim.id);
    t.done("task/conversation/participants/add", inside).await;
    t.say(&place, "I am here").await;
    assert_eq!(b.next_notice("messages/received").await["message"]["senderId"], ann.id);
    assert_eq!(b.next_notice("messages/received").await["message"]["senderId"], tim.id);
    t.done("task/close", json!({"taskId": place.0})).await;
    assert_eq!(t.next_notice("task/closed").await["task"]["id"], place.0);
}

#[tokio::test]
async fn a_manager_that_was_away_finds_what_was_asked_for_in_its_lists() {
    let server = open_server().await;
    let ([tim, _, bob], [mut t, mut a, _b]) = agents(&server, ["tim", "ann", "bob"]).await;
    t.done("apps/register", manifest(APP)).await;
    let place = task_of_app(&mut a, &bob).await;
    t.leave().await;
    let mut t = Client::of(&server, &tim).await;
    assert_eq!(t.done("task/list", json!({})).await["tasks"][0]["id"], place.0);
    a.done("task/leave", json!({"taskId": place.0})).await;
    let mut b = Client::of(&server, &bob).await;
    b.done("task/leave", json!({"taskId": place.0})).await;
    assert_eq!(b.next_notice("task/closed").await["task"]["id"], place.0, "the last one is told");
    assert_eq!(t.next_notice("task/closed").await["task"]["id"], place.0);
}

#[tokio::test]
async fn a_manager_is_not_asked_about_its_own_words() {
    let server = open_server().await;
    let ([tim, _, bob], [mut t, mut a, mut b]) = agents(&server, ["tim", "ann", "bob"]).await;
    let mut asks = manifest(APP);
    asks["manifest"]["hooks"] = json!({"message_authorize": {"timeoutMs": 20000}});
    t.done("apps/register", asks).await;
    let wish =
        json!({"appId": APP, "invitedAgentIds": [bob.id, tim.id], "initialConversation": {}});
    let made = a.done("task/request", wish).await;
    let id = |what: &str| made[what]["id"].as_str().unwrap().to_owned();
    let place = (id("task"), id("conversation"));
    t.say(&place, "welcome").await;
    assert_eq!(words(&b.next_notice("messages/received").await["message"]), "welcome");
}
