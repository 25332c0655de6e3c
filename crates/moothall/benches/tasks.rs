//! How long a message is on its way from one agent to the others of a task's conversation, and what
//! that costs.
//!
//! `cargo bench -p moothall --bench tasks` connects 1,000 agents over WebSocket to a server over
//! SQLite in this process: 100 conversations of 10. It prints the median and the 99th percentile of
//! the time from `messages/send` to the last `messages/received`, when one conversation talks at a
//! time and when all do, and the processor time of the process for each delivery, the clients
//! included. The floor, in the same run, is a bare WebSocket server that tells each message to the
//! nine others of a room, ready as it is.

#![allow(missing_docs, clippy::unwrap_used)]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{Message, Utf8Bytes, WebSocketUpgrade};
use axum::routing::get;
use futures_util::{SinkExt, StreamExt};
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::Registry;
use moothall_kernel::policy::Policy;
use moothall_kernel::task::DEFAULT_APP;
use moothall_store::SqliteLog;
use moothall_surfaces::{HttpOptions, serve};
use moothall_testkit::measure::cpu;
use nix::sys::resource::{Resource, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc};
use tokio_tungstenite::tungstenite::Message as ClientMessage;
use tokio_tungstenite::{WebSocketStream, client_async};

const ROOMS: usize = 100;
const MEMBERS: usize = 10;
/// Messages of each room, alone and when all talk.
const ALONE: usize = 3;
const TOGETHER: usize = 20;
const TEXT_BYTES: usize = 256;

type Socket = WebSocketStream<TcpStream>;

async fn post(address: SocketAddr, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

async fn socket(address: SocketAddr) -> Socket {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    client_async(format!("ws://{address}/ws"), stream).await.unwrap().0
}

/// Calls, and waits for the answer; what is told meanwhile is passed over.
async fn call(socket: &mut Socket, method: &str, params: Value) -> Value {
    let frame = json!({"jsonrpc": "2.0", "id": "call", "method": method, "params": params});
    socket.send(ClientMessage::text(frame.to_string())).await.unwrap();
    loop {
        let frame = socket.next().await.unwrap().unwrap();
        let frame: Value = serde_json::from_str(frame.to_text().unwrap()).unwrap();
        if frame["id"] == "call" {
            assert!(frame.get("result").is_some(), "{frame}");
            return frame["result"].clone();
        }
    }
}

/// A room: the channel through which the first member speaks, and the one that confirms a hearing.
struct Room {
    speak: mpsc::Sender<String>,
    heard: mpsc::Receiver<()>,
    frame: Box<dyn Fn(usize) -> String + Send>,
}

/// Lets the sockets of a room run: those but the first tell when `mark` came.
fn room(
    sockets: Vec<Socket>,
    mark: &'static str,
    frame: impl Fn(usize) -> String + Send + 'static,
) -> Room {
    let (speak, mut said) = mpsc::channel::<String>(8);
    let (hears, heard) = mpsc::channel(64);
    for (place, socket) in sockets.into_iter().enumerate() {
        let (mut sink, mut stream) = socket.split();
        let hears = hears.clone();
        tokio::spawn(async move {
            while let Some(Ok(frame)) = stream.next().await {
                if place > 0 && frame.to_text().is_ok_and(|text| text.contains(mark)) {
                    let _ = hears.send(()).await;
                }
            }
        });
        if place == 0 {
            let mut said = std::mem::replace(&mut said, mpsc::channel(1).1);
            tokio::spawn(async move {
                while let Some(text) = said.recv().await {
                    sink.send(ClientMessage::text(text)).await.unwrap();
                }
            });
        } else {
            // A sink that is dropped takes nothing from the stream.
            drop(sink);
        }
    }
    Room { speak, heard, frame: Box::new(frame) }
}

impl Room {
    async fn say(&mut self, number: usize) -> Duration {
        let begun = Instant::now();
        self.speak.send((self.frame)(number)).await.unwrap();
        for _ in 1..MEMBERS {
            self.heard.recv().await.unwrap();
        }
        begun.elapsed()
    }
}

fn shown(name: &str, mut times: Vec<Duration>, spent: Duration) {
    times.sort_unstable();
    let at =
        |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    let deliveries = (times.len() * (MEMBERS - 1)) as f64;
    println!(
        "{name:<44} p50 {:>7.2} ms   p99 {:>7.2} ms   {:>6.1} us CPU a delivery",
        at(50),
        at(99),
        spent.as_secs_f64() * 1e6 / deliveries
    );
}

async fn measure(name: &str, mut rooms: Vec<Room>) {
    let (begun, mut times) = (cpu(), Vec::new());
    for number in 0..ALONE {
        for room in &mut rooms {
            times.push(room.say(number).await);
        }
    }
    shown(&format!("{name}, one room at a time"), times, cpu() - begun);
    let begun = cpu();
    let all = rooms.into_iter().map(|mut room| {
        tokio::spawn(async move {
            let mut times = Vec::new();
            for number in 0..TOGETHER {
                times.push(room.say(ALONE + number).await);
            }
            times
        })
    });
    let all: Vec<_> = all.collect();
    let mut times = Vec::new();
    for room in all {
        times.extend(room.await.unwrap());
    }
    shown(&format!("{name}, all rooms at once"), times, cpu() - begun);
}

fn text(number: usize) -> String {
    let mut text = format!("message {number}: ");
    text.push_str(&"words ".repeat(TEXT_BYTES));
    text.truncate(TEXT_BYTES);
    text
}

/// A bare server: what one of a room says is told to the others as it came.
async fn bare() -> Vec<Room> {
    let rooms: Arc<Vec<_>> =
        Arc::new((0..ROOMS).map(|_| broadcast::channel::<(usize, Utf8Bytes)>(64).0).collect());
    let served = rooms.clone();
    let router = axum::Router::new().route(
        "/ws",
        get(move |upgrade: WebSocketUpgrade| async move {
            upgrade.on_upgrade(move |mut socket| async move {
                let Some(Ok(Message::Text(place))) = socket.recv().await else { return };
                let place: usize = place.as_str().parse().unwrap();
                let room = served[place / MEMBERS].clone();
                let mut receiver = room.subscribe();
                socket.send(Message::text("ready")).await.unwrap();
                loop {
                    tokio::select! {
                        Ok((from, text)) = receiver.recv() => {
                            if from != place && socket.send(Message::Text(text)).await.is_err() {
                                return;
                            }
                        }
                        said = socket.recv() => match said {
                            Some(Ok(Message::Text(text))) => drop(room.send((place, text))),
                            _ => return,
                        },
                    }
                }
            })
        }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut all = Vec::new();
    for number in 0..ROOMS {
        let mut sockets = Vec::new();
        for member in 0..MEMBERS {
            let mut socket = socket(address).await;
            let place = (number * MEMBERS + member).to_string();
            socket.send(ClientMessage::text(place)).await.unwrap();
            socket.next().await.unwrap().unwrap();
            sockets.push(socket);
        }
        // About as long as what tells of a message.
        let frame = |number: usize| format!("{}{}", "ready ".repeat(60), text(number));
        all.push(room(sockets, "message", frame));
    }
    all
}

async fn tasks(folder: &Path) -> Vec<Room> {
    let parts = HallParts {
        store: Store::of(Arc::new(SqliteLog::open(&folder.join("data")).unwrap())),
        clock: Arc::new(SystemClock),
        registry: Registry::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "bench".into(),
    };
    let hall = Hall::open(parts).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut options = HttpOptions::new(address);
    options.other_users = true;
    tokio::spawn(async move { serve(listener, hall, options, std::future::pending()).await });
    let mut all = Vec::new();
    for number in 0..ROOMS {
        let (mut sockets, mut ids) = (Vec::new(), Vec::new());
        for member in 0..MEMBERS {
            let name = json!({ "name": format!("agent-{number}-{member}") });
            let agent = post(address, "/api/v1/auth/register", &name).await;
            let mut socket = socket(address).await;
            let hello = json!({"agentKey": agent["apiKey"], "minProtocol": "2026.523.0", "maxProtocol": "2026.525.0"});
            call(&mut socket, "network/connect", hello).await;
            sockets.push(socket);
            ids.push(agent["agentId"].clone());
        }
        let request = json!({"appId": DEFAULT_APP, "invitedAgentIds": ids[1..], "initialConversation": {"name": "bench"}});
        let begun = call(&mut sockets[0], "task/request", request).await;
        let (task, conversation) =
            (begun["task"]["id"].clone(), begun["conversation"]["id"].clone());
        let frame = move |number: usize| {
            json!({"jsonrpc": "2.0", "id": "call", "method": "messages/send", "params": {
                "taskId": task, "conversationId": conversation,
                "parts": [{"type": "text", "text": text(number)}],
            }})
            .to_string()
        };
        all.push(room(sockets, "messages/received", frame));
    }
    all
}

#[tokio::main]
async fn main() {
    setrlimit(Resource::RLIMIT_NOFILE, 8192, 8192).unwrap();
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let (floor, real) = (bare().await, tasks(folder.path()).await);
    measure("floor: a bare WebSocket server", floor).await;
    measure("messages/send to the last messages/received", real).await;
}
