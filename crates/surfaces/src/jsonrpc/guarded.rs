//! A WebSocket's byte stream that checks frame headers before the library buffers anything.
//!
//! The library answers pings, skips empty fragments and joins fragments without returning. A client
//! could send those for ever, without any message that the connection would see.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;

use crate::slots::ConnectionSlot;

/// The WebSocket of a connection.
pub(super) type AgentSocket = WebSocketStream<FrameGuard<TokioIo<Upgraded>>>;

/// Maximum size of a message of an authenticated client.
pub(super) const MESSAGE_BYTES_MAX: usize = 512 * 1024;
/// A smaller fragment that is not the last one counts as a frame without data.
const PIECE_BYTES_MIN: u64 = 256;
/// Interval at which frames without data are allowed, after a burst: 50 ms, or 20 per second.
const IDLE_EVERY: Duration = Duration::from_millis(50);
/// Maximum size of a frame's header.
const HEAD_BYTES_MAX: usize = 14;

/// The limits of a client's frames.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Maximum size of a message. A larger one ends the connection before it is read.
    message_bytes: usize,
    /// Maximum number of consecutive frames without data, after a pause.
    idle_burst: u32,
}

/// Limits before `network/connect`.
const UNKNOWN: Bounds = Bounds { message_bytes: 8 * 1024, idle_burst: 100 };
/// Limits after `network/connect`.
const KNOWN: Bounds = Bounds { message_bytes: MESSAGE_BYTES_MAX, idle_burst: 400 };

/// The reason to cut off a connection for its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameFault {
    /// A message is too large.
    TooLarge,
    /// Too many frames without data.
    TooMany,
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FrameFault::TooLarge => "a message is too large",
            FrameFault::TooMany => "too many frames without data",
        })
    }
}

impl std::error::Error for FrameFault {}

/// The parser's position in the frames.
#[derive(Debug)]
struct FramePosition {
    head: [u8; HEAD_BYTES_MAX],
    /// Number of received bytes of the header.
    have: usize,
    /// Number of payload bytes of the frame still to come.
    left: u64,
    /// Size of the message so far, including the whole current frame.
    message: u64,
    /// True if the frame is the last one of its message.
    is_last: bool,
    /// True if the frame is a control frame, which belongs to no message.
    is_control: bool,
    /// Time at which the frames without data will be paid off.
    paid: Instant,
}

impl FramePosition {
    fn new(now: Instant) -> Self {
        Self {
            head: [0; HEAD_BYTES_MAX],
            have: 0,
            left: 0,
            message: 0,
            is_last: false,
            is_control: false,
            paid: now,
        }
    }

    /// Parses the frames in these bytes.
    fn follow(
        &mut self,
        mut bytes: &[u8],
        bounds: &Bounds,
        now: Instant,
    ) -> Result<(), FrameFault> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let passed = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= passed as u64;
                bytes = &bytes[passed..];
                self.end_frame();
                continue;
            }
            self.head[self.have] = *first;
            self.have += 1;
            bytes = rest;
            if self.have == self.head_bytes() {
                self.begin_frame(bounds, now)?;
                self.end_frame();
            }
        }
        Ok(())
    }

    /// Returns the size of the current frame's header. Until its first two bytes have arrived,
    /// which tell the size, returns 2.
    fn head_bytes(&self) -> usize {
        if self.have < 2 {
            return 2;
        }
        let length = match self.head[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let mask = if self.head[1] & 0x80 == 0 { 0 } else { 4 };
        2 + length + mask
    }

    /// Returns the size of the payload, as the complete header gives it.
    fn payload_bytes(&self) -> u64 {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        match self.head[1] & 0x7f {
            126 => number(&self.head[2..4]),
            127 => number(&self.head[2..10]),
            short => u64::from(short),
        }
    }

    /// Begins the frame whose header is complete. Returns an error if its message is too large, or
    /// if too many frames without data have come.
    fn begin_frame(&mut self, bounds: &Bounds, now: Instant) -> Result<(), FrameFault> {
        let is_final = self.head[0] & 0x80 != 0;
        self.is_control = self.head[0] & 0x08 != 0;
        self.left = self.payload_bytes();
        self.have = 0;
        self.is_last = is_final && !self.is_control;
        if self.is_control || self.left == 0 || (!is_final && self.left < PIECE_BYTES_MIN) {
            self.paid = self.paid.max(now) + IDLE_EVERY;
            if self.paid - now > IDLE_EVERY * bounds.idle_burst {
                return Err(FrameFault::TooMany);
            }
        }
        if !self.is_control {
            // A header may announce 2^63 bytes and more: the sum must not wrap below the maximum.
            self.message = self.message.saturating_add(self.left);
        }
        if self.message > bounds.message_bytes as u64 { Err(FrameFault::TooLarge) } else { Ok(()) }
    }

    /// Begins to count a new message if the last frame of the present one is complete.
    fn end_frame(&mut self) {
        if self.left == 0 && self.is_last {
            self.message = 0;
            self.is_last = false;
        }
    }

    /// Returns the number of received bytes of unfinished messages and headers.
    fn unfinished(&self) -> usize {
        let awaited = if self.is_control { 0 } else { self.left };
        usize::try_from(self.message - awaited).unwrap_or(usize::MAX) + self.have
    }
}

/// A byte stream of WebSocket frames that are checked.
pub(super) struct FrameGuard<S> {
    stream: S,
    slot: Arc<ConnectionSlot>,
    frames: FramePosition,
    is_deaf: bool,
}

impl<S> FrameGuard<S> {
    /// Wraps a connection. Its slot says if its sender is authenticated, and counts unfinished
    /// bytes.
    pub(super) fn new(stream: S, slot: Arc<ConnectionSlot>) -> Self {
        Self { stream, slot, frames: FramePosition::new(Instant::now()), is_deaf: false }
    }

    /// Stops checking. The remaining bytes are discarded.
    pub(super) fn stop_judging(&mut self) {
        self.is_deaf = true;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameGuard<S> {
    /// Reads bytes and checks the frames in them. A fault is an error, which ends the connection.
    /// The number of unfinished bytes is noted in the slot.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        if self.is_deaf {
            return Poll::Ready(Ok(()));
        }
        let bounds = if self.slot.is_known() { &KNOWN } else { &UNKNOWN };
        self.frames
            .follow(&into.filled()[before..], bounds, Instant::now())
            .map_err(io::Error::other)?;
        self.slot.hold(self.frames.unfinished());
        Poll::Ready(Ok(()))
    }
}

/// Writes pass unchecked: these frames are the server's own.
impl<S: AsyncWrite + Unpin> AsyncWrite for FrameGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns a frame with this payload size, masked with zeros.
    fn frame(first: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![first, 0x80 | 127];
        bytes.extend((payload as u64).to_be_bytes());
        bytes.resize(14 + payload, 0);
        bytes
    }

    const BOUNDS: Bounds = Bounds { message_bytes: 1000, idle_burst: 100 };

    fn follow(frames: &mut FramePosition, bytes: &[u8]) -> Result<(), FrameFault> {
        frames.follow(bytes, &BOUNDS, Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_unfinished_is_known_wherever_the_bytes_are_cut() {
        let bytes: Vec<u8> =
            [frame(0x01, 300), frame(0x89, 3), frame(0x80, 500), vec![0x81, 0x83, 0, 0, 0, 0]]
                .concat();
        let mut at_once = FramePosition::new(Instant::now());
        follow(&mut at_once, &bytes).unwrap();
        let mut by_bytes = FramePosition::new(Instant::now());
        let mut held = Vec::new();
        for byte in &bytes {
            follow(&mut by_bytes, &[*byte]).unwrap();
            held.push(by_bytes.unfinished());
        }
        assert_eq!((held[13], held[14 + 299], held[14 + 300 + 13]), (0, 300, 300));
        assert_eq!(held[14 + 300 + 17 + 14 + 499], 0, "the message is whole");
        assert_eq!(at_once.unfinished(), 0);
        follow(&mut at_once, b"ab").unwrap();
        assert_eq!(at_once.unfinished(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_is_measured_by_what_its_heads_say() {
        for pieces in [vec![frame(0x81, 1001)], vec![frame(0x01, 600), frame(0x80, 401)]] {
            let mut frames = FramePosition::new(Instant::now());
            assert_eq!(follow(&mut frames, &pieces.concat()), Err(FrameFault::TooLarge));
        }
        let mut huge = frame(0x81, 0);
        huge[2..10].copy_from_slice(&u64::MAX.to_be_bytes());
        assert_eq!(
            follow(&mut FramePosition::new(Instant::now()), &huge),
            Err(FrameFault::TooLarge)
        );
        let mut frames = FramePosition::new(Instant::now());
        for _ in 0..50 {
            follow(&mut frames, &frame(0x81, 1000)).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn frames_that_bring_nothing_have_a_pace() {
        let kinds: [&[u8]; 6] = [
            &[0x89, 0x80, 0, 0, 0, 0],
            &[0x8a, 0x80, 0, 0, 0, 0],
            &[0x88, 0x80, 0, 0, 0, 0],
            &[0x00, 0x80, 0, 0, 0, 0],
            &[0x81, 0x80, 0, 0, 0, 0],
            &[0x00, 0x81, 0, 0, 0, 0, b'a'],
        ];
        for kind in kinds {
            let mut frames = FramePosition::new(Instant::now());
            for _ in 0..BOUNDS.idle_burst {
                follow(&mut frames, kind).unwrap();
            }
            assert_eq!(follow(&mut frames, kind), Err(FrameFault::TooMany), "{kind:?}");
        }
        let mut frames = FramePosition::new(Instant::now());
        for _ in 0..1_000 {
            follow(&mut frames, kinds[1]).unwrap();
            tokio::time::advance(IDLE_EVERY).await;
        }
        for _ in 0..BOUNDS.idle_burst {
            follow(&mut frames, kinds[1]).unwrap();
            follow(&mut frames, &frame(0x81, 7)).unwrap();
        }
        assert_eq!(follow(&mut frames, kinds[1]), Err(FrameFault::TooMany));
    }
}
