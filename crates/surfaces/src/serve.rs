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
use tokio::net::{TcpListener, TcpStream};
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

async fn serve_connection(stream: TcpStream, router: Router, mut closing: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
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
