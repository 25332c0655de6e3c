//! Time that excludes pauses of this process. If the process was stopped, its container frozen or
//! the computer asleep, that time does not count against the limits of turns. (Section "Append
//! first, then tell" of ARCHITECTURE.md: open deadlines move by the time that was lost.)
//!
//! The clocks of the system run during a pause. So a waiting task wakes every second. If that took
//! much longer, the process was paused, and the surplus is not counted.

use std::time::Duration;

use moothall_kernel::time::Millis;
use tokio::time::Instant;

/// Interval at which a waiting task wakes.
const BEAT: Duration = Duration::from_secs(1);
/// Maximum time that is counted for one beat, because a busy processor may delay a beat for a
/// while.
const BEAT_MAX: Duration = Duration::from_secs(2);

/// A steady clock that stops while the process is paused.
#[derive(Debug)]
pub(crate) struct SteadyClock {
    looked: Instant,
    counted: Duration,
}

impl SteadyClock {
    pub(crate) fn new(now: Instant) -> Self {
        Self { looked: now, counted: Duration::ZERO }
    }

    /// Returns the time now. If `beats` is true, the caller looks at the clock at every beat, and
    /// of the time since the last look at most [`BEAT_MAX`] is counted.
    pub(crate) fn read(&mut self, now: Instant, beats: bool) -> Millis {
        let gone = now.saturating_duration_since(self.looked);
        self.counted += if beats { gone.min(BEAT_MAX) } else { gone };
        self.looked = now;
        Millis(u64::try_from(self.counted.as_millis()).unwrap_or(u64::MAX))
    }

    /// Converts a time of this clock, assuming that the process is not paused until then.
    pub(crate) fn instant_of(&self, time: Millis) -> Instant {
        self.looked + Duration::from_millis(time.0).saturating_sub(self.counted)
    }

    /// Returns the time of the next beat.
    pub(crate) fn beat(&self) -> Instant {
        self.looked + BEAT
    }

    /// True if the process was paused since the last look.
    pub(crate) fn stood(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.looked) > BEAT_MAX
    }
}

/// Waits for a future for at most `limit` of unpaused time. Returns `None` after that.
pub async fn within<T>(limit: Duration, wanted: impl Future<Output = T>) -> Option<T> {
    let mut wanted = std::pin::pin!(wanted);
    let mut left = limit;
    while !left.is_zero() {
        let (begun, piece) = (Instant::now(), left.min(BEAT));
        if let Ok(came) = tokio::time::timeout(piece, &mut wanted).await {
            return Some(came);
        }
        // A piece of the time that took much longer is not counted, because results that arrived
        // during the pause have to be looked at first.
        if begun.elapsed() <= piece + BEAT_MAX {
            left -= piece;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_looked_at_stands_while_nobody_looks() {
        let mut steady = SteadyClock::new(Instant::now());
        for _ in 0..3 {
            tokio::time::advance(SECOND).await;
            assert!(!steady.stood(Instant::now()));
            steady.read(Instant::now(), true);
        }
        tokio::time::advance(60 * SECOND).await;
        assert!(steady.stood(Instant::now()));
        assert_eq!(steady.read(Instant::now(), true), Millis(5000));
        assert_eq!(steady.instant_of(Millis(6500)) - Instant::now(), Duration::from_millis(1500));
        tokio::time::advance(60 * SECOND).await;
        assert_eq!(
            steady.read(Instant::now(), false),
            Millis(65_000),
            "nobody waited for anything"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_while_the_process_stood_is_in_time() {
        let begun = Instant::now();
        assert_eq!(within(10 * SECOND, std::future::pending::<()>()).await, None);
        assert_eq!(begun.elapsed(), 10 * SECOND);

        let (tell, receiver) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(within(10 * SECOND, receiver));
        tokio::task::yield_now().await;
        tokio::time::advance(60 * SECOND).await;
        tokio::task::yield_now().await;
        assert!(tell.send("in time").is_ok());
        assert_eq!(waiting.await.ok().flatten(), Some(Ok("in time")));
    }
}
