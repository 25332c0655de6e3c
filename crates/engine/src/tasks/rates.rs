//! The rate limits of an agent's requests. The server sends these limits to each agent when it
//! connects.

use std::collections::VecDeque;

use moothall_kernel::time::{Millis, Timestamp};

/// Maximum number of messages that an agent may send within a minute.
pub const MESSAGES_A_MINUTE: usize = 60;
/// Maximum number of requests that an agent may make within a minute.
pub const REQUESTS_A_MINUTE: usize = 120;
const MINUTE: Millis = Millis::from_secs(60);

/// The recent requests of one agent, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    requests: VecDeque<Timestamp>,
    messages: VecDeque<Timestamp>,
}

impl Rates {
    /// Counts a request. Returns the time to wait if a limit is reached. A message over the limit
    /// of messages still counts as a request.
    pub(crate) fn take(&mut self, is_message: bool, now: Timestamp) -> Result<(), Millis> {
        admit(&mut self.requests, REQUESTS_A_MINUTE, now)?;
        if is_message {
            admit(&mut self.messages, MESSAGES_A_MINUTE, now)?;
        }
        Ok(())
    }

    /// True if none of the requests counts any more.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.requests.back().is_none_or(|last| !last.is_within(MINUTE, now))
    }
}

/// Counts a request, unless `max` requests were counted within the last minute. A rejected request
/// does not count here, so a client that waits for the returned time gets through.
fn admit(taken: &mut VecDeque<Timestamp>, max: usize, now: Timestamp) -> Result<(), Millis> {
    while taken.front().is_some_and(|first| !first.is_within(MINUTE, now)) {
        taken.pop_front();
    }
    match taken.front() {
        Some(first) if taken.len() >= max => Err(Millis(MINUTE.0 - now.since(*first).0)),
        _ => {
            taken.push_back(now);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_in_a_minute_and_not_more() {
        let (mut rates, at) = (Rates::default(), |ms: i64| Timestamp::from_millis(ms));
        for n in 0..MESSAGES_A_MINUTE {
            assert_eq!(rates.take(true, at(n as i64)), Ok(()));
        }
        assert_eq!(rates.take(true, at(1000)), Err(Millis(59_000)), "the first was at 0");
        let others = REQUESTS_A_MINUTE - MESSAGES_A_MINUTE - 1;
        for _ in 0..others {
            assert_eq!(rates.take(false, at(1000)), Ok(()));
        }
        assert_eq!(rates.take(false, at(1001)), Err(Millis(58_999)));
        assert_eq!(rates.take(true, at(60_000)), Ok(()));
        assert!(!rates.is_over(at(60_001)) && rates.is_over(at(120_000)));
    }

    #[test]
    fn a_clock_that_was_set_back_holds_nobody() {
        let (mut rates, at) = (Rates::default(), |ms: i64| Timestamp::from_millis(ms));
        for _ in 0..MESSAGES_A_MINUTE {
            assert_eq!(rates.take(true, at(3_600_000)), Ok(()));
        }
        assert!(rates.take(true, at(3_600_000)).is_err());
        assert_eq!(rates.take(true, at(1)), Ok(()));
    }
}
