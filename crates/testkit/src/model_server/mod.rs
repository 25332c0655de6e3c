//! Fake model providers on loopback: Anthropic Messages, OpenAI chat completions and Responses,
//! Gemini, Ollama.
//!
//! Replies are scripted by model name or key, one after the other, or by the words of the request.
//! An unscripted model echoes sensibly. Requests are recorded, and unknown fields and paths are
//! tolerated, so that real programs can use the server too.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use moothall_testkit::model_server::{ModelServer, Reply};
//!
//! let server = ModelServer::start().await.unwrap();
//! server.script("fast", [Reply::text("Hello."), Reply::status(429).retry_after("2")]);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # });
//! ```

mod reply;
mod requests;
mod echo;
mod steps;
mod wire;
mod anthropic;
mod openai;
mod responses;
mod gemini;
mod ollama;
mod routes;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use reply::{Gate, Reply, Tokens};
use requests::ParsedRequest;

/// A request that the server received.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Path and query.
    pub path: String,
    /// Name of the model; empty if none was given.
    pub model: String,
    /// The key, from the header that its provider uses.
    pub key: String,
    /// True if the request asked for a stream.
    pub stream: bool,
    /// Text of the newest person's message.
    pub newest: String,
    /// Body as JSON.
    pub body: Value,
}

/// A fake server for all providers. It ends when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<HandlerState>,
    serving: JoinHandle<io::Result<()>>,
}

impl ModelServer {
    /// Starts the server on a free port of the loopback interface.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start() -> io::Result<Self> {
        Self::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts the server on an address.
    ///
    /// # Errors
    /// The address is taken.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(HandlerState::default());
        let routes = routes::routes(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, shared, serving })
    }

    /// Returns the server's URL without a path, with which each provider's base URL begins.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds replies to the queue of a model or key. When the queue is empty, the model echoes
    /// again.
    pub fn script(&self, model_or_key: &str, replies: impl IntoIterator<Item = Reply>) {
        self.shared.scripts().queues.entry(model_or_key.to_owned()).or_default().extend(replies);
    }

    /// Sets the reply of a model or key for the times when its queue is empty.
    pub fn always(&self, model_or_key: &str, reply: Reply) {
        self.shared.scripts().always.insert(model_or_key.to_owned(), reply);
    }

    /// Sets the reply to every request with these words in its newest message. Programs also send
    /// requests of their own, such as for titles, at any time: a test knows their words but not
    /// their order. A tool is only called if the request offers it.
    pub fn when(&self, words: &str, reply: Reply) {
        self.shared.scripts().when.push((words.to_owned(), reply));
    }

    /// Returns the requests for an answer so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests().clone()
    }

    /// Waits until `count` requests for an answer have arrived.
    pub async fn asked(&self, count: usize) {
        self.shared.wait_until(|counts| counts.asked >= count).await;
    }

    /// Waits for a request with these words in its newest message.
    pub async fn asked_about(&self, words: &str) {
        self.shared
            .wait_until(|_| {
                self.shared.requests().iter().any(|request| request.newest.contains(words))
            })
            .await;
    }

    /// Waits until no answer is in progress: all were sent completely, or their readers
    /// disconnected.
    pub async fn idle(&self) {
        self.shared.wait_until(|counts| counts.open == 0).await;
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// Serving fails.
    pub async fn run(mut self) -> io::Result<()> {
        (&mut self.serving).await.map_err(io::Error::other)?
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The scripted replies, by model or key.
#[derive(Default)]
struct Scripts {
    queues: BTreeMap<String, VecDeque<Reply>>,
    always: BTreeMap<String, Reply>,
    when: Vec<(String, Reply)>,
}

impl Scripts {
    /// Returns the reply of the newest matching rule.
    fn fitting(&self, newest: &str, body: &Value) -> Option<Reply> {
        let fits = |(words, reply): &&(String, Reply)| {
            newest.contains(words.as_str()) && reply.offered(body)
        };
        self.when.iter().rev().find(fits).map(|(_, reply)| reply.clone())
    }

    fn next(&mut self, name: &str) -> Option<Reply> {
        self.queues
            .get_mut(name)
            .and_then(VecDeque::pop_front)
            .or_else(|| self.always.get(name).cloned())
    }
}

/// Number of requests so far, and of those being answered.
#[derive(Clone, Copy, Default)]
struct Counts {
    asked: usize,
    open: usize,
}

/// The state that the handlers share.
#[derive(Default)]
struct HandlerState {
    scripts: Mutex<Scripts>,
    requests: Mutex<Vec<Request>>,
    counts: watch::Sender<Counts>,
}

impl HandlerState {
    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request. Its answer is in progress until the guard is dropped.
    fn open(self: &Arc<Self>, request: Request) -> OpenAnswer {
        self.requests().push(request);
        self.counts.send_modify(|counts| {
            counts.asked += 1;
            counts.open += 1;
        });
        OpenAnswer(self.clone())
    }

    /// Returns the scripted reply to a request: by its words, then by model, then by key.
    fn reply(&self, asked: &ParsedRequest, body: &Value) -> Option<Reply> {
        let mut scripts = self.scripts();
        let fitting = scripts.fitting(&asked.newest, body);
        fitting.or_else(|| scripts.next(&asked.model)).or_else(|| scripts.next(&asked.key))
    }

    async fn wait_until(&self, condition: impl FnMut(&Counts) -> bool) {
        // The wait can only fail without a sender, and `self` holds it.
        let _ = self.counts.subscribe().wait_for(condition).await;
    }
}

/// An answer in progress.
struct OpenAnswer(Arc<HandlerState>);

impl Drop for OpenAnswer {
    fn drop(&mut self) {
        self.0.counts.send_modify(|counts| counts.open -= 1);
    }
}
