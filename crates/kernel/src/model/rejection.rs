//! Rejections: the no of a conversation, and the way forward.

use crate::model::event::{Event, SuppressedBecause};
use crate::model::ids::{EventId, ParticipantId};
use crate::model::time::Millis;

/// A kind of refusal. Surfaces turn each into their own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request makes no sense.
    Invalid,
    /// Somebody else may do that.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// There was one, and it is gone for good.
    Gone,
    /// Not now, or not any more.
    Conflict,
    /// Too large.
    TooLarge,
    /// Too soon after others like it; [`Rejection::wait`] says for how long.
    TooSoon,
}

/// The code of words that a guard holds back.
pub const HELD: &str = "held";
/// The code of words that are held back after a Stop.
pub const STOPPED: &str = "stopped";

impl Event {
    /// The code under which these words were held back, if they were.
    pub fn held_back(&self) -> Option<&'static str> {
        match self {
            Event::Suppressed { because: SuppressedBecause::Held, .. } => Some(HELD),
            Event::Suppressed { because: SuppressedBecause::AfterStop, .. } => Some(STOPPED),
            _ => None,
        }
    }
}

/// A no, with a way forward.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// Its kind.
    pub refusal: Refusal,
    /// The stable code of the error, in snake case.
    pub code: &'static str,
    /// One or two sentences that say what was wrong and what to do.
    pub message: String,
    /// The participant that it is about.
    pub participant: Option<ParticipantId>,
    /// The event that keeps the refused words, if they are kept.
    pub kept: Option<EventId>,
    /// After this time the same may be asked for again.
    pub wait: Option<Millis>,
}

impl Rejection {
    /// A rejection.
    pub fn new(refusal: Refusal, code: &'static str, message: impl Into<String>) -> Self {
        Self { refusal, code, message: message.into(), participant: None, kept: None, wait: None }
    }

    /// True if words were held back by a guard or a Stop, and not refused for what they are.
    pub fn is_held_back(&self) -> bool {
        matches!(self.code, HELD | STOPPED)
    }

    /// Says whom it is about.
    #[must_use]
    pub fn about(mut self, participant: &ParticipantId) -> Self {
        self.participant = Some(participant.clone());
        self
    }
}
