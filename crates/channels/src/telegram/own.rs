//! Messages under a bot's identity that this server did not send: another program speaks as the
//! bot.
//!
//! One bot of this server sees the messages of another one only if Telegram lets bots hear bots.
//! Such a message can arrive before Telegram's answer to this server's own call. So it is judged a
//! few seconds later. The message does not count as foreign while a call of the bot is under way,
//! or if the result of a call at about that time is not known.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

use moothall_engine::channels::BotState;
use moothall_kernel::time::Millis;

use super::Telegram;
use super::client::CallFault;
use super::room::Room;
use super::update::{ChatKind, Message};

/// Number of messages of a bot that are remembered.
const SENT_MAX: usize = 2_000;
/// Number of messages that wait to be judged.
const SUSPECTS_MAX: usize = 1_000;
/// Largest difference between Telegram's clock and this computer's, for messages that an earlier
/// run of this server may have sent.
const CLOCKS_APART: Millis = Millis::from_secs(5);
/// Time after which a message is judged.
const JUDGED_AFTER: Duration = Duration::from_secs(4);

/// The messages that a bot sent for this server.
#[derive(Default)]
pub struct SentMessages(Mutex<SentIds>);

#[derive(Default)]
struct SentIds {
    ids: BTreeSet<(i64, i64)>,
    order: VecDeque<(i64, i64)>,
    /// Number of calls whose answers are still to come.
    under_way: usize,
    /// Time of the newest call whose answer did not name the message.
    doubted_at: Option<Instant>,
}

/// A call under way. If it ends without naming its message, that message is in doubt.
struct CallUnderWay<'a> {
    sent: &'a SentMessages,
    is_answered: bool,
}

impl SentMessages {
    fn lock(&self) -> MutexGuard<'_, SentIds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call that sends a message, and remembers the message.
    ///
    /// # Errors
    /// The errors of the call.
    pub async fn note(
        &self,
        chat: i64,
        call: impl Future<Output = Result<Option<i64>, CallFault>>,
    ) -> Result<Option<i64>, CallFault> {
        self.lock().under_way += 1;
        let mut under_way = CallUnderWay { sent: self, is_answered: false };
        let answer = call.await;
        under_way.is_answered = match &answer {
            Ok(Some(id)) => {
                self.remember(chat, *id);
                true
            }
            Ok(None) | Err(CallFault::Maybe { .. }) => false,
            Err(CallFault::NotSent { .. } | CallFault::Refused { .. }) => true,
        };
        answer
    }

    fn remember(&self, chat: i64, id: i64) {
        let mut sent = self.lock();
        if sent.ids.insert((chat, id)) {
            sent.order.push_back((chat, id));
        }
        if sent.order.len() > SENT_MAX
            && let Some(oldest) = sent.order.pop_front()
        {
            sent.ids.remove(&oldest);
        }
    }

    /// Returns true if this server did not send a message, and false if it did or perhaps did.
    /// `None` if this is not known yet. `seen` is the time at which the message was seen.
    fn is_foreign(&self, chat: i64, message: i64, seen: Instant, now: Instant) -> Option<bool> {
        let sent = self.lock();
        let may_be_ours = sent.doubted_at.is_some_and(|at| at + 2 * JUDGED_AFTER > seen);
        if sent.ids.contains(&(chat, message)) || may_be_ours {
            return Some(false);
        }
        let is_open = sent.under_way > 0 || now < seen + JUDGED_AFTER;
        (!is_open).then_some(true)
    }
}

impl Drop for CallUnderWay<'_> {
    fn drop(&mut self) {
        let mut sent = self.sent.lock();
        sent.under_way -= 1;
        if !self.is_answered {
            sent.doubted_at = Some(Instant::now());
        }
    }
}

/// A message under a bot's identity that has to be judged.
pub(super) struct Suspect {
    bot: i64,
    room: Room,
    message: i64,
    seen: Instant,
}

/// The messages that have to be judged.
#[derive(Default)]
pub(super) struct Suspects(Mutex<VecDeque<Suspect>>);

impl Suspects {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Suspect>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Telegram {
    /// Notes a message of one bot of this server that another one saw, so that it is judged later.
    /// Only in a supergroup is the number of a message the same for all bots. A message from before
    /// the start is not noted, because this server may have sent it.
    pub(super) fn note_own_words(&self, bot: i64, message: &Message) {
        let begun = (self.started_at + CLOCKS_APART).millis();
        let is_new = message.date.is_some_and(|date| date.saturating_mul(1000) > begun);
        if message.chat.kind != ChatKind::Supergroup || !is_new {
            return;
        }
        let mut suspects = self.suspects.lock();
        if suspects.len() < SUSPECTS_MAX {
            let room = Room::new(message.chat.id, message.thread);
            let (message, seen) = (message.message_id, Instant::now());
            suspects.push_back(Suspect { bot, room, message, seen });
        }
    }

    /// Stops each bot under whose identity another program speaks. Another bot of this server, if
    /// there is one, reports that in the chat.
    pub(super) async fn judge_suspects(&self) {
        let now = Instant::now();
        let all = std::mem::take(&mut *self.suspects.lock());
        for suspect in all {
            let bots = self.bots();
            let Some(bot) = bots.iter().find(|bot| bot.id() == suspect.bot) else { continue };
            let (room, message) = (&suspect.room, suspect.message);
            match bot.sent.is_foreign(room.chat, message, suspect.seen, now) {
                None => self.suspects.lock().push_back(suspect),
                Some(true) if bot.state() != BotState::Foreign => {
                    bot.set_state(BotState::Foreign, self.inbox.hall().now());
                    let name = bot.username().unwrap_or_else(|| bot.agent.clone());
                    let line = format!(
                        "Another program speaks as @{name}, so this server stopped using that bot. \
                         An operator can make a new token for it."
                    );
                    if let Some(other) = self.speakers(room, None).first() {
                        self.say(other, room, &line, None).await;
                    }
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_message_is_foreign_only_if_no_call_of_ours_can_have_sent_it() {
        let sent = SentMessages::default();
        let (seen, later) = (Instant::now(), Instant::now() + JUDGED_AFTER);
        sent.note(-1, async { Ok(Some(7)) }).await.unwrap();
        assert_eq!(sent.is_foreign(-1, 7, seen, later), Some(false));
        assert_eq!(sent.is_foreign(-1, 8, seen, seen), None);
        assert_eq!(sent.is_foreign(-1, 8, seen, later), Some(true));
        // A call is under way, and was dropped without an answer.
        {
            let call = sent.note(-1, std::future::pending());
            let mut call = Box::pin(call);
            let waits = futures_util::FutureExt::now_or_never(call.as_mut());
            assert!(waits.is_none());
            assert_eq!(sent.is_foreign(-1, 8, seen, later), None);
        }
        assert_eq!(sent.is_foreign(-1, 8, seen, later), Some(false));
        // That doubt does not last.
        tokio::time::advance(3 * JUDGED_AFTER).await;
        let (seen, later) = (Instant::now(), Instant::now() + JUDGED_AFTER);
        assert_eq!(sent.is_foreign(-1, 8, seen, later), Some(true));
        let refused = CallFault::NotSent { why: "no route".into() };
        assert!(sent.note(-1, async { Err(refused) }).await.is_err());
        assert_eq!(sent.is_foreign(-1, 9, seen, later), Some(true));
    }
}
