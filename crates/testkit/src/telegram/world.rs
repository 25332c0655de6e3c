//! The world that the fake holds: people, bots, chats, messages and updates.

use std::collections::{BTreeMap, VecDeque};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::drafting::StoredDraft;
use super::ephemeral::StoredEphemeral;
use super::faults::Faults;
use super::journal::BotCall;
use super::rates::Rates;

/// Kinds of updates that a bot gets only if it asks for them.
const NOT_BY_DEFAULT: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];
/// Distance between the numbers of the same message in the accounts of two bots.
const ACCOUNT_STEP: i64 = 100_000;

/// A bot, as its maker knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    /// Number of the bot's user.
    pub id: i64,
    /// Username without `@`.
    pub username: String,
    /// First name.
    pub name: String,
    /// Token of the Bot API.
    pub token: String,
}

/// A person, by the number of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PersonId(pub i64);

/// A chat. A private chat has the number of its person, and each bot has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChatId {
    /// Number of the chat, as on the wire.
    pub id: i64,
    /// The bot of a private chat.
    pub bot: Option<i64>,
}

/// A message, by its number in its chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageKey {
    /// The chat of the message.
    pub chat: ChatId,
    /// Number in the chat. In private chats and basic groups each bot sees a number of its own
    /// (`TelegramServer::id_for`).
    pub id: i64,
}

/// The kind of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatKind {
    Private,
    Group,
    Supergroup { forum: bool },
}

/// A member's standing in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Member,
    Administrator,
    Left,
    Kicked,
}

impl Standing {
    pub(super) fn is_in(self) -> bool {
        matches!(self, Self::Member | Self::Administrator)
    }
}

/// A membership in a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    pub(super) standing: Standing,
    /// True if privacy mode was off when the bot was added. A change counts for later joins only.
    pub(super) open_at_join: bool,
}

/// The author of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Person(i64),
    Bot(i64),
    /// An administrator who hides behind the group.
    Anonymous,
    /// A channel, by its title.
    Channel(String),
}

/// A message as the service keeps it.
#[derive(Clone, Debug)]
pub(super) struct StoredMessage {
    pub(super) sender: Sender,
    pub(super) date: i64,
    pub(super) edit_date: Option<i64>,
    pub(super) thread: Option<i64>,
    pub(super) reply_to: Option<i64>,
    pub(super) text: String,
    pub(super) entities: Vec<Value>,
    /// Buttons, as `inline_keyboard`; null without any.
    pub(super) keyboard: Value,
    /// Further fields: attachments, a rich message, or the fields of a service message.
    pub(super) extra: Map<String, Value>,
    pub(super) is_service: bool,
    pub(super) is_deleted: bool,
    /// The only bot in privacy mode that hears the message.
    pub(super) meant_for: Option<i64>,
}

impl StoredMessage {
    pub(super) fn new(sender: Sender, text: &str) -> Self {
        Self {
            sender,
            date: now(),
            edit_date: None,
            thread: None,
            reply_to: None,
            text: text.to_owned(),
            entities: Vec::new(),
            keyboard: Value::Null,
            extra: Map::new(),
            is_service: false,
            is_deleted: false,
            meant_for: None,
        }
    }

    /// Makes a service message with one field of its own.
    pub(super) fn service(sender: Sender, field: &str, value: Value) -> Self {
        let mut message = Self::new(sender, "");
        message.extra.insert(field.to_owned(), value);
        message.is_service = true;
        message
    }
}

/// A chat and everything in it.
#[derive(Clone, Debug)]
pub(super) struct ChatState {
    pub(super) kind: ChatKind,
    pub(super) title: String,
    pub(super) members: BTreeMap<i64, Membership>,
    pub(super) topics: BTreeMap<i64, String>,
    pub(super) messages: BTreeMap<i64, StoredMessage>,
    /// Messages that one member sees, with numbers of their own.
    pub(super) ephemeral: BTreeMap<i64, StoredEphemeral>,
    /// The bot that wrote last.
    pub(super) last_bot: Option<i64>,
    pub(super) migrated_to: Option<i64>,
    /// The draft that the person of a private chat sees.
    pub(super) draft: Option<StoredDraft>,
    pub(super) is_deleted: bool,
    /// Rows of the keyboard that bots put in the place of the person's; null for the usual one.
    pub(super) keyboard: Value,
}

impl ChatState {
    pub(super) fn new(kind: ChatKind, title: &str) -> Self {
        Self {
            kind,
            title: title.to_owned(),
            members: BTreeMap::new(),
            topics: BTreeMap::new(),
            messages: BTreeMap::new(),
            ephemeral: BTreeMap::new(),
            last_bot: None,
            migrated_to: None,
            draft: None,
            is_deleted: false,
            keyboard: Value::Null,
        }
    }

    pub(super) fn standing(&self, user: i64) -> Option<Standing> {
        self.members.get(&user).map(|member| member.standing)
    }

    pub(super) fn is_supergroup(&self) -> bool {
        matches!(self.kind, ChatKind::Supergroup { .. })
    }

    /// Adds a message and returns its number.
    pub(super) fn add(&mut self, message: StoredMessage) -> i64 {
        let id = self.messages.last_key_value().map_or(1, |(last, _)| last + 1);
        if let Sender::Bot(bot) = message.sender
            && !message.is_service
        {
            self.last_bot = Some(bot);
            self.draft = None;
        }
        self.messages.insert(id, message);
        id
    }
}

/// A bot with its queue of updates.
#[derive(Debug)]
pub(super) struct BotState {
    pub(super) bot: Bot,
    pub(super) privacy: bool,
    pub(super) updates: VecDeque<Value>,
    pub(super) next_update: i64,
    /// Kinds of updates that the bot asked for. Empty: the default ones.
    pub(super) allowed: Vec<String>,
    pub(super) webhook: bool,
    pub(super) commands: Value,
    /// True if the bot may manage others.
    pub(super) manages: bool,
    /// The bot that manages this one.
    pub(super) manager: Option<i64>,
    /// The people who may write to it beside its owner; `None` for all.
    pub(super) access: Option<Vec<PersonId>>,
    /// Methods that the bot's server does not have, as an older one.
    pub(super) hidden: Vec<String>,
    /// Counts the polls, so that an older one notices a newer one.
    pub(super) polls: u64,
    /// Number of polls that wait now.
    pub(super) waiting: usize,
}

/// A press of a button.
#[derive(Debug)]
pub(super) struct ButtonPress {
    pub(super) id: String,
    pub(super) bot: i64,
    pub(super) answer: Option<PressAnswer>,
}

/// The answer of a bot to a press.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PressAnswer {
    /// Text shown to the person; empty if the bot only ended the waiting.
    pub text: String,
    /// True if the text is shown as a dialog.
    pub is_alert: bool,
}

/// Everything that the fake knows.
#[derive(Default)]
pub(super) struct TelegramWorld {
    pub(super) people: BTreeMap<i64, Map<String, Value>>,
    pub(super) bots: Vec<BotState>,
    pub(super) chats: BTreeMap<ChatId, ChatState>,
    pub(super) presses: Vec<ButtonPress>,
    pub(super) journal: Vec<BotCall>,
    pub(super) faults: Faults,
    pub(super) rates: Rates,
    /// True if fields that the method does not have are ignored.
    pub(super) is_lenient: bool,
    pub(super) bots_hear_bots: bool,
    /// Number of calls that gates have held.
    pub(super) held: usize,
}

impl TelegramWorld {
    pub(super) fn bot(&self, id: i64) -> Option<&BotState> {
        self.bots.iter().find(|state| state.bot.id == id)
    }

    pub(super) fn bot_mut(&mut self, id: i64) -> Option<&mut BotState> {
        self.bots.iter_mut().find(|state| state.bot.id == id)
    }

    /// Returns a chat that a test made.
    ///
    /// # Panics
    /// The chat is from another server.
    pub(super) fn chat(&self, chat: ChatId) -> &ChatState {
        self.chats.get(&chat).expect("a chat of this server")
    }

    pub(super) fn chat_mut(&mut self, chat: ChatId) -> &mut ChatState {
        self.chats.get_mut(&chat).expect("a chat of this server")
    }

    /// Returns the distance between a message's number in its chat and the number that a bot sees.
    /// In private chats and basic groups, Telegram numbers the messages for each account. New bots
    /// begin with the same small numbers, so their private chats with a person have the same ones.
    pub(super) fn offset(&self, chat: ChatId, bot: i64) -> i64 {
        let is_numbered_alike =
            chat.bot.is_some() || self.chats.get(&chat).is_some_and(ChatState::is_supergroup);
        let place = self.bots.iter().position(|state| state.bot.id == bot).unwrap_or(0);
        if is_numbered_alike { 0 } else { i64::try_from(place).unwrap_or(0) * ACCOUNT_STEP }
    }

    /// Adds an update to a bot's queue, if the bot asked for its kind.
    pub(super) fn push(&mut self, bot: i64, kind: &str, object: Value) {
        let Some(state) = self.bot_mut(bot) else { return };
        let is_wanted = if state.allowed.is_empty() {
            !NOT_BY_DEFAULT.contains(&kind)
        } else {
            state.allowed.iter().any(|allowed| allowed == kind)
        };
        if is_wanted {
            state.enqueue(json!({ kind: object }));
        }
    }
}

impl BotState {
    /// Adds an update to the queue and gives it the next number.
    pub(super) fn enqueue(&mut self, update: Value) {
        let mut numbered = json!({"update_id": self.next_update});
        if let (Some(target), Value::Object(fields)) = (numbered.as_object_mut(), update) {
            target.extend(fields);
        }
        self.next_update += 1;
        self.updates.push_back(numbered);
    }
}

/// Returns the time in seconds, as the wire has it.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
