//! Rejections of commands: the kind, the message, and the way forward.

use crate::model::event::{Event, SuppressedBecause};
use crate::model::ids::{EventId, ParticipantId};
use crate::model::time::Millis;

/// A kind of rejection. Surfaces map each to a status of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is invalid.
    Invalid,
    /// The caller is not allowed to do this.
    Forbidden,
    /// The named thing does not exist.
    NotFound,
    /// The named thing existed and was deleted.
    Gone,
    /// The state does not allow this now, or not any more.
    Conflict,
    /// The request is too large.
    TooLarge,
    /// The request came too soon after similar ones; [`Rejection::wait`] gives the time to wait.
    TooSoon,
}

/// The error code of words that a guard holds back.
pub const HELD: &str = "held";
/// The error code of words that are held back after a Stop.
pub const STOPPED: &str = "stopped";
/// The error code of words that answer a turn which a person cancelled.
pub const LATE: &str = "late";

impl Event {
    /// Returns the code for words that were held back, if they were.
    pub fn held_back(&self) -> Option<&'static str> {
        match self {
            Event::Suppressed { because: SuppressedBecause::Held, .. } => Some(HELD),
            Event::Suppressed { because: SuppressedBecause::AfterStop, .. } => Some(STOPPED),
            Event::Suppressed { because: SuppressedBecause::Late, .. } => Some(LATE),
            _ => None,
        }
    }
}

/// A rejection of a command, with a way forward.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The kind of rejection.
    pub refusal: Refusal,
    /// The stable code of the error, in snake case.
    pub code: &'static str,
    /// One or two sentences: the fault, and the next step.
    pub message: String,
    /// The participant that it is about.
    pub participant: Option<ParticipantId>,
    /// The event with the refused words, if they were stored.
    pub kept: Option<EventId>,
    /// Time after which the same request may be repeated.
    pub wait: Option<Millis>,
}

impl Rejection {
    /// Returns a rejection.
    pub fn new(refusal: Refusal, code: &'static str, message: impl Into<String>) -> Self {
        Self { refusal, code, message: message.into(), participant: None, kept: None, wait: None }
    }

    /// True if a guard, a Stop or a cancelled turn held the words back. They are not at fault
    /// themselves.
    pub fn is_held_back(&self) -> bool {
        matches!(self.code, HELD | STOPPED | LATE)
    }

    /// Returns the rejection with the participant that it is about.
    #[must_use]
    pub fn about(mut self, participant: &ParticipantId) -> Self {
        self.participant = Some(participant.clone());
        self
    }
}
