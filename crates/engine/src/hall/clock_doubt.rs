//! State of the deletion of old archived conversations: its task, and its doubt about the
//! computer's clock.

use std::time::Duration;

use moothall_kernel::time::Timestamp;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Maximum time by which the computer's clock may run ahead of a steady clock between two looks.
const AHEAD_MAX: Duration = Duration::from_secs(3600);
/// Pause of all deletions after the clock ran further ahead. In this time a person can correct a
/// wrong clock before words are lost. A computer that slept deletes one day later.
const DOUBT: Duration = Duration::from_secs(24 * 3600);

/// The task that deletes old archived conversations, and the doubt about the clock. A reload of the
/// configuration replaces the task; the doubt stays.
#[derive(Default)]
pub(crate) struct Retention {
    pub(crate) looking: Option<AbortHandle>,
    pub(crate) doubt: ClockDoubt,
}

/// Compares the computer's clock with a steady one, and remembers for a day that it ran ahead.
#[derive(Default)]
pub(crate) struct ClockDoubt {
    looked: Option<(Timestamp, Instant)>,
    until: Option<Instant>,
}

impl ClockDoubt {
    /// True if the clock may be wrong, because it ran ahead of the steady clock within the last
    /// day. Each call compares the clocks since the call before.
    pub(crate) fn stands(&mut self, clock: Timestamp, now: Instant) -> bool {
        if let Some((before, then)) = self.looked.replace((clock, now))
            && Duration::from_millis(clock.since(before).0) > now.duration_since(then) + AHEAD_MAX
        {
            tracing::warn!(
                "the clock jumped ahead; deletion of archived conversations is paused for a day"
            );
            self.until = Some(now + DOUBT);
        }
        self.until.is_some_and(|until| now < until)
    }
}
