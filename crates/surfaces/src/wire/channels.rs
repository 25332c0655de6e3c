//! Channels in the HTTP API: bots, chats, and accounts that are paired with people.

use moothall_engine::access::Token;
use moothall_engine::channels::{BotStatus, ChannelStatus, ChatStatus, PairingLink};
use moothall_engine::door::ChatDelivery;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `GET /channels`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChannelList {
    /// The channels of this server.
    pub channels: Vec<ChannelEntry>,
    /// Currency of all costs.
    pub currency: String,
}

/// A channel to the chats of another product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChannelEntry {
    /// Name of the channel, such as `telegram`.
    pub name: String,
    /// The bots, in the order of the configuration.
    pub bots: Vec<BotEntry>,
    /// The chats to which threads are bound. Beside them those in which the bots are, as far as
    /// they are known since the server started.
    pub chats: Vec<ChatEntry>,
}

/// A bot: the account by which an agent speaks in a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotEntry {
    /// The agent that speaks by the bot.
    pub agent: String,
    /// Name of the bot in the channel, without `@`; `null` until it is known.
    pub username: Option<String>,
    /// `starting`, `hearing`, `doubled`, `foreign`, `revoked`, `unreachable` or `stopped`.
    pub state: String,
    /// Time at which the state began.
    pub since: String,
    /// True if the bot receives only what is addressed to it in a group whose admin it is not.
    pub private: bool,
    /// Time of the newest message that the bot received; `null` if it received none.
    pub heard_at: Option<String>,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
}

/// A chat to which a thread is bound, or in which bots are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatEntry {
    /// The chat, such as `telegram:-100123`.
    pub chat: String,
    /// Title of the chat; empty if it is not known since the server started.
    pub title: String,
    /// The thread that is bound to the chat; `null` if none is.
    pub thread: Option<String>,
    /// `bound`, `waiting` or `away`.
    pub state: String,
    /// Agents whose bots are known to be in the chat. Empty if nothing arrived from there since
    /// the server started.
    pub agents: Vec<String>,
    /// Those agents whose bots receive only what is addressed to them.
    pub deaf: Vec<String>,
    /// Number of messages of people who are not paired that were dropped since the server started.
    pub dropped: u64,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
    /// Number of deliveries to the chat that are not finished.
    pub owed: u64,
    /// Number of turns that began today (UTC) in the bound thread.
    pub turns_today: u64,
    /// Cost of these turns, in millionths of the currency.
    pub cost_today_micros: u64,
}

/// Body of `POST /channels/{channel}/bots`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBot {
    /// The agent of the registry that is to speak by the bot.
    pub agent: String,
    /// The bot's token, as the product gave it.
    pub token: String,
}

// A token in a log would let its readers speak as the bot.
impl std::fmt::Debug for NewBot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "NewBot {{ agent: {:?}, token: … }}", self.agent)
    }
}

/// Answer of `POST /channels/{channel}/bots/{agent}/offer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotOffered {
    /// Accounts that got the button, such as `telegram:7`.
    pub sent_to: Vec<String>,
}

/// Answer of `DELETE /channels/{channel}/bots/{agent}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotRemoved {
    /// False if the agent has no bot that was added at run time.
    pub removed: bool,
}

/// Answer of `POST /channels/{channel}/resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChannelResumed {
    /// False if the channel and all its bots were running.
    pub resumed: bool,
}

/// Body of `POST /channels/{channel}/pairings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PairingRequest {
    /// Scopes of the account besides `threads:read` and `threads:write`.
    pub scopes: Option<Vec<String>>,
}

/// A code that pairs one account of a channel with the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingCode {
    /// The code, to be sent to a bot as `/start <code>`. It works once.
    pub code: String,
    /// Time at which the code expires.
    pub expires_at: String,
    /// Scopes that the account will have.
    pub scopes: Vec<String>,
    /// Links that send the code to a bot, one for each connected bot.
    pub links: Vec<PairingLinkEntry>,
}

/// A link that sends a pairing code to a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingLinkEntry {
    /// The agent whose bot the link opens.
    pub agent: String,
    /// Address of the link.
    pub url: String,
}

/// Answer of `GET /pairings`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingList {
    /// The paired accounts, the oldest first.
    pub pairings: Vec<PairingEntry>,
}

/// An account of a channel that acts as a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingEntry {
    /// Id of the pairing, for its end.
    pub id: String,
    /// The account, such as `telegram:4711`.
    pub account: String,
    /// The person as whom the account acts.
    pub principal: String,
    /// Scopes of the account.
    pub scopes: Vec<String>,
    /// Time at which the account was paired.
    pub created_at: String,
    /// Time of the last use, to the minute; `null` if it was never used.
    pub last_used_at: Option<String>,
}

/// Answer of `DELETE /pairings/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingEnded {
    /// The account whose pairing ended.
    pub account: String,
}

/// Answer of `GET /threads/{id}/deliveries`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryList {
    /// The deliveries, the newest first; at most 200 for each chat.
    pub deliveries: Vec<DeliveryEntry>,
}

/// A delivery of an event to a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryEntry {
    /// Id of the delivery.
    pub id: u64,
    /// Position of the event.
    pub seq: u64,
    /// The chat, such as `telegram:-100123`.
    pub chat: String,
    /// `pending`, `sending`, `done`, `failed` or `unknown`.
    pub state: String,
    /// The reason for the state, as a sentence; `null` if there is none.
    pub why: Option<String>,
}

/// Answer of `POST /threads/{id}/deliveries/{delivery}/again`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryResent {
    /// Always true.
    pub resent: bool,
}

impl From<&ChatDelivery> for DeliveryEntry {
    fn from(delivery: &ChatDelivery) -> Self {
        Self {
            id: delivery.id,
            seq: delivery.seq.0,
            chat: delivery.chat.key(),
            state: delivery.state.to_string(),
            why: delivery.why.clone(),
        }
    }
}

impl From<&BotStatus> for BotEntry {
    fn from(bot: &BotStatus) -> Self {
        Self {
            agent: bot.agent.clone(),
            username: bot.username.clone(),
            state: bot.state.to_string(),
            since: bot.since.to_string(),
            private: bot.is_private,
            heard_at: bot.heard_at.map(|at| at.to_string()),
            cure: bot.cure.clone(),
        }
    }
}

impl From<&ChatStatus> for ChatEntry {
    fn from(chat: &ChatStatus) -> Self {
        Self {
            chat: chat.chat.key(),
            title: chat.title.clone(),
            thread: chat.stream.as_ref().map(ToString::to_string),
            state: chat.state.to_string(),
            agents: chat.agents.iter().map(ToString::to_string).collect(),
            deaf: chat.deaf.iter().map(ToString::to_string).collect(),
            dropped: chat.dropped,
            cure: chat.cure.clone(),
            owed: chat.activity.owed,
            turns_today: chat.activity.turns_today,
            cost_today_micros: chat.activity.cost_today_micros,
        }
    }
}

impl From<&ChannelStatus> for ChannelEntry {
    fn from(channel: &ChannelStatus) -> Self {
        Self {
            name: channel.name.clone(),
            bots: channel.bots.iter().map(BotEntry::from).collect(),
            chats: channel.chats.iter().map(ChatEntry::from).collect(),
        }
    }
}

impl From<PairingLink> for PairingLinkEntry {
    fn from(link: PairingLink) -> Self {
        Self { agent: link.agent, url: link.url }
    }
}

impl PairingEntry {
    /// Returns a paired account. Its label is the account.
    pub fn of(token: &Token) -> Self {
        Self {
            id: token.id.to_string(),
            account: token.label.clone(),
            principal: token.principal.id.to_string(),
            scopes: token.scopes.iter().map(|scope| scope.to_string()).collect(),
            created_at: token.created_at.to_string(),
            last_used_at: token.last_used_at.map(|at| at.to_string()),
        }
    }
}
