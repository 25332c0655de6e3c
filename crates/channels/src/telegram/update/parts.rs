//! The parts of a message: its words, its attachment, and the signs of a service message.

use serde_json::Value;

use super::entities::{self, TextEntity};
use super::text_of;

/// An attachment, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Kind of the attachment.
    pub kind: AttachmentKind,
    /// Name of the file, place or contact, question of the poll, or Telegram's word for a kind that
    /// is not known here.
    pub name: Option<String>,
}

/// The kinds of attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentKind {
    /// A picture.
    Photo,
    /// A voice message.
    Voice,
    /// A piece of music.
    Audio,
    /// A video or an animation.
    Video,
    /// A file.
    File,
    /// A sticker.
    Sticker,
    /// A place.
    Location,
    /// A contact.
    Contact,
    /// A poll.
    Poll,
    /// Another kind.
    Other,
}

/// Fields that hold attachments, and the fields of their names. An animation comes with a document,
/// and a venue with a location: the more precise one is first.
const ATTACHMENTS: [(&str, AttachmentKind, &str); 14] = [
    ("photo", AttachmentKind::Photo, ""),
    ("voice", AttachmentKind::Voice, ""),
    ("audio", AttachmentKind::Audio, "file_name"),
    ("animation", AttachmentKind::Video, "file_name"),
    ("video", AttachmentKind::Video, "file_name"),
    ("video_note", AttachmentKind::Video, ""),
    ("document", AttachmentKind::File, "file_name"),
    ("sticker", AttachmentKind::Sticker, "emoji"),
    ("venue", AttachmentKind::Location, "title"),
    ("location", AttachmentKind::Location, ""),
    ("contact", AttachmentKind::Contact, "first_name"),
    ("poll", AttachmentKind::Poll, "question"),
    ("game", AttachmentKind::Other, "title"),
    ("paid_media", AttachmentKind::Other, ""),
];

/// Beginnings of the fields that make a service message.
const SERVICE: [&str; 32] = [
    "boost_added",
    "channel_chat_created",
    "chat_background_set",
    "chat_owner_",
    "chat_shared",
    "checklist_tasks_",
    "connected_website",
    "delete_chat_photo",
    "direct_message_price_changed",
    "forum_topic_",
    "general_forum_topic_",
    "gift",
    "giveaway_c",
    "group_chat_created",
    "left_chat_",
    "managed_bot_",
    "message_auto_delete_timer_changed",
    "migrate_",
    "new_chat_",
    "paid_message_price_changed",
    "passport_data",
    "pinned_message",
    "proximity_alert_triggered",
    "refunded_payment",
    "successful_payment",
    "suggested_post_",
    "supergroup_chat_created",
    "unique_gift",
    "users_shared",
    "video_chat_",
    "web_app_data",
    "write_access_allowed",
];

/// Fields with objects and lists in any message, which are not its content.
const ENVELOPE: [&str; 17] = [
    "caption_entities",
    "chat",
    "direct_messages_topic",
    "entities",
    "external_reply",
    "forward_origin",
    "from",
    "guest_bot_caller_user",
    "link_preview_options",
    "quote",
    "reply_markup",
    "reply_to_message",
    "reply_to_story",
    "sender_business_bot",
    "sender_chat",
    "suggested_post_info",
    "via_bot",
];

/// Returns the words of a message with their entities.
pub(super) fn words(message: &Value) -> (String, Vec<TextEntity>) {
    for (text, entities) in [("text", "entities"), ("caption", "caption_entities")] {
        if let Some(text) = text_of(&message[text]) {
            let entities = entities::read(&text, &message[entities]);
            return (text, entities);
        }
    }
    let mut text = String::new();
    add_rich_text(&message["rich_message"], &mut text);
    (text.trim().to_owned(), Vec::new())
}

/// Adds the words of a rich message: one line for each block, also for blocks of unknown kinds.
fn add_rich_text(value: &Value, text: &mut String) {
    match value {
        Value::String(words) => text.push_str(words),
        Value::Array(parts) => parts.iter().for_each(|part| add_rich_text(part, text)),
        Value::Object(_) => {
            add_rich_text(&value["text"], text);
            for name in ["blocks", "items", "cells"] {
                for block in value[name].as_array().into_iter().flatten() {
                    add_rich_text(block, text);
                    if !text.ends_with('\n') {
                        text.push('\n');
                    }
                }
            }
        }
        _ => {}
    }
}

/// True if a message has a field of a service message, which reports a change of the chat itself.
pub(super) fn is_service(message: &Value) -> bool {
    let mut names = message.as_object().into_iter().flat_map(serde_json::Map::keys);
    names.any(|name| {
        !ENVELOPE.contains(&name.as_str()) && SERVICE.iter().any(|begin| name.starts_with(begin))
    })
}

/// Returns the attachment of a message. If the message has to have a content (`is_bare`), an
/// attachment of an unknown kind is named by its field.
pub(super) fn attachment(message: &Value, is_bare: bool) -> Option<Attachment> {
    let known = ATTACHMENTS.iter().find(|(field, ..)| !message[*field].is_null());
    if let Some((field, kind, name)) = known {
        let name = text_of(&message[*field][*name]);
        let word = (*kind == AttachmentKind::Other).then(|| (*field).to_owned());
        return Some(Attachment { kind: *kind, name: name.or(word) });
    }
    let mut fields = message.as_object().into_iter().flatten().filter(|_| is_bare);
    let (name, _) = fields.find(|(name, value)| {
        (value.is_object() || value.is_array()) && !ENVELOPE.contains(&name.as_str())
    })?;
    Some(Attachment { kind: AttachmentKind::Other, name: Some(name.clone()) })
}
