//! Notifications of changes in the membership of tasks and their conversations, for followers.

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

/// An agent that joined or left a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MembershipChange {
    /// The agent.
    pub(crate) agent: ParticipantId,
    /// The task, or the conversation of a task.
    pub(crate) stream: StreamId,
    /// The first event of the append with the change.
    pub(crate) at: Seq,
    /// True if the agent joined, false if it left.
    pub(crate) begins: bool,
}
