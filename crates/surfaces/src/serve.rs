//! Accepts connections.
//!
//! hyper is driven directly because `axum::serve` sets no limit on how long a request's head may take, how large it may be, or how many
//! connections there are.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use moothall_engine::hall::Hall;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::http::{HttpOptions, router_until};
use crate::sse::closed;

/// How long a request's head may take, and how long an idle connection is kept.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Most headers of a request; more are answered with 431.
const HEADERS_MAX: usize = 64;
/// Largest head of a request.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long requests in flight have once the server goes down.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait when no connection can be accepted, e.g. for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the hall until `shutdown` resolves. Streams are told `going-away` then, and requests in flight get five seconds.
pub async fn serve(listener: TcpListener, hall: Hall, options: HttpOptions, shutdown: impl Future<Output = ()>) {
    let (close, closing) = watch::channel(false);
    let router = router_until(hall, &options, closing.clone());
    let mut connections = JoinSet::new();
    tokio::select! {
        () = accept(&listener, &router, &options, &closing, &mut connections) => {}
        () = shutdown => {}
    }
    drop(listener);
    let _ = close.send(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, finished).await.is_err() {
        tracing::warn!("connections were still busy and are cut");
    }
}

async fn accept(
    listener: &TcpListener,
    router: &Router,
    options: &HttpOptions,
    closing: &watch::Receiver<bool>,
    connections: &mut JoinSet<()>,
) {
    let seats = Arc::new(Semaphore::new(options.connections_max));
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (router, closing) = (router.clone(), closing.clone());
                let _ = stream.set_nodelay(true);
                connections.spawn(async move {
                    serve_connection(stream, router, closing).await;
                    drop(seat);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_connection<S>(stream: S, router: Router, mut closing: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_headers(HEADERS_MAX).max_buf_size(HEAD_BYTES_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = closed(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended badly");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_engine::MemoryLog;
    use moothall_engine::hall::HallParts;
    use moothall_engine::ports::SystemClock;
    use moothall_kernel::policy::Policy;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    async fn router() -> Router {
        let parts = HallParts {
            log: Arc::new(MemoryLog::new()),
            clock: Arc::new(SystemClock),
            registry: Default::default(),
            defaults: Policy::default(),
            owner: "test".into(),
        };
        let options = HttpOptions::new("127.0.0.1:5111".parse().unwrap());
        crate::router(Hall::open(parts).await.unwrap(), &options)
    }

    /// Sends this and no more, and returns what came until the connection was closed, and how long that took.
    async fn stall(sent: &str) -> (String, Duration) {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let connection = tokio::spawn(serve_connection(server, router().await, watch::channel(false).1));
        let begun = Instant::now();
        client.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        connection.await.unwrap();
        (answer, begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_head_never_ends_is_dropped() {
        let (answer, after) = stall("GET /threads HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nX-Slow: ").await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert_eq!(after, HEAD_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_body_never_comes_is_answered_and_dropped() {
        let head = "POST /threads HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{";
        let (answer, after) = stall(head).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"), "{answer}");
        assert_eq!(after, Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed() {
        let (answer, after) = stall("GET /ping HTTP/1.1\r\nHost: 127.0.0.1:5111\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(after, HEAD_TIMEOUT);
    }
}
