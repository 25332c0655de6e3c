//! Identifiers. Text ids share one allocation when cloned; numbers are newtypes so that they cannot
//! be mixed up.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps text that the caller has already checked.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

text_id! {
    /// The id of a stream. It never contains the name of the computer.
    StreamId
}
text_id! {
    /// The id of a computer: a digit that says how often it is up (1: always), then 25 of `a`-`z`
    /// and `2`-`7`.
    ComputerId
}
text_id! {
    /// The id of a participant in a conversation: 1 to 64 of `[A-Za-z0-9._:-]`.
    ParticipantId
}
text_id! {
    /// The id of a permission, question or request, unique within its conversation.
    PermissionId
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Returns the number after this one.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// Position of an event in its stream. The first event has 1; 0 is the position before it.
    Seq
}
number! {
    /// Number of a turn in its conversation. The first has 1.
    TurnNo
}

impl ParticipantId {
    /// The local user, who takes part without being invited.
    pub const USER: &'static str = "user";
    /// The server itself, as a speaker.
    pub const MOOTHALL: &'static str = "moothall";

    /// Returns the id [`Self::USER`].
    pub fn user() -> Self {
        Self::new(Self::USER)
    }

    /// Returns the id [`Self::MOOTHALL`].
    pub fn moothall() -> Self {
        Self::new(Self::MOOTHALL)
    }
}

/// Public id of an event: a UUID of version 7.
///
/// It contains the time, the `seq` and a hash of the stream. So making it needs no randomness,
/// storing it no column, and finding its event no index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u128);

const SEQ_BITS: u32 = 42;

impl EventId {
    /// Returns the id of the event `seq` of `stream`, appended at `ts`.
    pub fn of(stream: &StreamId, seq: Seq, ts: Timestamp) -> Self {
        let time = (u128::from(ts.millis().max(0) as u64) & 0xffff_ffff_ffff) << 80;
        let payload = (u128::from(seq.0) << 32) | u128::from(stream_hash(stream));
        let high = (payload >> 62) & 0xfff;
        let low = payload & ((1 << 62) - 1);
        Self(time | (0x7 << 76) | (high << 64) | (0b10 << 62) | low)
    }

    /// Returns the position in the id. Compare the whole id with that of the event found there
    /// before trusting it.
    pub fn seq(self) -> Seq {
        let payload = (((self.0 >> 64) & 0xfff) << 62) | (self.0 & ((1 << 62) - 1));
        Seq(((payload >> 32) & ((1 << SEQ_BITS) - 1)) as u64)
    }

    /// Returns the time of the append in the id.
    pub fn time(self) -> Timestamp {
        Timestamp::from_millis((self.0 >> 80) as i64)
    }
}

/// FNV-1a with 32 bits: stable across versions and machines, and sufficient to tell streams apart.
fn stream_hash(stream: &StreamId) -> u32 {
    stream
        .as_str()
        .bytes()
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let hex: String = text.chars().filter(|c| *c != '-').collect();
        if hex.len() != 32 || text.len() != 36 {
            return Err(());
        }
        u128::from_str_radix(&hex, 16).map(Self).map_err(|_| ())
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| serde::de::Error::custom("not an event id"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_carries_its_position() {
        let stream = StreamId::new("s");
        for seq in [1, 7, 1 << 31, (1 << SEQ_BITS) - 1] {
            let id = EventId::of(&stream, Seq(seq), Timestamp::from_millis(1_763_000_000_000));
            assert_eq!(id.seq(), Seq(seq));
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.to_string().as_bytes()[14], b'7');
        }
    }

    #[test]
    fn ids_of_two_streams_differ() {
        let now = Timestamp::from_millis(1);
        assert_ne!(EventId::of(&"a".into(), Seq(1), now), EventId::of(&"b".into(), Seq(1), now));
    }
}
