//! Messages under a bot's identity that this server did not send: another program speaks as the
//! bot.
//!
//! The gateway also sends a bot the bot's own messages, sometimes before the answer to the call
//! that sent them. So a message is judged a few seconds later. No message is judged while a call of
//! the bot is under way. A message does not count as foreign if a call at about that time ended
//! without naming its message.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::client::RestFailure;

/// Number of messages of a bot that are remembered.
const SENT_MAX: usize = 2_000;
/// Number of messages that wait to be judged.
const SUSPECTS_MAX: usize = 1_000;
/// Time after which a message is judged.
const JUDGED_AFTER: Duration = Duration::from_secs(4);

/// The messages that a bot sent for this server, and those that it perhaps did not.
#[derive(Default)]
pub(super) struct OwnMessages(Mutex<OwnIds>);

#[derive(Default)]
struct OwnIds {
    ids: BTreeSet<u64>,
    order: VecDeque<u64>,
    /// Number of calls whose answers are still to come.
    under_way: usize,
    /// Time of the newest call whose answer did not name the message.
    doubted_at: Option<Instant>,
    /// Messages under the bot's identity that were seen: the channel, the message and the time.
    suspects: VecDeque<(u64, u64, Instant)>,
}

/// A call under way. If it ends without naming its message, that message is in doubt.
struct SendUnderWay<'a> {
    own: &'a OwnMessages,
    is_answered: bool,
}

impl OwnMessages {
    fn lock(&self) -> MutexGuard<'_, OwnIds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call that sends a message, and remembers the message.
    ///
    /// # Errors
    /// The errors of the call.
    pub(super) async fn send(
        &self,
        call: impl Future<Output = Result<Option<u64>, RestFailure>>,
    ) -> Result<Option<u64>, RestFailure> {
        self.lock().under_way += 1;
        let mut under_way = SendUnderWay { own: self, is_answered: false };
        let answer = call.await;
        under_way.is_answered = match &answer {
            Ok(Some(id)) => {
                self.remember(*id);
                true
            }
            Ok(None) | Err(RestFailure::Maybe { .. }) => false,
            Err(_) => true,
        };
        answer
    }

    fn remember(&self, id: u64) {
        let mut sent = self.lock();
        if sent.ids.insert(id) {
            sent.order.push_back(id);
        }
        if sent.order.len() > SENT_MAX
            && let Some(oldest) = sent.order.pop_front()
        {
            sent.ids.remove(&oldest);
        }
    }

    /// Notes a message under the bot's identity that the gateway has reported, unless this server
    /// is known to have sent it.
    pub(super) fn suspect(&self, channel: u64, message: u64) {
        let mut sent = self.lock();
        if sent.suspects.len() < SUSPECTS_MAX && !sent.ids.contains(&message) {
            sent.suspects.push_back((channel, message, Instant::now()));
        }
    }

    /// Judges the messages that are old enough, and forgets them. Returns the channel of the first
    /// one that another program must have sent; `None` if there is none, or a call is under way.
    pub(super) fn foreign(&self, now: Instant) -> Option<u64> {
        let mut sent = self.lock();
        if sent.under_way > 0 {
            return None;
        }
        while let Some((channel, message, seen)) = sent.suspects.front().copied() {
            if now < seen + JUDGED_AFTER {
                return None;
            }
            sent.suspects.pop_front();
            let may_be_ours = sent.doubted_at.is_some_and(|at| at + 2 * JUDGED_AFTER > seen);
            if !sent.ids.contains(&message) && !may_be_ours {
                return Some(channel);
            }
        }
        None
    }
}

impl Drop for SendUnderWay<'_> {
    fn drop(&mut self) {
        let mut sent = self.own.lock();
        sent.under_way -= 1;
        if !self.is_answered {
            sent.doubted_at = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_message_is_foreign_only_if_no_call_of_ours_can_have_sent_it() {
        let own = OwnMessages::default();
        own.suspect(1, 7);
        own.send(async { Ok(Some(7)) }).await.unwrap();
        own.suspect(1, 8);
        assert_eq!(own.foreign(Instant::now()), None, "it is too early to judge");
        let mut call = Box::pin(own.send(std::future::pending()));
        assert!(futures_util::FutureExt::now_or_never(call.as_mut()).is_none());
        tokio::time::advance(JUDGED_AFTER).await;
        assert_eq!(own.foreign(Instant::now()), None, "a call is under way");
        drop(call);
        assert_eq!(own.foreign(Instant::now()), None, "that call is in doubt");
        tokio::time::advance(3 * JUDGED_AFTER).await;
        own.suspect(1, 9);
        tokio::time::advance(JUDGED_AFTER).await;
        assert_eq!(own.foreign(Instant::now()), Some(1));
        assert_eq!(own.foreign(Instant::now()), None, "each is judged once");
    }
}
