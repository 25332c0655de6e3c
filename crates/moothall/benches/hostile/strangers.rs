//! Measures the cost of clients without a key: memory for connections that stay silent or
//! unfinished, time to sign in while they have all slots, and time to answer while they send frames
//! that bring nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream as Blocking};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{FILES_KEPT, Server};

/// Seats of a server that has files for them.
const SLOTS: usize = 16_384;
const UNFINISHED: usize = 4_000;
/// The time for which memory is watched.
const WATCHED: Duration = Duration::from_secs(8);
const SIGN_INS: usize = 50;
const REQUESTS: usize = 300;
const FLOODERS: [usize; 4] = [0, 2, 4, 12];

pub async fn measure(home: &Path, data: &Path) {
    let mine = getrlimit(Resource::RLIMIT_NOFILE).unwrap().0 as usize;
    let many = SLOTS.min(mine.saturating_sub(FILES_KEPT));
    println!(
        "strangers: {many} connections (a server has {SLOTS} seats; this process {mine} files)"
    );
    let start = || Server::start(home, data, "token");
    for (what, opening) in
        [("silent", FirstBytes::Nothing), ("silent after the upgrade", FirstBytes::Upgrade)]
    {
        memory(&start(), &format!("{many} {what}"), many, opening).await;
    }
    for (what, opening) in [
        ("heads of 60 kB", FirstBytes::Head),
        ("frames of 480 kB", FirstBytes::Frame),
        ("bodies of 980 kB", FirstBytes::Body),
    ] {
        memory(&start(), &format!("{UNFINISHED} unfinished {what}"), UNFINISHED, opening).await;
    }
    sign_ins(&start(), data, many).await;
    for (what, frame) in [
        ("pongs", &[0x8a, 0x80, 0, 0, 0, 0][..]),
        ("pings", &[0x89, 0x80, 0, 0, 0, 0]),
        ("empty pieces", &[0x00, 0x80, 0, 0, 0, 0]),
        ("calls that are none", &[0x81, 0x82, 0, 0, 0, 0, b'{', b'}']),
    ] {
        floods(&start(), data, what, frame).await;
    }
}

/// The bytes that a stranger sends before it falls silent.
#[derive(Clone, Copy)]
enum FirstBytes {
    Nothing,
    Upgrade,
    Head,
    Frame,
    Body,
}

fn upgrade(address: SocketAddr) -> Vec<u8> {
    format!(
        "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .into_bytes()
}

impl FirstBytes {
    fn bytes(self, address: SocketAddr) -> Vec<u8> {
        let mut bytes = match self {
            FirstBytes::Nothing => Vec::new(),
            FirstBytes::Upgrade | FirstBytes::Frame => upgrade(address),
            FirstBytes::Head => {
                format!("GET /ping HTTP/1.1\r\nHost: {address}\r\nX-Slow: ").into_bytes()
            }
            FirstBytes::Body => format!(
                "POST /session HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
                 Transfer-Encoding: chunked\r\n\r\nffff0\r\n"
            )
            .into_bytes(),
        };
        if let FirstBytes::Frame = self {
            bytes.extend([0x81, 0x80 | 127, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0]);
        }
        let more = match self {
            FirstBytes::Nothing | FirstBytes::Upgrade => 0,
            FirstBytes::Head => 60_000,
            FirstBytes::Frame => 480_000,
            FirstBytes::Body => 980_000,
        };
        bytes.resize(bytes.len() + more, b'a');
        bytes
    }
}

/// Opens a connection, sends what it sends as far as it is taken, and keeps it until it is closed.
async fn stranger(address: SocketAddr, opening: Arc<Vec<u8>>) {
    let Ok(mut stream) = TcpStream::connect(address).await else { return };
    let (mut reading, mut writing) = stream.split();
    let sent = async {
        let _ = writing.write_all(&opening).await;
        std::future::pending::<()>().await;
    };
    let mut buffer = [0; 512];
    let ended = async { while reading.read(&mut buffer).await.is_ok_and(|read| read > 0) {} };
    tokio::select! {
        () = sent => {}
        () = ended => {}
    }
}

async fn memory(server: &Server, what: &str, many: usize, opening: FirstBytes) {
    let (before, opening) = (server.resident_mib(), Arc::new(opening.bytes(server.address)));
    let mut strangers = JoinSet::new();
    for _ in 0..many {
        strangers.spawn(stranger(server.address, opening.clone()));
    }
    let (begun, mut most) = (Instant::now(), 0.0_f64);
    while begun.elapsed() < WATCHED {
        tokio::time::sleep(Duration::from_millis(100)).await;
        most = most.max(server.resident_mib());
    }
    while strangers.try_join_next().is_some() {}
    println!(
        "  {what}: resident MiB {before:.0} before, {most:.0} at most; {} are left",
        strangers.len()
    );
}

fn key(data: &Path) -> String {
    let kept = std::fs::read(data.join("startup.key")).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    kept["key"].as_str().unwrap().to_owned()
}

/// A request on a connection of its own. The status of the answer.
fn ask(address: SocketAddr, request: &str) -> Option<String> {
    let mut stream = Blocking::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer.get(9..12)?.to_owned())
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms =
        |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("  {what}, ms: p50 {:.1}, p99 {:.1}, most {:.1}", ms(50), ms(99), ms(100));
}

/// Strangers on all slots, who come back when they are sent away.
async fn sign_ins(server: &Server, data: &Path, many: usize) {
    let opening = Arc::new(FirstBytes::Upgrade.bytes(server.address));
    let mut strangers = JoinSet::new();
    for _ in 0..many {
        let (address, opening) = (server.address, opening.clone());
        strangers.spawn(async move {
            loop {
                stranger(address, opening.clone()).await;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    tokio::time::sleep(WATCHED).await;
    let (address, body) = (server.address, format!("{{\"key\":\"{}\"}}", key(data)));
    let request = format!(
        "POST /session HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let signing = tokio::task::spawn_blocking(move || {
        let mut refused = 0;
        let times = (0..SIGN_INS).map(|_| {
            let begun = Instant::now();
            refused += usize::from(ask(address, &request).as_deref() != Some("200"));
            begun.elapsed()
        });
        (times.collect::<Vec<_>>(), refused)
    });
    let (times, refused) = signing.await.unwrap();
    print_times(
        &format!("{SIGN_INS} sign-ins while {many} strangers want seats ({refused} refused)"),
        times,
    );
}

/// Sends frames for as long as it may, on one connection after the other.
fn flood(address: SocketAddr, frames: &[u8], connections: &AtomicUsize, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let Ok(mut stream) = Blocking::connect(address) else { continue };
        connections.fetch_add(1, Ordering::Relaxed);
        let _ = stream.write_all(&upgrade(address));
        while !over.load(Ordering::Relaxed) && stream.write_all(frames).is_ok() {}
        let _ = stream.shutdown(Shutdown::Both);
    }
}

async fn floods(server: &Server, data: &Path, what: &str, frame: &[u8]) {
    let (address, key) = (server.address, key(data));
    let request = format!(
        "GET /threads HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Connection: close\r\n\r\n"
    );
    for many in FLOODERS {
        let (connections, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let flooders: Vec<_> = (0..many)
            .map(|_| {
                let (connections, over) = (connections.clone(), over.clone());
                let frames = frame.repeat(10_000);
                std::thread::spawn(move || flood(address, &frames, &connections, &over))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(500)).await;
        let request = request.clone();
        let asking = tokio::task::spawn_blocking(move || {
            let times = (0..REQUESTS).map(|_| {
                let begun = Instant::now();
                assert_eq!(ask(address, &request).as_deref(), Some("200"));
                begun.elapsed()
            });
            times.collect::<Vec<_>>()
        });
        let times = asking.await.unwrap();
        over.store(true, Ordering::Relaxed);
        flooders.into_iter().for_each(|flooder| flooder.join().unwrap());
        let opened = connections.load(Ordering::Relaxed);
        print_times(
            &format!("GET /threads beside {many} that send {what} ({opened} connections)"),
            times,
        );
    }
}
