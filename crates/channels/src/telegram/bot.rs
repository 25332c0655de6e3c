//! A bot: the account by which an agent speaks, and its state.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use moothall_engine::channels::{BotState, BotStatus};
use moothall_kernel::time::{Millis, Timestamp};

use super::bucket::{Bucket, CallRates};
use super::client::{BotInfo, Client, Method};
use super::own::SentMessages;

/// A bot of this server.
pub struct Bot {
    /// The agent that speaks by it.
    pub agent: String,
    /// The client with the bot's token.
    pub client: Client,
    /// The messages that the bot sent for this server.
    pub sent: SentMessages,
    facts: Mutex<BotFacts>,
    bucket: Mutex<Bucket>,
    /// Methods that the Bot API server of this bot does not know.
    lacking: Mutex<Vec<Method>>,
    task: Mutex<Option<AbortHandle>>,
}

/// Known facts about a bot.
struct BotFacts {
    info: Option<BotInfo>,
    state: BotState,
    since: Timestamp,
    heard_at: Option<Timestamp>,
    /// Refusals because another program receives.
    conflict: Option<Conflict>,
}

/// Refusals because another program receives, without a long pause between them.
#[derive(Clone, Copy)]
struct Conflict {
    first: Timestamp,
    last: Timestamp,
}

impl Bot {
    /// Returns a bot that is not connected yet.
    pub fn new(agent: &str, client: Client, rates: CallRates, now: Timestamp) -> Self {
        let facts = BotFacts {
            info: None,
            state: BotState::Starting,
            since: now,
            heard_at: None,
            conflict: None,
        };
        let bucket = Mutex::new(Bucket::new(rates, Instant::now()));
        Self {
            agent: agent.to_owned(),
            client,
            sent: SentMessages::default(),
            facts: Mutex::new(facts),
            bucket,
            lacking: Mutex::default(),
            task: Mutex::default(),
        }
    }

    fn facts(&self) -> MutexGuard<'_, BotFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the limits of the bot's calls, locked for one step.
    pub fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lacking(&self) -> MutexGuard<'_, Vec<Method>> {
        self.lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the Bot API server of this bot is known not to have a method.
    pub fn lacks(&self, method: Method) -> bool {
        self.lacking().contains(&method)
    }

    /// Notes that the Bot API server does not have a method. The note lasts until the bot is
    /// connected anew or the process ends.
    pub fn note_lacking(&self, method: Method) {
        if !self.lacks(method) {
            tracing::info!(bot = self.agent, method = method.name(), "a method is unknown");
            self.lacking().push(method);
        }
    }

    /// Sets the state, and its time if the state is a new one. A bot that was stopped, or that
    /// another program uses, stays in that state until [`Self::release`].
    pub fn set_state(&self, state: BotState, now: Timestamp) {
        let mut facts = self.facts();
        if facts.state != state && !is_held(facts.state) {
            tracing::info!(bot = self.agent, %state, "the state of a bot changed");
            facts.state = state;
            facts.since = now;
        }
    }

    /// Lets a bot run again that was stopped or that another program used. Returns false if the bot
    /// was in neither state.
    pub fn release(&self, now: Timestamp) -> bool {
        let mut facts = self.facts();
        let is_released = is_held(facts.state);
        if is_released {
            (facts.state, facts.since) = (BotState::Starting, now);
        }
        is_released
    }

    /// Returns the state.
    pub fn state(&self) -> BotState {
        self.facts().state
    }

    /// Notes that another program receives. Returns the time of the first note of the present
    /// series. A series ends if no note comes for `pause`.
    pub fn note_conflict(&self, pause: Millis, now: Timestamp) -> Timestamp {
        let mut facts = self.facts();
        let before = facts.conflict.filter(|conflict| conflict.last.is_within(pause, now));
        let first = before.map_or(now, |conflict| conflict.first);
        facts.conflict = Some(Conflict { first, last: now });
        first
    }

    /// True if another program received within the time `within`.
    pub fn has_conflict(&self, within: Millis, now: Timestamp) -> bool {
        self.facts().conflict.is_some_and(|conflict| conflict.last.is_within(within, now))
    }

    /// Forgets that another program received: it is gone.
    pub fn end_conflict(&self) {
        self.facts().conflict = None;
    }

    /// Stores the handle of the task that receives for the bot.
    pub fn set_task(&self, task: AbortHandle) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Ends the task that receives for the bot.
    pub fn stop(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        task.iter().for_each(AbortHandle::abort);
    }

    /// Stores the facts that Telegram has reported about the bot.
    pub fn set_info(&self, info: BotInfo) {
        self.facts().info = Some(info);
    }

    /// Returns the facts that Telegram has reported about the bot; `None` before that.
    pub fn info(&self) -> Option<BotInfo> {
        self.facts().info.clone()
    }

    /// Returns the bot's id. It is the part of the token before the colon.
    pub fn id(&self) -> i64 {
        self.client.bot_id()
    }

    /// Returns the bot's name, without `@`, once it is known.
    pub fn username(&self) -> Option<String> {
        self.facts().info.as_ref().map(|info| info.username.clone())
    }

    /// Notes that the bot received something.
    pub fn note_heard(&self, now: Timestamp) {
        self.facts().heard_at = Some(now);
    }

    /// True if the bot can send: its token is accepted, it is not stopped, and no other program
    /// uses it.
    pub fn can_send(&self) -> bool {
        !matches!(self.facts().state, BotState::Revoked | BotState::Foreign | BotState::Stopped)
    }

    /// True if the bot is known to have its privacy mode on: in a group of which it is not an
    /// admin, it receives only what is addressed to it.
    pub fn is_private(&self) -> bool {
        self.facts().info.as_ref().is_some_and(|info| !info.can_read_all_group_messages)
    }

    /// Returns the bot as surfaces show it.
    pub fn status(&self) -> BotStatus {
        let facts = self.facts();
        let username = facts.info.as_ref().map(|info| info.username.clone());
        BotStatus {
            agent: self.agent.clone(),
            cure: cure(facts.state, username.as_deref()),
            username,
            state: facts.state,
            since: facts.since,
            is_private: facts.info.as_ref().is_some_and(|info| !info.can_read_all_group_messages),
            heard_at: facts.heard_at,
        }
    }
}

/// True for the states that only a person ends.
fn is_held(state: BotState) -> bool {
    matches!(state, BotState::Foreign | BotState::Stopped)
}

/// Returns the next step for people, if a state needs one.
fn cure(state: BotState, username: Option<&str>) -> Option<String> {
    let name = username.map_or_else(|| "the bot".to_owned(), |name| format!("@{name}"));
    Some(match state {
        BotState::Starting | BotState::Hearing => return None,
        BotState::Doubled => format!(
            "Another program receives the messages of {name}. Stop that program, or make a new \
             token with /revoke at @BotFather."
        ),
        BotState::Foreign => format!(
            "Another program speaks as {name}, so it stopped here. Make a new token with /revoke at \
             @BotFather and add the bot again, or stop that program and use `moothall channels \
             resume`."
        ),
        BotState::Revoked => format!(
            "Telegram does not accept the token of {name}. Make a new one with /token at \
             @BotFather, and add the bot again."
        ),
        BotState::Unreachable => {
            "Telegram cannot be reached. Messages wait, and are sent by themselves later.".into()
        }
        BotState::Stopped => {
            "The log was restored or copied. If no other server uses this bot, let it speak again: \
             moothall channels resume"
                .into()
        }
    })
}
