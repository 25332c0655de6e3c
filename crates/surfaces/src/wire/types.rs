//! The types of events that a reader asks for.

use moothall_kernel::command::OwnKind;
use moothall_kernel::event::Event;

use super::envelope::type_word;

/// The word for all types that clients made up.
const OTHER: &str = "other";
const TURN: &str = "turn";

/// A set of types of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTypes(u32);

impl EventTypes {
    /// All types.
    pub const EVERY: Self = Self((1 << (OwnKind::OF_SERVER.len() + 1)) - 1);

    /// Returns the types for a reader that asks for none: all that programs written for Agent
    /// Bridge know. Events that explain turns come only on request.
    pub fn usual() -> Self {
        Self(Self::EVERY.0 & !bit(TURN))
    }

    /// Parses a list of words, separated by commas.
    ///
    /// # Errors
    /// The first word that does not name a type.
    pub fn parse(list: &str) -> Result<Self, &str> {
        list.split(',').map(str::trim).try_fold(Self(0), |types, word| match place(word) {
            Some(place) => Ok(Self(types.0 | 1 << place)),
            None => Err(word),
        })
    }

    /// Adds the type of events that explain turns.
    #[must_use]
    pub fn and_turns(self) -> Self {
        Self(self.0 | bit(TURN))
    }

    /// True if the set has the type of this event.
    pub fn has(self, event: &Event) -> bool {
        self.0 & bit(type_word(event)) != 0
    }

    /// Returns the words of the set, separated by commas.
    pub fn list(self) -> String {
        let words = words().enumerate().filter(|(place, _)| self.0 & 1 << place != 0);
        words.map(|(_, word)| word).collect::<Vec<_>>().join(",")
    }
}

/// Returns the words of all types. The place of a word is the number of its bit.
fn words() -> impl Iterator<Item = &'static str> {
    OwnKind::OF_SERVER.into_iter().chain([OTHER])
}

fn place(word: &str) -> Option<usize> {
    words().position(|known| known == word)
}

/// Returns the bit of a type. A word that is not a type of the server's is a client's own type, and
/// has the bit of `other`.
fn bit(word: &str) -> u32 {
    1 << place(word).unwrap_or(OwnKind::OF_SERVER.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_kernel::command::Actor;
    use serde_json::json;

    /// Returns an event of a client's own type.
    fn own(kind: &str) -> Event {
        let Actor { id: from, .. } = Actor::human("user");
        let to = moothall_kernel::event::Recipient::All;
        Event::Custom {
            from,
            to,
            kind: kind.into(),
            content: json!(null),
            tags: Vec::new(),
            reply_to: None,
            unproven: false,
        }
    }

    #[test]
    fn a_list_says_which_types_are_wanted() {
        let some = EventTypes::parse("message, control").unwrap();
        assert_eq!(some.list(), "message,control");
        assert_eq!(some.and_turns().list(), "message,control,turn");
        assert!(some.has(&Event::Controlled {
            by: "user".into(),
            changes: Vec::new(),
            unproven: false
        }));
        assert!(!some.has(&Event::RoundClosed) && some.and_turns().has(&Event::RoundClosed));
        assert_eq!(EventTypes::parse("message,mesage"), Err("mesage"));
        assert_eq!(EventTypes::parse(""), Err(""));
        assert_eq!(EventTypes::parse(&EventTypes::EVERY.list()), Ok(EventTypes::EVERY));
    }

    #[test]
    fn without_a_list_everything_comes_but_what_explains_turns() {
        assert_eq!(EventTypes::usual().and_turns(), EventTypes::EVERY);
        assert!(
            !EventTypes::usual().has(&Event::RoundClosed) && EventTypes::usual().has(&own("task"))
        );
        assert!(
            EventTypes::parse("other").unwrap().has(&own("task"))
                && !EventTypes::parse("message").unwrap().has(&own("task"))
        );
    }
}
