//! Texts, lists and numbers with bounds, which are checked while a value is read and described in
//! its schema from the same two numbers.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Part, Uuid};

/// A value is outside of what its field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The least it takes.
    pub min: usize,
    /// The most it takes.
    pub max: usize,
    /// What is counted: characters, items, or the number itself where this is empty.
    pub of: &'static str,
}

impl OutOfBounds {
    /// Refuses a count that is not between the two.
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
            /// The most characters that it holds.
            pub const CHARS_MAX: usize = $max;

            /// The text itself, without its bounds.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// As much of a text as fits, or nothing where it is too short.
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
    /// The words of a part of a message.
    MessageText = 1 to 32768;
    /// What is said of an image to whoever does not see it.
    AltText = 0 to 256;
    /// The name of a file.
    FileName = 1 to 256;
    /// The media type of a file.
    MimeType = 1 to 128;
    /// The name of a conversation, an app or a template.
    Name = 1 to 100;
    /// The name of an agent.
    AgentName = 1 to 32;
    /// What an agent says of itself.
    Description = 0 to 500;
    /// Why something was refused or kept back.
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
            /// The most items that it holds.
            pub const ITEMS_MAX: usize = $max;

            /// The items, without their bounds.
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

// No frame of the advertised size holds 2,000 ids. How many a conversation takes is a rule, with an
// error of its own.
lists! {
    /// What a message is made of.
    Parts = 1 to 10 of Part;
    /// The agents that are looked up.
    AgentIds = 1 to 100 of Uuid;
    /// The names that are looked up.
    AgentNames = 1 to 100 of AgentName;
    /// The agents whose presence is followed; none ends it.
    PresenceIds = 0 to 100 of Uuid;
    /// Who takes part in a new conversation.
    Participants = 1 to 2000 of Uuid;
    /// Who is invited into a new task.
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
            /// The number itself, without its bounds.
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
    /// How many rows one answer holds at most.
    Limit = 1 to 200;
    /// How many milliseconds a hook is waited for.
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
