//! Measuring for benches: processor time, and readers that count arrivals.

use std::net::SocketAddr;
use std::time::Duration;

use memchr::memmem::Finder;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Returns the processor time of this process, of user and system and all threads.
///
/// # Panics
/// The system does not report it.
pub fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the usage of one's own process");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// Returns a duration in microseconds, with fractions.
pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Reads until a mark has arrived `wanted` times, reports that, and holds the connection open until
/// its task is aborted. Panics if the other side closes the connection.
pub fn reader(
    mut stream: TcpStream,
    mark: &'static [u8],
    wanted: usize,
    done: mpsc::Sender<()>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut buffer = vec![0; 64 * 1024];
        let finder = Finder::new(mark);
        let (mut seen, mut kept) = (0, 0);
        while seen < wanted {
            let read = stream.read(&mut buffer[kept..]).await.expect("the connection can be read");
            assert!(read > 0, "cut off after {seen} of {wanted}");
            let text = &buffer[..kept + read];
            let mut after = 0;
            while let Some(at) = finder.find(&text[after..]) {
                (seen, after) = (seen + 1, after + at + mark.len());
            }
            // A mark may arrive in two pieces.
            let rest = after.max(text.len().saturating_sub(mark.len() - 1))..text.len();
            kept = rest.len();
            buffer.copy_within(rest, 0);
        }
        done.send(()).await.expect("somebody waits");
        std::future::pending::<()>().await;
    })
}

/// Requests a stream over HTTP, and reads the head of the response.
///
/// # Panics
/// The server cannot be reached, or closes the connection.
pub async fn subscribe(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a server that listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it takes the request");
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("it answers"));
    }
    stream
}
