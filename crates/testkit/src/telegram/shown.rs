//! The chats as people see them now: texts, buttons, edits and deletions.

use serde_json::Value;

use super::TelegramServer;
use super::entities;
use super::world::{ChatId, MessageKey, Sender, StoredMessage, TelegramWorld};

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownButton {
    /// Label.
    pub text: String,
    /// Data of a press; empty for a link.
    pub data: String,
}

/// A message as people see it now.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownMessage {
    /// Its number and chat.
    pub key: MessageKey,
    /// Name of the author.
    pub from: String,
    /// Number of the author's user; 0 for an anonymous administrator or a channel.
    pub from_id: i64,
    /// Text or caption; the Markdown of a rich message.
    pub text: String,
    /// Entities as on the wire.
    pub entities: Vec<Value>,
    /// Rows of buttons.
    pub buttons: Vec<Vec<ShownButton>>,
    /// Number of the message that it replies to.
    pub reply_to: Option<i64>,
    /// Topic.
    pub topic: Option<i64>,
    /// True for a rich message.
    pub is_rich: bool,
    /// True for a message of the service itself: joins, leaves, new topics.
    pub is_service: bool,
    /// True after an edit.
    pub is_edited: bool,
    /// True if the message was deleted: people do not see it any more.
    pub is_deleted: bool,
}

impl ShownMessage {
    /// Returns the words that entities of a kind cover.
    pub fn covered(&self, kind: &str) -> Vec<&str> {
        let entities = self.entities.iter().filter(|entity| entity["type"] == kind);
        entities.filter_map(|entity| entities::slice(&self.text, entity)).collect()
    }
}

impl TelegramServer {
    /// Returns all messages of a chat, oldest first, deleted ones included.
    pub fn shown(&self, chat: ChatId) -> Vec<ShownMessage> {
        let world = self.shared.world();
        let messages = world.chat(chat).messages.iter();
        messages.map(|(id, message)| show(&world, MessageKey { chat, id: *id }, message)).collect()
    }

    /// Returns the number of messages of a chat, deleted ones included.
    pub fn count(&self, chat: ChatId) -> usize {
        self.shared.world().chat(chat).messages.len()
    }

    /// Returns what people still see of a chat without service messages: its texts, oldest first.
    pub fn texts(&self, chat: ChatId) -> Vec<String> {
        let shown = self.shown(chat).into_iter();
        shown.filter(|m| !m.is_deleted && !m.is_service).map(|m| m.text).collect()
    }

    /// Waits for a message that fits and returns it.
    ///
    /// # Panics
    /// None comes within a minute.
    pub async fn wait_for_message(
        &self,
        chat: ChatId,
        fits: impl Fn(&ShownMessage) -> bool,
    ) -> ShownMessage {
        let mut found = None;
        self.wait_for(|server| {
            found = server.shown(chat).into_iter().find(|message| fits(message));
            found.is_some()
        })
        .await;
        found.expect("the wait ends with a message")
    }
}

/// Returns a message as people see it.
pub(super) fn show(
    world: &TelegramWorld,
    key: MessageKey,
    message: &StoredMessage,
) -> ShownMessage {
    let (from, from_id) = match &message.sender {
        Sender::Person(user) | Sender::Bot(user) => {
            let object = world.user(*user);
            (object["first_name"].as_str().unwrap_or_default().to_owned(), *user)
        }
        Sender::Anonymous => (world.chat(key.chat).title.clone(), 0),
        Sender::Channel(title) => (title.clone(), 0),
    };
    let word = |button: &Value, field: &str| button[field].as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| {
        let buttons = row.as_array().into_iter().flatten();
        buttons
            .map(|button| ShownButton {
                text: word(button, "text"),
                data: word(button, "callback_data"),
            })
            .collect()
    };
    ShownMessage {
        key,
        from,
        from_id,
        text: message.text.clone(),
        entities: message.entities.clone(),
        buttons: message.keyboard.as_array().into_iter().flatten().map(row).collect(),
        reply_to: message.reply_to,
        topic: message.thread,
        is_rich: message.extra.contains_key("rich_message"),
        is_service: message.is_service,
        is_edited: message.edit_date.is_some(),
        is_deleted: message.is_deleted,
    }
}
