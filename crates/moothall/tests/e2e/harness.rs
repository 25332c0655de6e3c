//! An isolated environment for each test: folders, a server, the command line, and a plain HTTP
//! client.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use futures_util::StreamExt;
use moothall_surfaces::wire::EventTypes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any step takes, even on a busy computer; only a broken test waits this long.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Number of events shown of a conversation if an awaited event does not come.
const EVIDENCE_EVENTS: usize = 20;

/// Characters shown of each event.
const EVIDENCE_CHARS: usize = 600;

/// Polls until a condition holds; returns false on timeout.
pub async fn comes_about(holds: impl AsyncFn() -> bool) -> bool {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.is_ok()
}

/// A home folder with all files of a test.
pub struct Home {
    folder: TempDir,
    signed: AtomicBool,
}

/// Dropping kills the processes that agent programs leave behind: parents that ignore a hangup, and
/// daemons.
impl Drop for Home {
    fn drop(&mut self) {
        let home = format!("HOME={}", self.path().display());
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let is_here = environment.split(|byte| *byte == 0).any(|set| set == home.as_bytes());
            if is_here && let Ok(pid) = process.file_name().to_string_lossy().parse() {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), signed: AtomicBool::new(false) }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Makes all further requests with the start-up credential, which driving sessions requires.
    pub fn sign(&self) -> &Self {
        self.signed.store(true, Ordering::Relaxed);
        self
    }

    /// Returns the start-up credential of the running server.
    pub fn key(&self) -> String {
        let key = fs::read_to_string(self.data().join("startup.key")).unwrap();
        let key: Value = serde_json::from_str(&key).unwrap();
        key["key"].as_str().unwrap().to_owned()
    }

    /// Writes the configuration file.
    pub fn configure(&self, text: &str) -> &Self {
        fs::write(self.path().join("moothall.toml"), text).unwrap();
        self
    }

    /// Writes an executable shell script; returns its path.
    pub fn script(&self, name: &str, body: &str) -> String {
        let path = self.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Returns a command of the program with an isolated environment.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_moothall")), args)
    }

    /// Returns a command of another build of the program, in the same environment.
    pub fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path())
            .env("MOOTHALL_DEMO_PACE", "instant");
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Starts a server on a free port.
    pub fn serve(&self) -> Server<'_> {
        self.serve_on("127.0.0.1:0")
    }

    pub fn serve_on(&self, bind: &str) -> Server<'_> {
        self.serve_with(bind, &[])
    }

    /// Starts a server with additional variables.
    pub fn serve_with(&self, bind: &str, variables: &[(&str, &str)]) -> Server<'_> {
        let data = self.data();
        let mut command =
            self.command(&["serve", "--json", "--bind", bind, "--data", data.to_str().unwrap()]);
        command.envs(variables.iter().copied()).stderr(Stdio::inherit());
        self.serve_by(command)
    }

    /// Starts a server by a given command.
    pub fn serve_by(&self, mut command: Command) -> Server<'_> {
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let running = RunningProcess::of(child);
        let first: Value = serde_json::from_str(&running.line()).unwrap();
        // Earlier versions print only `listening`.
        let here = first.get("here").unwrap_or(&first["listening"]);
        let url = here.as_str().unwrap().to_owned();
        // An error means that another test of this process has installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Server {
            home: self,
            running,
            url,
            first,
            http: reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap(),
        }
    }
}

/// A process whose output lines are read as they come. Dropping kills it.
pub struct RunningProcess {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl RunningProcess {
    pub fn of(mut child: Child) -> Self {
        let lines = lines_of(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Returns the lines of standard error, which must be piped.
    pub fn errors(&mut self) -> mpsc::Receiver<String> {
        lines_of(self.child.stderr.take().unwrap())
    }

    /// Waits for the next line of output.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line, and none came")
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// Waits until the process ends by itself.
    pub fn end(mut self) -> ExitStatus {
        // The channel disconnects when the process closes its output.
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the process goes on"),
            }
        }
    }
}

fn lines_of(output: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let read = BufReader::new(output).lines().map_while(Result::ok);
        read.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    lines
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running server.
pub struct Server<'a> {
    home: &'a Home,
    running: RunningProcess,
    pub url: String,
    /// Announcement at the start.
    pub first: Value,
    pub http: reqwest::Client,
}

impl<'a> Server<'a> {
    /// Returns the home.
    pub fn home(&self) -> &Home {
        self.home
    }

    pub fn address(&self) -> SocketAddr {
        self.url.trim_start_matches("http://").parse().unwrap()
    }

    /// Returns the lines of standard error, which must be piped.
    pub fn errors(&mut self) -> mpsc::Receiver<String> {
        self.running.errors()
    }

    /// Kills the server with SIGKILL, and starts it again on the same port, so that clients find
    /// it.
    pub fn crash_and_restart(self) -> Server<'a> {
        let (home, address) = (self.home, self.address().to_string());
        self.running.signal(Signal::SIGKILL);
        self.running.end();
        home.serve_on(&address)
    }

    /// Returns the folder in which the system describes the process.
    pub fn process_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.running.child.id()))
    }

    /// Returns the current memory of the process.
    pub fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(self.process_folder().join("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Returns the HTTP client.
    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }

    pub fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    /// Asks the server to stop, and waits.
    pub fn stop(self) -> ExitStatus {
        self.running.signal(Signal::SIGTERM);
        self.running.end()
    }

    pub fn kill(self) {
        self.running.signal(Signal::SIGKILL);
        self.running.end();
    }

    /// Waits until the server ends by itself.
    pub fn end(self) -> ExitStatus {
        self.running.end()
    }

    /// Returns a command that talks to this server.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("MOOTHALL_SERVER", &self.url);
        command
    }

    /// Runs a command that must succeed; returns its output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command with `--json` that prints one object.
    pub fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error} in {text:?}"))
    }

    /// Creates a request, with the start-up credential if the home is signed.
    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        if self.home.signed.load(Ordering::Relaxed) {
            request.bearer_auth(self.home.key())
        } else {
            request
        }
    }

    pub async fn get(&self, path: &str) -> Value {
        self.request(reqwest::Method::GET, path).send().await.unwrap().json().await.unwrap()
    }

    /// Sends a POST request; returns status and answer.
    pub async fn try_post(&self, path: &str, body: &Value) -> reqwest::Result<(u16, Value)> {
        let answer = self.request(reqwest::Method::POST, path).json(body).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.try_post(path, &body).await.unwrap()
    }

    /// Sends an empty POST request with the start-up credential; returns the status.
    pub async fn try_post_as_operator(&self, path: &str) -> reqwest::Result<u16> {
        let request = self.http.post(format!("{}{path}", self.url)).bearer_auth(self.home.key());
        Ok(request.json(&json!({})).send().await?.status().as_u16())
    }

    /// Sends a POST request that must be accepted.
    pub async fn accepted(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Creates a bare thread, as clients of Agent Bridge do.
    pub async fn thread(&self) -> String {
        let created = self.accepted("/threads", json!({"name": "Test"})).await;
        created["id"].as_str().unwrap().to_owned()
    }

    pub async fn control(&self, thread: &str, content: Value) -> Value {
        self.accepted(
            &format!("/threads/{thread}/events"),
            json!({"type": "control", "from": "user", "to": "all", "content": content}),
        )
        .await
    }

    pub async fn invite(&self, thread: &str, id: &str, client: &str) -> Value {
        self.control(
            thread,
            json!({"invite": {"participant_id": id, "profile": {"client": client, "model": "m"}}}),
        )
        .await
    }

    /// Sends a person's message; returns its event.
    pub async fn say(&self, thread: &str, text: &str) -> Value {
        let body = json!({"type": "message", "from": "user", "to": "all", "content": text});
        self.accepted(&format!("/threads/{thread}/events"), body).await["event"].clone()
    }

    /// Sends a person's message under an idempotency key; returns its event.
    pub async fn say_with_key(&self, thread: &str, text: &str, key: &str) -> Value {
        let body = json!({"type": "message", "from": "user", "to": "all", "content": text});
        let request = self
            .http
            .post(format!("{}/threads/{thread}/events", self.url))
            .header("Idempotency-Key", key);
        let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
        answer["event"].clone()
    }

    /// Returns all events of a thread, with the trace.
    pub async fn events(&self, thread: &str) -> Vec<Value> {
        self.get(&format!("/threads/{thread}/events?types={}", EventTypes::EVERY.list())).await["events"].as_array().unwrap().clone()
    }

    /// Waits for the first matching event after a position, on the stream.
    pub async fn wait_for(
        &self,
        thread: &str,
        after: u64,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let url = format!(
            "{}/threads/{thread}/events/stream?after={after}&types={}",
            self.url,
            EventTypes::EVERY.list()
        );
        let reading = async {
            let mut bytes = self.http.get(url).send().await.unwrap().bytes_stream();
            let mut text = Vec::new();
            while let Some(chunk) = bytes.next().await {
                text.extend_from_slice(&chunk.unwrap());
                for event in take_events(&mut text) {
                    if wanted(&event) {
                        return Some(event);
                    }
                }
            }
            None
        };
        let Ok(found) = tokio::time::timeout(PATIENCE, reading).await else {
            panic!("an event, and none came;\n{}", self.evidence(thread).await);
        };
        found.expect("the stream ended first")
    }

    /// Returns the end of a conversation, and its screen if it is a session's.
    pub async fn evidence(&self, thread: &str) -> String {
        let events = self.events(thread).await;
        let lines = events[events.len().saturating_sub(EVIDENCE_EVENTS)..].iter().map(|event| {
            let line: String = event.to_string().chars().take(EVIDENCE_CHARS).collect();
            line + "\n"
        });
        let screen = self.http.get(format!("{}/sessions/{thread}/screen", self.url)).send().await;
        let screen = match screen {
            Ok(answer) => answer.json::<Value>().await.unwrap_or_default(),
            Err(error) => json!(error.to_string()),
        };
        lines.collect::<String>() + screen["text"].as_str().unwrap_or_default()
    }

    /// Waits for the answer of a participant to an event.
    pub async fn reply(&self, thread: &str, to: &Value, from: &str) -> Value {
        let answers = |event: &Value| {
            event["type"] == "message"
                && event["from"] == from
                && event["meta"]["reply_to"] == to["id"]
        };
        self.wait_for(thread, to["seq"].as_u64().unwrap(), answers).await
    }
}

/// Takes complete frames from the buffer; returns the unnamed ones, which are events.
fn take_events(text: &mut Vec<u8>) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
        let frame: Vec<u8> = text.drain(..end + 2).collect();
        let frame = String::from_utf8(frame).unwrap();
        if !frame.lines().any(|line| line.starts_with("event:")) {
            events.extend(
                frame
                    .lines()
                    .filter_map(|line| line.strip_prefix("data:"))
                    .map(|data| serde_json::from_str::<Value>(data).unwrap()),
            );
        }
    }
    events
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
