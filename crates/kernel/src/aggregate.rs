//! What a stream can be. Whoever hosts streams knows this enum, and each of its kinds only where
//! what it is makes a difference.

use crate::decide::Decision;
use crate::model::command::{Command, Facts};
use crate::model::event::Recorded;
use crate::model::ids::{Seq, StreamId};
use crate::model::invariants::Broken;
use crate::model::state::Conversation;
use crate::model::time::Timestamp;
use crate::read::duties::Duties;

/// The word for conversations, where the kinds of streams are kept.
pub const CONVERSATION: &str = "conversation";

/// The state of a stream, of whichever kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregate {
    /// What was said and decided, and the rules for who may speak.
    Conversation(Conversation),
}

impl From<Conversation> for Aggregate {
    fn from(conversation: Conversation) -> Self {
        Aggregate::Conversation(conversation)
    }
}

impl Aggregate {
    /// A stream of a kind in which nothing has happened yet; nothing for a kind that this version
    /// does not know.
    pub fn new(kind: &str, stream: StreamId) -> Option<Self> {
        (kind == CONVERSATION).then(|| Conversation::new(stream).into())
    }

    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Aggregate::Conversation(_) => CONVERSATION,
        }
    }

    /// The conversation, if it is one.
    pub fn conversation(&self) -> Option<&Conversation> {
        match self {
            Aggregate::Conversation(conversation) => Some(conversation),
        }
    }

    /// Its name.
    pub fn stream(&self) -> &StreamId {
        match self {
            Aggregate::Conversation(conversation) => conversation.stream(),
        }
    }

    /// Its newest event.
    pub fn head(&self) -> Seq {
        match self {
            Aggregate::Conversation(conversation) => conversation.head(),
        }
    }

    /// When that came.
    pub fn last_ts(&self) -> Timestamp {
        match self {
            Aggregate::Conversation(conversation) => conversation.last_ts(),
        }
    }

    /// Takes an event in. This cannot fail and decides nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        match self {
            Aggregate::Conversation(conversation) => conversation.apply(recorded),
        }
    }

    /// Decides about a command at a time; the events of it are applied.
    pub fn decide(&mut self, now: Timestamp, command: Command, facts: &Facts) -> Decision {
        match self {
            Aggregate::Conversation(conversation) => conversation.decide(now, command, facts),
        }
    }

    /// What should be going on now.
    pub fn duties(&self) -> Duties {
        match self {
            Aggregate::Conversation(conversation) => conversation.duties(),
        }
    }

    /// The rules that every state keeps.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        match self {
            Aggregate::Conversation(conversation) => conversation.check_invariants(),
        }
    }

    /// The rules about events that follow this state.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check_next(&self, events: &[Recorded]) -> Result<(), Broken> {
        match self {
            Aggregate::Conversation(conversation) => conversation.check_next(events),
        }
    }

    /// As bytes, which [`Aggregate::from_bytes`] of the same
    /// [`STATE_VERSION`](crate::STATE_VERSION) reads. Nothing where it cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Aggregate::Conversation(conversation) => conversation.to_bytes(),
        }
    }

    /// From bytes of a stream of this kind; nothing where they are not those of a state.
    pub fn from_bytes(kind: &str, bytes: &[u8]) -> Option<Self> {
        if kind == CONVERSATION { Conversation::from_bytes(bytes).map(Self::from) } else { None }
    }
}
