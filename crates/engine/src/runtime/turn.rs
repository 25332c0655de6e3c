//! The key of a turn outside its conversation.

use moothall_kernel::ids::{StreamId, TurnNo};

/// A turn of a conversation, and its attempt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnKey {
    /// The conversation that the turn belongs to.
    pub stream: StreamId,
    /// The number of the turn in its conversation.
    pub turn: TurnNo,
    /// The attempt. The result of an attempt that is not the current one is stored in the trace and
    /// not shown.
    pub attempt: u32,
}
