//! An agent's connection to the tasks of a server, to be copied together with `hearing.rs`:
//! JSON-RPC 2.0 over a WebSocket, with futures-util, reqwest, serde_json, tokio and
//! tokio-tungstenite.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Silence after which the connection counts as closed. The server pings every 30 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(75);

/// The reason why a call failed.
#[derive(Debug)]
pub enum Fault {
    /// The server rejected the call: the error with its code, message and data.
    Refused(Value),
    /// The connection closed, so the call may or may not have been carried out.
    Broken(tungstenite::Error),
}

/// A connected agent. It reconnects when the connection closes.
#[derive(Default)]
pub struct Agent {
    /// Id of the agent.
    pub id: Value,
    address: String,
    key: String,
    socket: Option<WebSocketStream<MaybeTlsStream<TcpStream>>>,
    calls: u64,
    /// Frames that arrived while the agent waited for another one.
    pub(crate) told: VecDeque<Value>,
    pub(crate) heard: VecDeque<Value>,
    /// The last message of each conversation that was handled.
    pub(crate) last: HashMap<Value, Value>,
    /// Messages that were read over this connection and may also arrive as notifications, and
    /// messages that the agent replied to.
    pub(crate) read: HashSet<Value>,
    pub(crate) answered: HashSet<Value>,
}

/// Registers an agent. The server returns its key only this once.
pub async fn register(base: &str, name: &str) -> reqwest::Result<String> {
    let request = reqwest::Client::new().post(format!("{base}/api/v1/auth/register"));
    let answer = request.json(&json!({"name": name})).send().await?.error_for_status()?;
    Ok(answer.json::<Value>().await?["apiKey"].as_str().unwrap_or_default().to_owned())
}

impl Agent {
    /// Connects an agent, which receives messages from now on.
    pub async fn connect(base: &str, key: &str) -> Result<Self, Fault> {
        let (address, key) = (base.replacen("http", "ws", 1) + "/ws", key.to_owned());
        let mut agent = Self { address, key, ..Self::default() };
        agent.open().await.map(|()| agent)
    }

    /// Calls a method. Retries a rate-limited call after the time that the server states.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        loop {
            self.calls += 1;
            let id = json!(self.calls.to_string());
            let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let socket = self.socket.as_mut().ok_or_else(closed)?;
            socket.send(Message::text(call.to_string())).await.map_err(Fault::Broken)?;
            let mut answer = self.frame().await?;
            while answer["id"] != id {
                self.told.push_back(answer);
                answer = self.frame().await?;
            }
            let wait = answer["error"]["data"]["retryAfterMs"].as_u64();
            match (answer["error"].take(), wait) {
                (Value::Null, _) => return Ok(answer["result"].take()),
                (_, Some(wait)) => sleep(Duration::from_millis(wait)).await,
                (error, None) => return Err(Fault::Refused(error)),
            }
        }
    }

    pub(crate) async fn frame(&mut self) -> Result<Value, Fault> {
        loop {
            let next = self.socket.as_mut().ok_or_else(closed)?.next();
            let next = timeout(SILENCE_MAX, next).await.ok().flatten().ok_or_else(closed)?;
            if let Message::Text(text) = next.map_err(Fault::Broken)? {
                return Ok(serde_json::from_str(&text).unwrap_or_default());
            }
        }
    }

    /// Reconnects until it succeeds or the server rejects the agent.
    pub(crate) async fn again(&mut self, mut fault: Fault) -> Result<(), Fault> {
        let mut wait = Duration::from_millis(250);
        while let Fault::Broken(_) = fault {
            sleep(wait).await;
            wait = (2 * wait).min(Duration::from_secs(15));
            match self.open().await {
                Ok(()) => return Ok(()),
                Err(now) => fault = now,
            }
        }
        Err(fault)
    }

    /// Connects, identifies the agent, and catches up with all conversations.
    async fn open(&mut self) -> Result<(), Fault> {
        // Unhandled notifications are read again below.
        (self.told, self.read) = <_>::default();
        self.socket = Some(connect_async(&self.address).await.map_err(Fault::Broken)?.0);
        let (key, version, first) = (&self.key, "2026.525.0", self.id.is_null());
        let hello = json!({"agentKey": key, "minProtocol": version, "maxProtocol": version});
        let id = self.call("network/connect", hello).await?["agentId"].take();
        let mut list = json!({"limit": 200});
        while !list["cursor"].is_boolean() {
            let page = self.call("task/conversation/list", list.clone()).await?;
            list["cursor"] = page.get("nextCursor").cloned().unwrap_or(json!(false));
            for item in page["items"].as_array().into_iter().flatten() {
                self.read_on(&item["taskId"], &item["conversation"]["id"], first).await?;
            }
        }
        self.id = id;
        Ok(())
    }
}

fn closed() -> Fault {
    Fault::Broken(tungstenite::Error::ConnectionClosed)
}
