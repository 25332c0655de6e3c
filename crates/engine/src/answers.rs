//! What the hall answers and tells: everybody speaks of it, so it stands below everything that
//! does.

use std::sync::Arc;

use moothall_kernel::command::Rejection;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::invariants::BrokenRule;

use crate::hall::presence::Presence;
use crate::ports::LogError;

/// A client's key for a request that must take effect once.
/// (Section "Claims and deliveries" of ARCHITECTURE.md.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// Whose key it is: keys of two principals never meet.
    pub principal: String,
    /// The key, 1 to 255 visible ASCII characters.
    pub key: String,
    /// Hash of the request.
    pub fingerprint: String,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The conversation that the command was for.
    pub stream: StreamId,
    /// The event that answers the command, committed and synced. Nothing when the command changed
    /// nothing.
    pub event: Option<RecordedEvent>,
    /// The stream's head after it.
    pub head: Seq,
    /// This is the stored answer to an earlier request with the same key.
    pub replayed: bool,
}

/// Why a request to the hall failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HallError {
    /// The rules say no.
    #[error("{}", .0.message)]
    Rejected(Box<Rejection>),
    /// There is no such conversation, or it is out of the caller's reach.
    #[error("there is no conversation {0}")]
    NotFound(StreamId),
    /// There was one, and it was deleted.
    #[error("conversation {0} was deleted")]
    Deleted(StreamId),
    /// The same key came with another request.
    #[error("this Idempotency-Key was used for another request")]
    KeyReused,
    /// Too much is waiting; nothing was decided.
    #[error("the server is overloaded; try again in a moment")]
    Overloaded,
    /// No room on the disk; nothing was decided, reads go on.
    #[error("the disk is full; free some space and try again")]
    DiskFull,
    /// A newer version wrote to this conversation: it can be read, not written.
    #[error(
        "{stream} was written by a newer version of Moothall (event {kind:?} at {seq}); it is read-only here"
    )]
    ReadOnly {
        /// The conversation in which it happened.
        stream: StreamId,
        /// Where this version stops understanding.
        seq: Seq,
        /// The kind it does not know.
        kind: String,
    },
    /// The state of this conversation is one that no rule allows: it can be read, not written.
    #[error(
        "{stream} can be read, not written: {rule}. This is a fault of Moothall; export the conversation, and report it"
    )]
    Broken {
        /// The conversation in which it happened.
        stream: StreamId,
        /// What does not hold.
        rule: BrokenRule,
    },
    /// What is stored is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The disk could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// The server is going down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// Anything else; the text is for people.
    #[error("{0}")]
    Failed(String),
}

/// Something that goes to everyone who listens to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Committed events, in order, without a gap.
    Events(Arc<Vec<RecordedEvent>>),
    /// News of the moment: never logged, and a listener may miss it.
    Signal(Arc<Signal>),
}

/// Ephemeral: never logged, may be missed.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// A participant's presence in the conversation changed.
    Presence(Presence),
    /// A piece of a running turn's answer; `offset` counts bytes of the answer before it. Held back
    /// while it may become `[PASS]`.
    Delta {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Which attempt at the turn this is, from 1.
        attempt: u32,
        /// The participant whose turn it is.
        participant: ParticipantId,
        /// Where the piece begins.
        offset: usize,
        /// The text that came since the last piece, in UTF-8.
        text: String,
    },
    /// What a running turn is doing.
    Progress {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The participant whose turn it is.
        participant: ParticipantId,
        /// In a few words.
        text: String,
    },
}

/// A notification for those who watch the whole hall.
#[derive(Clone, Debug, PartialEq)]
pub enum HallChange {
    /// A conversation has a new head.
    Head {
        /// The conversation that has something new.
        stream: StreamId,
        /// The position of its newest event.
        head: Seq,
        /// How much waits there for a person.
        waits_for_people: usize,
    },
    /// A participant's presence changed, in any conversation.
    Presence {
        /// The conversation in which the presence is.
        stream: StreamId,
        /// The participant, its state, and when it was told.
        presence: Presence,
    },
    /// The list of sessions, what one of them is doing, or a link changed.
    Sessions,
}

impl From<LogError> for HallError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NotFound(stream) => HallError::NotFound(stream),
            LogError::Deleted(stream) => HallError::Deleted(stream),
            LogError::Damaged { .. } | LogError::DamagedRow { .. } => {
                HallError::Damaged(error.to_string())
            }
            LogError::Full => HallError::DiskFull,
            LogError::Unreadable(_) => HallError::Unreadable(error.to_string()),
            LogError::Fatal(_) | LogError::Failed(_) => HallError::Failed(error.to_string()),
        }
    }
}
