//! What a conversation's length costs: a reply's time, the server's processor time for it, and
//! memory.
//!
//! `cargo bench -p moothall --bench long` writes conversations of 100 to 100,000 messages, starts
//! the real program on each, and asks a built-in agent that answers at once. The floor of the time
//! is the request alone. The last line is taken while the search index of the longest one is made
//! anew, which goes on beside the turns.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};

#[path = "../tests/e2e/long_talk.rs"]
mod long_talk;

const LENGTHS: [u64; 4] = [100, 1_000, 10_000, 100_000];
const WARM_UP: usize = 100;
const REPLIES: usize = 400;
const CONFIG: &str =
    "[defaults]\ncooldown_seconds = 0\n[agents.parrot]\nreplies = [\"Yes: {message}\"]\n";

async fn fill(folder: &Path, messages: u64) {
    let rest = "what else there is to say of it, ".repeat(8);
    long_talk::fill(folder, messages, |seq| {
        format!("message {seq} about topic{}, and {rest}", seq % 100)
    })
    .await;
}

struct Server {
    child: Child,
    url: String,
    http: reqwest::Client,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let config = folder.join("moothall.toml");
        fs::write(&config, CONFIG).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_moothall"));
        command
            .args(["serve", "--json", "--bind", "127.0.0.1:0", "--config"])
            .arg(config)
            .arg("--data")
            .arg(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { child, url: first["listening"].as_str().unwrap().to_owned(), http }
    }

    async fn get(&self, path: &str) -> Value {
        self.http.get(format!("{}{path}", self.url)).send().await.unwrap().json().await.unwrap()
    }

    async fn post(&self, content: Value, kind: &str) {
        let body = json!({"type": kind, "from": "user", "to": "all", "content": content});
        let sent = self
            .http
            .post(format!("{}/threads/long-talk/events", self.url))
            .json(&body)
            .send()
            .await
            .unwrap();
        assert!(sent.status().is_success());
    }

    async fn is_indexed(&self) -> bool {
        self.get("/search?q=nothing").await["lag_events"] == 0
    }

    /// Asks this number of times. Returns the duration of each reply.
    async fn ask(
        &self,
        times: usize,
        heard: &mut (impl Stream<Item = Vec<u8>> + Unpin),
    ) -> Vec<Duration> {
        let mut waits = Vec::new();
        for n in 0..times {
            let (began, wanted) = (Instant::now(), format!("\"Yes: @parrot number {n}."));
            self.post(json!(format!("@parrot number {n}.")), "message").await;
            let mut text = String::new();
            while !text.contains(&wanted) {
                text.push_str(&String::from_utf8_lossy(&heard.next().await.unwrap()));
            }
            waits.push(began.elapsed());
        }
        waits.sort_unstable();
        waits
    }

    async fn floor(&self) -> Duration {
        let mut waits = Vec::new();
        for _ in 0..REPLIES {
            let began = Instant::now();
            self.get("/ping").await;
            waits.push(began.elapsed());
        }
        waits.sort_unstable();
        waits[REPLIES / 2]
    }

    /// Processor time of all threads but the one that indexes.
    fn spent(&self) -> Duration {
        let mut nanos = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap() {
            let task = task.unwrap().path();
            if fs::read_to_string(task.join("comm")).unwrap().trim() != "log-indexer" {
                let spent = fs::read_to_string(task.join("schedstat")).unwrap();
                nanos += spent.split_whitespace().next().unwrap().parse::<u64>().unwrap();
            }
        }
        Duration::from_nanos(nanos)
    }

    fn resident_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

async fn measure(name: &str, folder: &Path, indexed: bool) {
    let server = Server::start(folder);
    while indexed && !server.is_indexed().await {}
    server.post(json!({"invite": {"participant_id": "parrot", "profile": {"client": "parrot", "model": "m"}}}), "control").await;
    let stream = server
        .http
        .get(format!("{}/threads/long-talk/events/stream", server.url))
        .send()
        .await
        .unwrap();
    let mut heard = stream.bytes_stream().map(|chunk| chunk.unwrap().to_vec());
    server.ask(WARM_UP, &mut heard).await;
    let before = server.spent();
    let waits = server.ask(REPLIES, &mut heard).await;
    let spent = (server.spent() - before).as_secs_f64() * 1e6 / REPLIES as f64;
    let (resident, still) = (
        server.resident_mib(),
        if indexed || !server.is_indexed().await { "" } else { " (was ready before the end)" },
    );
    let ms = |wait: Duration| wait.as_secs_f64() * 1e3;
    let (p50, p95, floor) =
        (ms(waits[REPLIES / 2]), ms(waits[REPLIES * 95 / 100]), ms(server.floor().await));
    println!(
        "{name:>28} {p50:>13.2} {p95:>13.2} {floor:>11.2} {spent:>13.0} {resident:>14.1}{still}"
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let head =
        ["messages", "reply p50 ms", "reply p95 ms", "request ms", "CPU us/reply", "resident MiB"];
    println!(
        "{:>28} {:>13} {:>13} {:>11} {:>13} {:>14}",
        head[0], head[1], head[2], head[3], head[4], head[5]
    );
    for messages in LENGTHS {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), messages).await;
        measure(&messages.to_string(), folder.path(), true).await;
        if messages == LENGTHS[LENGTHS.len() - 1] {
            fs::remove_file(folder.path().join("search.db")).unwrap();
            measure("the same, index being made", folder.path(), false).await;
        }
    }
}
