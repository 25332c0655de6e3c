//! Events of a stream that come without news: keep-alives, and the shutdown of the server.
//!
//! One timer serves the whole stream. It is re-armed when it fires, and not on every event.

use std::pin::Pin;

use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep};

use super::{KEEP_ALIVE, closed};

/// The reason to send an event although nothing has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SilenceEnd {
    /// The silence has lasted [`KEEP_ALIVE`].
    KeepAlive,
    /// The server shuts down.
    GoingAway,
}

/// The silence of one stream.
pub(super) struct Silence {
    closing: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
    timer: Pin<Box<Sleep>>,
    since: Instant,
}

impl Silence {
    pub(super) fn new(closing: &watch::Receiver<bool>) -> Self {
        let mut closing = closing.clone();
        let closing = Box::pin(async move { closed(&mut closing).await });
        Self { closing, timer: Box::pin(sleep(KEEP_ALIVE)), since: Instant::now() }
    }

    /// Restarts the silence, because something was sent or happened.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Resolves with [`SilenceEnd::KeepAlive`] after [`KEEP_ALIVE`] without a call of
    /// [`Silence::begin`], or with [`SilenceEnd::GoingAway`] as soon as the server begins to shut
    /// down. Must not be called again after [`SilenceEnd::GoingAway`].
    pub(super) async fn broken(&mut self) -> SilenceEnd {
        loop {
            tokio::select! {
                () = self.closing.as_mut() => return SilenceEnd::GoingAway,
                () = self.timer.as_mut() => {}
            }
            // An item only moves `since`, because a reset of the timer with each item costs more.
            let due = self.since + KEEP_ALIVE;
            if due > Instant::now() {
                self.timer.as_mut().reset(due);
                continue;
            }
            self.begin();
            self.timer.as_mut().reset(self.since + KEEP_ALIVE);
            return SilenceEnd::KeepAlive;
        }
    }
}
