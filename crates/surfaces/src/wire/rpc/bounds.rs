//! Texts, lists and numbers with bounds. A value is checked while it is read, and its schema has
//! the same two numbers.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Part, Uuid};

/// A value outside the bounds of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// Lower bound, inclusive.
    pub min: usize,
    /// Upper bound, inclusive.
    pub max: usize,
    /// Unit of the bounds: characters or items; empty for a plain number.
    pub of: &'static str,
}

impl OutOfBounds {
    /// Rejects a count outside of `min` and `max`.
    fn check(count: usize, min: usize, max: usize, of: &'static str) -> Result<(), Self> {
        if (min..=max).contains(&count) { Ok(()) } else { Err(Self { min, max, of }) }
    }
}

impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "takes {} to {}", self.min, self.max)?;
        if self.of.is_empty() { Ok(()) } else { write!(f, " {}", self.of) }
    }
}

impl std::error::Error for OutOfBounds {}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $min:tt to $max:tt;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schema(min_length = $min, max_length = $max)]
        pub struct $name(String);

        impl $name {
            /// Maximum number of characters.
            pub const CHARS_MAX: usize = $max;

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns as much of a text as fits, or `None` if the text is too short.
            pub fn shortened(text: &str) -> Option<Self> {
                Self::try_from(text.chars().take($max).collect::<String>()).ok()
            }
        }

        impl TryFrom<String> for $name {
            type Error = OutOfBounds;

            fn try_from(text: String) -> Result<Self, OutOfBounds> {
                OutOfBounds::check(text.chars().count(), $min, $max, "characters")?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }
    )*};
}

texts! {
    /// Text of a part of a message, 1 to 32,768 characters.
    MessageText = 1 to 32768;
    /// Description of an image for readers who cannot see it, at most 256 characters.
    AltText = 0 to 256;
    /// Name of a file, 1 to 256 characters.
    FileName = 1 to 256;
    /// Media type of a file, 1 to 128 characters.
    MimeType = 1 to 128;
    /// Name of a conversation, an app or a template, 1 to 100 characters.
    Name = 1 to 100;
    /// Name of an agent, 1 to 32 characters.
    AgentName = 1 to 32;
    /// An agent's description of itself, at most 500 characters.
    Description = 0 to 500;
    /// Reason for a rejected or blocked item, 1 to 256 characters.
    Reason = 1 to 256;
}

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $min:tt to $max:tt of $item:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "Vec<_>", into = "Vec<_>")]
        #[schema(min_items = $min, max_items = $max)]
        pub struct $name(Vec<$item>);

        impl $name {
            /// Maximum number of items.
            pub const ITEMS_MAX: usize = $max;

            /// Returns the items.
            pub fn as_slice(&self) -> &[$item] {
                &self.0
            }
        }

        impl TryFrom<Vec<$item>> for $name {
            type Error = OutOfBounds;

            fn try_from(items: Vec<$item>) -> Result<Self, OutOfBounds> {
                OutOfBounds::check(items.len(), $min, $max, "items")?;
                Ok(Self(items))
            }
        }

        impl From<$name> for Vec<$item> {
            fn from(list: $name) -> Self {
                list.0
            }
        }
    )*};
}

// No frame of the advertised size holds 2,000 ids. The maximum for a conversation is a rule with
// its own error.
lists! {
    /// The parts of a message, 1 to 10.
    Parts = 1 to 10 of Part;
    /// Ids of agents to look up, 1 to 100.
    AgentIds = 1 to 100 of Uuid;
    /// Names of agents to look up, 1 to 100.
    AgentNames = 1 to 100 of AgentName;
    /// Ids of agents whose presence is followed, at most 100. An empty list ends the subscription.
    PresenceIds = 0 to 100 of Uuid;
    /// Ids of the participants of a new conversation, 1 to 2,000.
    Participants = 1 to 2000 of Uuid;
    /// Ids of the agents invited to a new task, at most 2,000.
    Invitees = 0 to 2000 of Uuid;
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $min:tt to $max:tt;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "u64", into = "u64")]
        #[schema(minimum = $min, maximum = $max)]
        pub struct $name(u32);

        impl $name {
            /// Returns the number.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl TryFrom<u64> for $name {
            type Error = OutOfBounds;

            fn try_from(number: u64) -> Result<Self, OutOfBounds> {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                OutOfBounds::check(number as usize, $min, $max, "")?;
                Ok(Self(number))
            }
        }

        impl From<$name> for u64 {
            fn from(number: $name) -> Self {
                number.0.into()
            }
        }
    )*};
}

numbers! {
    /// Maximum number of rows in one answer, 1 to 200.
    Limit = 1 to 200;
    /// Milliseconds that a hook is waited for, 1 to 60,000.
    TimeoutMs = 1 to 60000;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::de::DeserializeOwned;
    use serde_json::{Value, from_value, json, to_value};

    use super::*;

    fn fits<T: DeserializeOwned + Serialize>(value: Value) -> bool {
        from_value::<T>(value.clone()).is_ok_and(|read| to_value(read).unwrap() == value)
    }

    fn text(chars: usize) -> Value {
        json!("é".repeat(chars))
    }

    #[test]
    fn a_text_has_as_many_characters_as_its_field_takes() {
        assert!(fits::<MessageText>(text(1)) && fits::<MessageText>(text(32_768)));
        assert!(!fits::<MessageText>(text(0)) && !fits::<MessageText>(text(32_769)));
        assert!(fits::<AltText>(text(0)) && fits::<AltText>(text(256)));
        assert!(!fits::<AltText>(text(257)));
        assert!(fits::<FileName>(text(256)) && !fits::<FileName>(text(257)));
        assert!(fits::<MimeType>(text(128)) && !fits::<MimeType>(text(129)));
        assert!(fits::<Name>(text(100)) && !fits::<Name>(text(101)) && !fits::<Name>(text(0)));
        assert!(fits::<AgentName>(text(32)) && !fits::<AgentName>(text(33)));
        assert!(fits::<Reason>(text(256)) && !fits::<Reason>(text(257)));
        assert!(!fits::<Name>(json!(1)) && !fits::<Name>(json!(null)));
    }

    #[test]
    fn what_is_too_long_is_shortened_and_what_is_too_short_is_nothing() {
        assert_eq!(Name::shortened(&"é".repeat(101)).unwrap().as_str(), "é".repeat(100));
        assert_eq!(Name::shortened("a").unwrap().as_str(), "a");
        assert_eq!(Name::shortened(""), None);
    }

    #[test]
    fn a_list_has_as_many_items_as_its_field_takes() {
        let id = "33333333-3333-4333-8333-333333333333";
        let ids = |count: usize| json!(vec![id; count]);
        assert!(fits::<AgentIds>(ids(1)) && fits::<AgentIds>(ids(100)));
        assert!(!fits::<AgentIds>(ids(0)) && !fits::<AgentIds>(ids(101)));
        assert!(fits::<Participants>(ids(1)) && !fits::<Participants>(ids(0)));
        assert!(fits::<Invitees>(ids(0)) && fits::<PresenceIds>(ids(0)));
        let parts = |count: usize| json!(vec![json!({"type": "text", "text": "a"}); count]);
        assert!(fits::<Parts>(parts(1)) && fits::<Parts>(parts(10)));
        assert!(!fits::<Parts>(parts(0)) && !fits::<Parts>(parts(11)));
        assert!(fits::<AgentNames>(json!(["a"])) && !fits::<AgentNames>(json!([""])));
    }

    #[test]
    fn a_number_is_whole_and_in_its_range() {
        assert!(fits::<Limit>(json!(1)) && fits::<Limit>(json!(200)));
        for bad in [json!(0), json!(201), json!(-1), json!(1.5), json!("1"), json!(1_u64 << 40)] {
            assert!(!fits::<Limit>(bad.clone()), "{bad}");
        }
        assert!(fits::<TimeoutMs>(json!(60_000)) && !fits::<TimeoutMs>(json!(60_001)));
        let said = from_value::<Limit>(json!(201)).unwrap_err().to_string();
        assert_eq!(said, "takes 1 to 200");
    }
}
