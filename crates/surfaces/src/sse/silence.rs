//! What breaks the silence of a stream: a keep-alive when nothing was said for a while, and the end
//! of the server.
//!
//! One timer serves the whole stream. It is looked at when it rings, not set anew with every event.

use std::pin::Pin;

use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep};

use super::{KEEP_ALIVE, closed};

/// Why there is something to say though nothing has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SilenceEnd {
    /// The stream has been silent for too long.
    KeepAlive,
    /// The server goes down: these are the last words.
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

    /// Something was sent, so the silence begins anew.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Resolves when something has to be said. Not to be asked again after [`SilenceEnd::GoingAway`].
    pub(super) async fn broken(&mut self) -> SilenceEnd {
        loop {
            tokio::select! {
                () = self.closing.as_mut() => return SilenceEnd::GoingAway,
                () = self.timer.as_mut() => {}
            }
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
