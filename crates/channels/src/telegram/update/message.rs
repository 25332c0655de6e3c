//! One message of a chat: its author, its words, its topic and what it replies to.

use serde_json::Value;

use super::parts::{self, Attachment};
use super::{Author, Chat, GENERAL_TOPIC, TextEntity};

/// A message, or a service message about the chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Chat of the message.
    pub chat: Chat,
    /// Id of the message in the chat.
    pub message_id: i64,
    /// Topic of the message; `None` in the General topic and in chats without topics.
    pub thread: Option<i64>,
    /// Author of the message.
    pub author: Author,
    /// Time at which the message was sent, in seconds since 1970.
    pub date: Option<i64>,
    /// Text, or the caption of the attachment; may be empty.
    pub text: String,
    /// Entities of the text.
    pub entities: Vec<TextEntity>,
    /// Message that this one replies to.
    pub reply_to: Option<ReplyTarget>,
    /// Attachment without its content.
    pub attachment: Option<Attachment>,
    /// True if the message has no words and reports a change of the chat itself: new members, a
    /// pinned message, a topic.
    pub service: bool,
}

/// The message that another one replies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyTarget {
    /// Id of the message in the same chat.
    pub message_id: i64,
    /// Id of the bot that wrote it, if a bot did.
    pub from_bot_id: Option<i64>,
}

impl Message {
    /// Reads a message; `None` if it lacks its chat or its id.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let chat = Chat::read(&value["chat"])?;
        let (text, entities) = parts::words(value);
        let service = text.is_empty() && parts::is_service(value);
        Some(Self {
            message_id: value["message_id"].as_i64()?,
            thread: topic(value).filter(|topic| *topic != GENERAL_TOPIC),
            author: Author::read(value, &chat),
            date: value["date"].as_i64(),
            reply_to: reply_target(value),
            attachment: parts::attachment(value, text.is_empty() && !service),
            text,
            entities,
            service,
            chat,
        })
    }
}

/// Returns the topic of a message. In a group without topics, a reply has a thread too.
fn topic(message: &Value) -> Option<i64> {
    message["message_thread_id"].as_i64().filter(|_| message["is_topic_message"] == true)
}

/// Returns the message that a person replied to. Telegram makes each message of a topic a reply to
/// the message that created the topic, which the person did not choose.
fn reply_target(message: &Value) -> Option<ReplyTarget> {
    let replied = &message["reply_to_message"];
    let message_id = replied["message_id"].as_i64()?;
    let is_root = topic(message) == Some(message_id) || !replied["forum_topic_created"].is_null();
    let from = &replied["from"];
    let from_bot_id = from["id"].as_i64().filter(|_| from["is_bot"] == true);
    (!is_root).then_some(ReplyTarget { message_id, from_bot_id })
}
