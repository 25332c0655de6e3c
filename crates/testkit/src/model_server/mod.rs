//! Fake model providers on loopback: Anthropic Messages, OpenAI chat completions and Responses,
//! Gemini, Ollama.
//!
//! What a model says is scripted by model name or by key, reply after reply, or by what it is
//! asked; unscripted it echoes sensibly. Requests are kept, unknown fields and paths are tolerated,
//! so that real programs can be pointed at it too.
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
mod asked;
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

use asked::ParsedRequest;
pub use reply::{Gate, Reply, Tokens};

/// A request that the server got.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its path and query.
    pub path: String,
    /// The model it asked for; empty where it named none.
    pub model: String,
    /// The key it brought, in whichever header its provider uses.
    pub key: String,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// What the newest person's message in it says.
    pub newest: String,
    /// Its body as JSON.
    pub body: Value,
}

/// A fake provider of every kind. Ends when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinHandle<io::Result<()>>,
}

impl ModelServer {
    /// Starts it on a free port of the loopback interface.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start() -> io::Result<Self> {
        Self::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts it on an address.
    ///
    /// # Errors
    /// When the address is taken.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let routes = routes::routes(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, shared, serving })
    }

    /// Its address, without a path: what the base URL of each provider begins with.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds replies to the queue of a model or of a key. Once the queue is empty, the model echoes
    /// again.
    pub fn script(&self, model_or_key: &str, replies: impl IntoIterator<Item = Reply>) {
        self.shared.scripts().queues.entry(model_or_key.to_owned()).or_default().extend(replies);
    }

    /// What a model or key answers whenever its queue is empty.
    pub fn always(&self, model_or_key: &str, reply: Reply) {
        self.shared.scripts().always.insert(model_or_key.to_owned(), reply);
    }

    /// What is answered, always, to whoever asks with these words in the newest message. Programs
    /// also ask for things of their own, such as titles, in whatever order: what they ask for can
    /// be told, but not when. A tool is only asked for where it is offered.
    pub fn when(&self, words: &str, reply: Reply) {
        self.shared.scripts().when.push((words.to_owned(), reply));
    }

    /// The requests for an answer so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests().clone()
    }

    /// Waits until so many requests for an answer have come.
    pub async fn asked(&self, count: usize) {
        self.shared.wait_until(|counts| counts.asked >= count).await;
    }

    /// Waits until a request has come that has these words in its newest message.
    pub async fn asked_about(&self, words: &str) {
        self.shared
            .wait_until(|_| {
                self.shared.requests().iter().any(|request| request.newest.contains(words))
            })
            .await;
    }

    /// Waits until no answer is under way: all were given whole, or their readers went away.
    pub async fn idle(&self) {
        self.shared.wait_until(|counts| counts.open == 0).await;
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// When serving fails.
    pub async fn run(mut self) -> io::Result<()> {
        (&mut self.serving).await.map_err(io::Error::other)?
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What is said, by model or key.
#[derive(Default)]
struct Scripts {
    queues: BTreeMap<String, VecDeque<Reply>>,
    always: BTreeMap<String, Reply>,
    when: Vec<(String, Reply)>,
}

impl Scripts {
    /// The newest rule that fits.
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

/// How many requests have come, and how many are being answered.
#[derive(Clone, Copy, Default)]
struct Counts {
    asked: usize,
    open: usize,
}

/// What the handlers share.
#[derive(Default)]
struct Shared {
    scripts: Mutex<Scripts>,
    requests: Mutex<Vec<Request>>,
    counts: watch::Sender<Counts>,
}

impl Shared {
    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request. The answer is under way until the guard is dropped.
    fn open(self: &Arc<Self>, request: Request) -> OpenAnswer {
        self.requests().push(request);
        self.counts.send_modify(|counts| {
            counts.asked += 1;
            counts.open += 1;
        });
        OpenAnswer(self.clone())
    }

    /// The scripted reply to a request: by its words, then by model, then by key.
    fn reply(&self, asked: &ParsedRequest, body: &Value) -> Option<Reply> {
        let mut scripts = self.scripts();
        let fitting = scripts.fitting(&asked.newest, body);
        fitting.or_else(|| scripts.next(&asked.model)).or_else(|| scripts.next(&asked.key))
    }

    async fn wait_until(&self, condition: impl FnMut(&Counts) -> bool) {
        // It can only fail when the sender is gone, and `self` holds it.
        let _ = self.counts.subscribe().wait_for(condition).await;
    }
}

/// An answer under way.
struct OpenAnswer(Arc<Shared>);

impl Drop for OpenAnswer {
    fn drop(&mut self) {
        self.0.counts.send_modify(|counts| counts.open -= 1);
    }
}
