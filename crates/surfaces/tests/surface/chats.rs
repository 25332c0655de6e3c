//! Chats outside of the server: who binds one, what the binding shows, and whose words are owed.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_engine::outbox::{DeliveryHandler, DeliveryNotes, Outcome};
use moothall_engine::ports::{Delivery, TargetKind};
use moothall_kernel::chat::PostOrigin;
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::ids::StreamId;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::server::{Server, soon};

pub const CHAT: &str = "telegram:-100123";

/// A channel that hands on what it carries: the chat, and the position of the message.
struct Channel(mpsc::UnboundedSender<(String, u64)>);

#[async_trait]
impl DeliveryHandler for Channel {
    async fn carry(&self, delivery: &Delivery, _: &DeliveryNotes<'_>) -> Outcome {
        self.0.send((delivery.target.to_string(), delivery.through_seq.0)).unwrap();
        Outcome::Done(String::new())
    }
}

/// Starts a server with a channel. Returns what the channel carries.
pub async fn with_channel() -> (Server, mpsc::UnboundedReceiver<(String, u64)>) {
    let server = Server::start().await;
    let (carries, carried) = mpsc::unbounded_channel();
    server.hall.register_handler(TargetKind::Chat, Arc::new(Channel(carries))).await.unwrap();
    (server, carried)
}

/// Sends a control with proof. Returns the status and the answer.
pub async fn control(server: &Server, thread: &str, content: Value) -> (u16, Value) {
    let event = json!({"type": "control", "from": "user", "content": content});
    server.as_operator(Method::POST, &format!("/threads/{thread}/events"), event).await
}

pub async fn bound_to(server: &Server, query: &str) -> Vec<String> {
    let (status, list) =
        server.as_operator(Method::GET, &format!("/threads?{query}"), json!(null)).await;
    assert_eq!(status, 200, "{list}");
    let ids = list["threads"].as_array().unwrap().iter();
    ids.map(|thread| thread["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_person_with_proof_binds_a_chat_and_it_is_recorded() {
    let (server, _carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/events");
    let bind = json!({"type": "control", "from": "user", "content": {"bind": CHAT}});
    let (status, refused) = server.unproven(Method::POST, &path, bind).await;
    assert!(matches!(status, 401 | 403), "{refused}");
    assert!(bound_to(&server, &format!("chat={CHAT}")).await.is_empty());

    let (status, answer) = control(&server, &thread, json!({"bind": CHAT})).await;
    assert_eq!(
        (status, &answer["event"]["content"]["bind"]),
        (200, &json!("chat:telegram:-100123"))
    );
    assert_eq!(bound_to(&server, &format!("chat={CHAT}")).await, [thread.as_str()]);
    assert_eq!(
        bound_to(&server, &format!("chat=chat:{CHAT}&archived=false")).await,
        [thread.as_str()]
    );
    assert!(bound_to(&server, &format!("chat={CHAT}&archived=true")).await.is_empty());
    assert!(bound_to(&server, "chat=telegram:-7").await.is_empty());

    let (_, audit) = server.as_operator(Method::GET, "/audit?limit=1", json!(null)).await;
    let row = &audit["rows"][0];
    assert_eq!((&row["deed"], &row["by"]), (&json!("chat_bound"), &json!("user")), "{audit}");
    let detail = row["detail"].as_str().unwrap();
    assert!(detail.contains(CHAT) && detail.contains(&thread), "{detail}");

    let (_, again) = control(&server, &thread, json!({"bind": CHAT})).await;
    assert_eq!(again["error"]["code"], "chat_bound", "{again}");
    let (status, _) = control(&server, &thread, json!({"unbind": CHAT})).await;
    assert_eq!(status, 200);
    assert!(bound_to(&server, &format!("chat={CHAT}")).await.is_empty());
    let (_, again) = control(&server, &thread, json!({"unbind": CHAT})).await;
    assert_eq!(again["error"]["code"], "chat_not_bound", "{again}");
}

#[tokio::test]
async fn a_chat_belongs_to_one_open_thread() {
    let (server, _carried) = with_channel().await;
    let (one, two) = (server.thread("mention_only").await, server.thread("mention_only").await);
    assert_eq!(control(&server, &one, json!({"bind": CHAT})).await.0, 200);
    let (status, taken) = control(&server, &two, json!({"bind": CHAT})).await;
    assert_eq!((status, &taken["error"]["code"]), (409, &json!("taken")), "{taken}");

    assert_eq!(control(&server, &one, json!({"archive": true})).await.0, 200);
    assert_eq!(control(&server, &two, json!({"bind": CHAT})).await.0, 200);
    let (status, refused) = control(&server, &one, json!({"unarchive": true})).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("taken")), "{refused}");
    assert_eq!(bound_to(&server, "archived=true").await, [one.as_str()], "it stays archived");

    assert_eq!(control(&server, &two, json!({"unbind": CHAT})).await.0, 200);
    assert_eq!(control(&server, &one, json!({"unarchive": true})).await.0, 200);
    assert_eq!(bound_to(&server, &format!("chat={CHAT}")).await, [one]);
}

/// Archiving ends the bindings, and opening again makes them anew. So both need the right to bind
/// if there are any, and both are recorded.
#[tokio::test]
async fn a_bound_conversation_is_archived_and_opened_with_the_right_to_bind() {
    let (server, _carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/events");
    let send = |on: bool| {
        let content = if on { json!({"archive": true}) } else { json!({"unarchive": true}) };
        json!({"type": "control", "from": "user", "content": content})
    };
    assert_eq!(server.unproven(Method::POST, &path, send(true)).await.0, 200);
    assert_eq!(server.unproven(Method::POST, &path, send(false)).await.0, 200);
    assert_eq!(control(&server, &thread, json!({"bind": CHAT})).await.0, 200);
    let refused = async |on: bool| {
        let (status, refused) = server.unproven(Method::POST, &path, send(on)).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(CHAT) && message.contains("`threads:admin`"), "{message}");
        let line = json!({"text": if on { "/archive" } else { "/unarchive" }});
        let commands = format!("/threads/{thread}/commands");
        assert_eq!(server.unproven(Method::POST, &commands, line).await.0, 403);
    };
    refused(true).await;
    assert_eq!(bound_to(&server, &format!("chat={CHAT}")).await, [thread.as_str()]);
    assert_eq!(control(&server, &thread, json!({"archive": true})).await.0, 200);
    refused(false).await;
    assert_eq!(control(&server, &thread, json!({"unarchive": true})).await.0, 200);
    let (_, audit) = server.as_operator(Method::GET, "/audit?limit=50", json!(null)).await;
    let rows = audit["rows"].as_array().unwrap().iter();
    let chats =
        rows.filter_map(|row| row["deed"].as_str()).filter(|deed| deed.starts_with("chat_"));
    assert_eq!(chats.collect::<Vec<_>>(), ["chat_bound", "chat_unbound", "chat_bound"], "{audit}");
}

#[tokio::test]
async fn a_second_chat_is_bound_if_the_person_lets_both_read() {
    let (server, _carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    assert_eq!(control(&server, &thread, json!({"bind": CHAT})).await.0, 200);
    let (status, asked) = control(&server, &thread, json!({"bind": "telegram:-7"})).await;
    let message = asked["error"]["message"].as_str().unwrap_or_default();
    assert_eq!((status, &asked["error"]["code"]), (409, &json!("second_chat")), "{asked}");
    assert!(message.contains(CHAT) && message.contains("telegram:-7"), "{message}");
    let both = json!({"bind": "telegram:-7", "confirm": true});
    assert_eq!(control(&server, &thread, both).await.0, 200);
    let moved = json!({"unbind": "telegram:-7", "bind": "telegram:-8", "confirm": true});
    assert_eq!(control(&server, &thread, moved).await.0, 200);
}

#[tokio::test]
async fn what_is_no_chat_is_refused_with_its_form() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for given in [json!("telegram"), json!("link:a,b c"), json!(""), json!(5), json!("Telegram:1")]
    {
        let (status, refused) = control(&server, &thread, json!({"bind": given})).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (422, &json!("invalid_control")),
            "{refused}"
        );
    }
    let (status, refused) =
        server.as_operator(Method::GET, "/threads?chat=telegram", json!(null)).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (422, &json!("invalid_parameter")),
        "{refused}"
    );
}

#[tokio::test]
async fn a_chat_without_a_channel_is_refused() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let (status, refused) = control(&server, &thread, json!({"bind": CHAT})).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("no_channel")), "{refused}");
}

/// A client cannot state the origin of its words, and no label hides them from a chat.
#[tokio::test]
async fn a_client_states_no_origin() {
    let (server, mut carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    assert_eq!(control(&server, &thread, json!({"bind": CHAT})).await.0, 200);
    for key in ["chat", "identity"] {
        let event = json!({"from": "user", "content": "hello", "meta": {key: CHAT}});
        let (status, refused) = server.refuse(&thread, event).await;
        assert_eq!((status, &refused["code"]), (422, &json!("server_field")), "{refused}");
    }
    let target = format!("chat:{CHAT}");
    let meta = json!({"tags": [format!("from:{target}")]});
    let accepted =
        server.take(&thread, json!({"from": "user", "content": "hello", "meta": meta})).await;
    assert!(accepted["event"]["meta"].get("chat").is_none(), "{accepted}");
    let seq = accepted["event"]["seq"].as_u64().unwrap();
    let _binding = soon(carried.recv()).await;
    assert_eq!(soon(carried.recv()).await, Some((target, seq)));
}

/// Words that a channel brought are shown with their chat, and go to the other chats alone.
#[tokio::test]
async fn words_from_a_chat_go_to_the_other_chats() {
    let (server, mut carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    let both = json!({"bind": CHAT});
    assert_eq!(control(&server, &thread, both).await.0, 200);
    let second = json!({"bind": "telegram:-7", "confirm": true});
    assert_eq!(control(&server, &thread, second).await.0, 200);
    let identity = Some("telegram:4711".into());
    let origin = PostOrigin { chat: CHAT.parse().unwrap(), identity, message: None };
    let post = Post { origin: Some(Box::new(origin)), ..Post::new(Actor::human("user"), "hello") };
    let stream = StreamId::new(&thread);
    server.hall.submit(&stream, ClientCommand::Post(post), None).await.unwrap();
    let events = server.events(&thread, "").await;
    let event = events.iter().find(|event| event["content"] == "hello").unwrap();
    assert_eq!(event["meta"]["chat"], CHAT, "{event}");
    assert_eq!(event["meta"]["identity"], "telegram:4711", "{event}");
    let seq = event["seq"].as_u64().unwrap();
    let mut told = Vec::new();
    while !told.contains(&("chat:telegram:-7".to_owned(), seq)) {
        told.extend(soon(carried.recv()).await);
    }
    let own = ("chat:telegram:-100123".to_owned(), seq);
    assert!(!told.contains(&own) && carried.try_recv().is_err(), "its own chat has the words");
}
