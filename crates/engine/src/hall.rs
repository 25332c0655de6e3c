//! The engine's front door: what surfaces and channels call.

use std::sync::Arc;

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, Command, Rejection};
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::{Millis, Timestamp};
use tokio::sync::broadcast;

use crate::ports::{Clock, EventLog, ListFilter, ListPage, LogError};
use crate::presence::Presence;
use crate::registry::Registry;

/// A client's key for a request that must take effect once. (Section "Claims" of ARCHITECTURE.md.)
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
    /// The stream.
    pub stream: StreamId,
    /// The event that answers the command, committed and synced. Nothing when the command changed nothing.
    pub event: Option<Recorded>,
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
    /// No such conversation.
    #[error("there is no conversation {0}")]
    NotFound(StreamId),
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
    #[error("{stream} was written by a newer version of Moothall (event {kind:?} at {seq}); it is read-only here")]
    ReadOnly {
        /// Which conversation.
        stream: StreamId,
        /// Where this version stops understanding.
        seq: Seq,
        /// The kind it does not know.
        kind: String,
    },
    /// What is stored is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The server is going down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// Something that goes to everyone who listens to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Committed events, in order, without a gap.
    Events(Arc<Vec<Recorded>>),
    /// An ephemeral signal.
    Signal(Arc<Signal>),
}

/// Ephemeral: never logged, may be missed.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// Somebody's presence changed.
    Presence(Presence),
    /// A piece of a running turn's answer; `offset` counts bytes of the answer before it. Held back while it may become `[PASS]`.
    Delta {
        /// The turn.
        turn: TurnNo,
        /// The try.
        attempt: u32,
        /// Whose.
        participant: ParticipantId,
        /// Where the piece begins.
        offset: usize,
        /// The piece.
        text: String,
    },
    /// What a running turn is doing.
    Progress {
        /// The turn.
        turn: TurnNo,
        /// Whose.
        participant: ParticipantId,
        /// In a few words.
        text: String,
    },
}

/// A listener's end of a conversation.
pub struct Subscription {
    /// The head when it began: everything after it comes through `updates`.
    pub head: Seq,
    /// Partial answers of the turns that run now.
    pub partials: Vec<Signal>,
    /// What comes. Lagging means that the listener was too slow and has to read the log again.
    pub updates: broadcast::Receiver<Update>,
}

/// A doorbell for those who watch the whole hall.
#[derive(Clone, Debug, PartialEq)]
pub enum Bell {
    /// A conversation has a new head.
    Head {
        /// Which.
        stream: StreamId,
        /// Its head.
        head: Seq,
    },
    /// Somebody's presence changed.
    Presence {
        /// Where.
        stream: StreamId,
        /// Whose, and how.
        presence: Presence,
    },
}

/// What a hall is made of.
pub struct HallParts {
    /// The log.
    pub log: Arc<dyn EventLog>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The agents.
    pub registry: Registry,
    /// Settings of conversations that do not say otherwise.
    pub defaults: Policy,
    /// Who this process is, for the epochs of its streams.
    pub owner: String,
}

/// The engine. Cheap to clone.
#[derive(Clone)]
pub struct Hall {
    inner: Arc<Inner>,
}

struct Inner {}

impl Hall {
    /// Opens the hall: reads the catalog, and takes up the streams that have duties.
    ///
    /// # Errors
    /// [`HallError`] when the log cannot be read.
    pub async fn open(_parts: HallParts) -> Result<Hall, HallError> {
        Ok(Hall { inner: Arc::new(Inner {}) })
    }
}
