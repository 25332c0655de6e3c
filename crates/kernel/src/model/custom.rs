//! Events of a client's own type, which the server stores and shows without any effect.

use serde_json::Value;

use crate::model::actor::Actor;
use crate::model::event::{Cause, Recipient};

/// Maximum length of an event's type or label, in characters.
pub const WORD_CHARS_MAX: usize = 64;

/// An event of a client's own type. It is stored and shown, and has no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct PostCustom {
    /// The sender.
    pub by: Actor,
    /// The addressee.
    pub to: Recipient,
    /// The type.
    pub kind: OwnKind,
    /// The content, as given.
    pub content: Value,
    /// The labels.
    pub tags: Vec<String>,
    /// The event that this one refers to.
    pub reply_to: Option<Cause>,
}

/// The type of a client's own event: 1 to [`WORD_CHARS_MAX`] characters, and not a type of the
/// server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKind(String);

/// The reason for which a word cannot be the type of a client's own event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindFault {
    /// The word is empty, too long, or has a control character.
    NoWord,
    /// The word is a type of the server.
    OfServer,
}

impl From<OwnKind> for String {
    fn from(kind: OwnKind) -> Self {
        kind.0
    }
}

impl OwnKind {
    /// The types of the server's own events, and of requests to the server.
    pub const OF_SERVER: [&'static str; 15] = [
        "message",
        "observation",
        "control",
        "turn",
        "thread.renamed",
        "notice",
        "permission",
        "gathering",
        "link",
        "delivery",
        "attachment",
        "thread.created",
        "thread.archived",
        "thread.unarchived",
        "thread.deleted",
    ];

    /// Parses a type.
    ///
    /// # Errors
    /// [`KindFault`] if the word is malformed or a type of the server.
    pub fn parse(word: &str) -> Result<Self, KindFault> {
        if Self::OF_SERVER.contains(&word) {
            return Err(KindFault::OfServer);
        }
        if is_word(word) { Ok(Self(word.to_owned())) } else { Err(KindFault::NoWord) }
    }
}

/// True if the text can be a type or label: 1 to [`WORD_CHARS_MAX`] characters without control
/// characters.
pub fn is_word(text: &str) -> bool {
    (1..=WORD_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_own_type_is_a_word_and_never_one_of_the_servers() {
        for own in ["x.note", "Message", "thread.created ", &"é".repeat(WORD_CHARS_MAX)] {
            assert_eq!(OwnKind::parse(own).map(|kind| kind.0), Ok(own.to_owned()));
        }
        for word in OwnKind::OF_SERVER {
            assert_eq!(OwnKind::parse(word), Err(KindFault::OfServer));
        }
        for bad in ["", "a\nb", &"x".repeat(WORD_CHARS_MAX + 1)] {
            assert_eq!(OwnKind::parse(bad), Err(KindFault::NoWord));
        }
    }
}
