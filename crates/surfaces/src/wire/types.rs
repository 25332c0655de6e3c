//! Which types of events a reader asks for.

use moothall_kernel::command::OwnKind;
use moothall_kernel::event::Event;

use super::envelope::type_word;

/// The word that stands for all types which clients made up.
const OTHER: &str = "other";
const TURN: &str = "turn";

/// A set of types of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTypes(u16);

impl EventTypes {
    /// Every type that there is.
    pub const EVERY: Self = Self((1 << (OwnKind::OF_SERVER.len() + 1)) - 1);

    /// What a reader gets who asks for nothing: all that programs know which were made for Agent
    /// Bridge. What explains turns is for those who ask.
    pub fn usual() -> Self {
        Self(Self::EVERY.0 & !bit(TURN))
    }

    /// The words of a list with commas.
    ///
    /// # Errors
    /// The first word that is none.
    pub fn parse(list: &str) -> Result<Self, &str> {
        list.split(',').map(str::trim).try_fold(Self(0), |types, word| match place(word) {
            Some(place) => Ok(Self(types.0 | 1 << place)),
            None => Err(word),
        })
    }

    /// These, and what explains turns.
    #[must_use]
    pub fn and_turns(self) -> Self {
        Self(self.0 | bit(TURN))
    }

    /// Whether an event is of one of these types.
    pub fn has(self, event: &Event) -> bool {
        self.0 & bit(type_word(event)) != 0
    }

    /// Its words, as a list with commas.
    pub fn list(self) -> String {
        let words = words().enumerate().filter(|(place, _)| self.0 & 1 << place != 0);
        words.map(|(_, word)| word).collect::<Vec<_>>().join(",")
    }
}

fn words() -> impl Iterator<Item = &'static str> {
    OwnKind::OF_SERVER.into_iter().chain([OTHER])
}

fn place(word: &str) -> Option<usize> {
    words().position(|known| known == word)
}

/// The place of a type in a set. Whatever is not the server's is a client's own.
fn bit(word: &str) -> u16 {
    1 << place(word).unwrap_or(OwnKind::OF_SERVER.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_kernel::command::Actor;
    use serde_json::json;

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
