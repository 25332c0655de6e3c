//! Accepts connections, plain or over TLS, and closes them at shutdown.
//!
//! hyper is driven directly because `axum::serve` limits neither the time and size of a request's
//! head nor the number of connections.
//!
//! With a certificate, one port takes both: TLS from all addresses, and plain HTTP from this
//! computer, whose programs (hooks, bridges, terminals, the owner's command line) then need no
//! certificate to trust. Plain HTTP from elsewhere gets only an error.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use moothall_engine::access::Mode;
use moothall_engine::hall::Hall;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::counted::CountedStream;
use crate::eager::eager;
use crate::error::{ApiError, Code};
use crate::http::{HttpOptions, router_until};
use crate::meters::SurfaceMetrics;
use crate::peer::{self, Peer, UnknownPeer};
use crate::slots::{BusyGuard, ConnectionSlot, ConnectionSlots};
use crate::sse::closed;
use crate::stalled_writer::StallGuard;
use crate::surface::Surface;

/// Time limit for an idle connection, and for the head of a later request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of headers of a request. More are answered with 431.
const HEADERS_MAX: usize = 64;
/// Maximum size of a request's head. hyper also buffers at most this much of an answer.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Time that requests in flight have at shutdown.
const GRACE: Duration = Duration::from_secs(5);
/// First byte of a TLS connection: the type of a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;
/// Pause after a failed accept, e.g. without a free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the hall until `shutdown` resolves, through a [`Surface`] that it makes from the options.
/// See [`serve_through`].
pub async fn serve(
    listener: TcpListener,
    hall: Hall,
    options: HttpOptions,
    shutdown: impl Future<Output = ()>,
) {
    serve_through(Surface::new(hall, options), listener, shutdown).await;
}

/// Serves the hall of a surface until `shutdown` resolves. Then streams get `going-away`, and
/// requests in flight get five seconds.
pub async fn serve_through(
    surface: Surface,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) {
    let (close, closing) = watch::channel(false);
    let (options, slots) = (surface.options(), surface.slots());
    let router = router_until(&surface, closing.clone());
    let tls = options.tls.as_ref().map(|tls| tls.acceptor().clone());
    let one_user = options.mode == Mode::Local && !options.other_users;
    let door = Door { router, tls, one_user, closing, meters: surface.meters().clone() };
    let mut connections = JoinSet::new();
    tokio::select! {
        () = accept(&listener, &door, slots, &mut connections) => {}
        () = shutdown => {}
    }
    drop(listener);
    let _ = close.send(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, finished).await.is_err() {
        tracing::warn!("closing connections that are still busy");
    }
}

/// The parts that all connections share.
#[derive(Clone)]
struct Door {
    router: Router,
    tls: Option<TlsAcceptor>,
    /// True in local mode without `other_users`: only then the server asks for the owner of the
    /// client's process. In token mode, a credential names the caller.
    one_user: bool,
    closing: watch::Receiver<bool>,
    meters: Arc<SurfaceMetrics>,
}

/// Accepts connections without end. Each connection has a task of its own. The task ends with the
/// connection, or when [`ConnectionSlot::wait_for_end`] resolves, for example after an eviction.
async fn accept(
    listener: &TcpListener,
    door: &Door,
    slots: &Arc<ConnectionSlots>,
    connections: &mut JoinSet<()>,
) {
    loop {
        // A `JoinSet` keeps the result of each finished task until it is joined.
        while connections.try_join_next().is_some() {}
        slots.room().await;
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(slot) = slots.take(peer.ip()) else { continue };
                let door = door.clone();
                // Small events would wait for the client's acknowledgement; a failure costs only
                // this delay.
                let _ = stream.set_nodelay(true);
                connections.spawn(async move {
                    let slot = Arc::new(slot);
                    tokio::select! {
                        () = door.enter(stream, peer, slot.clone()) => {}
                        () = slot.wait_for_end() => {}
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Most likely no file descriptor is left: evict connections to get one.
                slots.free_one();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

impl Door {
    /// Serves a connection, plain or TLS. A plain connection from another computer gets only errors
    /// if the server has a certificate. A client that has closed its socket gets nothing.
    async fn enter(self, stream: TcpStream, peer: SocketAddr, slot: Arc<ConnectionSlot>) {
        let user = if self.one_user { client_owner(peer, &stream) } else { Peer::Owner };
        if user == Peer::Gone {
            return;
        }
        let who = ConnectionOrigin { user, peer, slot };
        let here = is_here(peer, stream.local_addr().ok());
        let mut first = [0];
        // Peek before the buffers are allocated, so that a silent connection has none.
        let Ok(1) = stream.peek(&mut first).await else { return };
        let stream = CountedStream::new(stream, who.slot.clone());
        match self.tls.clone() {
            None => self.serve_connection(stream, who).await,
            Some(tls) if first[0] == TLS_HANDSHAKE => match tls.accept(stream).await {
                Ok(stream) => self.serve_connection(stream, who).await,
                Err(error) => tracing::debug!(%error, "a handshake failed"),
            },
            Some(_) if here => self.serve_connection(stream, who).await,
            Some(_) => {
                Self { router: plain_elsewhere(), ..self }.serve_connection(stream, who).await
            }
        }
    }

    /// Serves HTTP/1 on a connection until it ends. When the server shuts down, the request in
    /// flight is still answered.
    async fn serve_connection<S>(mut self, stream: S, who: ConnectionOrigin)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE_TIMEOUT)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_BYTES_MAX);
        let seated = ConnectionService { router: self.router, who };
        let connection = builder
            .serve_connection(TokioIo::new(StallGuard::new(stream, self.meters)), seated)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        let result = tokio::select! {
            result = eager(connection.as_mut()) => result,
            () = closed(&mut self.closing) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "a connection failed");
        }
    }
}

/// Asks the system for the owner of the client's process.
fn client_owner(client: SocketAddr, stream: &TcpStream) -> Peer {
    let unasked = |error: io::Error| Peer::Unknown(UnknownPeer::of(&error));
    stream.local_addr().map_or_else(unasked, |server| peer::ask(client, server))
}

/// True if the client is on this computer. Only local packets carry one of our own addresses as
/// their source.
fn is_here(peer: SocketAddr, local: Option<SocketAddr>) -> bool {
    let peer = peer.ip().to_canonical();
    peer.is_loopback() || local.is_some_and(|local| local.ip().to_canonical() == peer)
}

/// Returns a router that answers every request with `tls_required`.
fn plain_elsewhere() -> Router {
    Router::new().fallback(|| async { ApiError::plain(Code::TlsRequired).into_response() })
}

/// The client of a connection, as far as it is known before the first request.
#[derive(Clone)]
struct ConnectionOrigin {
    user: Peer,
    peer: SocketAddr,
    slot: Arc<ConnectionSlot>,
}

/// The service for the requests of one connection.
struct ConnectionService {
    router: Router,
    who: ConnectionOrigin,
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    /// Answers a request. The connection counts as busy until the body of the answer is dropped. If
    /// the client's address has too many connections, the answer is that error. This error, and any
    /// answer on a spare slot, is the last answer on its connection.
    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let (router, ConnectionOrigin { user, peer, slot }) =
            (self.router.clone(), self.who.clone());
        let busy = slot.hear();
        Box::pin(async move {
            if slot.crowded {
                return Ok(last(ApiError::plain(Code::TooManyConnections).into_response()));
            }
            let mut request = request;
            request.extensions_mut().insert(user);
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(slot.clone());
            let answer = TowerToHyperService::new(router).call(request).await?;
            let answer = answer.map(|body| Body::new(HeldBody { body, _busy: busy }));
            // A spare slot has to be free again after one answer.
            Ok(if slot.is_spare() { last(answer) } else { answer })
        })
    }
}

/// Marks an answer as the last one on its connection.
fn last(mut answer: Response) -> Response {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The body of an answer. Its connection counts as busy until this is dropped.
struct HeldBody {
    body: Body,
    _busy: BusyGuard,
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::surface::tests::hall;
    use moothall_kernel::policy::Policy;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    async fn router() -> Router {
        let options = HttpOptions::new("127.0.0.1:5111".parse().unwrap());
        crate::router(hall().await, &options)
    }

    /// Serves a stream as a connection of the server. Resolves when the connection has ended.
    fn connected<S>(
        stream: S,
        router: Router,
        slots: &Arc<ConnectionSlots>,
    ) -> impl Future<Output = Arc<SurfaceMetrics>> + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let door = Door {
            router,
            tls: None,
            one_user: false,
            closing: watch::channel(false).1,
            meters: Arc::default(),
        };
        let (peer, meters): (SocketAddr, _) = ("127.0.0.1:9".parse().unwrap(), door.meters.clone());
        let slot = Arc::new(slots.take(peer.ip()).unwrap());
        async move {
            let who = ConnectionOrigin { user: Peer::Owner, peer, slot: slot.clone() };
            let stream = CountedStream::new(stream, slot.clone());
            tokio::select! {
                () = door.serve_connection(stream, who) => {}
                () = slot.wait_for_end() => {}
            }
            meters
        }
    }

    fn many_slots() -> Arc<ConnectionSlots> {
        ConnectionSlots::new(16, 200, Arc::default())
    }

    /// Sends these bytes only. Returns the bytes received until the connection closed, and the time
    /// that took.
    async fn stall(sent: &str) -> (String, Duration) {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let connection = tokio::spawn(connected(server, router().await, &many_slots()));
        let begun = Instant::now();
        client.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        connection.await.unwrap();
        (answer, begun.elapsed())
    }

    #[test]
    fn only_an_address_of_its_own_is_on_this_computer() {
        let here =
            |peer: &str, local: &str| is_here(peer.parse().unwrap(), Some(local.parse().unwrap()));
        for (peer, local) in [
            ("127.0.0.1:9", "127.0.0.1:1"),
            ("[::ffff:127.0.0.1]:9", "[::1]:1"),
            ("192.0.2.1:9", "192.0.2.1:1"),
        ] {
            assert!(here(peer, local), "{peer} {local}");
        }
        for (peer, local) in
            [("192.0.2.2:9", "192.0.2.1:1"), ("[2001:db8::1]:9", "[2001:db8::2]:9")]
        {
            assert!(!here(peer, local), "{peer} {local}");
        }
    }

    #[tokio::test]
    async fn plain_http_from_elsewhere_is_told_of_tls() {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let connection = tokio::spawn(connected(server, plain_elsewhere(), &many_slots()));
        client
            .write_all(b"GET /threads HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        connection.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("tls_required"), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_head_never_ends_is_dropped() {
        let (answer, after) =
            stall("GET /threads HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nX-Slow: ").await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert_eq!(after, crate::slots::HEAD_WITHIN);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_body_never_comes_is_answered_and_dropped() {
        let head = "POST /threads HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{";
        let (answer, after) = stall(head).await;
        assert!(
            answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"),
            "{answer}"
        );
        assert_eq!(after, Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed() {
        let (answer, after) = stall("GET /ping HTTP/1.1\r\nHost: 127.0.0.1:5111\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(after, IDLE_TIMEOUT);
    }

    /// Sends a request and reads nothing of the answer. Returns the time until the connection was
    /// cut.
    async fn never_reads(ask: impl FnOnce(&str) -> String) -> Duration {
        use moothall_kernel::command::{Actor, ClientCommand, Post};
        let hall = hall().await;
        let user = || Actor::human("user");
        let thread = hall.create("t".into(), Policy::default(), user(), None).await.unwrap().stream;
        for n in 0..8 {
            let words = format!("{n} ").repeat(10_000);
            hall.submit(&thread, ClientCommand::Post(Post::new(user(), words)), None)
                .await
                .unwrap();
        }
        let router = crate::router(hall, &HttpOptions::new("127.0.0.1:5111".parse().unwrap()));
        let (mut client, server) = tokio::io::duplex(1024);
        let connection = tokio::spawn(connected(server, router, &many_slots()));
        let begun = Instant::now();
        client.write_all(ask(thread.as_str()).as_bytes()).await.unwrap();
        let meters = connection.await.unwrap();
        assert_eq!(meters.stalls(), 1);
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_and_never_reads_is_cut_off_after_thirty_seconds() {
        for path in ["events", "events/stream?after=0"] {
            let after = never_reads(|thread| {
                format!("GET /threads/{thread}/{path} HTTP/1.1\r\nHost: 127.0.0.1:5111\r\n\r\n")
            })
            .await;
            assert_eq!(after, crate::stalled_writer::STALLED_AFTER, "{path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unfinished_words_of_strangers_are_cut_and_others_are_heard() {
        const HEAD_BYTES: usize = 60_000;
        let (slots, router) = (ConnectionSlots::new(2_000, 2_000, Arc::default()), router().await);
        let begin = "GET /ping HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nX-Slow: ";
        let head = begin.to_owned() + &"a".repeat(HEAD_BYTES - begin.len());
        // Half of each head comes first, so that the evicted connections are not just the last
        // ones.
        let (half, rest) = head.split_at(HEAD_BYTES / 2);
        let (mut clients, mut served, begun) = (Vec::new(), JoinSet::new(), Instant::now());
        for _ in 0..600 {
            let (mut client, server) = tokio::io::duplex(1 << 17);
            served.spawn(connected(server, router.clone(), &slots));
            client.write_all(half.as_bytes()).await.unwrap();
            clients.push(client);
        }
        for client in &mut clients {
            // The connection may be closed already.
            let _ = client.write_all(rest.as_bytes()).await;
        }
        let too_many = 600 - (32 << 20) / HEAD_BYTES;
        assert!(too_many > 0);
        for _ in 0..too_many {
            served.join_next().await.unwrap().unwrap();
        }
        assert_eq!(begun.elapsed(), Duration::ZERO, "none of them ran out of time");
        let (mut client, server) = tokio::io::duplex(1 << 16);
        let last = tokio::spawn(connected(server, router, &slots));
        let ask = "GET /ping HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nConnection: close\r\n\r\n";
        client.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        last.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        while served.try_join_next().is_some() {}
        let left = served.len();
        assert!(left > 400, "{left}");
    }

    /// Upgrades, floods and is cut off `times` times in a row. Returns the time that took.
    async fn floods(times: usize, slots: &Arc<ConnectionSlots>, router: &Router) -> Duration {
        let upgrade = b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:5111\r\nConnection: Upgrade\r\nUpgrade: \
            websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let begun = Instant::now();
        for _ in 0..times {
            let (mut client, server) = tokio::io::duplex(64 * 1024);
            let connection = tokio::spawn(connected(server, router.clone(), slots));
            client.write_all(upgrade).await.unwrap();
            client.write_all(&[0x8a, 0x80, 0, 0, 0, 0].repeat(200)).await.unwrap();
            let mut answer = Vec::new();
            client.read_to_end(&mut answer).await.unwrap();
            let cut = answer.windows(2).any(|code| code == 1008_u16.to_be_bytes());
            assert!(answer.starts_with(b"HTTP/1.1 101") && cut);
            drop(client);
            connection.await.unwrap();
        }
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_cut_for_a_flood_and_comes_again_at_once_waits() {
        let (slots, router) = (many_slots(), router().await);
        assert_eq!(floods(40, &slots, &router).await, Duration::ZERO);
        // While one connection waits for a second, twenty more are forgiven.
        assert_eq!(floods(41, &slots, &router).await, Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn with_all_seats_taken_health_answers_and_others_are_told_to_come_back() {
        let slots = ConnectionSlots::new(2, 200, Arc::default());
        let ordinary = slots.take("127.0.0.1".parse().unwrap()).unwrap();
        let _answer = ordinary.hear();
        ordinary.vouch();
        for (path, begins) in [("/healthz", "HTTP/1.1 200"), ("/threads", "HTTP/1.1 503")] {
            let (mut client, server) = tokio::io::duplex(64 * 1024);
            let connection = tokio::spawn(connected(server, router().await, &slots));
            let ask = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:5111\r\n\r\n");
            client.write_all(ask.as_bytes()).await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            connection.await.unwrap();
            assert!(answer.starts_with(begins) && answer.contains("connection: close"), "{answer}");
            assert_eq!(answer.contains("no_seats"), path == "/threads", "{answer}");
        }
    }
}
