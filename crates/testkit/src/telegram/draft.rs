//! A message that a person is about to send.

use serde_json::{Map, Value, json};

use super::TelegramServer;
use super::entities;
use super::world::{ChatId, MessageKey, Sender, StoredMessage};

/// A message of a person, before it is sent.
#[must_use]
pub struct MessageDraft<'a> {
    server: &'a TelegramServer,
    chat: ChatId,
    sender: Sender,
    text: String,
    entities: Vec<Value>,
    topic: Option<i64>,
    reply_to: Option<i64>,
    extra: Map<String, Value>,
}

impl<'a> MessageDraft<'a> {
    pub(super) fn new(
        server: &'a TelegramServer,
        chat: ChatId,
        sender: Sender,
        text: &str,
    ) -> Self {
        Self {
            server,
            chat,
            sender,
            text: text.to_owned(),
            entities: Vec::new(),
            topic: None,
            reply_to: None,
            extra: Map::new(),
        }
    }

    /// Replies to a message. The topic is that of the message.
    pub fn reply_to(mut self, message: MessageKey) -> Self {
        let world = self.server.shared.world();
        self.topic = world.chat(self.chat).messages.get(&message.id).and_then(|m| m.thread);
        drop(world);
        self.reply_to = Some(message.id);
        self
    }

    /// Writes in a topic of a forum.
    pub fn topic(mut self, topic: i64) -> Self {
        self.topic = Some(topic);
        self
    }

    /// Marks the first occurrence of some words as a mention of a user without a username.
    ///
    /// # Panics
    /// The text does not have the words.
    pub fn naming(mut self, words: &str, user: i64) -> Self {
        let mut entity =
            entities::over(&self.text, words, "text_mention").expect("words of the text");
        entity["user"] = self.server.shared.world().user(user);
        self.entities.push(entity);
        self
    }

    /// Formats the first occurrence of some words: `bold`, `code`, ….
    ///
    /// # Panics
    /// The text does not have the words.
    pub fn styled(mut self, words: &str, kind: &str) -> Self {
        let entity = entities::over(&self.text, words, kind).expect("words of the text");
        self.entities.push(entity);
        self
    }

    /// Attaches a photo; the text is its caption.
    pub fn photo(self) -> Self {
        let size = json!({"file_id": "photo-1", "file_unique_id": "p1", "width": 90, "height": 60, "file_size": 1200});
        self.field("photo", json!([size]))
    }

    /// Attaches a voice message; the text is its caption.
    pub fn voice(self) -> Self {
        let voice = json!({"file_id": "voice-1", "file_unique_id": "v1", "duration": 3, "mime_type": "audio/ogg"});
        self.field("voice", voice)
    }

    /// Attaches a file; the text is its caption.
    pub fn file(self, name: &str) -> Self {
        let file = json!({"file_id": "file-1", "file_unique_id": "f1", "file_name": name, "file_size": 10});
        self.field("document", file)
    }

    /// Adds any field to the message.
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.extra.insert(name.to_owned(), value);
        self
    }

    /// Sends the message. The bots that hear it get an update.
    pub fn send(mut self) -> MessageKey {
        self.entities.extend(entities::find(&self.text));
        self.entities.sort_by_key(|entity| entity["offset"].as_u64());
        let mut message = StoredMessage::new(self.sender, &self.text);
        message.entities = self.entities;
        message.thread = self.topic;
        message.reply_to = self.reply_to;
        message.extra = self.extra;
        let chat = self.chat;
        let id = self.server.shared.change(|world| world.post(chat, message));
        MessageKey { chat, id }
    }
}
