//! What it costs to tell one message to many readers.
//!
//! `cargo bench -p moothall-surfaces` prints CPU microseconds of the whole process for each
//! delivery of a 256-byte message to 10, 100 and 1,000 readers of a conversation over server-sent
//! events; readers run in the same process and are counted. The floor is a bare broadcast of the
//! same ready bytes over as many TCP connections to the same kind of readers.

#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use moothall_engine::MemoryLog;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::Registry;
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::policy::Policy;
use moothall_surfaces::{HttpOptions, serve};
use moothall_testkit::measure::{cpu, micros, reader, subscribe};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc};

const MESSAGES: usize = 200;
/// Bytes that the bare broadcast sends: about one event on the wire.
const READY_BYTES: usize = 560;

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
        reader(TcpStream::connect(address).await.unwrap(), b"\x01", MESSAGES, done.clone());
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
    let start = cpu();
    for _ in 0..MESSAGES {
        send.send(bytes.clone()).unwrap();
        tokio::task::yield_now().await;
    }
    all(&mut finished, readers).await;
    micros(cpu() - start) / (readers * MESSAGES) as f64
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
        reader(stream, b"\ndata:", MESSAGES, done.clone());
    }
    let body = "m".repeat(256);
    let start = cpu();
    for _ in 0..MESSAGES {
        hall.submit(&thread, ClientCommand::Post(Post::new(user(), body.clone())), None)
            .await
            .unwrap();
    }
    all(&mut finished, readers).await;
    let spent = micros(cpu() - start) / (readers * MESSAGES) as f64;
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
