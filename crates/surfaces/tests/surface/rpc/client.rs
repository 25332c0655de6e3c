//! An untyped client: it sends texts, and keeps received frames until a test asks for them.

use std::collections::VecDeque;

use axum::body::Bytes;
use futures_util::{SinkExt, StreamExt};
use moothall_engine::access::Mode;
use moothall_surfaces::{HttpOptions, Limits};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::server::{Server, soon};

/// Id of the built-in app.
pub const DEFAULT_APP: &str = "e12fe562-ed1f-4d2d-bed5-68b8edfa41cb";

/// A registered agent.
#[derive(Clone, Debug)]
pub struct Agent {
    pub id: String,
    pub key: String,
}

/// Starts a server that limits only what agents ask for over their connections.
pub async fn open_server() -> Server {
    Server::open_with(Mode::Local, None, |options| HttpOptions { limits: boundless(), ..options })
        .await
}

/// Starts a server that requires a credential and admits agents with a code. It has the usual
/// limits.
pub async fn closed_server() -> Server {
    let server = Server::open_with(Mode::Token, None, |options| HttpOptions {
        invite_code: Some("open sesame".into()),
        ..options
    });
    server.await
}

/// Registers an agent at a closed server.
pub async fn let_in(server: &Server, name: &str) -> Agent {
    let body = json!({"name": name, "inviteCode": "open sesame"});
    let (status, made) = server.unproven(Method::POST, "/api/v1/auth/register", body).await;
    assert_eq!(status, 201, "{made}");
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    Agent { id: text("agentId"), key: text("apiKey") }
}

pub fn boundless() -> Limits {
    Limits { writes_per_second: 0, logins_per_minute: 0, ..Limits::default() }
}

/// Registers over HTTP, as an agent does.
pub async fn register(server: &Server, name: &str) -> Agent {
    let (status, made) = server.post("/api/v1/auth/register", json!({"name": name})).await;
    assert_eq!(status, 201, "{made}");
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    Agent { id: text("agentId"), key: text("apiKey") }
}

/// Registers an agent and connects.
pub async fn agent(server: &Server, name: &str) -> (Agent, Client) {
    let agent = register(server, name).await;
    let client = Client::of(server, &agent).await;
    (agent, client)
}

/// Registers and connects several agents at once.
pub async fn agents<const N: usize>(
    server: &Server,
    names: [&str; N],
) -> ([Agent; N], [Client; N]) {
    let (mut who, mut lines) = (Vec::new(), Vec::new());
    for name in names {
        let (agent, client) = agent(server, name).await;
        who.push(agent);
        lines.push(client);
    }
    (who.try_into().unwrap(), lines.try_into().ok().unwrap())
}

/// One connection.
pub struct Client {
    pub socket: WebSocketStream<TcpStream>,
    /// Frames that came while another frame was waited for.
    kept: VecDeque<String>,
    pings: u64,
    calls: u64,
    /// Code and reason with which the server closed the connection; `None` while it is open.
    pub end: Option<(u16, String)>,
}

impl Client {
    /// Opens a connection without a handshake.
    pub async fn open(server: &Server) -> Self {
        let tcp = TcpStream::connect(server.address).await.unwrap();
        let request = format!("ws://{}/ws", server.address).into_client_request().unwrap();
        let config = WebSocketConfig::default().max_frame_size(None).max_message_size(None);
        let opening = tokio_tungstenite::client_async_with_config(request, tcp, Some(config));
        let (socket, _) = soon(opening).await.unwrap();
        Self::over(socket)
    }

    /// Returns a client over an open connection.
    pub fn over(socket: WebSocketStream<TcpStream>) -> Self {
        Self { socket, kept: VecDeque::new(), pings: 0, calls: 0, end: None }
    }

    /// Opens a connection of this agent.
    pub async fn of(server: &Server, agent: &Agent) -> Self {
        let mut client = Self::open(server).await;
        let hello = client.connect(&agent.key).await;
        assert_eq!(hello["result"]["agentId"], agent.id, "{hello}");
        client
    }

    /// Sends the handshake; returns the answer.
    pub async fn connect(&mut self, key: &str) -> Value {
        let params =
            json!({"agentKey": key, "minProtocol": "2026.523.0", "maxProtocol": "2026.525.0"});
        self.call("network/connect", params).await
    }

    pub async fn message(&mut self, message: Message) {
        // The server may have closed the connection already. Earlier frames show it.
        let _ = soon(self.socket.send(message)).await;
    }

    pub async fn send(&mut self, text: impl Into<String>) {
        self.message(Message::text(text.into())).await;
    }

    /// Sends a request without waiting for the answer; returns its id.
    pub async fn ask(&mut self, method: &str, params: Value) -> String {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(request.to_string()).await;
        id
    }

    /// Sends a request; returns the whole answer.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(&id).await
    }

    /// Sends a request that must succeed; returns the result.
    pub async fn done(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request that must be refused; returns the code and the message.
    pub async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.call(method, params).await;
        let error = &answer["error"];
        assert!(error.is_object(), "{method}: {answer}");
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    /// Waits for the answer to this request.
    pub async fn answer(&mut self, id: &str) -> Value {
        self.wanted(|frame| frame["id"] == id && frame.get("method").is_none()).await
    }

    /// Waits for the next notification of this method; returns its payload.
    pub async fn next_notice(&mut self, method: &str) -> Value {
        self.wanted(|frame| frame["method"] == method && frame.get("id").is_none()).await["params"]
            .clone()
    }

    /// Answers a request of the server.
    pub async fn decide(&mut self, id: &str, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
    }

    /// Waits for the first frame that matches. Other frames stay.
    pub async fn wanted(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let place = self.kept.iter().position(|text| wanted(&read(text)));
        if let Some(text) = place.and_then(|place| self.kept.remove(place)) {
            return read(&text);
        }
        loop {
            let Some(text) = self.read().await else {
                panic!("closed ({:?}) after {:?}", self.end, self.kept)
            };
            let frame = read(&text);
            if wanted(&frame) {
                return frame;
            }
            self.kept.push_back(text);
        }
    }

    /// Returns the next frame as it came; `None` if the server closed the connection.
    pub async fn frame(&mut self) -> Option<String> {
        match self.kept.pop_front() {
            Some(text) => Some(text),
            None => self.read().await,
        }
    }

    async fn read(&mut self) -> Option<String> {
        loop {
            match soon(self.socket.next()).await? {
                Ok(Message::Text(text)) => return Some(text.to_string()),
                Ok(Message::Close(why)) => {
                    self.end = why.map(|why| (why.code.into(), why.reason.to_string()));
                }
                Ok(Message::Binary(bytes)) => panic!("{} bytes that are no text", bytes.len()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Waits until the server has read everything that was sent. Returns all frames up to then,
    /// including the kept ones.
    pub async fn settle(&mut self) -> Vec<String> {
        self.pings += 1;
        let mark = self.pings.to_be_bytes().to_vec();
        self.message(Message::Ping(Bytes::from(mark.clone()))).await;
        loop {
            match soon(self.socket.next()).await {
                Some(Ok(Message::Text(text))) => self.kept.push_back(text.to_string()),
                Some(Ok(Message::Pong(seen))) if seen[..] == mark[..] => break,
                Some(Ok(Message::Close(why))) => {
                    self.end = why.map(|why| (why.code.into(), why.reason.to_string()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            }
        }
        self.kept.drain(..).collect()
    }

    /// Returns the number of kept frames.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Reads one more frame and keeps it. True if a frame came.
    pub async fn keep(&mut self) -> bool {
        match self.read().await {
            Some(text) => {
                self.kept.push_back(text);
                true
            }
            None => false,
        }
    }

    /// Waits until the server closes the connection; returns the code and the reason.
    pub async fn closed(&mut self) -> Option<(u16, String)> {
        while self.frame().await.is_some() {}
        self.end.clone()
    }

    /// Closes the connection, and waits until the server has noticed.
    pub async fn leave(mut self) {
        self.message(Message::Close(None)).await;
        while self.read().await.is_some() {}
    }

    /// Requests a task with these agents and a conversation of all; returns the two ids.
    pub async fn task_with(&mut self, others: &[&Agent]) -> (String, String) {
        let ids: Vec<_> = others.iter().map(|other| other.id.clone()).collect();
        let wish = json!({"appId": DEFAULT_APP, "invitedAgentIds": ids,
            "initialConversation": {"name": "Together"}});
        let made = self.done("task/request", wish).await;
        let id = |what: &str| made[what]["id"].as_str().unwrap().to_owned();
        (id("task"), id("conversation"))
    }

    /// Sends a message that must be kept; returns its id.
    pub async fn say(&mut self, place: &(String, String), words: &str) -> String {
        let said = self.done("messages/send", saying(place, words)).await;
        said["message"]["id"].as_str().unwrap().to_owned()
    }
}

/// Returns the parameters of a message with one text.
pub fn saying((task, conversation): &(String, String), words: &str) -> Value {
    json!({"taskId": task, "conversationId": conversation,
        "parts": [{"type": "text", "text": words}]})
}

/// Returns the words of a message with one text.
pub fn words(message: &Value) -> &str {
    message["parts"][0]["text"].as_str().unwrap()
}
