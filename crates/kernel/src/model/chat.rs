//! Chats outside of the server: groups, private chats and rooms of other products to which a
//! conversation can be bound.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Prefix of a chat among the targets of a conversation.
pub(crate) const SCHEME: &str = "chat:";
/// Longest target, in bytes.
pub const TARGET_BYTES_MAX: usize = 256;

/// A chat of a channel, such as `telegram:-100123` or one topic of it, `telegram:-100123:7`.
///
/// In the log and among the targets of deliveries it is written with its scheme,
/// `chat:telegram:-100123`; both forms are read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Chat {
    channel: String,
    room: String,
}

/// The error of a text that does not name a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAChat;

impl fmt::Display for NotAChat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            "A chat looks like `telegram:-100123`: the channel, a colon and the chat's id there, \
             at most 256 visible ASCII characters.",
        )
    }
}

impl std::error::Error for NotAChat {}

impl Chat {
    /// Returns the name of the channel, such as `telegram`.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Returns the id of the chat in its channel. Only the channel knows its form.
    pub fn room(&self) -> &str {
        &self.room
    }

    /// Returns the chat without its scheme, as people and surfaces write it.
    pub fn key(&self) -> String {
        format!("{}:{}", self.channel, self.room)
    }

    /// Returns the chat that a target of a conversation names; `None` if the target is a key that
    /// the conversation only holds.
    pub fn of_target(target: &str) -> Option<Self> {
        target.starts_with(SCHEME).then(|| target.parse().ok()).flatten()
    }
}

impl FromStr for Chat {
    type Err = NotAChat;

    /// Reads `channel:room`, with or without [`SCHEME`] before it.
    fn from_str(text: &str) -> Result<Self, NotAChat> {
        let key = text.strip_prefix(SCHEME).unwrap_or(text);
        let (channel, room) = key.split_once(':').ok_or(NotAChat)?;
        let is_plain = !channel.is_empty()
            && channel.bytes().all(|byte| byte.is_ascii_lowercase())
            && channel != "chat"
            && !room.is_empty()
            && room.bytes().all(|byte| byte.is_ascii_graphic())
            && SCHEME.len() + key.len() <= TARGET_BYTES_MAX;
        if is_plain {
            Ok(Self { channel: channel.to_owned(), room: room.to_owned() })
        } else {
            Err(NotAChat)
        }
    }
}

impl fmt::Display for Chat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{SCHEME}{}:{}", self.channel, self.room)
    }
}

impl TryFrom<String> for Chat {
    type Error = NotAChat;

    fn try_from(text: String) -> Result<Self, NotAChat> {
        text.parse()
    }
}

impl From<Chat> for String {
    fn from(chat: Chat) -> Self {
        chat.to_string()
    }
}

/// The place outside of the server from which a message came. Only a channel sets it, and clients
/// cannot, because words are not carried back to their own chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostOrigin {
    /// The chat in which the words were written.
    pub chat: Chat,
    /// The author's account there, such as `telegram:4711`, if the channel knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// The id of the message in that chat, if the channel knows it. Replies and erasures there
    /// refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl PostOrigin {
    /// Returns the author's account, or the channel if the account is unknown.
    pub fn account(&self) -> &str {
        self.identity.as_deref().unwrap_or(self.chat.channel())
    }
}

/// Words of a person who is not known to the server, said in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverheardWords {
    /// The chat, with the account that said the words.
    pub origin: PostOrigin,
    /// The name that the account gives itself.
    pub name: String,
    /// The words as given.
    pub body: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_chat_is_written_with_and_without_its_scheme() {
        for text in ["telegram:-100123", "chat:telegram:-100123"] {
            let chat: Chat = text.parse().unwrap();
            assert_eq!((chat.channel(), chat.room()), ("telegram", "-100123"));
            assert_eq!(chat.to_string(), "chat:telegram:-100123");
            assert_eq!(chat.key(), "telegram:-100123");
        }
        let room: Chat = "matrix:!a:example.org".parse().unwrap();
        assert_eq!(room.room(), "!a:example.org");
        let json = serde_json::to_string(&room).unwrap();
        assert_eq!(json, r#""chat:matrix:!a:example.org""#);
        assert_eq!(serde_json::from_str::<Chat>(&json).unwrap(), room);
    }

    #[test]
    fn other_targets_are_no_chats() {
        let long = format!("telegram:{}", "1".repeat(TARGET_BYTES_MAX));
        for text in [
            "",
            "telegram",
            "telegram:",
            ":1",
            "Telegram:1",
            "chat:1",
            "t g:1",
            "telegram:ä",
            &long,
        ] {
            assert_eq!(text.parse::<Chat>(), Err(NotAChat), "{text}");
        }
        assert_eq!(Chat::of_target("link:telegram:1"), None);
        assert_eq!(Chat::of_target("telegram:1"), None);
        assert!(Chat::of_target("chat:telegram:1").is_some());
    }
}
