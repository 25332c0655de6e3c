//! What it costs that a peer is on another computer: the time from the end of a turn to the paste
//! at the other terminal, and a thousand messages a second.
//!
//! `cargo bench -p moothall --bench computers` runs two real servers with terminals of their own
//! and a private Redis. In one run it prints the way from one terminal to another on one computer,
//! the same way across, and a bare `XADD` that a blocked `XREAD` gets. Then it sends messages of
//! 200 bytes for a while, until the other computer has decided each of them. It prints the memory
//! of both servers and of the Redis. Needs tmux and redis-server.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use moothall_testkit::fake_tui;
use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Turns whose words are followed, of each kind. A link stops agents that write on and on.
const ROUNDS: usize = 14;
/// Entries of the Redis that are timed.
const BARE: usize = 1_000;
/// Messages in a second, and the seconds for which they are sent.
const RATE: usize = 1_000;
const SECONDS: usize = 30;
/// Requests that are under way at once.
const SENDERS: usize = 16;
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server with terminals, and the folder of its data.
struct Station {
    folder: TempDir,
    server: Child,
    url: String,
    http: reqwest::Client,
}

impl Station {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let script = path.join("fake");
        let log = path.join("prompts").to_string_lossy().into_owned();
        // A bench is not a test: the stand-in looks at its environment alone.
        let body = fake_tui::script("", &["--name", "fake", "--log", &log]);
        fs::write(&script, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let config = format!(
            "[agents.fake]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [{script:?}]\n"
        );
        fs::write(path.join("moothall.toml"), config).unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_moothall"))
            .args(["serve", "--json", "--bind", "127.0.0.1:0", "--data"])
            .arg(path.join("data"))
            .current_dir(path)
            .env("HOME", path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        let url = first["listening"].as_str().unwrap().to_owned();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { folder, server, url, http }
    }

    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let key = fs::read_to_string(self.folder.path().join("data/startup.key")).unwrap();
        let key: Value = serde_json::from_str(&key).unwrap();
        let request = self.http.request(method, format!("{}{path}", self.url));
        request.bearer_auth(key["key"].as_str().unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        self.request(reqwest::Method::GET, path).send().await.unwrap().json().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.request(reqwest::Method::POST, path).json(&body);
        let answer = request.send().await.unwrap();
        let (is_ok, body) = (answer.status().is_success(), answer.text().await.unwrap());
        assert!(is_ok, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Starts a stand-in, and returns its id once it takes input.
    async fn agent(&self, name: &str, args: &[&str]) -> String {
        let work = self.folder.path().join(name);
        fs::create_dir_all(&work).unwrap();
        let new = json!({"client": "fake", "name": name, "cwd": work, "args": args});
        let id = self.post("/sessions", new).await["id"].as_str().unwrap().to_owned();
        let path = format!("/sessions/{id}");
        until(async || self.get(&path).await["state"] == "idle").await;
        id
    }

    async fn link(&self, one: &str, other: &str) {
        let members = json!({"members": [{"session": one}, {"session": other}]});
        self.post("/links", members).await;
    }

    /// Types words at the terminal of a stand-in, as a person does.
    fn types(&self, session: &str, words: &str) {
        let socket = self.folder.path().join("data/tmux/tmux.sock");
        let target = format!("moothall-{session}:");
        for keys in [&["-l", words][..], &["Enter"]] {
            let mut tmux = Command::new("tmux");
            let tmux = tmux.arg("-S").arg(&socket).args(["send-keys", "-t", &target]).args(keys);
            assert!(tmux.status().unwrap().success());
        }
    }

    /// Returns the time at which a stand-in here got words, in milliseconds since 1970.
    fn heard(&self, words: &str) -> Option<i64> {
        let log = fs::read_to_string(self.folder.path().join("prompts")).ok()?;
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.find(|line| line["prompt"].as_str().unwrap().contains(words))?["ms"].as_i64()
    }

    /// Returns the time at which words were said in a conversation, in milliseconds since 1970.
    async fn said(&self, thread: &str, words: &str) -> Option<i64> {
        let events = self.get(&format!("/threads/{thread}/events?types=message&limit=1000")).await;
        let mut events = events["events"].as_array().unwrap().iter();
        let said = events.find(|event| event["content"].as_str().unwrap().contains(words))?;
        let at: jiff::Timestamp = said["ts"].as_str().unwrap().parse().unwrap();
        Some(at.as_millisecond())
    }

    /// Returns the number of rows that other computers are owed.
    async fn owes(&self) -> u64 {
        let list = self.get("/computers").await;
        list["computers"].as_array().unwrap().iter().filter_map(|one| one["owed_to"].as_u64()).sum()
    }

    fn resident_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        let socket = self.folder.path().join("data/tmux/tmux.sock");
        let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

async fn until(holds: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "it never came about");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn pair(workstation: &Station, laptop: &Station, redis: &str) {
    let new = json!({"name": "workstation", "redis": redis, "up": 1});
    let invited = workstation.post("/computers/invitations", new).await;
    let join = json!({"line": invited["line"], "name": "laptop", "up": 8});
    let answer = laptop.post("/computers/join", join).await;
    workstation.post("/computers/join", json!({"line": answer["answer"]})).await;
    for station in [workstation, laptop] {
        until(async || {
            let list = station.get("/computers").await;
            list["computers"].as_array().unwrap().iter().all(|one| one["state"] == "up")
        })
        .await;
    }
}

/// Types words to a session, and returns the milliseconds from the end of its turn, when its answer
/// is in the log, to the prompt of the peer.
async fn follow(own: &Station, writer: &str, peer: &Station, words: &str) -> f64 {
    own.types(writer, words);
    let answer = format!("I was told: {words}");
    until(async || peer.heard(&answer).is_some()).await;
    until(async || own.said(writer, &answer).await.is_some()).await;
    let heard = peer.heard(&answer).unwrap();
    (heard - own.said(writer, &answer).await.unwrap()) as f64
}

fn spread(mut of: Vec<f64>) -> String {
    of.sort_by(f64::total_cmp);
    let at = |share: f64| of[((of.len() - 1) as f64 * share) as usize];
    format!("{:.2} / {:.2} ms at the median / 95 %", at(0.5), at(0.95))
}

/// A connection to the Redis that speaks its protocol, and nothing more.
struct BareRedis(UnixStream);

impl BareRedis {
    fn call(&mut self, words: &[&str]) -> String {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        self.0.write_all(request.as_bytes()).unwrap();
        let mut answer = vec![0; 64 * 1024];
        let read = self.0.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..read]).into_owned()
    }
}

/// Returns the times of entries of 200 bytes from `XADD` to the `XREAD` that waits for them.
fn bare(redis: &RedisServer) -> Vec<f64> {
    let open = || BareRedis(UnixStream::connect(redis.socket()).unwrap());
    let (mut writer, mut reader) = (open(), open());
    let (arrives, arrived) = std::sync::mpsc::channel();
    let reading = thread::spawn(move || {
        let mut last = "0-0".to_owned();
        for _ in 0..BARE {
            let read = ["XREAD", "BLOCK", "0", "COUNT", "1", "STREAMS", "bare", &last];
            let answer = reader.call(&read);
            let id = answer.split("\r\n").find(|word| word.contains('-')).unwrap().to_owned();
            last = id;
            arrives.send(Instant::now()).unwrap();
        }
    });
    let body = "x".repeat(200);
    let mut times = Vec::new();
    for _ in 0..BARE {
        let added = Instant::now();
        writer.call(&["XADD", "bare", "*", "b", &body]);
        times.push(arrived.recv().unwrap().duration_since(added).as_secs_f64() * 1_000.0);
    }
    reading.join().unwrap();
    times
}

fn redis_mib(redis: &RedisServer) -> f64 {
    let mut bare = BareRedis(UnixStream::connect(redis.socket()).unwrap());
    let info = bare.call(&["INFO", "memory"]);
    let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    line.trim().parse::<f64>().unwrap() / 1024.0 / 1024.0
}

/// Sends messages at a steady rate, and prints how they arrive.
async fn press(workstation: &Station, laptop: &Station, redis: &RedisServer) {
    // It works on its first message for as long as the bench runs. Its guards soon refuse the other
    // words, as those of an agent that repeats itself, and each refusal is a row for the sender.
    workstation.agent("busy", &["--quiet", "--work", "600000"]).await;
    let memory = |at: &str| {
        println!(
            "  {at:>18}: {:.1} MiB at the receiver, {:.1} at the sender, {:.1} in the Redis",
            workstation.resident_mib(),
            laptop.resident_mib(),
            redis_mib(redis)
        );
    };
    memory("before");
    let began = Instant::now();
    for second in 0..SECONDS {
        let share = RATE / SENDERS;
        let sending = (0..SENDERS).map(async |_| {
            for n in 0..share {
                let due = Duration::from_secs_f64(second as f64 + n as f64 / share as f64);
                tokio::time::sleep(due.saturating_sub(began.elapsed())).await;
                let message = json!({"message": "m".repeat(200)});
                laptop.post("/sessions/busy@workstation/messages", message).await;
            }
        });
        futures_util::future::join_all(sending).await;
        if second % 5 == 4 {
            memory(&format!("after {} s", second + 1));
        }
    }
    let (sent, took) = (SENDERS * (RATE / SENDERS) * SECONDS, began.elapsed().as_secs_f64());
    println!("  {sent} messages were accepted in {took:.1} s: {:.0} a second", sent as f64 / took);
    until(async || laptop.owes().await + workstation.owes().await == 0).await;
    let took = began.elapsed().as_secs_f64();
    println!("  all were decided there after {took:.1} s: {:.0} a second", sent as f64 / took);
    memory("at the end");
}

#[tokio::main]
async fn main() {
    fake_tui::act();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (workstation, laptop) = (Station::start(), Station::start());
    pair(&workstation, &laptop, &redis.url()).await;
    // The words that are typed cross before the answer does, and a peer must not be busy with them.
    let slow = &["--work", "400"];
    let (writer, local) = (laptop.agent("writer", slow).await, laptop.agent("local", slow).await);
    laptop.agent("peer", &["--quiet"]).await;
    workstation.agent("builder", &["--quiet"]).await;
    laptop.link(&local, "peer").await;
    laptop.link(&writer, "builder@workstation").await;
    let (mut here, mut across) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        here.push(follow(&laptop, &local, &laptop, &format!("here {round}.")).await);
        across.push(follow(&laptop, &writer, &workstation, &format!("across {round}.")).await);
    }
    println!("from the end of a turn to the peer's prompt:");
    println!("  on one computer: {}", spread(here));
    println!("  across: {}", spread(across));
    println!("  a bare XADD to its XREAD: {}", spread(bare(&redis)));
    println!("{RATE} messages a second across:");
    press(&workstation, &laptop, &redis).await;
}
