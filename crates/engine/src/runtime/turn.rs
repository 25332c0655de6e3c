//! What names a turn, everywhere outside its conversation.

use moothall_kernel::ids::{StreamId, TurnNo};

/// A turn of some conversation, and which try of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnKey {
    /// The conversation that the turn belongs to.
    pub stream: StreamId,
    /// The number of the turn in its conversation.
    pub turn: TurnNo,
    /// The try. A result of another attempt than the current one is kept, not shown.
    pub attempt: u32,
}
