//! The cost of hostile clients to others: memory for readers that never read, and time for
//! operators behind thousands of readers and hundreds of hostile connections.
//!
//! `cargo bench -p moothall --bench hostile` starts the real program on a conversation of 256 texts
//! of 250 kB and prints resident MiB before and while 35 streams of all of it stay unread; then,
//! with 16,384 files, opens 10,000 streams that hear a message a second and 768 connections that
//! say nothing, and prints how long a hundred commands of an operator take. Few computers let a
//! process have 16,384 files: it says so and takes as many as it may. The cost of clients without
//! any key is in `strangers.rs`; `-- strangers` measures that alone.

#![allow(missing_docs, clippy::unwrap_used)]

mod strangers;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use moothall_engine::ports::{Catalog, Epoch, EventLog, StreamBatch};
use moothall_kernel::event::{Event, RecordedEvent, SuppressedBecause};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use moothall_store::SqliteLog;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const UNREAD: usize = 35;
const MESSAGES: u64 = 256;
const MESSAGE_BYTES: usize = 250_000;
const READERS: usize = 10_000;
const SILENT: usize = 768;
const FILES: u64 = 16_384;
const COMMANDS: usize = 100;
/// Files of the client that are not connections: its runtime, its pipes, the commands.
const FILES_KEPT: usize = 200;

fn thread(n: u64) -> StreamId {
    StreamId::new(format!("01a1fc23-9396-7f98-97d1-{n:012}"))
}

/// Words as the trace keeps them. The operator, who starts the server, sees them too.
fn kept(body: String) -> Event {
    Event::Suppressed {
        participant: "writer".into(),
        turn: None,
        because: SuppressedBecause::Late,
        counted: 0,
        body,
    }
}

async fn fill(folder: &Path) {
    let log = SqliteLog::open(folder).unwrap();
    let ts = Timestamp::from_millis(1_763_700_000_000);
    for (n, messages) in [(1, MESSAGES), (2, 0)] {
        let created = Event::Created {
            name: "long".into(),
            by: ParticipantId::user(),
            policy: Policy::default(),
            task: None,
            folder: None,
        };
        let said = (0..messages).map(|n| kept(format!("{n} ").repeat(MESSAGE_BYTES / 4)));
        for (at, event) in std::iter::once(created).chain(said).enumerate() {
            let catalog = Catalog {
                kind: "conversation".into(),
                title: "long".into(),
                policy: "mention_only".into(),
                created_at: ts,
                next_wake: None,
                has_duties: false,
                archived: false,
                waits_for_people: Some(0),
            };
            let events = vec![RecordedEvent { seq: Seq(at as u64 + 1), ts, event }];
            let (epoch, expected_head) = (Epoch(0), Seq(at as u64));
            let (claims, deliveries, marks, charges) = <_>::default();
            log.append(vec![StreamBatch {
                stream: thread(n),
                epoch,
                expected_head,
                events,
                claims,
                deliveries,
                marks,
                charges,
                catalog,
            }])
            .await
            .unwrap();
        }
    }
}

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(home: &Path, data: &Path, mode: &str) -> Self {
        let mut child = Command::new("sh")
            .args([
                "-c",
                &format!("ulimit -n {FILES} 2>/dev/null; exec \"$@\""),
                "sh",
                env!("CARGO_BIN_EXE_moothall"),
            ])
            .args(["serve", "--json", "--mode", mode, "--bind", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("HOME", home)
            .current_dir(home)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address =
            first["listening"].as_str().unwrap().trim_start_matches("http://").parse().unwrap();
        Self { child, address }
    }

    fn resident_mib(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }

    async fn stream(&self, of: u64, after: u64) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let ask = format!(
            "GET /threads/{}/events/stream?after={after} HTTP/1.1\r\nHost: {}\r\n\r\n",
            thread(of),
            self.address
        );
        stream.write_all(ask.as_bytes()).await.unwrap();
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn unread(server: &Server) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let idle = server.resident_mib();
    let mut streams = Vec::new();
    for _ in 0..UNREAD {
        streams.push(server.stream(1, 0).await);
    }
    let mut most: f64 = 0.0;
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        most = most.max(server.resident_mib());
    }
    println!(
        "{UNREAD} unread streams of {} MB each",
        MESSAGES as usize * MESSAGE_BYTES / 1_000_000
    );
    println!(
        "  resident MiB: idle {idle:.1}, with them {most:.1}, above {:.1} (budget 64)",
        most - idle
    );
    let begun = Instant::now();
    for stream in &mut streams {
        // What the system still holds of it comes first, then the end.
        let mut buffer = vec![0; 1 << 16];
        if begun.elapsed() < Duration::from_secs(40) {
            tokio::time::sleep(Duration::from_secs(40).saturating_sub(begun.elapsed())).await;
        }
        while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    }
    println!("  closed by the server after 30 s: {}", streams.len());
}

async fn crowd(server: &Server, home: &Path) {
    let mine = getrlimit(Resource::RLIMIT_NOFILE).unwrap().0 as usize;
    let readers = READERS.min(mine.saturating_sub(SILENT + FILES_KEPT));
    let heard = Arc::new(AtomicUsize::new(0));
    for _ in 0..readers {
        let mut stream = server.stream(2, 1).await;
        let heard = heard.clone();
        tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                heard.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let hostile = tokio::spawn(silence(server.address));
    let speaker = tokio::spawn(speak(server.address));
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut times = Vec::new();
    for n in 0..COMMANDS {
        let args: &[&str] = if n % 2 == 0 { &["token", "list"] } else { &["list"] };
        let (home, url) = (home.to_owned(), format!("http://{}", server.address));
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let begun = Instant::now();
        let done = tokio::task::spawn_blocking(move || {
            Command::new(env!("CARGO_BIN_EXE_moothall"))
                .args(args)
                .args(["--server", &url])
                .env("HOME", home)
                .output()
                .unwrap()
        });
        let done = done.await.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        times.push(begun.elapsed());
    }
    times.sort();
    let ms =
        |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
    println!(
        "{readers} readers that hear a message a second ({} deliveries so far), {SILENT} silent seats",
        heard.load(Ordering::Relaxed)
    );
    println!(
        "  {COMMANDS} commands of an operator, ms: p50 {:.0}, p99 {:.0}, most {:.0} (budget 1000)",
        ms(50),
        ms(99),
        ms(100)
    );
    println!("  resident MiB: {:.1}", server.resident_mib());
    hostile.abort();
    speaker.abort();
}

/// Keeps [`SILENT`] connections that say nothing. Opens those again that the server closes.
async fn silence(address: SocketAddr) {
    let mut connections = tokio::task::JoinSet::new();
    for _ in 0..SILENT {
        connections.spawn(async move {
            loop {
                if let Ok(mut stream) = TcpStream::connect(address).await {
                    let _ = stream.read(&mut [0; 1]).await;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    while connections.join_next().await.is_some() {}
}

async fn speak(address: SocketAddr) {
    loop {
        let body = r#"{"from": "user", "content": "a word"}"#;
        let path = format!("/threads/{}/events", thread(2));
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        );
        let ask = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        if let Ok(mut stream) = TcpStream::connect(address).await
            && stream.write_all(ask.as_bytes()).await.is_ok()
        {
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::main]
async fn main() {
    let (home, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(data.path()).await;
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
    if !std::env::args().any(|argument| argument == "strangers") {
        unread(&Server::start(home.path(), data.path(), "local")).await;
        crowd(&Server::start(home.path(), data.path(), "local"), home.path()).await;
    }
    strangers::measure(home.path(), data.path()).await;
}
