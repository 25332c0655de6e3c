//! The marks of rows that arrive from other computers.

use moothall_kernel::ids::ComputerId;

/// The rows of one log of another computer, in the order of their numbers. A log that was restored
/// has another id, so it has another channel with numbers from 1. Computers that were paired anew
/// have another channel too. (decisions/0053)
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostChannel {
    /// The computer that sends the rows.
    pub sender: ComputerId,
    /// The id of its log, with the name of the pair.
    pub log: String,
}

/// The rows of a channel that an append takes. They count as taken exactly if the append is
/// committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostMark {
    /// The channel.
    pub channel: PostChannel,
    /// The number of the newest row that was taken before; 0 if none was.
    pub before: u64,
    /// The number of the newest row that the append takes, above `before`.
    pub through: u64,
}

impl PostMark {
    /// True if the mark follows the last mark of its channel, which is at `taken`.
    pub fn follows(&self, taken: u64) -> bool {
        self.before == taken && self.through > taken
    }
}
