//! Connections that the fake can break at any moment.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

const INTACT: u8 = 0;
const CLOSE: u8 = 1;
const RESET: u8 = 2;

/// The switch that breaks one connection.
#[derive(Default)]
struct Switch {
    state: AtomicU8,
    waker: AtomicWaker,
}

impl Switch {
    fn set(&self, state: u8) {
        self.state.store(state, Ordering::SeqCst);
        self.waker.wake();
    }
}

/// A handler's hold on the connection of its request.
#[derive(Clone)]
pub(crate) struct ConnectionHandle(Arc<Switch>);

impl ConnectionHandle {
    /// Closes the connection without a further byte.
    pub(crate) fn close(&self) {
        self.0.set(CLOSE);
    }

    /// Resets the connection without a further byte.
    pub(crate) fn reset(&self) {
        self.0.set(RESET);
    }
}

impl Connected<IncomingStream<'_, BreakableListener>> for ConnectionHandle {
    fn connect_info(stream: IncomingStream<'_, BreakableListener>) -> Self {
        Self(stream.io().switch.clone())
    }
}

/// All connections of a server.
#[derive(Clone, Default)]
pub(crate) struct Connections(Arc<Mutex<Vec<Weak<Switch>>>>);

impl Connections {
    fn add(&self) -> Arc<Switch> {
        let switch = Arc::new(Switch::default());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|switch| switch.strong_count() > 0);
        all.push(Arc::downgrade(&switch));
        switch
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).for_each(|switch| switch.set(CLOSE));
    }
}

/// A listener whose connections can be broken.
pub(crate) struct BreakableListener {
    pub(crate) listener: TcpListener,
    pub(crate) connections: Connections,
}

impl Listener for BreakableListener {
    type Io = BreakableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BreakableStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (BreakableStream { stream, switch: self.connections.add() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection with its switch.
pub(crate) struct BreakableStream {
    stream: TcpStream,
    switch: Arc<Switch>,
}

impl BreakableStream {
    fn check(&self, context: &Context<'_>) -> io::Result<()> {
        self.switch.waker.register(context.waker());
        let state = self.switch.state.load(Ordering::SeqCst);
        if state == RESET {
            // Without lingering the socket is reset when it is dropped.
            self.stream.set_zero_linger()?;
        }
        if state == INTACT { Ok(()) } else { Err(io::ErrorKind::ConnectionReset.into()) }
    }
}

impl AsyncRead for BreakableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for BreakableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
