//! People and agents of other programs in one conversation: acts of people over HTTP, as agents see
//! them.

use reqwest::Method;
use serde_json::{Value, json};

use super::catch_up::after;
use super::client::{saying, words};
use super::{Client, agents, open_server};
use crate::server::Server;

async fn says(server: &Server, place: &(String, String), content: &str) -> Value {
    let path = format!("/threads/{}/events", place.1);
    let said = json!({"from": "user", "content": content});
    let (status, answer) = server.as_operator(Method::POST, &path, said).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

async fn control(server: &Server, place: &(String, String), content: Value) {
    let path = format!("/threads/{}/events", place.1);
    let said = json!({"type": "control", "from": "user", "content": content});
    let (status, answer) = server.as_operator(Method::POST, &path, said).await;
    assert_eq!(status, 200, "{answer}");
}

async fn all(client: &mut Client, place: &(String, String)) -> Vec<Value> {
    let list = json!({"taskId": place.0, "conversationId": place.1});
    client.done("messages/list", list).await["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_a_person_says_is_a_message_like_any_other() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    says(&server, &place, "Hello, all of you.").await;
    let notices =
        [ann.next_notice("messages/received").await, other.next_notice("messages/received").await];
    assert_eq!(notices[0], notices[1]);
    let message = &notices[0]["message"];
    assert_eq!(words(message), "Hello, all of you.");
    assert_eq!(all(&mut ann, &place).await, std::slice::from_ref(message));
    let long = "b".repeat(60_000);
    says(&server, &place, &long).await;
    let parts = ann.next_notice("messages/received").await["message"]["parts"].clone();
    let joined: String =
        parts.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap()).collect();
    assert_eq!((joined, parts.as_array().unwrap().len()), (long, 2));
}

#[tokio::test]
async fn an_agent_that_is_asked_and_passes_is_told_that_this_is_no_message() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    let refused = other.refused("messages/send", saying(&place, "[PASS]")).await;
    assert_eq!(refused.0, -32602, "{refused:?}");
    says(&server, &place, "@bob what do you think?").await;
    other.next_notice("messages/received").await;
    let refused = other.refused("messages/send", saying(&place, " [PASS]\n")).await;
    assert_eq!(refused.0, -32602, "{refused:?}");
    other.say(&place, "I do not know.").await;
    assert_eq!(all(&mut ann, &place).await.len(), 2);
}

#[tokio::test]
async fn a_name_that_reaches_no_participant_is_told_in_the_result_and_only_then() {
    let server = open_server().await;
    let ([_, bob], [mut ann, _other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    for (words, word, sentence) in [
        (
            "@bobb look",
            "unknown_name",
            "One name reaches no participant: nobody here is called @bobb; the nearest name is @",
        ),
        ("@all look", "broadcast", "there is no @all here"),
    ] {
        let sent = ann.done("messages/send", saying(&place, words)).await;
        assert_eq!(sent["warnings"][0], word, "{sent}");
        assert!(sent["warnings"][1].as_str().unwrap().contains(sentence), "{sent}");
    }
    let sent = ann.done("messages/send", saying(&place, "@bob look")).await;
    assert_eq!(sent.get("warnings"), None, "{sent}");
}

#[tokio::test]
async fn agents_talk_on_in_a_conversation_in_which_people_are() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    says(&server, &place, "@bob @ann talk about it").await;
    for number in 0..20 {
        ann.say(&place, &format!("@bob {number}")).await;
        other.say(&place, &format!("@ann {number}")).await;
    }
    assert_eq!(all(&mut ann, &place).await.len(), 41);
}

#[tokio::test]
async fn a_person_who_pauses_or_mutes_is_obeyed_and_nothing_breaks() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    for stops in [json!({"pause": true}), json!({"mute": {"targets": [bob.id]}})] {
        control(&server, &place, stops.clone()).await;
        let refused = other.refused("messages/send", saying(&place, "and now?")).await;
        assert!([-32001, -32003].contains(&refused.0), "{stops}: {refused:?}");
        control(&server, &place, json!({"pause": false})).await;
    }
    ann.say(&place, "I may").await;
}

#[tokio::test]
async fn a_person_archives_takes_out_and_deletes() {
    let server = open_server().await;
    let ([_, bob, cid], [mut ann, mut other, mut third]) =
        agents(&server, ["ann", "bob", "cid"]).await;
    let place = ann.task_with(&[&bob, &cid]).await;
    control(&server, &place, json!({"uninvite": {"participant_id": cid.id}})).await;
    let notice = third.next_notice("task/conversation/participants/removed").await;
    assert_eq!(
        (&notice["removedAgentId"], &notice["reason"]),
        (&json!(cid.id), &json!("tm_remove"))
    );
    third.refused("messages/send", saying(&place, "?")).await;
    let path = format!("/threads/{}", place.1);
    control(&server, &place, json!({"archive": true})).await;
    other.next_notice("task/conversation/archived").await;
    assert_eq!(other.refused("messages/send", saying(&place, "?")).await.0, -32022);
    let again = ann.task_with(&[&bob]).await;
    let (status, answer) = server.as_operator(Method::DELETE, &path, json!({})).await;
    assert_eq!(status, 200, "{answer}");
    // A deleted conversation is not found, and does not disturb anything else.
    let list = json!({"taskId": place.0, "conversationId": place.1});
    assert_eq!(other.refused("messages/list", list).await.0, -32002);
    assert_eq!(other.refused("messages/send", saying(&place, "?")).await.0, -32002);
    let listed = other.done("task/conversation/list", json!({})).await["items"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    other.done("agents/lookup", json!({"agentIds": [ann_id(&listed), cid.id]})).await;
    assert_eq!(other.done("task/list", json!({})).await["tasks"].as_array().unwrap().len(), 2);
    other.done("task/leave", json!({"taskId": place.0})).await;
    let closed = ann.done("task/close", json!({"taskId": place.0})).await;
    assert_eq!(closed["task"]["status"], "closed");
    ann.say(&again, "elsewhere it goes on").await;
    let back = Client::of(&server, &bob).await;
    back.leave().await;
}

fn ann_id(listed: &Value) -> Value {
    listed[0]["conversation"]["createdBy"].clone()
}

#[tokio::test]
async fn what_a_person_erased_is_not_read_and_stops_nobody() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    let mut said = Vec::new();
    for number in 0..9 {
        said.push(ann.say(&place, &number.to_string()).await);
    }
    let mut picture = saying(&place, "");
    picture["parts"] = json!([{"type": "image", "url": "https://example.org/a.png"},
        {"type": "text", "text": "look"}]);
    let shown = ann.done("messages/send", picture).await["message"]["id"].clone();
    let erased = said[..7].iter().map(String::as_str).chain([shown.as_str().unwrap()]);
    for erased in erased {
        let path = format!("/threads/{}/events/{erased}/redact", place.1);
        let (status, answer) = server.as_operator(Method::POST, &path, json!({})).await;
        assert_eq!(status, 200, "{answer}");
    }
    // An empty page could not name a position to continue from, so erased messages are skipped.
    for since in ["0", &said[0], &said[6]] {
        let left = after(&mut other, &place, since, 2).await;
        assert_eq!(left.iter().map(words).collect::<Vec<_>>(), ["7", "8"], "{since}");
    }
    assert_eq!(all(&mut other, &place).await.len(), 2);
    let answer = json!({"taskId": place.0, "conversationId": place.1, "replyToId": said[0],
        "parts": [{"type": "text", "text": "what was that?"}]});
    other.done("messages/send", answer).await;
}
