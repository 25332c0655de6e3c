//! News of who has a place in the streams of tasks, for those who follow them.

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

/// Somebody has a place in a stream now, or has none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeatChange {
    /// Who.
    pub(crate) agent: ParticipantId,
    /// The task, or the conversation of one.
    pub(crate) stream: StreamId,
    /// The first event of the append that brought it about.
    pub(crate) at: Seq,
    /// Whether it has one now.
    pub(crate) taken: bool,
}
