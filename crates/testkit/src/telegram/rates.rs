//! The rates that the service permits to each bot.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::refusal::Refusal;
use super::world::ChatId;

/// A window and the number of calls in it.
type RateLimit = (Duration, usize);

const PER_BOT: RateLimit = (Duration::from_secs(1), 30);
const PER_CHAT: RateLimit = (Duration::from_secs(1), 1);
const PER_GROUP: RateLimit = (Duration::from_secs(60), 20);

/// The calls of the last minute, if rates are limited.
#[derive(Debug, Default)]
pub(super) struct Rates {
    pub(super) is_limited: bool,
    calls: VecDeque<(Instant, i64, ChatId)>,
}

impl Rates {
    /// Counts a call, or refuses it with the time to wait.
    pub(super) fn count(&mut self, bot: i64, chat: ChatId) -> Result<(), Refusal> {
        if !self.is_limited {
            return Ok(());
        }
        let now = Instant::now();
        self.calls.retain(|(at, _, _)| now.duration_since(*at) < PER_GROUP.0);
        let own = |call: &&(Instant, i64, ChatId)| call.1 == bot;
        let here = |call: &&(Instant, i64, ChatId)| call.1 == bot && call.2 == chat;
        let waits = [
            wait(now, PER_BOT, self.calls.iter().filter(own)),
            wait(now, PER_CHAT, self.calls.iter().filter(here)),
            // The numbers of groups are negative.
            (chat.id < 0).then(|| wait(now, PER_GROUP, self.calls.iter().filter(here))).flatten(),
        ];
        if let Some(wait) = waits.into_iter().flatten().max() {
            return Err(Refusal::too_many((wait.as_secs() + 1).into()));
        }
        self.calls.push_back((now, bot, chat));
        Ok(())
    }
}

/// Returns the time until a limit permits another call.
fn wait<'a>(
    now: Instant,
    (window, most): RateLimit,
    calls: impl DoubleEndedIterator<Item = &'a (Instant, i64, ChatId)>,
) -> Option<Duration> {
    let oldest = calls.rev().nth(most - 1)?.0;
    window.checked_sub(now.duration_since(oldest))
}
