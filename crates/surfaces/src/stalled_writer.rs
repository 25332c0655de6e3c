//! A connection whose writes time out if the other side reads nothing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::meters::SurfaceMetrics;

/// Time limit for a write of which the other side takes nothing.
pub const STALLED_AFTER: Duration = Duration::from_secs(30);

/// A connection whose writes fail if the other side takes nothing for [`STALLED_AFTER`]. A slow
/// reader that takes at least one byte in this time keeps its connection.
pub struct StallGuard<S> {
    stream: S,
    /// Deadline of the pending write, if one is pending.
    until: Option<Pin<Box<Sleep>>>,
    meters: Arc<SurfaceMetrics>,
}

impl<S> StallGuard<S> {
    /// Wraps a connection.
    pub fn new(stream: S, meters: Arc<SurfaceMetrics>) -> Self {
        Self { stream, until: None, meters }
    }

    /// Checks the result of a write. A write that is ready clears the deadline. A pending write
    /// starts the deadline, if none runs, and fails with `TimedOut` if the deadline has passed.
    fn judge<T>(
        &mut self,
        wrote: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.until = None;
            return wrote;
        }
        let until = self.until.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALLED_AFTER)));
        ready!(until.as_mut().poll(cx));
        self.meters.stalled();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer accepts no data")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(wrote, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.judge(wrote, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        // A flush of a TCP stream is always ready. It proves no progress, so it keeps the deadline.
        if flushed.is_pending() { self.judge(flushed, cx) } else { flushed }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.judge(shut, cx)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_for_thirty_seconds_is_given_up() {
        let (mut reader, writer) = tokio::io::duplex(1000);
        let meters = Arc::<SurfaceMetrics>::default();
        let mut patient = StallGuard::new(writer, meters.clone());
        patient.write_all(&[0; 1000]).await.unwrap();
        tokio::time::sleep(STALLED_AFTER * 10).await;
        let slowly = tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(STALLED_AFTER - Duration::from_secs(1)).await;
                reader.read_exact(&mut [0; 1]).await.unwrap();
            }
            reader
        });
        patient.write_all(&[0; 5]).await.expect("it takes a little, and nothing waited before");
        let _reader = slowly.await.unwrap();
        let begun = Instant::now();
        assert_eq!(patient.write_all(&[0; 1]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((begun.elapsed(), meters.stalls()), (STALLED_AFTER, 1));
    }
}
