//! The rate at which an agent begins conversations.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::{Millis, Timestamp};

/// Maximum number of conversations that one agent begins within a window. Each wakes the agents
/// that it invites, and the limits inside a conversation do not add up over several.
const BEGUN_MAX: usize = 20;
const WINDOW: Millis = Millis::from_secs(3600);

/// The times at which each agent began conversations within the window.
#[derive(Default)]
pub(crate) struct CreationLimiter(Mutex<BTreeMap<ParticipantId, VecDeque<Timestamp>>>);

impl CreationLimiter {
    /// Counts a conversation that this agent begins now. Returns false, and counts nothing, if the
    /// agent has begun the maximum number within the window.
    pub(crate) fn admit(&self, who: &ParticipantId, now: Timestamp) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, times| {
            times.retain(|at| at.is_within(WINDOW, now));
            !times.is_empty()
        });
        let times = all.entry(who.clone()).or_default();
        let room = times.len() < BEGUN_MAX;
        if room {
            times.push_back(now);
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_begins_twenty_conversations_an_hour() {
        let (begun, now) = (CreationLimiter::default(), Timestamp::from_millis(10_000_000));
        let (one, other) = (ParticipantId::new("one"), ParticipantId::new("other"));
        assert_eq!((0..30).filter(|_| begun.admit(&one, now)).count(), BEGUN_MAX);
        assert!(begun.admit(&other, now), "each for itself");
        assert!(!begun.admit(&one, now + Millis(WINDOW.0 - 1)) && begun.admit(&one, now + WINDOW));
    }

    #[test]
    fn a_clock_that_was_set_back_refuses_no_agent() {
        let (begun, one) = (CreationLimiter::default(), ParticipantId::new("one"));
        let now = Timestamp::from_millis(100_000_000);
        assert_eq!((0..30).filter(|_| begun.admit(&one, now)).count(), BEGUN_MAX);
        let back = now - Millis::from_secs(24 * 3600);
        assert_eq!((0..30).filter(|_| begun.admit(&one, back)).count(), BEGUN_MAX);
    }

    #[test]
    fn a_clock_that_was_set_back_a_little_gives_no_second_window() {
        let (begun, one) = (CreationLimiter::default(), ParticipantId::new("one"));
        let now = Timestamp::from_millis(100_000_000);
        assert_eq!((1..BEGUN_MAX).filter(|_| begun.admit(&one, now)).count(), BEGUN_MAX - 1);
        assert!(begun.admit(&one, now + Millis(2)));
        assert_eq!((0..30).filter(|_| begun.admit(&one, now + Millis(1))).count(), 1);
    }
}
