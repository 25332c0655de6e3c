//! A bot in Discord: the account by which an agent or the server itself speaks, and its state.

use std::sync::{Mutex, MutexGuard, PoisonError};

use moothall_engine::channels::{BotState, BotStatus};
use moothall_kernel::time::Timestamp;
use tokio::task::AbortHandle;

use super::client::{RestClient, RestFailure};
use super::guilds::Guilds;
use super::own::OwnMessages;

/// The name of the bot that speaks for the server, and by webhooks for agents without a bot.
pub const RELAY: &str = "moothall";

/// A bot of this server.
pub(super) struct DiscordBot {
    /// The agent that speaks by it, or [`RELAY`].
    pub(super) agent: String,
    /// The client with the bot's token.
    pub(super) client: RestClient,
    /// The messages of the bot.
    pub(super) own: OwnMessages,
    /// The Discord servers in which the bot is.
    pub(super) guilds: Guilds,
    facts: Mutex<DiscordBotFacts>,
    tasks: Mutex<Vec<AbortHandle>>,
}

/// Known facts about a bot.
struct DiscordBotFacts {
    id: Option<u64>,
    name: Option<String>,
    state: BotState,
    since: Timestamp,
    heard_at: Option<Timestamp>,
    /// True if the application may read the content of messages.
    reads_content: bool,
    /// True if the newest call did not reach the REST interface.
    is_unsent: bool,
    /// The code with which the gateway closed the connection for good.
    closed: Option<u16>,
}

impl DiscordBot {
    /// Returns a bot that is not connected yet.
    pub(super) fn new(agent: &str, client: RestClient, now: Timestamp) -> Self {
        let facts = DiscordBotFacts {
            id: None,
            name: None,
            state: BotState::Starting,
            since: now,
            heard_at: None,
            reads_content: true,
            is_unsent: false,
            closed: None,
        };
        Self {
            agent: agent.to_owned(),
            client,
            own: OwnMessages::default(),
            guilds: Guilds::default(),
            facts: Mutex::new(facts),
            tasks: Mutex::default(),
        }
    }

    fn facts(&self) -> MutexGuard<'_, DiscordBotFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the bot speaks for the server.
    pub(super) fn is_relay(&self) -> bool {
        self.agent == RELAY
    }

    /// Sets the state, and its time if the state is a new one. A bot that was stopped, or that
    /// another program uses, stays in that state until [`Self::release`].
    pub(super) fn set_state(&self, state: BotState, now: Timestamp) {
        let mut facts = self.facts();
        if facts.state != state && !is_held(facts.state) {
            tracing::info!(bot = self.agent, %state, "the state of a bot changed");
            (facts.state, facts.since) = (state, now);
        }
        if state == BotState::Hearing {
            facts.closed = None;
        }
    }

    /// Lets a bot run again that was stopped or that another program used. Returns false if the bot
    /// was in neither state.
    pub(super) fn release(&self, now: Timestamp) -> bool {
        let mut facts = self.facts();
        let is_released = is_held(facts.state);
        if is_released {
            (facts.state, facts.since) = (BotState::Starting, now);
        }
        is_released
    }

    /// Returns the state.
    pub(super) fn state(&self) -> BotState {
        self.facts().state
    }

    /// Stores the name and the id of the bot's user.
    pub(super) fn set_user(&self, id: u64, name: &str) {
        let mut facts = self.facts();
        (facts.id, facts.name) = (Some(id), Some(name.to_owned()));
    }

    /// Returns the id of the bot's user, once it is known. Its application has the same id.
    pub(super) fn id(&self) -> Option<u64> {
        self.facts().id
    }

    /// Returns the name of the bot's user, once it is known.
    pub(super) fn name(&self) -> Option<String> {
        self.facts().name.clone()
    }

    /// Notes if the application may read the content of messages.
    pub(super) fn set_reads_content(&self, reads_content: bool) {
        self.facts().reads_content = reads_content;
    }

    /// True if the application may read the content of messages.
    pub(super) fn reads_content(&self) -> bool {
        self.facts().reads_content
    }

    /// Notes that the gateway closed the connection for good, with a code.
    pub(super) fn note_closed(&self, code: u16) {
        self.facts().closed = Some(code);
    }

    /// Notes that the bot received something.
    pub(super) fn note_heard(&self, now: Timestamp) {
        self.facts().heard_at = Some(now);
    }

    /// Notes if a call reached Discord and if the token is still accepted. Returns the call's
    /// result.
    ///
    /// # Errors
    /// The errors of the call.
    pub(super) fn noting<T>(
        &self,
        result: Result<T, RestFailure>,
        now: Timestamp,
    ) -> Result<T, RestFailure> {
        self.facts().is_unsent = matches!(result, Err(RestFailure::NotSent { .. }));
        if result.as_ref().is_err_and(RestFailure::is_unauthorised) {
            self.set_state(BotState::Revoked, now);
        }
        result
    }

    /// Stores the handles of the tasks that receive for the bot.
    pub(super) fn set_tasks(&self, tasks: Vec<AbortHandle>) {
        *self.tasks.lock().unwrap_or_else(PoisonError::into_inner) = tasks;
    }

    /// Ends the tasks that receive for the bot.
    pub(super) fn stop(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.iter().for_each(AbortHandle::abort);
    }

    /// True if the bot can send: its token is accepted, it is not stopped, and no other program
    /// uses it.
    pub(super) fn can_send(&self) -> bool {
        !matches!(self.state(), BotState::Revoked | BotState::Foreign | BotState::Stopped)
    }

    /// Returns the bot as surfaces show it.
    pub(super) fn status(&self) -> BotStatus {
        let facts = self.facts();
        let state = match facts.state {
            BotState::Hearing if facts.is_unsent => BotState::Unreachable,
            state => state,
        };
        BotStatus {
            agent: self.agent.clone(),
            username: facts.name.clone(),
            state,
            since: facts.since,
            is_private: !facts.reads_content,
            heard_at: facts.heard_at,
            cure: cure(&facts, state),
        }
    }
}

/// True for the states that only a person ends.
fn is_held(state: BotState) -> bool {
    matches!(state, BotState::Foreign | BotState::Stopped)
}

/// Returns the next step for people, if a bot needs one.
fn cure(facts: &DiscordBotFacts, state: BotState) -> Option<String> {
    let name = facts.name.as_deref().unwrap_or("the bot");
    Some(match state {
        BotState::Starting | BotState::Hearing if facts.reads_content => return None,
        BotState::Starting | BotState::Hearing => format!(
            "{name} may not read the content of messages, so it hears only messages that mention \
             it. Switch on *Message Content Intent* on the page *Bot* of its application in \
             Discord's developer portal. The server notices within a minute."
        ),
        BotState::Foreign | BotState::Doubled => format!(
            "Another program speaks as {name}, so it stopped here. Make a new token with *Reset \
             Token* in Discord's developer portal and add the bot again, or stop that program and \
             use `moothall channels resume discord`."
        ),
        BotState::Revoked => format!(
            "Discord does not accept the token of {name}. Make a new one with *Reset Token* in \
             Discord's developer portal, and add the bot again."
        ),
        BotState::Unreachable if facts.is_unsent => {
            "Discord's REST address cannot be reached from here. Messages wait, and are sent by \
             themselves later."
                .into()
        }
        BotState::Unreachable => match facts.closed {
            Some(code) => format!(
                "Discord's gateway closed the connection of {name} with the code {code}, and will \
                 do so again. The server tries once a minute."
            ),
            None => {
                "Discord's gateway cannot be reached. What people write there is read later.".into()
            }
        },
        BotState::Stopped => {
            "The log was restored or copied. If no other server uses this bot, let it speak again: \
             moothall channels resume discord"
                .into()
        }
    })
}
