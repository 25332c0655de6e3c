//! What it costs to tell one message to many readers.
//!
//! `cargo bench -p moothall-surfaces` prints CPU microseconds of the whole process for each
//! delivery of a 256-byte message to 10, 100 and 1,000 readers of a conversation over server-sent
//! events; readers run in the same process and are counted. The floor is a bare broadcast of the
//! same ready bytes over as many TCP connections to the same kind of readers.

#![allow(missing_docs, clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;

use moothall_engine::MemoryLog;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::Registry;
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::policy::Policy;
use moothall_surfaces::{HttpOptions, serve};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc};

const MESSAGES: usize = 200;
/// What the bare broadcast sends: about as much as one event as it stands on the wire.
const READY_BYTES: usize = 560;

fn cpu_micros() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64
}

/// Reads until `wanted` marks have come, then says so.
fn reader(mut stream: TcpStream, mark: &'static [u8], done: mpsc::Sender<()>) {
    tokio::spawn(async move {
        let mut buffer = vec![0; 64 * 1024];
        let (mut seen, mut matched) = (0, 0);
        while seen < MESSAGES {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "cut off after {seen} messages");
            // A mark may come in two pieces.
            for byte in &buffer[..read] {
                matched = if *byte == mark[matched] {
                    matched + 1
                } else {
                    usize::from(*byte == mark[0])
                };
                if matched == mark.len() {
                    (seen, matched) = (seen + 1, 0);
                }
            }
        }
        done.send(()).await.unwrap();
        std::future::pending::<()>().await;
    });
}

async fn all(done: &mut mpsc::Receiver<()>, readers: usize) {
    for _ in 0..readers {
        done.recv().await.unwrap();
    }
}

async fn bare(readers: usize) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (send, _) = broadcast::channel::<Arc<Vec<u8>>>(1024);
    let (done, mut finished) = mpsc::channel(readers);
    for _ in 0..readers {
        reader(TcpStream::connect(address).await.unwrap(), b"\x01", done.clone());
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut messages = send.subscribe();
        tokio::spawn(async move {
            while let Ok(bytes) = messages.recv().await {
                stream.write_all(&bytes).await.unwrap();
            }
        });
    }
    let mut bytes = vec![b'x'; READY_BYTES];
    bytes[0] = 1;
    let bytes = Arc::new(bytes);
    let start = cpu_micros();
    for _ in 0..MESSAGES {
        send.send(bytes.clone()).unwrap();
        tokio::task::yield_now().await;
    }
    all(&mut finished, readers).await;
    (cpu_micros() - start) / (readers * MESSAGES) as f64
}

async fn subscribe(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    stream
}

async fn moothall(readers: usize) -> f64 {
    let parts = HallParts {
        store: Store::of(Arc::new(MemoryLog::new())),
        clock: Arc::new(SystemClock),
        registry: Registry::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "bench".into(),
    };
    let hall = Hall::open(parts).await.unwrap();
    let user = || Actor::human("user");
    let thread = hall.create("bench".into(), Policy::default(), user(), None).await.unwrap().stream;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(serve(
        listener,
        hall.clone(),
        HttpOptions::new(address),
        std::future::pending(),
    ));
    let (done, mut finished) = mpsc::channel(readers);
    for _ in 0..readers {
        let stream = subscribe(address, &format!("/threads/{thread}/events/stream?after=1")).await;
        reader(stream, b"\ndata:", done.clone());
    }
    let body = "m".repeat(256);
    let start = cpu_micros();
    for _ in 0..MESSAGES {
        hall.submit(&thread, ClientCommand::Post(Post::new(user(), body.clone())), None)
            .await
            .unwrap();
    }
    all(&mut finished, readers).await;
    let spent = (cpu_micros() - start) / (readers * MESSAGES) as f64;
    server.abort();
    spent
}

#[tokio::main]
async fn main() {
    println!("{:>8} {:>16} {:>12} {:>8}", "readers", "cpu us/delivery", "bare floor", "ratio");
    for readers in [10, 100, 1_000] {
        let floor = bare(readers).await;
        let spent = moothall(readers).await;
        println!("{readers:>8} {spent:>16.2} {floor:>12.2} {:>8.2}", spent / floor);
    }
    println!("budget: ratio at most 2");
}
