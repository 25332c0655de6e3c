//! The places of Telegram as chats of conversations: a chat, a topic of it, or the conversation
//! with one agent alone in it (a talk).

use std::fmt;
use std::str::FromStr;

use moothall_kernel::chat::Chat;

/// The name of the channel.
pub const TELEGRAM: &str = "telegram";

/// Ids below this one are those of supergroups and channels. (core.telegram.org/api/bots/ids)
const LAST_GROUP: i64 = -1_000_000_000_000;

/// A place in Telegram. It is written `-100123`, `-100123:7` for a topic, and `4711@analyst` for
/// the conversation with one agent alone (a talk): in a private chat, or in a group that was
/// dissolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Room {
    /// The id of the chat.
    pub chat: i64,
    /// The topic; `None` for the general one and in chats without topics.
    pub topic: Option<i64>,
    /// The agent, if the place is a talk with it alone.
    pub with: Option<String>,
}

/// The text is not a place of Telegram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotARoom;

impl Room {
    /// Returns a whole chat, or a topic of it.
    pub fn new(chat: i64, topic: Option<i64>) -> Self {
        Self { chat, topic, with: None }
    }

    /// Returns the talk with one agent in the same place.
    #[must_use]
    pub fn with(self, agent: &str) -> Self {
        Self { with: Some(agent.to_owned()), ..self }
    }

    /// True if the chat is a group. Telegram numbers groups below zero, and people above.
    pub fn is_group(&self) -> bool {
        self.chat < 0
    }

    /// True if the chat is a supergroup. Telegram numbers those, and channels, below all groups.
    pub fn is_supergroup(&self) -> bool {
        self.chat < LAST_GROUP
    }

    /// Returns the place that a chat of this channel names; `None` for other chats.
    pub fn of(chat: &Chat) -> Option<Self> {
        (chat.channel() == TELEGRAM).then(|| chat.room().parse().ok()).flatten()
    }

    /// Returns the place as a chat.
    pub fn to_chat(&self) -> Option<Chat> {
        format!("{TELEGRAM}:{self}").parse().ok()
    }
}

/// Returns the account of the person in a private chat: the chat has the number of the person.
pub(super) fn account_in(room: &Room) -> String {
    format!("{TELEGRAM}:{}", room.chat)
}

impl FromStr for Room {
    type Err = NotARoom;

    fn from_str(text: &str) -> Result<Self, NotARoom> {
        let (place, with) = match text.split_once('@') {
            Some((place, agent)) if !agent.is_empty() => (place, Some(agent.to_owned())),
            Some(_) => return Err(NotARoom),
            None => (text, None),
        };
        let (chat, topic) = match place.split_once(':') {
            Some((chat, topic)) => (chat, Some(topic.parse().map_err(|_| NotARoom)?)),
            None => (place, None),
        };
        Ok(Self { chat: chat.parse().map_err(|_| NotARoom)?, topic, with })
    }
}

impl fmt::Display for Room {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.chat)?;
        self.topic.iter().try_for_each(|topic| write!(out, ":{topic}"))?;
        self.with.iter().try_for_each(|agent| write!(out, "@{agent}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_read_back_and_other_texts_are_none() {
        for text in ["-100123", "-100123:7", "4711@analyst", "-100123:7@a:b"] {
            let room: Room = text.parse().unwrap();
            assert_eq!(room.to_string(), text);
            assert_eq!(Room::of(&room.to_chat().unwrap()), Some(room));
        }
        for text in ["", "x", "-100:", "-100:x", "7@", "-100:7:8"] {
            assert_eq!(text.parse::<Room>(), Err(NotARoom), "{text}");
        }
        assert_eq!(Room::of(&"matrix:-100".parse().unwrap()), None);
    }
}
