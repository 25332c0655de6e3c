//! Updates of the Bot API. Each is read alone, and its unknown parts are skipped and named.
//!
//! Telegram adds words every month. Reading never fails: an unknown word costs at most the part
//! that it describes, never the message around it or the updates after it.

mod author;
mod entities;
mod message;
mod names;
mod parts;
#[cfg(test)]
mod tests;

use moothall_kernel::text::cut;
use serde_json::Value;

pub use author::{Author, MemberStatus, Person};
pub use entities::{TextEntity, TextEntityKind};
pub use message::{Message, ReplyTarget};
pub use names::SlashCommand;
pub use parts::{Attachment, AttachmentKind};

/// Topic that every chat with topics has. Telegram refuses messages that name it.
pub const GENERAL_TOPIC: i64 = 1;
/// Longest name of an unknown update that is kept, in bytes.
const WORD_BYTES_MAX: usize = 64;

/// One update of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Number by which the update is confirmed. The next offset is one more.
    pub id: Option<i64>,
    /// Kind of the update, with its content.
    pub kind: UpdateKind,
}

/// The kinds of updates that channels read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// A message came in, or a service message about the chat.
    Message(Message),
    /// A message was edited. Telegram sends this too if only its link preview changed.
    Edited(Message),
    /// A person pressed a button under a message.
    Press(Press),
    /// The bot's own membership of a chat changed.
    Membership(Membership),
    /// A person stopped the draft of a bot's message in a private chat.
    Stopped {
        /// Id of the chat, which is that of the person.
        chat: i64,
        /// Number of the draft.
        draft: i64,
    },
    /// A bot that this one manages was made, or its token or owner changed.
    Managed(ManagedBot),
    /// A group became a supergroup, which has another id.
    Migrated {
        /// Id of the group.
        from: i64,
        /// Id of the supergroup.
        to: i64,
    },
    /// An update of another kind, or one without its necessary parts, by the name of its field.
    Unknown(String),
}

/// A bot that another one manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedBot {
    /// Id of the bot.
    pub id: i64,
    /// Username of the bot, without `@`.
    pub username: String,
    /// The person who owns the bot.
    pub owner: Person,
}

/// A chat as an update describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    /// Id of the chat; negative for groups and channels.
    pub id: i64,
    /// Kind of the chat.
    pub kind: ChatKind,
    /// Title of a group or channel.
    pub title: Option<String>,
    /// True if the chat has topics.
    pub is_forum: bool,
}

/// The kinds of chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatKind {
    /// A person and the bot.
    Private,
    /// A basic group: each bot sees its messages under ids of its own.
    Group,
    /// A group in which messages have the same ids for all.
    Supergroup,
    /// A channel, in which only its admins write.
    Channel,
    /// A kind that is not known here.
    Other,
}

/// A press of a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Press {
    /// Id by which the press is answered.
    pub id: String,
    /// The person who pressed.
    pub by: Person,
    /// The message with the button, which may no longer be accessible.
    pub message: Option<PressedMessage>,
    /// Data of the button.
    pub data: Option<String>,
    /// True if the message was sent through the inline mode of a bot.
    pub inline: bool,
}

/// The place of a message with buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PressedMessage {
    /// Id of the chat.
    pub chat: i64,
    /// Id of the message in the chat.
    pub message_id: i64,
}

/// A change of the bot's membership of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The chat.
    pub chat: Chat,
    /// The account that made the change.
    pub by: Author,
    /// Status before the change.
    pub old: MemberStatus,
    /// Status after the change.
    pub new: MemberStatus,
    /// True if the bot now sees all messages of people, because it is an admin of the chat.
    pub sees_all: bool,
}

/// Reads one update.
pub fn read(value: &Value) -> Update {
    Update { id: value["update_id"].as_i64(), kind: read_kind(value) }
}

/// Reads the kind of an update from the first field that is known and complete.
fn read_kind(update: &Value) -> UpdateKind {
    // An update has one of these fields; a newer Bot API server may add others beside it.
    let known = read_message(&update["message"], UpdateKind::Message)
        .or_else(|| read_message(&update["channel_post"], UpdateKind::Message))
        .or_else(|| read_message(&update["edited_message"], UpdateKind::Edited))
        .or_else(|| read_message(&update["edited_channel_post"], UpdateKind::Edited))
        .or_else(|| read_press(&update["callback_query"]).map(UpdateKind::Press))
        .or_else(|| read_membership(&update["my_chat_member"]).map(UpdateKind::Membership))
        .or_else(|| read_managed(&update["managed_bot"]).map(UpdateKind::Managed))
        .or_else(|| read_stop(&update["stopped_message_generation"]));
    known.unwrap_or_else(|| {
        let mut names = update.as_object().into_iter().flat_map(serde_json::Map::keys);
        let name = names.find(|name| *name != "update_id").map_or("", String::as_str);
        UpdateKind::Unknown(cut(name, WORD_BYTES_MAX).to_owned())
    })
}

/// Reads a message as an update of a kind. A message that reports a group's new id is read as that
/// move.
fn read_message(value: &Value, kind: fn(Message) -> UpdateKind) -> Option<UpdateKind> {
    let message = Message::read(value)?;
    let chat = message.chat.id;
    if let Some(to) = value["migrate_to_chat_id"].as_i64() {
        return Some(UpdateKind::Migrated { from: chat, to });
    }
    if let Some(from) = value["migrate_from_chat_id"].as_i64() {
        return Some(UpdateKind::Migrated { from, to: chat });
    }
    Some(kind(message))
}

fn read_stop(value: &Value) -> Option<UpdateKind> {
    let (chat, draft) = (value["chat"]["id"].as_i64()?, value["draft_id"].as_i64()?);
    Some(UpdateKind::Stopped { chat, draft })
}

fn read_managed(value: &Value) -> Option<ManagedBot> {
    let bot = &value["bot"];
    Some(ManagedBot {
        id: bot["id"].as_i64().filter(|_| bot["is_bot"] == true)?,
        username: text_of(&bot["username"]).unwrap_or_default(),
        owner: Person::read(&value["user"])?,
    })
}

fn read_press(value: &Value) -> Option<Press> {
    let message = &value["message"];
    let place = message["chat"]["id"].as_i64().zip(message["message_id"].as_i64());
    Some(Press {
        id: value["id"].as_str()?.to_owned(),
        by: Person::read(&value["from"])?,
        message: place.map(|(chat, message_id)| PressedMessage { chat, message_id }),
        data: text_of(&value["data"]),
        inline: !value["inline_message_id"].is_null(),
    })
}

fn read_membership(value: &Value) -> Option<Membership> {
    let new = MemberStatus::read(&value["new_chat_member"]);
    Some(Membership {
        chat: Chat::read(&value["chat"])?,
        by: Author::of_account(&value["from"]),
        old: MemberStatus::read(&value["old_chat_member"]),
        sees_all: new.is_admin(),
        new,
    })
}

impl Chat {
    /// Reads a chat; `None` if it has no id.
    pub fn read(value: &Value) -> Option<Self> {
        let kind = match value["type"].as_str().unwrap_or_default() {
            "private" => ChatKind::Private,
            "group" => ChatKind::Group,
            "supergroup" => ChatKind::Supergroup,
            "channel" => ChatKind::Channel,
            _ => ChatKind::Other,
        };
        Some(Self {
            id: value["id"].as_i64()?,
            kind,
            title: text_of(&value["title"]),
            is_forum: value["is_forum"] == true,
        })
    }
}

/// Returns the text of a field, if it is one and not empty.
fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
