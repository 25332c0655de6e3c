//! `[channels]`: the channels of a server.

use std::collections::BTreeMap;
use std::time::Duration;

use moothall_engine::crash;
use serde::Deserialize;

use crate::discord::RELAY;
use crate::telegram::bucket::CallRates;

/// `[channels]`: the channels of a server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelsConfig {
    /// `[channels.telegram]`.
    pub telegram: TelegramConfig,
    /// `[channels.matrix]`; `None` without such a section.
    pub matrix: Option<MatrixConfig>,
    /// `[channels.discord]`.
    pub discord: DiscordConfig,
}

impl ChannelsConfig {
    /// Returns a text that differs if any setting does, and shows no token.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{self:?}").as_bytes());
        for (agent, token) in self.telegram.bots.iter() {
            hasher.update(agent.as_bytes()).update(token.as_bytes());
        }
        for (agent, token) in self.discord.tokens() {
            hasher.update(agent.as_bytes()).update(token.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// `[channels.telegram]`: bots in Telegram, one for each agent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramConfig {
    /// False if the bots are not connected.
    pub enabled: bool,
    /// The address of the Bot API: Telegram's own, or that of a server of one's own.
    pub base_url: String,
    /// The agent that answers in private chats with a bot whose name no agent has.
    pub default_agent: Option<String>,
    /// The treatment of words of people who are not paired.
    pub strangers: StrangersRule,
    /// The use of rich messages.
    pub rich: RichRule,
    /// `[channels.telegram.bots.<agent>]`, or a list of tables with `agent` and `bot_token`.
    pub bots: BotTable,
    /// The limits of each bot's calls. Telegram sets them, so operators do not.
    #[serde(skip)]
    pub rates: CallRates,
}

impl Default for TelegramConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            base_url: "https://api.telegram.org".into(),
            default_agent: None,
            strangers: StrangersRule::default(),
            rich: RichRule::default(),
            bots: BotTable::default(),
            rates: if crash::is_unlimited() { CallRates::UNLIMITED } else { CallRates::TELEGRAM },
        }
    }
}

/// `[channels.matrix]`: the server as an application service of a Matrix homeserver.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MatrixConfig {
    /// False if the homeserver is not used.
    pub enabled: bool,
    /// The address of the homeserver's client-server API.
    pub homeserver: String,
    /// The file with the registration, as `moothall matrix registration` writes it.
    pub registration: String,
    /// The address on which the server listens for the homeserver; by default that of the
    /// registration.
    pub bind: Option<String>,
    /// True if the homeserver is trusted with answers to questions: it can write in the name of
    /// each of its users. (Ruling 43.)
    pub trusted: bool,
    /// The treatment of words of people who are not paired.
    pub strangers: StrangersRule,
}

impl Default for MatrixConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            homeserver: String::new(),
            registration: String::new(),
            bind: None,
            trusted: false,
            strangers: StrangersRule::default(),
        }
    }
}

/// `[channels.discord]`: a bot in Discord whose webhooks speak for all agents, and bots of their
/// own for some.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiscordConfig {
    /// False if the bots are not connected.
    pub enabled: bool,
    /// The address before `/api/v10`.
    pub rest_url: String,
    /// The address of the gateway.
    pub gateway_url: String,
    /// The token of the bot that speaks for the server, and by webhooks for agents without a bot.
    pub bot_token: Option<String>,
    /// The agent that answers in direct chats with that bot.
    pub default_agent: Option<String>,
    /// The treatment of words of people who are not paired.
    pub strangers: StrangersRule,
    /// `[channels.discord.bots.<agent>]`.
    pub bots: BTreeMap<String, DiscordBotConfig>,
    /// The longest silence of the gateway. Discord sets how often it speaks, so operators do not.
    #[serde(skip)]
    pub silence_max: Duration,
}

impl Default for DiscordConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            rest_url: "https://discord.com".into(),
            gateway_url: "wss://gateway.discord.gg".into(),
            bot_token: None,
            default_agent: None,
            strangers: StrangersRule::default(),
            bots: BTreeMap::new(),
            // Discord asks for a heartbeat every 41 seconds, and answers each.
            silence_max: Duration::from_secs(90),
        }
    }
}

impl DiscordConfig {
    /// Returns the agents with the tokens of their bots, the server's own first.
    pub fn tokens(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.bot_token.iter().map(|token| (RELAY, token.as_str()));
        let of_agents = self.bots.iter();
        own.chain(
            of_agents.filter_map(|(agent, bot)| Some((agent.as_str(), bot.bot_token.as_deref()?))),
        )
    }

    /// Returns the address of the picture under which a webhook speaks for an agent.
    pub fn picture_of(&self, agent: &str) -> Option<&str> {
        self.bots.get(agent)?.picture.as_deref()
    }
}

/// `[channels.discord.bots.<agent>]`: an agent in Discord.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiscordBotConfig {
    /// The token of the agent's own bot; without it the agent speaks by a webhook.
    pub bot_token: Option<String>,
    /// The address of the picture that a webhook shows.
    pub picture: Option<String>,
}

// A token in a log would let its readers speak as the bot.
impl std::fmt::Debug for DiscordConfig {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("DiscordConfig")
            .field("enabled", &self.enabled)
            .field("rest_url", &self.rest_url)
            .field("gateway_url", &self.gateway_url)
            .field("default_agent", &self.default_agent)
            .field("strangers", &self.strangers)
            .field("bots", &self.bots)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for DiscordBotConfig {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "DiscordBotConfig {{ bot_token: …, picture: {:?} }}", self.picture)
    }
}

/// The treatment of words of people who are not paired. (Ruling 44.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrangersRule {
    /// The words are dropped and counted.
    #[default]
    Drop,
    /// In a bound chat, the words are stored in the conversation as data. They wake no agent and
    /// command nothing.
    Observe,
}

/// The use of Telegram's rich messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RichRule {
    /// Texts are sent with entities, which every client draws.
    #[default]
    Never,
    /// Texts with headings, lists, tables or code, and long ones, are sent as rich messages. Older
    /// clients draw a placeholder for them.
    Auto,
}

/// The bots, as a table by agent or as a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum BotTable {
    /// A table for each agent.
    ByAgent(BTreeMap<String, BotConfig>),
    /// A list of bots with their agents.
    List(Vec<ListedBot>),
}

impl Default for BotTable {
    fn default() -> Self {
        Self::ByAgent(BTreeMap::new())
    }
}

impl BotTable {
    /// Returns the agents with the tokens of their bots. A list keeps its order; a table is in the
    /// order of the names.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        match self {
            Self::ByAgent(bots) => {
                Box::new(bots.iter().map(|(agent, bot)| (agent.as_str(), bot.bot_token.as_str())))
            }
            Self::List(bots) => {
                Box::new(bots.iter().map(|bot| (bot.agent.as_str(), bot.bot_token.as_str())))
            }
        }
    }
}

/// `[channels.telegram.bots.<agent>]`: the bot of an agent.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotConfig {
    /// The token that Telegram's BotFather gave for the bot.
    pub bot_token: String,
}

/// A bot in a list.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedBot {
    /// The agent that speaks by the bot.
    pub agent: String,
    /// The token that Telegram's BotFather gave for the bot.
    pub bot_token: String,
}

// A token in a log would let its readers speak as the bot.
impl std::fmt::Debug for BotConfig {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("BotConfig { bot_token: … }")
    }
}

impl std::fmt::Debug for ListedBot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ListedBot {{ agent: {:?}, bot_token: … }}", self.agent)
    }
}
