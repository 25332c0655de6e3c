//! The world that the fake holds: people, bots, servers, channels, messages and sessions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::faults::FaultQueue;
use super::journal::RestCall;
use super::limits::RateLimits;

/// The first id. Its part for the time says the year 2025.
const FIRST_ID: u64 = 1_330_000_000_000_000_000;
/// Distance between two ids: one millisecond in their part for the time.
const ID_STEP: u64 = 1 << 22;

/// Intents of a session, as bits on the wire.
pub(super) const GUILDS: u64 = 1;
pub(super) const GUILD_MESSAGES: u64 = 1 << 9;
pub(super) const DIRECT_MESSAGES: u64 = 1 << 12;
pub(super) const MESSAGE_CONTENT: u64 = 1 << 15;

/// A bot, as its maker knows it. Its application has the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscordBot {
    /// Id of the bot's user.
    pub id: u64,
    /// Name.
    pub name: String,
    /// Token.
    pub token: String,
}

/// A person, by the id of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiscordPerson(pub u64);

/// A server in the service's sense, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuildId(pub u64);

/// A channel, a thread or a direct chat, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelId(pub u64);

/// A message, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A press of a button or a slash command, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InteractionId(pub u64);

/// The author of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Author {
    Person(u64),
    Bot(u64),
    Webhook { id: u64, name: String, avatar: Option<String> },
}

/// A message as the service keeps it.
#[derive(Clone, Debug)]
pub(super) struct KeptMessage {
    pub(super) author: Author,
    pub(super) content: String,
    pub(super) reply_to: Option<u64>,
    pub(super) components: Value,
    pub(super) allowed_mentions: Value,
    pub(super) flags: u64,
    pub(super) nonce: Value,
    /// The application of an answer to an interaction.
    pub(super) application: Option<u64>,
    pub(super) is_edited: bool,
    pub(super) is_deleted: bool,
    /// The only person who sees the message.
    pub(super) only_to: Option<u64>,
}

impl KeptMessage {
    pub(super) fn new(author: Author, content: &str) -> Self {
        Self {
            author,
            content: content.to_owned(),
            reply_to: None,
            components: json!([]),
            allowed_mentions: Value::Null,
            flags: 0,
            nonce: Value::Null,
            application: None,
            is_edited: false,
            is_deleted: false,
            only_to: None,
        }
    }
}

/// The kind of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelKind {
    Text,
    Thread { parent: u64 },
    Direct { person: u64, bot: u64 },
}

/// A channel and everything in it.
#[derive(Clone, Debug)]
pub(super) struct ChannelState {
    pub(super) kind: ChannelKind,
    pub(super) guild: Option<u64>,
    pub(super) name: String,
    pub(super) messages: BTreeMap<u64, KeptMessage>,
    /// Bits that are denied to members in this channel.
    pub(super) denied: BTreeMap<u64, u64>,
    pub(super) is_archived: bool,
}

/// A server in the service's sense.
#[derive(Clone, Debug)]
pub(super) struct GuildState {
    pub(super) name: String,
    /// Members with their bits.
    pub(super) members: BTreeMap<u64, u64>,
}

/// A bot and its application.
#[derive(Clone, Debug)]
pub(super) struct ApplicationState {
    pub(super) bot: DiscordBot,
    /// True if the application may read the content of messages.
    pub(super) reads_content: bool,
    pub(super) is_revoked: bool,
    pub(super) commands: Value,
    /// People who do not take messages of the bot.
    pub(super) blocked_by: BTreeSet<u64>,
}

/// A webhook of a channel.
#[derive(Clone, Debug)]
pub(super) struct WebhookState {
    pub(super) channel: u64,
    pub(super) owner: u64,
    pub(super) name: String,
    pub(super) token: String,
}

/// A press of a button or a slash command.
#[derive(Clone, Debug)]
pub(super) struct InteractionState {
    pub(super) bot: u64,
    pub(super) person: u64,
    pub(super) channel: u64,
    pub(super) token: String,
    /// The message with the button.
    pub(super) message: Option<u64>,
    /// The kind of the answer; `None` while the person's client waits.
    pub(super) callback: Option<u64>,
    /// The message that answers it.
    pub(super) answer: Option<u64>,
    /// True if the answer is for the person alone.
    pub(super) is_ephemeral: bool,
    /// True if the time for an answer is over.
    pub(super) is_over: bool,
}

/// An act of a session on its connection.
#[derive(Debug)]
pub(super) enum SocketAct {
    Send(String),
    Close(u16),
    Cut,
    /// Sends nothing more.
    Silence,
}

/// A session of a bot at the gateway.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) id: String,
    pub(super) bot: u64,
    pub(super) intents: u64,
    pub(super) seq: u64,
    /// The events so far, with their numbers.
    pub(super) events: Vec<(u64, Value)>,
    /// The connection; `None` while there is none.
    pub(super) socket: Option<UnboundedSender<SocketAct>>,
    pub(super) is_invalid: bool,
}

/// Everything that the fake knows.
#[derive(Default)]
pub(super) struct DiscordWorld {
    pub(super) gateway_url: String,
    pub(super) people: BTreeMap<u64, String>,
    pub(super) bots: BTreeMap<u64, ApplicationState>,
    pub(super) guilds: BTreeMap<u64, GuildState>,
    pub(super) channels: BTreeMap<u64, ChannelState>,
    pub(super) webhooks: BTreeMap<u64, WebhookState>,
    pub(super) interactions: BTreeMap<u64, InteractionState>,
    pub(super) sessions: Vec<SessionState>,
    /// Number of connections to the gateway that stay mute.
    pub(super) mute_next: usize,
    /// Number of sessions that were resumed.
    pub(super) resumed: usize,
    pub(super) typing: Vec<(u64, u64)>,
    pub(super) journal: Vec<RestCall>,
    pub(super) faults: FaultQueue,
    pub(super) limits: RateLimits,
    /// True if fields that the route does not have are ignored.
    pub(super) is_lenient: bool,
    /// Number of calls that gates have held.
    pub(super) held: usize,
    ids: u64,
}

impl DiscordWorld {
    /// Returns an id that is greater than all before it.
    pub(super) fn next_id(&mut self) -> u64 {
        self.ids += 1;
        FIRST_ID + self.ids * ID_STEP
    }

    /// Returns a channel that a test made.
    ///
    /// # Panics
    /// The channel is from another server, or deleted.
    pub(super) fn channel(&self, channel: u64) -> &ChannelState {
        self.channels.get(&channel).expect("a channel of this server")
    }

    pub(super) fn channel_mut(&mut self, channel: u64) -> &mut ChannelState {
        self.channels.get_mut(&channel).expect("a channel of this server")
    }

    pub(super) fn add_channel(&mut self, kind: ChannelKind, guild: Option<u64>, name: &str) -> u64 {
        let id = self.next_id();
        let state = ChannelState {
            kind,
            guild,
            name: name.to_owned(),
            messages: BTreeMap::new(),
            denied: BTreeMap::new(),
            is_archived: false,
        };
        self.channels.insert(id, state);
        id
    }

    /// Returns the direct chat of a person and a bot, which is made if it does not exist.
    pub(super) fn direct(&mut self, person: u64, bot: u64) -> u64 {
        let kind = ChannelKind::Direct { person, bot };
        let found = self.channels.iter().find(|(_, state)| state.kind == kind).map(|(id, _)| *id);
        found.unwrap_or_else(|| self.add_channel(kind, None, ""))
    }

    /// Adds a message to a channel, and tells the bots that see it.
    pub(super) fn post(&mut self, channel: u64, message: KeptMessage) -> u64 {
        let id = self.next_id();
        let is_for_one = message.only_to.is_some();
        self.channel_mut(channel).messages.insert(id, message);
        if !is_for_one {
            self.announce(channel, id, "MESSAGE_CREATE");
        }
        id
    }

    /// Tells the bots that see a channel of a message in it.
    pub(super) fn announce(&mut self, channel: u64, message: u64, event: &str) {
        let intent = match self.channel(channel).kind {
            ChannelKind::Direct { .. } => DIRECT_MESSAGES,
            ChannelKind::Text | ChannelKind::Thread { .. } => GUILD_MESSAGES,
        };
        for bot in self.viewers(channel) {
            let (object, is_open) = self.message_event(channel, message, bot);
            self.dispatch(bot, intent, event, |intents| {
                let mut object = object.clone();
                if intents & MESSAGE_CONTENT == 0 && !is_open {
                    object["content"] = "".into();
                }
                object
            });
        }
    }

    /// Returns the bots that see a channel.
    pub(super) fn viewers(&self, channel: u64) -> Vec<u64> {
        let sees = |bot: &&u64| {
            let bits = self.bits_in(channel, **bot).unwrap_or_default();
            bits & super::Permission::View.bit() != 0
        };
        self.bots.keys().filter(sees).copied().collect()
    }

    /// Gives the sessions of a bot an event, if they asked for its kind.
    pub(super) fn dispatch(
        &mut self,
        bot: u64,
        intent: u64,
        event: &str,
        data: impl Fn(u64) -> Value,
    ) {
        let wanted = |session: &&mut SessionState| {
            session.bot == bot && !session.is_invalid && session.intents & intent == intent
        };
        for session in self.sessions.iter_mut().filter(wanted) {
            let data = data(session.intents);
            session.dispatch(event, data);
        }
    }
}

impl SessionState {
    /// Adds an event with the next number, and sends it if there is a connection.
    pub(super) fn dispatch(&mut self, event: &str, data: Value) {
        self.seq += 1;
        let frame = json!({"op": 0, "t": event, "s": self.seq, "d": data});
        self.send(&frame);
        self.events.push((self.seq, frame));
    }

    pub(super) fn send(&self, frame: &Value) {
        self.act(SocketAct::Send(frame.to_string()));
    }

    /// Does something on the connection, if there is one. It may be closed already.
    pub(super) fn act(&self, act: SocketAct) {
        if let Some(socket) = &self.socket {
            let _ = socket.send(act);
        }
    }
}
