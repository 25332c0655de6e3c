//! Tasks of foreign agents, across crashes: a task's decision reaches its conversations once.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::harness::{Home, Server, comes_about};

/// The app whose tasks are managed by their requesters.
const APP: &str = "e12fe562-ed1f-4d2d-bed5-68b8edfa41cb";

/// A registered agent.
struct TaskAgent {
    id: String,
    key: String,
}

/// Connection of an agent.
struct TaskSocket(WebSocketStream<TcpStream>);

async fn registered(server: &Server<'_>, name: &str) -> TaskAgent {
    let (status, agent) = server.post("/api/v1/auth/register", json!({ "name": name })).await;
    assert_eq!(status, 201, "{agent}");
    let text = |field: &str| agent[field].as_str().unwrap().to_owned();
    TaskAgent { id: text("agentId"), key: text("apiKey") }
}

impl TaskSocket {
    async fn of(server: &Server<'_>, agent: &TaskAgent) -> Self {
        let stream = TcpStream::connect(server.address()).await.unwrap();
        let socket = client_async(format!("ws://{}/ws", server.address()), stream).await;
        let mut line = Self(socket.unwrap().0);
        let hello = json!({"agentKey": agent.key, "minProtocol": "2026.523.0", "maxProtocol": "2026.525.0"});
        line.call("network/connect", hello).await.unwrap();
        line
    }

    /// Calls a method; returns the answer, or `None` if the server dies meanwhile.
    async fn call(&mut self, method: &str, params: Value) -> Option<Value> {
        let frame = json!({"jsonrpc": "2.0", "id": "1", "method": method, "params": params});
        self.0.send(Message::text(frame.to_string())).await.ok()?;
        loop {
            let frame = self.0.next().await?.ok()?;
            let Ok(text) = frame.to_text() else { continue };
            let Ok(frame) = serde_json::from_str::<Value>(text) else { return None };
            if frame["id"] == "1" {
                return Some(frame);
            }
        }
    }

    /// Calls a method that must succeed; returns its result.
    async fn done(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await.expect("the server is there");
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

impl TaskSocket {
    /// Waits for a message with these words.
    async fn hears(&mut self, words: &str) {
        loop {
            let frame = self.0.next().await.unwrap().unwrap();
            if frame.to_text().is_ok_and(|text| text.contains(words)) {
                return;
            }
        }
    }
}

/// Waits until no delivery is owed.
async fn settled(server: &Server<'_>) {
    let owes = async || {
        let url = format!("{}/metrics", server.url);
        let text = server.http.get(url).send().await.unwrap().text().await.unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("moothall_deliveries{"));
        lines.any(|line| !line.ends_with(" 0"))
    };
    assert!(comes_about(async || !owes().await).await);
}

/// Requests a task with two conversations, lets an agent leave, and ends the task. Returns which
/// steps were acknowledged; `None` if not even the request was.
async fn lived(ann: &mut TaskSocket, bob: &mut TaskSocket, invited: &str) -> Option<(bool, bool)> {
    let request = json!({"appId": APP, "invitedAgentIds": [invited], "initialConversation": {}});
    let begun = ann.call("task/request", request).await?;
    let task = begun["result"]["task"]["id"].clone();
    let create = json!({"taskId": task, "name": "second", "participants": [invited]});
    ann.call("task/conversation/create", create).await?;
    let left = bob.call("task/leave", json!({ "taskId": task })).await?;
    let left = left["error"].is_null();
    let ended = ann.call("task/close", json!({ "taskId": task })).await;
    Some((left, ended.is_some_and(|ended| ended["error"].is_null())))
}

/// Checks that the task's decisions are carried out, whatever was acknowledged before the crash.
async fn comes_to_its_end(
    server: &Server<'_>,
    ann: &TaskAgent,
    bob: &TaskAgent,
    left: bool,
    ended: bool,
) {
    settled(server).await;
    let (mut ann, mut bob) = (TaskSocket::of(server, ann).await, TaskSocket::of(server, bob).await);
    let tasks = ann.done("task/list", json!({})).await["tasks"].clone();
    for task in tasks.as_array().unwrap() {
        let id = json!({ "taskId": task["id"] });
        assert!(!ended || task["status"] == "closed", "{task}");
        if task["status"] == "active" {
            ann.done("task/close", id).await;
        }
    }
    let after = ann.done("task/list", json!({})).await["tasks"].clone();
    assert!(after.as_array().unwrap().iter().all(|task| task["status"] == "closed"), "{after}");
    let rooms = ann.done("task/conversation/list", json!({})).await["items"].clone();
    for room in rooms.as_array().unwrap() {
        assert!(room["conversation"]["archivedAt"].is_string(), "{room}");
    }
    let of_bob = bob.done("task/conversation/list", json!({})).await["items"].clone();
    assert!(!left || of_bob == json!([]), "{of_bob}");
}

#[tokio::test]
async fn what_a_task_decided_is_there_after_a_restart() {
    let home = Home::new();
    let server = home.serve();
    let (ann, bob) = (registered(&server, "ann").await, registered(&server, "bob").await);
    let (mut anns, mut bobs) =
        (TaskSocket::of(&server, &ann).await, TaskSocket::of(&server, &bob).await);
    assert_eq!(lived(&mut anns, &mut bobs, &bob.id).await, Some((true, true)));
    let server = server.crash_and_restart();
    comes_to_its_end(&server, &ann, &bob, true, true).await;
}

#[cfg(feature = "crash-points")]
#[tokio::test]
async fn a_server_that_dies_while_it_carries_what_a_task_decided_goes_on_with_it() {
    let points = ["delivery_taken", "delivery_carried", "after_append", "before_append"];
    for point in points
        .into_iter()
        .flat_map(|point| (1..=8).step_by(2).map(move |nth| format!("{point}:{nth}")))
    {
        let home = Home::new();
        let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", point.as_str())]);
        let (ann, bob) = (registered(&server, "ann").await, registered(&server, "bob").await);
        let (mut anns, mut bobs) =
            (TaskSocket::of(&server, &ann).await, TaskSocket::of(&server, &bob).await);
        let (left, ended) = lived(&mut anns, &mut bobs, &bob.id).await.unwrap_or_default();
        drop((anns, bobs));
        assert!(!server.end().success(), "{point}");
        let server = home.serve();
        comes_to_its_end(&server, &ann, &bob, left, ended).await;
    }
}

#[tokio::test]
async fn people_see_which_agents_are_connected() {
    let home = Home::new();
    let server = home.serve();
    let (ann, bob) = (registered(&server, "ann").await, registered(&server, "bob").await);
    let (mut anns, bobs) =
        (TaskSocket::of(&server, &ann).await, TaskSocket::of(&server, &bob).await);
    let request = json!({"appId": APP, "invitedAgentIds": [bob.id], "initialConversation": {}});
    let begun = anns.done("task/request", request).await;
    let thread = begun["conversation"]["id"].as_str().unwrap().to_owned();
    let state = async |agent: &TaskAgent| {
        let all = server.get(&format!("/threads/{thread}/presence")).await;
        let mut rows = all["participants"].as_array().unwrap().clone().into_iter();
        rows.find(|row| row["id"] == agent.id.as_str()).map(|row| row["state"].clone())
    };
    for agent in [&ann, &bob] {
        assert!(comes_about(async || state(agent).await == Some(json!("listening"))).await);
    }
    assert!(server.ok(&["token", "list"]).contains("in its tasks"));
    drop(bobs);
    assert!(comes_about(async || state(&bob).await == Some(json!("offline"))).await);
    let _bobs = TaskSocket::of(&server, &bob).await;
    assert!(comes_about(async || state(&bob).await == Some(json!("listening"))).await);
}

#[tokio::test]
async fn a_person_who_waits_hears_an_agent_of_a_task_that_takes_no_turns() {
    let home = Home::new();
    let server = home.serve();
    let (ann, bob) = (registered(&server, "ann").await, registered(&server, "bob").await);
    let (mut anns, mut bobs) =
        (TaskSocket::of(&server, &ann).await, TaskSocket::of(&server, &bob).await);
    let unknown = server.command(&["task", "new", "Plan", "--with", "ann", "--with", "nobody"]);
    assert!(!{ unknown }.output().unwrap().status.success());
    let begun = server.json(&["task", "new", "Plan", "--with", "ann", "--with", "bob"]);
    assert_eq!(begun["agents"], json!([ann.id, bob.id]), "{begun}");
    let managed = anns.done("task/list", json!({})).await["tasks"].clone();
    assert_eq!((managed.as_array().unwrap().len(), &managed[0]["id"]), (1, &begun["task"]));
    let thread = begun["thread"].as_str().unwrap().to_owned();
    let mut command = server.command(&["say", "Plan", "@bob are you there?", "--wait"]);
    let waiting = std::thread::spawn(move || command.output().unwrap());
    bobs.hears("are you there?").await;
    let answer = json!({"taskId": begun["task"], "conversationId": thread,
                        "parts": [{"type": "text", "text": "I am here."}]});
    bobs.done("messages/send", answer).await;
    let output = waiting.join().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.trim_end().ends_with("I am here."), "{said}");
}
