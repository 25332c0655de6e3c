//! The engine's part for one conversation: a queue, what was decided, what is committed.

use std::collections::{BTreeSet, VecDeque};

use moothall_kernel::Conversation;
use moothall_kernel::command::Command;
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};
use moothall_kernel::time::{Millis, Timestamp};

use super::log::Batch;

/// Who waits for the answer of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client, who may ask again.
    Client,
    /// The job of this number.
    Runtime(u64),
    /// The engine itself.
    Engine,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) origin: Origin,
    pub(crate) command: Command,
    /// The client's key for a request that must take effect once.
    pub(crate) key: Option<String>,
}

/// What came of one request.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) request: Request,
    pub(crate) events: Vec<Recorded>,
    pub(crate) refused: Option<&'static str>,
    pub(crate) offline: BTreeSet<ParticipantId>,
    pub(crate) downtime: Option<Millis>,
}

/// Decisions on their way to the disk.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) batch: Batch,
    pub(crate) decisions: Vec<Decision>,
    /// On disk, but nobody was told.
    pub(crate) appended: bool,
}

pub(crate) struct Host {
    pub(crate) epoch: u64,
    pub(crate) working: Conversation,
    pub(crate) committed: Conversation,
    pub(crate) queue: VecDeque<Request>,
    pub(crate) pending: Option<Pending>,
    /// How long the server was down before the first decision to come.
    pub(crate) downtime: Option<Millis>,
    /// When the committed state wants to look at the clock.
    pub(crate) wake_at: Option<Timestamp>,
    /// An alarm that a planted bug lost.
    pub(crate) slept: Option<Timestamp>,
    /// Runs already reported as lost.
    pub(crate) lost: BTreeSet<(TurnNo, u32)>,
}

/// The conversation's id.
pub(crate) fn stream(room: usize) -> StreamId {
    StreamId::new(format!("room-{room}"))
}

impl Host {
    /// A writer that has read these events.
    pub(crate) fn load(room: usize, epoch: u64, events: &[Recorded]) -> Self {
        let committed = Conversation::fold(stream(room), events);
        Self {
            epoch,
            working: committed.clone(),
            committed,
            queue: VecDeque::new(),
            pending: None,
            downtime: None,
            wake_at: None,
            slept: None,
            lost: BTreeSet::new(),
        }
    }

    pub(crate) fn ask(&mut self, origin: Origin, command: Command) {
        self.queue.push_back(Request { origin, command, key: None });
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.pending.is_none()
    }
}
