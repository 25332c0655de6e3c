//! The places of Discord as chats of conversations: a channel, a thread, or a direct chat with the
//! bot of one agent (a talk).

use std::fmt;
use std::str::FromStr;

use moothall_kernel::chat::Chat;

/// The name of the channel.
pub const DISCORD: &str = "discord";

/// A place in Discord. It is written `1330…`, with the id of a channel or a thread, and
/// `1330…@analyst` for a direct chat, which is a talk with one agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelPlace {
    /// The id of the channel, the thread or the direct chat.
    pub channel: u64,
    /// The agent, if the place is a direct chat.
    pub with: Option<String>,
}

/// The text is not a place of Discord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAChannelPlace;

impl ChannelPlace {
    /// Returns a channel or a thread of a Discord server.
    pub fn new(channel: u64) -> Self {
        Self { channel, with: None }
    }

    /// Returns the direct chat with an agent.
    pub fn direct(channel: u64, agent: &str) -> Self {
        Self { channel, with: Some(agent.to_owned()) }
    }

    /// Returns the place that a chat of this channel names; `None` for other chats.
    pub fn of(chat: &Chat) -> Option<Self> {
        (chat.channel() == DISCORD).then(|| chat.room().parse().ok()).flatten()
    }

    /// Returns the place as a chat; `None` if its name is too long for one.
    pub fn to_chat(&self) -> Option<Chat> {
        format!("{DISCORD}:{self}").parse().ok()
    }
}

/// Returns the account of a user, as pairings name it.
pub(super) fn account_of(user: u64) -> String {
    format!("{DISCORD}:{user}")
}

impl FromStr for ChannelPlace {
    type Err = NotAChannelPlace;

    fn from_str(text: &str) -> Result<Self, NotAChannelPlace> {
        let (channel, with) = match text.split_once('@') {
            Some((channel, agent)) if !agent.is_empty() => (channel, Some(agent.to_owned())),
            Some(_) => return Err(NotAChannelPlace),
            None => (text, None),
        };
        let is_id = !channel.is_empty() && channel.bytes().all(|byte| byte.is_ascii_digit());
        let channel = channel.parse().ok().filter(|_| is_id).ok_or(NotAChannelPlace)?;
        Ok(Self { channel, with })
    }
}

impl fmt::Display for ChannelPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.channel)?;
        self.with.iter().try_for_each(|agent| write!(out, "@{agent}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_read_back_and_other_texts_are_none() {
        for text in ["1330000000004194304", "7@analyst", "7@a:b"] {
            let room: ChannelPlace = text.parse().unwrap();
            assert_eq!(room.to_string(), text);
            assert_eq!(ChannelPlace::of(&room.to_chat().unwrap()), Some(room));
        }
        for text in ["", "x", "-100", "+7", "7@", "7:8", "99999999999999999999"] {
            assert_eq!(text.parse::<ChannelPlace>(), Err(NotAChannelPlace), "{text}");
        }
        assert_eq!(ChannelPlace::of(&"telegram:7".parse().unwrap()), None);
    }
}
