//! The ids and names of computers, of their starts and of their logs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::random;

/// Letters of the random part of a computer's id: base32 of RFC 4648, in lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Length of a [`ComputerId`] in bytes: one digit and 25 letters, which hold 125 random bits.
pub const COMPUTER_ID_LEN: usize = 26;
/// Longest [`ComputerName`], in characters. It follows the name of each session of the computer.
pub const NAME_LEN_MAX: usize = 32;

/// A word that is not an id or a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IdError(String);

/// The id of a computer: a digit from 1 to 9 that says how often it is up (1: always), then 25
/// random letters. Ids are ordered as text, so that the smallest is the one that is most likely
/// there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ComputerId([u8; COMPUTER_ID_LEN]);

impl ComputerId {
    /// Makes a new id. `up` says how often the computer is up: from 1, always, to 9, rarely.
    ///
    /// # Errors
    /// `up` is not from 1 to 9.
    pub fn random(up: u8) -> Result<Self, IdError> {
        if !(1..=9).contains(&up) {
            return Err(IdError(format!("{up} is not a digit from 1, always up, to 9, rarely up")));
        }
        let drawn: [u8; COMPUTER_ID_LEN] = random::bytes();
        let mut id = drawn.map(|byte| BASE32[usize::from(byte % 32)]);
        id[0] = b'0' + up;
        Ok(Self(id))
    }

    /// Reads an id from its bytes.
    ///
    /// # Errors
    /// The bytes are not a digit from 1 to 9 and 25 letters of base32.
    pub fn from_bytes(bytes: [u8; COMPUTER_ID_LEN]) -> Result<Self, IdError> {
        let [up, rest @ ..] = &bytes;
        if (b'1'..=b'9').contains(up) && rest.iter().all(|letter| BASE32.contains(letter)) {
            return Ok(Self(bytes));
        }
        Err(IdError(
            "a computer's id is a digit from 1 to 9, then 25 of `a`-`z` and `2`-`7`".into(),
        ))
    }

    /// Returns the id as text, in ASCII.
    pub fn as_bytes(&self) -> &[u8; COMPUTER_ID_LEN] {
        &self.0
    }

    /// Returns how often the computer is up: from 1, always, to 9, rarely.
    pub fn up(&self) -> u8 {
        self.0[0] - b'0'
    }
}

impl fmt::Display for ComputerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl FromStr for ComputerId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = text.as_bytes().try_into();
        Self::from_bytes(bytes.map_err(|_| {
            IdError(format!("a computer's id has {COMPUTER_ID_LEN} letters, not {}", text.len()))
        })?)
    }
}

/// The label of a computer on one side. Another computer may know the same computer by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ComputerName(String);

impl ComputerName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ComputerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ComputerName {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=NAME_LEN_MAX).contains(&text.len());
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        // A dash at an end would be read as punctuation around `NAME@computer`.
        let ends = text.starts_with(letter) && text.ends_with(letter);
        if fits && ends && text.chars().all(|c| letter(c) || c == '-') {
            return Ok(Self(text.to_owned()));
        }
        Err(IdError(format!(
            "a computer's name has 1 to {NAME_LEN_MAX} lower-case letters, digits and dashes, \
             and a dash is not its first or last"
        )))
    }
}

/// Defines an id of 128 random bits, written as 32 hexadecimal digits.
macro_rules! random_id {
    ($(#[$doc:meta])* $name:ident, $noun:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name([u8; 16]);

        impl $name {
            /// Makes a new id.
            pub fn random() -> Self {
                Self(random::bytes())
            }

            /// Makes the id of these bytes.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes of the id.
            pub fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", u128::from_be_bytes(self.0))
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let digits = text.len() == 32
                    && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
                let error = || IdError(format!("the id of {} has 32 digits of 0-9 and a-f", $noun));
                Ok(Self(number.ok_or_else(error)?.to_be_bytes()))
            }
        }
    };
}

random_id!(
    /// One start of a computer's server. Two boots of one id at a time are two servers.
    BootId,
    "a boot"
);
random_id!(
    /// The log of a computer. A restore renews it, because numbers after a backup were given twice.
    LogId,
    "a log"
);
random_id!(
    /// One invitation, which is worth one use.
    InvitationId,
    "an invitation"
);

/// Gives text forms to serde, and the text as the debugging form.
macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    )*};
}

/// Makes the debugging form of an id its text.
macro_rules! debug_as_text {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

as_text!(ComputerId, ComputerName, BootId, LogId, InvitationId);
debug_as_text!(ComputerId, BootId, LogId, InvitationId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        for up in 1..=9 {
            let id = ComputerId::random(up).unwrap();
            assert_eq!(id.up(), up);
            assert_eq!(id.to_string().parse(), Ok(id));
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<ComputerId>(&json).unwrap(), id);
        }
        let boot = BootId::random();
        assert_eq!(boot.to_string().parse(), Ok(boot));
        assert_ne!(boot, BootId::random());
        assert_eq!(LogId::from_bytes([0; 16]).to_string(), "0".repeat(32));
    }

    #[test]
    fn a_computer_that_is_up_more_often_has_the_smaller_id() {
        let (server, laptop) = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
        assert!(server < laptop);
        assert!(server.to_string() < laptop.to_string());
    }

    #[test]
    fn other_words_are_refused() {
        assert!(ComputerId::random(0).is_err());
        assert!(ComputerId::random(10).is_err());
        let good = ComputerId::random(3).unwrap().to_string();
        for bad in ["", "3", &good[1..], &good.to_uppercase(), &good.replacen('3', "0", 1)] {
            assert!(bad.parse::<ComputerId>().is_err(), "{bad}");
        }
        for bad in ["", "+0000000000000000000000000000000", "00", &"g".repeat(32), &"A".repeat(32)]
        {
            assert!(bad.parse::<BootId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_is_legal_behind_an_at_sign() {
        for good in ["a", "workstation", "lab-2", "7", &"x".repeat(NAME_LEN_MAX)] {
            assert_eq!(good.parse::<ComputerName>().unwrap().as_str(), good);
        }
        let long = "x".repeat(NAME_LEN_MAX + 1);
        for bad in ["", "-a", "a-", "-", "A", "a b", "a.b", "a@b", "ä", &long] {
            assert!(bad.parse::<ComputerName>().is_err(), "{bad}");
        }
    }
}
