//! Turns that a session takes for a conversation of another computer. Such a turn is open in the
//! home of the session and stands alone there: it has one cause, the prompt that the other computer
//! sent, and its answer goes to that conversation only. (Ruling 35.)

use serde::{Deserialize, Serialize};

use crate::model::ids::{ComputerId, ParticipantId, Seq, StreamId, TurnNo};
use crate::model::message_part::Span;
use crate::model::time::Millis;
use crate::model::turn_kind::TurnKind;
use crate::text::names::COMPUTER_PREFIX;

/// Time after which a hosted turn ends by itself, started or not. The computer of the conversation
/// applies its own limits, and ends the turn long before. This limit is for a computer that never
/// comes back.
pub const HOSTED_MAX: Millis = Millis::from_secs(48 * 3600);

/// The turn of a conversation of another computer, as that computer identifies it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostedKey {
    /// The computer of the conversation, as the channel proved it. Streams of two computers may
    /// have one id.
    pub computer: ComputerId,
    /// The conversation on that computer.
    pub stream: StreamId,
    /// The number of the turn in that conversation.
    pub turn: TurnNo,
    /// Number of the attempt at the turn there, from 1.
    pub attempt: u32,
}

impl HostedKey {
    /// True if the turn belongs to the conversation `stream` of `computer`.
    pub fn is_of(&self, computer: &ComputerId, stream: &StreamId) -> bool {
        self.computer == *computer && self.stream == *stream
    }
}

/// An offer of a turn by another computer. Its prompt is the body of the post that has the offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedTurn {
    /// The turn that is offered.
    pub key: HostedKey,
    /// The newest event of that conversation which the prompt covers.
    pub through: Seq,
    /// The name that this computer has for the other one.
    pub label: String,
    /// The purpose of the turn.
    #[serde(default)]
    pub kind: TurnKind,
    /// True if the prompt offers `[PASS]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_pass: bool,
    /// Places in the prompt that are the words of one member each, in order.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub bodies: Box<[Span]>,
}

/// The part of a message in a hosted turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostedWords {
    /// The message is the prompt of a turn that another computer offers.
    Asks(Box<HostedTurn>),
    /// The message answers such a turn.
    Answers(Box<HostedKey>),
}

impl HostedWords {
    /// Returns the turn that the message asks or answers.
    pub fn key(&self) -> &HostedKey {
        match self {
            HostedWords::Asks(hosted) => &hosted.key,
            HostedWords::Answers(key) => key,
        }
    }
}

/// The computer from which words of an agent came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarOrigin {
    /// The computer, as the channel proved it.
    pub computer: ComputerId,
    /// The name that this computer has for the other one.
    pub label: String,
    /// The session on that computer that said the words, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<StreamId>,
}

impl FarOrigin {
    /// Returns the principal that is charged for turns that the words set off.
    pub fn principal(&self) -> ParticipantId {
        computer_named(&self.label)
    }
}

/// Returns the id under which another computer speaks here and is charged: `computer:workstation`.
pub fn computer_named(label: &str) -> ParticipantId {
    ParticipantId::new(format!("{COMPUTER_PREFIX}{label}"))
}
