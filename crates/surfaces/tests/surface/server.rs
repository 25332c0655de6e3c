//! A server on a free port, a client for it, and agents that need no model.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use moothall_engine::MemoryLog;
use moothall_engine::access::{Mode, Secret, TokenKind};
use moothall_engine::agent::{Job, PermissionAnswer, Report, Reporter, TurnKey};
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_engine::run_once::{RunOnce, Work};
use moothall_engine::sessions::{ClientRights, OnDemand, SessionHost};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::PermissionId;
use moothall_kernel::participant::{Profile, Runtime};
use moothall_kernel::permission::{PermissionOption, Question};
use moothall_kernel::policy::Policy;
use moothall_surfaces::wire::EventTypes;
use moothall_surfaces::{HttpOptions, Limits, serve};
use moothall_terminals::{SessionParts, Sessions, SessionsConfig};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::stage::FakeHost;

/// Longer than every wait of a passing test; only a failing test waits this long.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for an expected result; panics after [`PATIENCE`].
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it never came")
}

/// An agent that answers every turn at once with a fixed text.
struct FixedAgent(&'static str);

#[async_trait]
impl Work for FixedAgent {
    async fn run(&self, _: &Job, _: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Ok(self.0.into()), Usage::default())
    }

    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

/// An agent that never answers.
struct Stuck;

#[async_trait]
impl Work for Stuck {
    async fn run(&self, _: &Job, _: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        std::future::pending().await
    }

    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

/// An agent that reports some text and never ends.
struct Teller;

#[async_trait]
impl Work for Teller {
    async fn run(&self, _: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        for piece in ["[PA", "RTY] at ", "noon"] {
            out.report(Report::Delta(piece.into()));
        }
        out.report(Report::Progress("thinking of a place".into()));
        std::future::pending().await
    }

    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

/// An agent that fails.
struct BrokenAgent;

#[async_trait]
impl Work for BrokenAgent {
    async fn run(&self, _: &Job, _: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Err(Fault::new("exit_status", "it ended with status 3")), Usage::default())
    }

    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
}

/// An agent that asks a person first, and answers with the person's choice.
#[derive(Default)]
struct Careful(tokio::sync::watch::Sender<Option<String>>);

#[async_trait]
impl Work for Careful {
    async fn run(&self, _: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        let question = Box::new(Question::new("rm -r build", PermissionOption::allow_or_deny()));
        let within = moothall_kernel::time::Millis::from_secs(600);
        out.report(Report::Permission { permission: "p-1".into(), question, within });
        let mut receiver = self.0.subscribe();
        let answer = receiver
            .wait_for(Option::is_some)
            .await
            .map(|choice| choice.clone().unwrap_or_default());
        (Ok(format!("You said {}.", answer.unwrap_or_default())), Usage::default())
    }

    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }

    fn permit(&self, _: &TurnKey, _: &PermissionId, given: Option<&PermissionAnswer>) {
        self.0.send_replace(Some(given.map_or("nothing", |given| given.option.as_str()).into()));
    }
}

fn registry() -> Registry {
    let agents: [(&str, Arc<dyn moothall_engine::agent::Agent>); 9] = [
        ("demo", Arc::new(OnDemand { timeout: None })),
        ("careful", Arc::new(RunOnce::new(Careful::default()))),
        ("echo", Arc::new(RunOnce::new(FixedAgent("I heard you.")))),
        ("ping", Arc::new(RunOnce::new(FixedAgent("@pong, over to you.")))),
        ("pong", Arc::new(RunOnce::new(FixedAgent("@ping, over to you.")))),
        ("quiet", Arc::new(RunOnce::new(FixedAgent("[PASS]")))),
        ("stuck", Arc::new(RunOnce::new(Stuck))),
        ("broken", Arc::new(RunOnce::new(BrokenAgent))),
        ("teller", Arc::new(RunOnce::new(Teller))),
    ];
    let mut registry = Registry::default();
    for (client, agent) in agents {
        let profile = Profile {
            client: Some(client.into()),
            model: Some("fixed".into()),
            ..Profile::default()
        };
        registry.insert(AgentSpec {
            client: client.into(),
            summary: format!("{client} for tests"),
            profile,
            origin: "built-in",
            run_as: None,
            agent,
        });
    }
    registry
}

pub struct Server {
    pub address: SocketAddr,
    pub hall: Hall,
    pub log: Arc<MemoryLog>,
    pub client: Client,
    /// The start-up credential.
    pub key: String,
    /// True if requests have the start-up credential by default.
    signed: bool,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server in local mode.
    pub async fn start() -> Self {
        Self::start_in(Mode::Local).await
    }

    pub async fn start_in(mode: Mode) -> Self {
        Self::open(mode, None).await
    }

    /// Starts a server with terminals. The client is the owner, so all its requests may drive
    /// sessions.
    pub async fn with_terminals() -> (Self, Arc<FakeHost>) {
        let (server, stage) = Self::with_terminals_in(Mode::Local).await;
        (Self { signed: true, ..server }, stage)
    }

    pub async fn with_terminals_in(mode: Mode) -> (Self, Arc<FakeHost>) {
        let stage = Arc::<FakeHost>::default();
        (Self::open(mode, Some(stage.clone())).await, stage)
    }

    /// Starts a server with terminals whose agents may start `demo` by themselves in one folder.
    pub async fn with_startable(mode: Mode, folder: &std::path::Path) -> (Self, Arc<FakeHost>) {
        Self::with_rights(
            mode,
            ClientRights { startable_by_agents: true, ..ClientRights::default() },
            folder,
        )
        .await
    }

    /// Starts a server with terminals whose operator grants these rights to the sessions of `demo`.
    pub async fn with_rights(
        mode: Mode,
        demo: ClientRights,
        folder: &std::path::Path,
    ) -> (Self, Arc<FakeHost>) {
        let stage = Arc::<FakeHost>::default();
        let config =
            SessionsConfig { folders: vec![folder.to_owned()], ..SessionsConfig::default() };
        let clients = [("demo".to_owned(), demo)].into();
        let sessions = SessionParts { host: stage.clone(), config, clients };
        // A session calls every tool at once here, so the usual limit would interfere.
        let limits = Limits { writes_burst: 200, ..Limits::default() };
        let server =
            Self::with_parts(mode, Some(sessions), |options| HttpOptions { limits, ..options });
        (server.await, stage)
    }

    async fn open(mode: Mode, host: Option<Arc<dyn SessionHost>>) -> Self {
        Self::open_with(mode, host, |options| options).await
    }

    /// Starts a server with other options.
    pub async fn open_with(
        mode: Mode,
        host: Option<Arc<dyn SessionHost>>,
        differ: impl FnOnce(HttpOptions) -> HttpOptions,
    ) -> Self {
        Self::with_parts(mode, host.map(SessionParts::new), differ).await
    }

    async fn with_parts(
        mode: Mode,
        sessions: Option<SessionParts>,
        differ: impl FnOnce(HttpOptions) -> HttpOptions,
    ) -> Self {
        Self::on_log(Arc::new(MemoryLog::new()), mode, sessions, differ).await
    }

    async fn on_log(
        log: Arc<MemoryLog>,
        mode: Mode,
        sessions: Option<SessionParts>,
        differ: impl FnOnce(HttpOptions) -> HttpOptions,
    ) -> Self {
        let parts = HallParts {
            store: Store::of(log.clone()),
            clock: Arc::new(SystemClock),
            registry: registry(),
            defaults: Policy::default(),
            budgets: Default::default(),
            owner: "test".into(),
        };
        let hall = Hall::open_with(parts, Arc::new(Sessions::new(sessions))).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move { drop(stopped.await) };
        let secret = Secret::fresh(TokenKind::Startup).unwrap();
        let key = secret.reveal().to_owned();
        let options =
            differ(HttpOptions { mode, startup: Some(secret), ..HttpOptions::new(address) });
        let task = tokio::spawn(serve(listener, hall.clone(), options, shutdown));
        // Another test of this process may have installed the provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            address,
            hall,
            log,
            client: Client::builder().no_proxy().tls_certs_only([]).build().unwrap(),
            key,
            signed: false,
            stop: Some(stop),
            task,
        }
    }

    /// Begins the shutdown.
    pub fn shut_down(&mut self) {
        self.stop.take();
    }

    /// Waits until the server is down.
    pub async fn down(self) {
        soon(self.task).await.unwrap();
    }

    /// Starts a server in local mode on this server's log, after this server went down.
    pub async fn restarted(mut self, differ: impl FnOnce(HttpOptions) -> HttpOptions) -> Self {
        self.shut_down();
        soon(self.task).await.unwrap();
        drop(self.hall);
        Self::on_log(self.log, Mode::Local, None, differ).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        if self.signed { request.bearer_auth(&self.key) } else { request }
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(soon(self.request(Method::GET, path).send()).await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(soon(self.request(Method::POST, path).json(&body).send()).await.unwrap()).await
    }

    /// Sends a request with a credential; without a body if that is null.
    pub async fn with(
        &self,
        credential: &str,
        method: Method,
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        let request = self.client.request(method, self.url(path)).bearer_auth(credential);
        let request = if body.is_null() { request } else { request.json(&body) };
        answer(soon(request.send()).await.unwrap()).await
    }

    /// Sends a request without a credential.
    pub async fn unproven(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        answer(soon(self.client.request(method, self.url(path)).json(&body).send()).await.unwrap())
            .await
    }

    /// Sends a request of the operator.
    pub async fn as_operator(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        self.with(&self.key, method, path, body).await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: Value) -> (u16, Value) {
        answer(
            soon(
                self.request(Method::POST, path).header("idempotency-key", key).json(&body).send(),
            )
            .await
            .unwrap(),
        )
        .await
    }

    /// Posts as the program of a session.
    pub async fn post_as(&self, token: &str, path: &str, body: Value) -> (u16, Value) {
        answer(
            soon(self.client.post(self.url(path)).bearer_auth(token).json(&body).send())
                .await
                .unwrap(),
        )
        .await
    }

    /// Starts a session.
    pub async fn session(&self, name: &str) -> Value {
        let (status, session) = self
            .as_operator(Method::POST, "/sessions", json!({"client": "demo", "name": name}))
            .await;
        assert_eq!(status, 200, "{session}");
        session
    }

    /// Brings sessions together in a conversation, as a person; returns its id.
    pub async fn introduce(&self, sessions: &[&str]) -> String {
        let (status, thread) =
            self.as_operator(Method::POST, "/threads", json!({"name": "introduced"})).await;
        assert_eq!(status, 200, "{thread}");
        let thread = thread["id"].as_str().unwrap().to_owned();
        for session in sessions {
            let invite = json!({"type": "control", "from": "user", "content": {"invite": {"profile": {"session": session}}}});
            let (status, invited) =
                self.as_operator(Method::POST, &format!("/threads/{thread}/events"), invite).await;
            assert_eq!(status, 200, "{invited}");
        }
        thread
    }

    /// Posts an unchanged body, announced as JSON.
    pub async fn post_raw(&self, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
        let request = self
            .client
            .request(Method::POST, self.url(path))
            .header("content-type", "application/json")
            .body(body);
        answer(soon(request.send()).await.unwrap()).await
    }

    /// Creates a thread.
    pub async fn thread(&self, policy: &str) -> String {
        let (status, thread) =
            self.post("/threads", json!({"name": "test", "policy": policy})).await;
        assert_eq!(status, 200, "{thread}");
        thread["id"].as_str().unwrap().into()
    }

    /// Posts an event that must be accepted.
    pub async fn take(&self, thread: &str, event: Value) -> Value {
        let (status, answer) = self.post(&format!("/threads/{thread}/events"), event).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["received"], true);
        answer
    }

    /// Posts an event that must be refused.
    pub async fn refuse(&self, thread: &str, event: Value) -> (u16, Value) {
        let (status, answer) = self.post(&format!("/threads/{thread}/events"), event).await;
        assert_ne!(status, 200, "{answer}");
        (status, answer["error"].clone())
    }

    pub async fn say(&self, thread: &str, from: &str, words: &str) -> Value {
        self.take(thread, json!({"from": from, "content": words})).await["event"].clone()
    }

    pub async fn control(&self, thread: &str, content: Value) -> Value {
        self.take(thread, json!({"type": "control", "from": "user", "content": content})).await
    }

    pub async fn invite(&self, thread: &str, id: &str, client: &str) -> Value {
        self.control(
            thread,
            json!({"invite": {"participant_id": id, "profile": {"client": client, "model": "m"}}}),
        )
        .await
    }

    pub async fn state(&self, thread: &str) -> Value {
        let (status, answer) = self.get(&format!("/threads/{thread}/state")).await;
        assert_eq!(status, 200, "{answer}");
        answer["state"].clone()
    }

    pub async fn events(&self, thread: &str, query: &str) -> Vec<Value> {
        let (status, answer) =
            self.get(&every_type(&format!("/threads/{thread}/events{query}"))).await;
        assert_eq!(status, 200, "{answer}");
        let events = answer["events"].as_array().unwrap().clone();
        assert_eq!(answer["count"], events.len());
        events
    }

    /// Waits for the first event of a type with this `event` key; returns its content.
    pub async fn event(&self, thread: &str, kind: &str, says: &str) -> Value {
        let mut frames = self.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
        frames.until(|event| event["type"] == kind && event["content"]["event"] == says).await["content"].clone()
    }

    pub async fn turns(&self, thread: &str, query: &str) -> Vec<Value> {
        let (status, answer) = self.get(&format!("/threads/{thread}/turns{query}")).await;
        assert_eq!(status, 200, "{answer}");
        answer["turns"].as_array().unwrap().clone()
    }

    /// Opens a stream of a thread or of the hall. Without a list of types, it has events of every
    /// type.
    pub async fn stream(&self, path: &str) -> Frames {
        let path = if path.starts_with("/threads/") { every_type(path) } else { path.to_owned() };
        let response = soon(self.request(Method::GET, &path).send()).await.unwrap();
        assert_eq!(response.status(), 200);
        Frames::of(response)
    }

    /// Opens a stream with a credential.
    pub async fn stream_as(&self, credential: &str, path: &str) -> Frames {
        let request = self.client.get(self.url(path)).bearer_auth(credential);
        let response = soon(request.send()).await.unwrap();
        assert_eq!(response.status(), 200);
        Frames::of(response)
    }

    /// Sends bytes on a separate connection, and reads until the server closes it.
    pub async fn raw(&self, request: impl AsRef<[u8]>) -> (u16, String) {
        let mut connection = TcpStream::connect(self.address).await.unwrap();
        connection.write_all(request.as_ref()).await.unwrap();
        let mut text = Vec::new();
        soon(connection.read_to_end(&mut text)).await.unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }
}

/// Returns a path that asks for events of every type, unless it names types.
pub fn every_type(path: &str) -> String {
    let sign = if path.contains('?') { '&' } else { '?' };
    if path.contains("types=") {
        path.to_owned()
    } else {
        format!("{path}{sign}types={}", EventTypes::EVERY.list())
    }
}

pub async fn answer(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let json =
        response.headers().get("content-type").is_some_and(|kind| kind == "application/json");
    assert!(json, "{status} is not JSON");
    let body = response.bytes().await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    if status >= 400 {
        let code = &body["error"]["code"];
        // Invalid messages of JSON-RPC get an error in its own shape, with a number as the code.
        let coded = if body["jsonrpc"] == "2.0" { code.is_i64() } else { code.is_string() };
        assert!(coded && body["error"]["message"].is_string(), "{body}");
    }
    (status, body)
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub id: Option<u64>,
    pub name: Option<String>,
    pub data: Value,
}

/// The events of a stream.
pub struct Frames {
    bytes: futures_util::stream::BoxStream<'static, reqwest::Result<axum::body::Bytes>>,
    text: String,
    pub comments: Vec<String>,
}

impl Frames {
    pub fn of(response: Response) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { bytes: response.bytes_stream().boxed(), text: String::new(), comments: Vec::new() }
    }

    /// Returns the next event; `None` if the stream ended.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                if let Some(frame) = self.parse(&block) {
                    return Some(frame);
                }
            }
            let chunk = soon(self.bytes.next()).await?.ok()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    fn parse(&mut self, block: &str) -> Option<Frame> {
        let mut frame = Frame::default();
        let mut data = None;
        for line in block.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => frame.id = Some(id.parse().unwrap()),
                Some(("event", name)) => frame.name = Some(name.into()),
                Some(("data", json)) => data = Some(serde_json::from_str(json).unwrap()),
                Some(("", comment)) => self.comments.push(comment.into()),
                Some(("retry", _)) => {}
                _ => panic!("{line:?}"),
            }
        }
        frame.data = data?;
        Some(frame)
    }

    /// Returns the next logged event, and skips signals.
    pub async fn event(&mut self) -> Value {
        loop {
            let frame = self.next().await.expect("the stream ended");
            if let Some(id) = frame.id {
                assert_eq!(frame.data["seq"], id);
                return frame.data;
            }
        }
    }

    /// Waits for the next event that matches.
    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.event().await;
            if wanted(&event) {
                return event;
            }
        }
    }
}
