//! The frames that stand, as JSON, in the sealed part of an entry.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{ComputerName, LogId};

/// Longest body of a row or of words, in bytes: with a third more for base64, and with its frame,
/// it fits into one entry.
pub const ROW_LEN_MAX: usize = 767 * 1024;
/// Longest unknown kind that is repeated in a report, in characters.
const KIND_LEN_MAX: usize = 64;

/// One message between two computers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Frame {
    /// A row of a channel.
    Row(Row),
    /// An acknowledgement of rows.
    Through(Through),
    /// The sender introduces itself after a start or a reconnect.
    Hello(Hello),
    /// Something without a number, which may be lost: the words of a turn while it runs.
    Words(Words),
}

/// A numbered row of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Number in the channel, from 1.
    pub number: u64,
    /// Bytes of the host.
    #[serde(with = "base64_text")]
    pub body: Arc<[u8]>,
}

/// An acknowledgement: every row of a channel up to a number is in the log of the receiver.
///
/// Only [`IncomingChannel`](crate::channel::IncomingChannel) makes one, from its committed mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Through {
    log: LogId,
    number: u64,
}

impl Through {
    pub(crate) fn new(log: LogId, number: u64) -> Self {
        Self { log, number }
    }

    /// Returns the log of the rows' sender, which names the channel.
    pub fn log(&self) -> LogId {
        self.log
    }

    /// Returns the number of the last row; 0 before the first.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// The introduction of a computer to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the program, to be shown.
    pub program: String,
    /// Name that the computer has for itself.
    pub name: ComputerName,
    /// The clock of the computer, in milliseconds since 1970. It is shown, never judged.
    pub clock_ms: i64,
    /// The channel in which it sends to the reader.
    pub sending: SendingHead,
    /// Marks of the channels in which it received from the reader.
    pub received: Vec<Through>,
}

/// The rows that a sender has in its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendingHead {
    /// Log of the sender, which names the channel.
    pub log: LogId,
    /// Number of the oldest row that it still keeps, or of the next one if it keeps none.
    pub first: u64,
    /// Number of the newest row; `first - 1` if it keeps none.
    pub last: u64,
}

/// Words that may be lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Bytes of the host.
    #[serde(with = "base64_text")]
    pub body: Arc<[u8]>,
}

/// The reason for which bytes are not a frame. The channel is not affected: report the entry,
/// delete it, and read the next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A kind of a newer program.
    #[error("the frame is of the kind `{0}`, which this program does not know")]
    UnknownKind(String),
    /// Not JSON, or a known kind with other fields.
    #[error("the frame cannot be read: {0}")]
    Malformed(String),
}

impl Frame {
    /// Makes the frame of a row.
    pub fn row(number: u64, body: &Arc<[u8]>) -> Self {
        Self::Row(Row { number, body: body.clone() })
    }

    /// Returns the bytes to seal.
    pub fn encode(&self) -> Vec<u8> {
        // Strings and numbers are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a frame from an opened entry.
    ///
    /// # Errors
    /// [`FrameError`] if the kind is unknown, or the frame is not as its kind demands.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        const KINDS: [&str; 4] = ["row", "through", "hello", "words"];
        #[derive(Deserialize)]
        struct FrameKind {
            kind: String,
        }
        let malformed = |error: serde_json::Error| FrameError::Malformed(error.to_string());
        let FrameKind { kind } = serde_json::from_slice(bytes).map_err(malformed)?;
        if !KINDS.contains(&kind.as_str()) {
            return Err(FrameError::UnknownKind(kind.chars().take(KIND_LEN_MAX).collect()));
        }
        serde_json::from_slice(bytes).map_err(malformed)
    }
}

/// Bytes as text in JSON.
mod base64_text {
    use super::*;

    pub fn serialize<S: Serializer>(bytes: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<Arc<[u8]>, D::Error> {
        let text = String::deserialize(reader)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(serde::de::Error::custom)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::BODY_LEN_MAX;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let log = LogId::random();
        let frames = [
            Frame::row(7, &Arc::from([0, 255, 10])),
            Frame::Through(Through::new(log, 12)),
            Frame::Hello(Hello {
                program: "0.1.0".into(),
                name: "laptop".parse().unwrap(),
                clock_ms: -5,
                sending: SendingHead { log, first: 3, last: 9 },
                received: vec![Through::new(log, 0)],
            }),
            Frame::Words(Words { body: Arc::from(*b"typing") }),
        ];
        for frame in frames {
            assert_eq!(Frame::decode(&frame.encode()), Ok(frame));
        }
    }

    #[test]
    fn the_longest_row_can_be_sealed() {
        let row = Frame::row(u64::MAX, &vec![0xff; ROW_LEN_MAX].into());
        assert!(row.encode().len() <= BODY_LEN_MAX);
        assert!(row.encode().len() > BODY_LEN_MAX - 4_096, "the limit gives away room");
    }

    #[test]
    fn an_unknown_kind_is_named_and_fields_of_newer_programs_are_passed_over() {
        let unknown = Frame::decode(br#"{"kind":"ask","x":1}"#);
        assert_eq!(unknown, Err(FrameError::UnknownKind("ask".into())));
        let long = format!(r#"{{"kind":"{}"}}"#, "x".repeat(9_000));
        let Err(FrameError::UnknownKind(kind)) = Frame::decode(long.as_bytes()) else {
            panic!("a long kind was read");
        };
        assert_eq!(kind.len(), KIND_LEN_MAX);
        let newer = Frame::decode(br#"{"kind":"row","number":1,"body":"AQ","urgent":true}"#);
        assert_eq!(newer, Ok(Frame::row(1, &Arc::from([1]))));
    }

    #[test]
    fn other_bytes_are_malformed() {
        let bad: [&[u8]; 6] = [
            b"",
            b"\xff\xfe",
            b"[]",
            br#"{"kind":"row","number":-1,"body":""}"#,
            br#"{"kind":"row","number":1,"body":"!"}"#,
            br#"{"kind":"through","log":"1","number":1}"#,
        ];
        for bytes in bad {
            assert!(matches!(Frame::decode(bytes), Err(FrameError::Malformed(_))), "{bytes:?}");
        }
    }
}
