//! The one timer of a stream's task. It stays registered between waits. A timer that is made for
//! each wait and dropped after it would wake the timer thread for nothing.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that is reset often, mostly to later times.
#[derive(Debug)]
pub(super) struct Alarm(Pin<Box<Sleep>>);

impl Alarm {
    /// Makes an alarm that is first registered for this time.
    pub(super) fn new(at: Instant) -> Self {
        Self(Box::pin(sleep_until(at)))
    }

    /// Waits until this time. Cancelling the wait is safe. A timer that was set too early is reset
    /// after it fires. A timer that was set too late is reset before the wait.
    pub(super) async fn wait_until(&mut self, at: Instant) {
        while Instant::now() < at {
            if self.0.deadline() > at || self.0.is_elapsed() {
                self.0.as_mut().reset(at);
            }
            self.0.as_mut().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn rings_when_it_was_last_set_to() {
        let begun = Instant::now();
        let mut alarm = Alarm::new(begun + SECOND);
        let early = tokio::time::timeout(SECOND / 2, alarm.wait_until(begun + 5 * SECOND)).await;
        assert!(early.is_err(), "nobody waits any more");
        alarm.wait_until(begun + 3 * SECOND).await;
        assert_eq!(begun.elapsed(), 3 * SECOND, "later than it was set to at first");
        let late = tokio::time::timeout(SECOND, alarm.wait_until(begun + 60 * SECOND)).await;
        assert!(late.is_err());
        alarm.wait_until(begun + 5 * SECOND).await;
        assert_eq!(begun.elapsed(), 5 * SECOND, "earlier than it was set to last");
        alarm.wait_until(begun).await;
        assert_eq!(begun.elapsed(), 5 * SECOND, "a time that is over is not waited for");
    }
}
