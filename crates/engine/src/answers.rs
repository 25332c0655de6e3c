//! The answers and notifications of the hall. This module uses none of the modules that use it.

use std::sync::Arc;

use moothall_kernel::command::Rejection;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::invariants::BrokenRule;

use crate::hall::occupation::ShownOccupation;
use crate::hall::presence::Presence;
use crate::ports::LogError;

/// A client's key for a request that must take effect only one time.
/// (Section "Claims and deliveries" of ARCHITECTURE.md.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// The owner of the key. Keys of different principals never collide.
    pub principal: String,
    /// The key, 1 to 255 visible ASCII characters.
    pub key: String,
    /// Hash of the request.
    pub fingerprint: String,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The conversation that the command was for.
    pub stream: StreamId,
    /// The event that answers the command, committed and synced. `None` if the command changed
    /// nothing.
    pub event: Option<RecordedEvent>,
    /// The stream's head after the command.
    pub head: Seq,
    /// True if this is the stored answer to an earlier request with the same key.
    pub replayed: bool,
}

/// The reason why a request to the hall failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HallError {
    /// The rules of conversations reject the command.
    #[error("{}", .0.message)]
    Rejected(Box<Rejection>),
    /// The conversation does not exist, or is out of the caller's reach.
    #[error("conversation {0} was not found")]
    NotFound(StreamId),
    /// The conversation was deleted.
    #[error("conversation {0} was deleted")]
    Deleted(StreamId),
    /// The key was used for another request.
    #[error("this Idempotency-Key was used for another request")]
    KeyReused,
    /// The request takes a row of another computer that was taken before. Nothing was decided.
    /// Only the tasks that take rows see it.
    #[error("the rows up to {through} were taken before")]
    Taken {
        /// The number of the newest row that was taken.
        through: u64,
    },
    /// Too many requests wait. Nothing was decided.
    #[error("the server is overloaded; try again in a moment")]
    Overloaded,
    /// The disk is full. Nothing was decided, and reads still work.
    #[error("the disk is full; free some space and try again")]
    DiskFull,
    /// A newer version wrote to this conversation, so it is read-only for this version.
    #[error(
        "{stream} was written by a newer version of Moothall (event {kind:?} at {seq}); it is read-only here"
    )]
    ReadOnly {
        /// The conversation.
        stream: StreamId,
        /// The position of the first unknown event.
        seq: Seq,
        /// The unknown kind of event.
        kind: String,
    },
    /// The state of this conversation breaks an invariant, so it is read-only.
    #[error(
        "{stream} is read-only: {rule}. This is a bug in Moothall; export the conversation and \
         report it"
    )]
    Broken {
        /// The conversation.
        stream: StreamId,
        /// The broken invariant.
        rule: BrokenRule,
    },
    /// The stored data is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The disk cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The server is shutting down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// Any other failure; the text is for people.
    #[error("{0}")]
    Failed(String),
}

impl HallError {
    /// True if the stream cannot take any request while this version runs, or never again.
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            HallError::NotFound(_)
                | HallError::Deleted(_)
                | HallError::ReadOnly { .. }
                | HallError::Broken { .. }
                | HallError::Damaged(_)
        )
    }

    /// Returns the code in the refusal that another computer gets for its row. `None` if that
    /// computer sends the row again, or if a guard or a Stop only holds the row's words back.
    pub(crate) fn refusal_code(&self) -> Option<&'static str> {
        match self {
            HallError::Rejected(rejection) => {
                Some(rejection.code).filter(|_| !rejection.is_held_back())
            }
            HallError::NotFound(_) => Some("thread_not_found"),
            HallError::Deleted(_) => Some("thread_deleted"),
            HallError::KeyReused => Some("idempotency_key_reused"),
            HallError::ReadOnly { .. } => Some("thread_read_only"),
            HallError::Broken { .. } | HallError::Damaged(_) => Some("damaged"),
            HallError::Taken { .. }
            | HallError::Overloaded
            | HallError::DiskFull
            | HallError::Unreadable(_)
            | HallError::ShuttingDown
            | HallError::Failed(_) => None,
        }
    }
}

/// An update for all listeners of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Committed events, in order, without a gap.
    Events(Arc<Vec<RecordedEvent>>),
    /// An ephemeral signal: never logged, and a listener may miss it.
    Signal(Arc<Signal>),
}

/// An ephemeral signal: never logged, and a listener may miss it.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// A participant's presence in the conversation changed.
    Presence(Presence),
    /// A part of a running turn's answer. It is not sent while the answer may still become
    /// `[PASS]`.
    Delta {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The number of the attempt at the turn, from 1.
        attempt: u32,
        /// The participant whose turn it is.
        participant: ParticipantId,
        /// The number of bytes of the answer before this part.
        offset: usize,
        /// The new text, in UTF-8.
        text: String,
    },
    /// The activity of a running turn.
    Progress {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The participant whose turn it is.
        participant: ParticipantId,
        /// The activity, in a few words.
        text: String,
    },
}

/// A notification for clients that watch the whole hall.
#[derive(Clone, Debug, PartialEq)]
pub enum HallChange {
    /// A conversation has a new head.
    Head {
        /// The conversation with the new head.
        stream: StreamId,
        /// The position of its newest event.
        head: Seq,
        /// The number of items in the conversation that wait for a person.
        waits_for_people: usize,
        /// True if the needs of a reader may have changed.
        concerns_people: bool,
    },
    /// A participant's presence changed, in some conversation.
    Presence {
        /// The conversation in which the presence is.
        stream: StreamId,
        /// The participant, its state, and when the state was set.
        presence: Presence,
    },
    /// The states of some participants changed.
    States {
        /// The conversation of the participants.
        stream: StreamId,
        /// The changed states.
        states: Arc<[ShownOccupation]>,
    },
    /// The list of sessions, the activity of a session, or a link changed.
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
