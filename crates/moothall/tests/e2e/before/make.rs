//! Fills a folder with the program of an earlier version, and kills it in the middle of its work.

use std::path::Path;

use futures_util::{SinkExt, StreamExt};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{APP, CODE};
use crate::harness::{Home, Server};
use crate::links::{Hall, start, until};

/// Connection of a registered agent.
pub struct Line(WebSocketStream<TcpStream>);

impl Line {
    pub async fn of(server: &Server<'_>, key: &str) -> Self {
        let stream = TcpStream::connect(server.address()).await.unwrap();
        let socket = client_async(format!("ws://{}/ws", server.address()), stream).await;
        let mut line = Self(socket.unwrap().0);
        let hello =
            json!({"agentKey": key, "minProtocol": "2026.523.0", "maxProtocol": "2026.525.0"});
        line.done("network/connect", hello).await;
        line
    }

    /// Calls a method; returns the answer, with its result or its error.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let frame = json!({"jsonrpc": "2.0", "id": "1", "method": method, "params": params});
        self.0.send(Message::text(frame.to_string())).await.unwrap();
        loop {
            let frame = self.0.next().await.unwrap().unwrap();
            let Ok(text) = frame.to_text() else { continue };
            let Ok(frame) = serde_json::from_str::<Value>(text) else { continue };
            if frame["id"] == "1" {
                return frame;
            }
        }
    }

    pub async fn done(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

/// Starts this program in token mode.
pub fn serve<'a>(home: &'a Home, program: &Path) -> Server<'a> {
    let data = home.data();
    home.serve_by(home.command_of(
        program,
        &[
            "serve",
            "--json",
            "--mode",
            "token",
            "--bind",
            "127.0.0.1:0",
            "--data",
            data.to_str().unwrap(),
        ],
    ))
}

/// Creates a conversation under a policy; returns its id.
async fn room(server: &Server<'_>, name: &str, policy: Value) -> String {
    let made = server.accepted("/threads", json!({"name": name, "policy": policy})).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Creates a token; returns it with its id.
async fn token(server: &Server<'_>, principal: &str, more: Value) -> Value {
    let mut wish = json!({"principal": principal, "expires_in_days": 365});
    wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, made) = server.post("/tokens", wish).await;
    assert!(status < 300, "{made}");
    made
}

async fn code(server: &Server<'_>, thread: &str, principal: &str) -> String {
    let wish = json!({"principal": principal, "expires_in_hours": 168});
    let made = server.accepted(&format!("/threads/{thread}/invitations"), wish).await;
    made["code"].as_str().unwrap().to_owned()
}

/// Creates people and agents with tokens, and an invitation that is not accepted yet.
async fn credentials(server: &Server<'_>) -> Value {
    let thread = room(server, "For guests", json!("mention_only")).await;
    let gone = token(server, "gone", json!({})).await;
    let revoke = format!("/tokens/{}/revoke", gone["id"].as_str().unwrap());
    server.accepted(&revoke, json!({})).await;
    let accepted = code(server, &thread, "early").await;
    let early = server.accepted("/invitations/accept", json!({"code": accepted})).await;
    json!({
        "thread": thread,
        "ann": token(server, "ann", json!({})).await["token"],
        "reader": token(server, "rita", json!({"scopes": ["threads:read"]})).await["token"],
        "critic": token(server, "critic", json!({"kind": "agent"})).await["token"],
        "bound": token(server, "bea", json!({"threads": [thread]})).await["token"],
        "gone": gone["token"],
        "early": early["token"],
        "used": accepted,
        "code": code(server, &thread, "late").await,
    })
}

/// Registers two JSON-RPC agents in a task of an app that one of them manages.
async fn task(server: &Server<'_>) -> Value {
    let mut agents = Vec::new();
    for name in ["ada", "bob"] {
        let wish = json!({"name": name, "inviteCode": CODE});
        let (status, agent) = server.post("/api/v1/auth/register", wish).await;
        assert_eq!(status, 201, "{agent}");
        agents.push(json!({"id": agent["agentId"], "key": agent["apiKey"]}));
    }
    let key = |at: usize| agents[at]["key"].as_str().unwrap();
    let (mut ada, mut bob) = (Line::of(server, key(0)).await, Line::of(server, key(1)).await);
    ada.done("apps/register", json!({"manifest": {"appId": APP, "name": "Review"}})).await;
    let wish = json!({"appId": APP, "invitedAgentIds": [agents[0]["id"]], "initialConversation": {"name": "One"}});
    let begun = bob.done("task/request", wish).await;
    let (task, room) = (&begun["task"]["id"], &begun["conversation"]["id"]);
    let say = json!({"taskId": task, "conversationId": room, "parts": [{"type": "text", "text": "under way"}]});
    bob.done("messages/send", say).await;
    json!({"agents": agents, "task": task, "conversation": room})
}

/// Creates a conversation held by a guard, and a paused one with a queued message.
async fn guarded(server: &Server<'_>) -> (String, String) {
    let policy = json!({"name": "open", "max_exchanges_without_human": 4});
    let held = room(server, "Held", policy).await;
    for id in ["echo", "chorus"] {
        server.invite(&held, id, "echo").await;
    }
    server.say(&held, "talk to each other").await;
    until("a guard holds", async || {
        server.events(&held).await.iter().any(|event| event["type"] == "notice")
    })
    .await;
    let paused = room(server, "Paused", json!("mention_only")).await;
    for id in ["echo", "chorus"] {
        server.invite(&paused, id, "echo").await;
    }
    server.control(&paused, json!({"mute": ["chorus"]})).await;
    server.control(&paused, json!({"pause": true})).await;
    server.say(&paused, "@echo said during the pause").await;
    (held, paused)
}

/// Creates a command agent at work, with queued messages.
async fn at_work(server: &Server<'_>, home: &Home) -> Value {
    let thread = room(server, "At work", json!("mention_only")).await;
    for id in ["slow", "thrifty"] {
        server.invite(&thread, id, id).await;
    }
    let first = server.say(&thread, "@thrifty the first of many").await;
    until("thrifty answers", async || answered(server, &thread, &first, "thrifty").await == 1)
        .await;
    let mut asked = Vec::new();
    for words in ["@slow the first", "@slow the second", "@slow the third"] {
        asked.push(server.say(&thread, words).await);
    }
    until("slow is at work", async || home.path().join("begun").exists()).await;
    json!({"thread": thread, "asked": asked})
}

/// Counts the answers of a participant to an event.
pub async fn answered(server: &Server<'_>, thread: &str, to: &Value, from: &str) -> usize {
    let events = server.events(thread).await;
    let answers = |event: &&Value| event["from"] == from && event["meta"]["reply_to"] == to["id"];
    events.iter().filter(|event| event["type"] == "message").filter(answers).count()
}

/// Creates a gathering whose first speaker has the piece and has spoken.
async fn gathering(server: &Server<'_>) -> String {
    let members = json!([
        {"name": "Ann", "number": 1, "kind": "human", "participant_id": "ann"},
        {"name": "Pat", "number": 2, "kind": "human", "participant_id": "pat"},
        {"name": "Hal", "number": 3, "kind": "agent", "client": "scribe", "role": "harvester"},
    ]);
    let plan = json!({"rhythm": "daily", "opening_question": "What is in the way?", "breath": "minimal",
        "beat_interval_seconds": 3600, "last_word_seconds": 3600, "participants": members});
    let begun = server.accepted("/gatherings", plan).await;
    let id = begun["id"].as_str().unwrap().to_owned();
    let words = json!({"type": "message", "from": "ann", "to": "all", "content": "one word"});
    server.accepted(&format!("/threads/{id}/events"), words).await;
    id
}

/// Sends a message under a key, which a client may repeat.
async fn keyed(server: &Server<'_>, thread: &str) -> Value {
    let body = super::under_key(thread, server, "said once").await;
    assert_eq!(body.0, 200, "{}", body.1);
    body.1["event"].clone()
}

/// Fills the folder, and kills the program while all of this is in progress.
pub async fn furnish(hall: &Hall, program: &Path) -> Value {
    let server = serve(&hall.home, program);
    let credentials = credentials(&server).await;
    let task = task(&server).await;
    let (held, paused) = guarded(&server).await;
    let session = start(&server, hall, "planner").await;
    let message_id = server.say(&session.id, "[work:60] [say:the plan]").await;
    let gathering = gathering(&server).await;
    let thread = credentials["thread"].as_str().unwrap();
    let keyed = keyed(&server, thread).await;
    let work = at_work(&server, &hall.home).await;
    until("the session is told", async || hall.taken().len() == 1).await;
    let made = json!({"credentials": credentials, "task": task, "held": held, "paused": paused,
        "work": work, "gathering": gathering, "keyed": keyed,
        "session": {"id": session.id, "token": session.token, "told": message_id}});
    server.signal(Signal::SIGKILL);
    server.end();
    made
}
