//! A rate limit for recording refused requests.

use std::sync::{Mutex, PoisonError};

use moothall_kernel::time::{Millis, Timestamp};

/// Maximum number of refusals recorded within a window. Others are only counted.
const RECORDED_MAX: u64 = 60;
const WINDOW: Millis = Millis::from_secs(60);

/// A counter of refusals, so that a flood of them does not fill the disk.
#[derive(Default)]
pub(super) struct Refusals(Mutex<Window>);

#[derive(Default)]
struct Window {
    began: Timestamp,
    recorded: u64,
    passed_over: u64,
}

impl Refusals {
    /// Returns the number of refusals that were skipped since the last recorded one. `None` if this
    /// refusal must be skipped too.
    pub(super) fn admit(&self, now: Timestamp) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !window.began.is_within(WINDOW, now) {
            window.began = now;
            window.recorded = 0;
        }
        if window.recorded == RECORDED_MAX {
            window.passed_over += 1;
            return None;
        }
        window.recorded += 1;
        Some(std::mem::take(&mut window.passed_over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_the_next_window_says_so() {
        let (refusals, begin) = (Refusals::default(), Timestamp::from_millis(1_000_000));
        for _ in 0..RECORDED_MAX {
            assert_eq!(refusals.admit(begin), Some(0));
        }
        for _ in 0..7 {
            assert_eq!(refusals.admit(begin + Millis::from_secs(59)), None);
        }
        assert_eq!(refusals.admit(begin + WINDOW), Some(7));
        assert_eq!(refusals.admit(begin + WINDOW), Some(0));
    }

    #[test]
    fn a_clock_that_was_set_back_begins_a_new_window() {
        let (refusals, begin) = (Refusals::default(), Timestamp::from_millis(1_000_000));
        let flood = |now| (0..2 * RECORDED_MAX).filter(|_| refusals.admit(now).is_some()).count();
        assert_eq!([flood(begin), flood(begin - WINDOW)], [RECORDED_MAX as usize; 2]);
    }
}
