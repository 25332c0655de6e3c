//! Channels as surfaces see them: their bots, the chats of these bots, and their states.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Timestamp;

use crate::answers::HallError;

/// The state of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum BotState {
    /// The bot is being connected.
    Starting,
    /// The bot receives the messages that it may receive.
    Hearing,
    /// Another program receives this bot's messages.
    Doubled,
    /// Another program speaks as this bot, so the bot has stopped.
    Foreign,
    /// The product no longer accepts the bot's token.
    Revoked,
    /// The product cannot be reached.
    Unreachable,
    /// The bot waits after a restore until the operator resumes it.
    Stopped,
}

/// A bot: the account by which an agent speaks in a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct BotStatus {
    /// The agent, by its name in the registry.
    pub agent: String,
    /// The bot's name in the channel; `None` before it is known.
    pub username: Option<String>,
    /// The state of the bot.
    pub state: BotState,
    /// Time at which the state began.
    pub since: Timestamp,
    /// True if the bot receives only messages that are addressed to it in a group.
    pub is_private: bool,
    /// Time of the newest message that the bot received.
    pub heard_at: Option<Timestamp>,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
}

/// The state of a chat that the bots know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum ChatState {
    /// A conversation is bound to the chat.
    Bound,
    /// No person has opened the chat yet. Nothing of it is stored.
    Waiting,
    /// The chat does not exist any more, or all bots were removed from it.
    Away,
}

/// The work that the server has with a bound chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatActivity {
    /// Number of deliveries to the chat that are not finished.
    pub owed: u64,
    /// Number of turns that began today (UTC) in its conversation.
    pub turns_today: u64,
    /// Cost of these turns, in millionths of the currency.
    pub cost_today_micros: u64,
}

/// A chat with a bound conversation, or a chat that bots are in.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatStatus {
    /// The chat.
    pub chat: Chat,
    /// The chat's title in its product; empty if no update has contained it since the server
    /// started.
    pub title: String,
    /// The conversation that is bound to the chat.
    pub stream: Option<StreamId>,
    /// The state of the chat.
    pub state: ChatState,
    /// The agents whose bots are known to be in the chat.
    pub agents: Vec<ParticipantId>,
    /// Those of the agents whose bots receive only messages that are addressed to them.
    pub deaf: Vec<ParticipantId>,
    /// Number of messages of unknown people that were dropped since the server started.
    pub dropped: u64,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
    /// The work with the chat. Channels leave it at zero, and the door fills it in.
    pub activity: ChatActivity,
}

/// A channel of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelStatus {
    /// The name of the channel, such as `telegram`.
    pub name: String,
    /// The bots, in the order of the configuration.
    pub bots: Vec<BotStatus>,
    /// The chats, ordered by their keys.
    pub chats: Vec<ChatStatus>,
}

/// The reason why a request to a channel failed, as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The server has no such channel.
    #[error("{0}")]
    Unknown(String),
    /// The token is not a token of this channel, or the product does not accept it.
    #[error("{0}")]
    BadToken(String),
    /// The agent is not in the registry.
    #[error("This server has no agent {0:?}. `moothall agents` lists the agents.")]
    NoAgent(String),
    /// The agent has a bot, or the bot has an agent already.
    #[error("{0}")]
    Taken(String),
    /// None of the bots can manage bots that people make.
    #[error("{0}")]
    NoManager(String),
    /// The caller has no paired account that a bot can write to.
    #[error("{0}")]
    NoAccount(String),
    /// The product cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// The bot cannot be stored.
    #[error("The bot cannot be kept: {0}")]
    NotKept(String),
}

impl ChannelError {
    /// Returns the error for a name that is not among those of the server's channels.
    pub fn unknown(name: &str, known: &[&str]) -> Self {
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Self::Unknown(format!("This server has no channel {name:?}. It has: {has}."))
    }
}

/// A link by which a person sends a pairing code to a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingLink {
    /// The agent whose bot the link opens.
    pub agent: String,
    /// The address of the link.
    pub url: String,
}

/// The channels of a server, as surfaces ask for them.
#[async_trait]
pub trait ChannelDirectory: Send + Sync {
    /// Returns all channels with their bots and chats: the bound ones, and others that the bots
    /// know.
    ///
    /// # Errors
    /// [`HallError`] if the bound chats cannot be read.
    async fn channels(&self) -> Result<Vec<ChannelStatus>, HallError>;
    /// True if the server has a channel of this name with an account to speak by.
    fn serves(&self, channel: &str) -> bool;
    /// Gives an agent a bot: checks its token with the product, stores it and connects the bot.
    ///
    /// # Errors
    /// [`ChannelError`]; the bot was not stored then.
    async fn add_bot(
        self: Arc<Self>,
        channel: &str,
        agent: &str,
        token: &str,
    ) -> Result<BotStatus, ChannelError>;
    /// Sends a button to the accounts of a person, by which the person makes a bot for an agent.
    /// Returns the accounts that got the button, such as `telegram:7`. The bot is stored and
    /// connected when it is made.
    ///
    /// # Errors
    /// [`ChannelError`] if no account got the button.
    async fn offer_bot(
        &self,
        channel: &str,
        agent: &str,
        person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError>;
    /// Takes a bot from its agent. Returns `false` if the agent has no bot that was added at run
    /// time. A bot of the configuration is removed in the configuration.
    ///
    /// # Errors
    /// [`ChannelError`] if the change cannot be stored.
    async fn remove_bot(&self, channel: &str, agent: &str) -> Result<bool, ChannelError>;
    /// Starts the bots of a channel again that stopped after a restore, or because another program
    /// spoke as them. Returns `false` if none had stopped.
    ///
    /// # Errors
    /// [`ChannelError`] if the change cannot be stored.
    async fn resume(&self, channel: &str) -> Result<bool, ChannelError>;
    /// Returns the links by which a pairing code reaches a bot, one for each connected bot.
    ///
    /// # Errors
    /// [`ChannelError::Unknown`].
    fn pairing_links(&self, channel: &str, code: &str) -> Result<Vec<PairingLink>, ChannelError>;
}
