//! What the search for conversations that have outlived their time remembers: the task that looks,
//! and whether the clock can be trusted.

use std::time::Duration;

use moothall_kernel::time::Timestamp;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// How far the computer's clock may get ahead, from one look to the next, of the time that went by.
const AHEAD_MAX: Duration = Duration::from_secs(3600);
/// How long nothing is deleted after it got further: a clock that was set wrong can be set right
/// before it costs a word. A computer that slept deletes as much later.
const DOUBT: Duration = Duration::from_secs(24 * 3600);

/// What looks for conversations that have outlived their time, and what it knows of the clock: a
/// reload of the configuration begins the one anew, and forgets nothing of the other.
#[derive(Default)]
pub(crate) struct Retention {
    pub(crate) looking: Option<AbortHandle>,
    pub(crate) doubt: ClockDoubt,
}

/// Whether the computer's clock may be wrong.
#[derive(Default)]
pub(crate) struct ClockDoubt {
    looked: Option<(Timestamp, Instant)>,
    until: Option<Instant>,
}

impl ClockDoubt {
    /// Whether it may be, by the clock and by the time that goes by, which nobody sets.
    pub(crate) fn stands(&mut self, clock: Timestamp, now: Instant) -> bool {
        if let Some((before, then)) = self.looked.replace((clock, now))
            && Duration::from_millis(clock.since(before).0) > now.duration_since(then) + AHEAD_MAX
        {
            tracing::warn!("the clock went ahead: no archived conversation is deleted for a day");
            self.until = Some(now + DOUBT);
        }
        self.until.is_some_and(|until| now < until)
    }
}
