//! The places of Matrix as chats of conversations: a room, or the conversation with one agent alone
//! in it (a talk).

use std::fmt;

use moothall_kernel::chat::Chat;

/// The name of the channel.
pub const MATRIX: &str = "matrix";

/// A place in Matrix. It is written `!abc:example.org`, and `!abc:example.org@analyst` for the talk
/// with one agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatrixRoom {
    /// The id of the room.
    pub id: String,
    /// The agent, if the place is a talk with it alone.
    pub with: Option<String>,
}

impl MatrixRoom {
    /// Returns a whole room.
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), with: None }
    }

    /// Returns the talk with one agent in the same room.
    #[must_use]
    pub fn with(&self, agent: &str) -> Self {
        Self { id: self.id.clone(), with: Some(agent.to_owned()) }
    }

    /// Returns the place that a chat of this channel names; `None` for other chats.
    pub fn of(chat: &Chat) -> Option<Self> {
        let text = (chat.channel() == MATRIX).then(|| chat.room())?;
        let room = match text.split_once('@') {
            Some((id, agent)) if !agent.is_empty() => MatrixRoom::new(id).with(agent),
            Some(_) => return None,
            None => MatrixRoom::new(text),
        };
        room.id.starts_with('!').then_some(room)
    }

    /// Returns the place as a chat; `None` if its name is too long for one.
    pub fn to_chat(&self) -> Option<Chat> {
        format!("{MATRIX}:{self}").parse().ok()
    }
}

impl fmt::Display for MatrixRoom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.id)?;
        self.with.iter().try_for_each(|agent| write!(out, "@{agent}"))
    }
}

/// Returns the account of a user, as pairings name it.
pub(super) fn account_of(user: &str) -> String {
    format!("{MATRIX}:{user}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_read_back_and_other_texts_are_none() {
        for text in ["!abc:example.org", "!AbC-1:example.org:8448@a:b", "!hash@analyst"] {
            let room = MatrixRoom::of(&format!("matrix:{text}").parse().unwrap()).unwrap();
            assert_eq!(room.to_string(), text);
        }
        for text in ["matrix:abc:example.org", "matrix:!a:b@", "telegram:!a:b"] {
            assert_eq!(MatrixRoom::of(&text.parse().unwrap()), None, "{text}");
        }
    }
}
