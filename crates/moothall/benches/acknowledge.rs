//! How long a client waits until its message is kept, against what the disk alone takes.
//!
//! `cargo bench -p moothall --bench acknowledge` posts messages of 1 KiB over one connection, one
//! after the other, to a server over SQLite in this process. Between windows of that it appends the
//! same bytes to a growing file in the same folder, with `fdatasync` for each. It prints the
//! medians of both, their ratio, what a request takes that does nothing, and the processor time of
//! the process for each message, its client included. Then it prints what a message costs for each
//! of 10 and 100 readers over server-sent events, keeping it and the readers included.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::Registry;
use moothall_kernel::command::Actor;
use moothall_kernel::policy::Policy;
use moothall_store::SqliteLog;
use moothall_surfaces::{HttpOptions, Limits, serve};
use moothall_testkit::measure::{cpu, micros, reader, subscribe};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

const TEXT_BYTES: usize = 1024;
const WINDOWS: usize = 15;
const MESSAGES: usize = 100;

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn body(n: usize) -> String {
    let mut text = format!("message {n}: ");
    let said = "some words that somebody would say in a conversation, ";
    text.extend(std::iter::repeat_n(said, TEXT_BYTES / said.len() + 1));
    text.truncate(TEXT_BYTES);
    format!(r#"{{"type":"message","from":"user","to":"all","content":"{text}"}}"#)
}

async fn open(folder: &Path) -> (Hall, String) {
    let parts = HallParts {
        store: Store::of(Arc::new(SqliteLog::open(&folder.join("data")).unwrap())),
        clock: Arc::new(SystemClock),
        registry: Registry::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "bench".into(),
    };
    let hall = Hall::open(parts).await.unwrap();
    let thread = hall
        .create("bench".into(), Policy::default(), Actor::human("user"), None)
        .await
        .unwrap()
        .stream;
    (hall, thread.to_string())
}

/// One connection that is kept.
struct Client {
    stream: TcpStream,
    address: SocketAddr,
    path: String,
    answer: Vec<u8>,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr, thread: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            address,
            path: format!("/threads/{thread}/events"),
            answer: Vec::new(),
            buffer: vec![0; 16 * 1024],
        }
    }

    /// Posts, and waits for the whole answer.
    fn post(&mut self, body: &str) -> Duration {
        let Self { address, path, .. } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: "
        );
        self.ask(&format!("{head}{}\r\n\r\n{body}", body.len()))
    }

    /// Asks for what needs neither the disk nor a conversation.
    fn ping(&mut self) -> Duration {
        self.ask(&format!("GET /ping HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }

    fn ask(&mut self, request: &str) -> Duration {
        let began = Instant::now();
        self.stream.write_all(request.as_bytes()).unwrap();
        self.answer.clear();
        while !self.is_answered() {
            let read = self.stream.read(&mut self.buffer).unwrap();
            assert!(read > 0, "the server hung up");
            self.answer.extend_from_slice(&self.buffer[..read]);
        }
        began.elapsed()
    }

    fn is_answered(&self) -> bool {
        let Some(end) = self.answer.windows(4).position(|window| window == b"\r\n\r\n") else {
            return false;
        };
        let head = std::str::from_utf8(&self.answer[..end]).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        self.answer.len() - end - 4 == length.parse::<usize>().unwrap()
    }
}

/// Appends and syncs.
fn keep(file: &mut File, body: &str) -> Duration {
    let began = Instant::now();
    file.write_all(body.as_bytes()).unwrap();
    file.sync_data().unwrap();
    began.elapsed()
}

/// Posts messages one after the other until all readers have them. Returns the processor time for
/// each message and reader.
async fn measure_delivery(client: &mut Client, readers: usize) -> f64 {
    let (done, mut finished) = mpsc::channel(readers);
    let path = format!("{}/stream", client.path);
    let mut reading = Vec::new();
    for _ in 0..readers {
        let stream = subscribe(client.address, &path).await;
        reading.push(reader(stream, b"\ndata:", MESSAGES, done.clone()));
    }
    let begun = cpu();
    for n in 0..MESSAGES {
        client.post(&body(n));
    }
    for _ in 0..readers {
        finished.recv().await.unwrap();
    }
    let spent = cpu() - begun;
    reading.iter().for_each(JoinHandle::abort);
    micros(spent) / (readers * MESSAGES) as f64
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (hall, thread) = runtime.block_on(open(folder.path()));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let mut options = HttpOptions::new(address);
    options.limits = Limits { writes_per_second: 0, ..Limits::default() };
    runtime.spawn(serve(listener, hall, options, std::future::pending()));
    let mut client = Client::connect(address, &thread);
    let mut file = File::create(folder.path().join("floor")).unwrap();
    let (mut acknowledged, mut synced, mut pinged, mut spent) =
        (Vec::new(), Vec::new(), Vec::new(), Duration::ZERO);
    for n in 0..MESSAGES {
        client.post(&body(n));
    }
    for window in 0..WINDOWS {
        let before = cpu();
        acknowledged.extend((0..MESSAGES).map(|n| client.post(&body(window * MESSAGES + n))));
        spent += cpu() - before;
        pinged.extend((0..MESSAGES).map(|_| client.ping()));
        synced.extend((0..MESSAGES).map(|n| keep(&mut file, &body(window * MESSAGES + n))));
    }
    let per_message = micros(spent) / acknowledged.len() as f64;
    let [acknowledged, synced, pinged] =
        [acknowledged, synced, pinged].map(|mut times| micros(median(&mut times)));
    println!(
        "{:>22} {:>14} {:>10} {:>8} {:>16}",
        "acknowledged after us", "fdatasync us", "ping us", "ratio", "cpu us/message"
    );
    println!(
        "{acknowledged:>22.0} {synced:>14.0} {pinged:>10.0} {:>8.2} {per_message:>16.0}",
        acknowledged / synced
    );
    println!("budget: ratio at most 2");
    println!("{:>22} {:>16}", "readers", "cpu us/delivery");
    for (readers, budget) in [(10, 40), (100, 16)] {
        let spent = runtime.block_on(measure_delivery(&mut client, readers));
        println!("{readers:>22} {spent:>16.1} (budget {budget})");
    }
    runtime.shutdown_background();
}
