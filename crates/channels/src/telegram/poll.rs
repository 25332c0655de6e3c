//! The task of a bot: it receives updates, one after the other, and keeps the bot's state.
//!
//! An update is confirmed to Telegram only after it was taken, by the request for the next one. If
//! the server stops before that, Telegram sends the update again, and its key makes it enter one
//! time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use moothall_engine::channels::BotState;
use moothall_kernel::time::Millis;
use serde_json::Value;

use super::Telegram;
use super::bot::Bot;
use super::client::CallFault;
use super::update;
use crate::receive::TryAgain;

/// Time for which Telegram holds a request for updates that finds none.
const POLL: Duration = Duration::from_secs(50);
/// Longest time for which a bot waits after a start until the names of the others are known.
const NAMES_MAX: Duration = Duration::from_secs(10);
/// First and longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// If Telegram has refused a bot's polls for this time because another program receives for the
/// bot, the bot is shown as doubled. After this time without such a refusal it counts as hearing
/// again.
const DOUBLED_AFTER: Millis = Millis::from_secs(120);
/// Number of times that an update is tried after an unknown failure. A full disk or a busy server
/// do not count.
const TRIES_MAX: u32 = 20;

/// Receives the updates of a bot until the channel is closed.
pub(super) async fn receive_all(telegram: Weak<Telegram>, bot: Arc<Bot>) {
    let mut pause = Pause::default();
    let mut offset = None;
    // Facts about the bot may be known before the bot is prepared.
    let mut is_greeted = false;
    loop {
        let Some(open) = telegram.upgrade() else { return };
        if open.is_stopped() {
            let mut stopped = open.stopped.subscribe();
            drop(open);
            let _ = stopped.wait_for(|stopped| !stopped).await;
            continue;
        }
        if !is_greeted {
            match open.greet(&bot).await {
                Ok(()) => {
                    (is_greeted, pause) = (true, Pause::default());
                    open.wait_for_names().await;
                }
                Err(fault) => {
                    open.note_fault(&bot, &fault);
                    drop(open);
                    pause.wait(fault.retry_after()).await;
                    continue;
                }
            }
        }
        drop(open);
        // The first request does not wait for updates, so that people soon see if the bot hears.
        let is_first = bot.state() == BotState::Starting;
        let wait = if is_first { Duration::ZERO } else { POLL };
        let received = bot.client.get_updates(offset, wait).await;
        let Some(open) = telegram.upgrade() else { return };
        match received {
            Ok(updates) => {
                pause = Pause::default();
                open.note_success(&bot, updates.is_empty() && !is_first);
                for update in updates {
                    // An update without a number must not take back the offset of earlier ones.
                    offset = open.take(&bot, &update).await.or(offset);
                }
            }
            Err(fault) => {
                open.note_fault(&bot, &fault);
                drop(open);
                pause.wait(fault.retry_after()).await;
            }
        }
    }
}

impl Telegram {
    /// Asks Telegram for the facts about the bot, ends the use of a webhook, and sets the bot's
    /// commands. Begins to look, in a task of its own, in which groups the bot is.
    async fn greet(self: &Arc<Self>, bot: &Arc<Bot>) -> Result<(), CallFault> {
        let info = bot.client.get_me().await?;
        // Updates go to a webhook while one is set, perhaps of an earlier program.
        bot.client.delete_webhook().await?;
        if let Err(fault) = bot.client.set_my_commands(&self.commands()).await {
            tracing::debug!(bot = bot.agent, %fault, "the commands could not be set");
        }
        bot.set_info(info);
        self.note_names();
        // Many groups take a while, and updates must not wait for it.
        let (weak, bot) = (Arc::downgrade(self), bot.clone());
        self.tasks().spawn(async move {
            if let Some(open) = weak.upgrade() {
                open.look_around(&bot).await;
            }
        });
        Ok(())
    }

    /// Waits until the name of each bot is known, or Telegram was asked for it in vain; at most for
    /// [`NAMES_MAX`]. In the words of an update, a name that is not known would not be a mention.
    async fn wait_for_names(&self) {
        let mut known = self.names_known.subscribe();
        let is_asked = |bot: &Arc<Bot>| bot.info().is_some() || bot.state() != BotState::Starting;
        let all = known.wait_for(|()| self.bots().iter().all(is_asked));
        let _ = tokio::time::timeout(NAMES_MAX, all).await;
    }

    /// Tells the waiting bots that one more name is known, or cannot be known now.
    fn note_names(&self) {
        self.names_known.send_replace(());
    }

    /// Takes an update, and tries again while it cannot be stored. After [`TRIES_MAX`] failures of
    /// unknown kinds it is passed over. Returns the next offset; `None` if the update has no
    /// number.
    async fn take(self: &Arc<Self>, bot: &Bot, value: &Value) -> Option<i64> {
        let mut pause = Pause::default();
        let read = update::read(value);
        let next = read.id.map(|id| id + 1);
        bot.note_heard(self.inbox.hall().now());
        let mut tries = 0;
        while tries < TRIES_MAX {
            match self.receive(bot, update::read(value)).await {
                Ok(()) => return next,
                Err(TryAgain { why, is_known }) => {
                    tracing::warn!(bot = bot.agent, why, "an update waits to be stored");
                    tries += u32::from(!is_known);
                    pause.wait(None).await;
                }
            }
        }
        tracing::error!(bot = bot.agent, ?next, "an update could not be stored and is passed over");
        next
    }

    /// Notes that a poll succeeded. Two receivers end each other's polls, and each gets a part of
    /// the updates. So the other receiver counts as gone only after a poll that waited to its end
    /// and got no update (`is_whole`), or after a time without a refusal.
    fn note_success(&self, bot: &Bot, is_whole: bool) {
        let now = self.inbox.hall().now();
        if is_whole {
            bot.end_conflict();
        }
        if bot.state() != BotState::Doubled || !bot.has_conflict(DOUBLED_AFTER, now) {
            bot.set_state(BotState::Hearing, now);
        }
    }

    /// Sets the state of a bot after a poll that failed. The bot is shown as doubled only after
    /// refusals because of another receiver have lasted for [`DOUBLED_AFTER`].
    fn note_fault(&self, bot: &Bot, fault: &CallFault) {
        let state = bot.state();
        let now = self.inbox.hall().now();
        if fault.is_unauthorised() {
            bot.set_state(BotState::Revoked, now);
        } else if fault.is_conflict() {
            // A receiver that was killed lingers for half a minute, so one refusal means little.
            if !bot.note_conflict(DOUBLED_AFTER, now).is_within(DOUBLED_AFTER, now) {
                bot.set_state(BotState::Doubled, now);
            }
        } else if state != BotState::Revoked {
            bot.set_state(BotState::Unreachable, now);
        }
        self.note_names();
        tracing::debug!(bot = bot.agent, %fault, "updates could not be received");
    }
}

/// Pauses that grow from failure to failure.
struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(PAUSES.0)
    }
}

impl Pause {
    /// Waits for the time that the product asked for, or else for the present pause. The next pause
    /// is twice as long.
    async fn wait(&mut self, asked: Option<Duration>) {
        tokio::time::sleep(asked.unwrap_or(self.0)).await;
        self.0 = (2 * self.0).min(PAUSES.1);
    }
}
