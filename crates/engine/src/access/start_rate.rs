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
    /// Counts a conversation that this agent begins now; false if it is one too many.
    pub(crate) fn admit(&self, who: &ParticipantId, now: Timestamp) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = |at: &Timestamp| now.since(*at) < WINDOW;
        all.retain(|_, times| times.back().is_some_and(lately));
        let times = all.entry(who.clone()).or_default();
        times.retain(lately);
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
}
