//! News of who is in the streams of tasks, for those who follow them.

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

/// Somebody is in a stream now, or is not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MembershipChange {
    /// Who.
    pub(crate) agent: ParticipantId,
    /// The task, or the conversation of one.
    pub(crate) stream: StreamId,
    /// The first event of the append that brought it about.
    pub(crate) at: Seq,
    /// Whether it is in it now.
    pub(crate) begins: bool,
}
