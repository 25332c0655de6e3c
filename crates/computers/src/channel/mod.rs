//! The two ends of one channel of posts, as state machines without clocks, input or output.
//!
//! A channel is named by its sender, the log of its sender and its receiver. The sender numbers its
//! rows from 1, and stores each until it is acknowledged. The receiver takes the rows in order,
//! each of them once, and stores the number of the last one as its durable mark. A restored sender
//! has a new log, and so a new channel.

mod outgoing;
mod incoming;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use incoming::{CommitError, IncomingChannel, Reception};
pub use outgoing::{AcknowledgeError, OutgoingChannel, RowError};

use crate::id::{ComputerId, LogId};

/// Most rows of a channel on their way at a time. With [`WINDOW_BYTES`] it bounds the memory that
/// one computer takes at the Redis and in its receiver.
pub const WINDOW_ROWS: u64 = 1_000;
/// Most bytes of rows of a channel on their way at a time.
pub const WINDOW_BYTES: usize = 8 * 1024 * 1024;
/// Time without an acknowledgement after which rows are sent again. A row and its acknowledgement
/// take milliseconds, so that a second is a loss.
pub const PATIENCE_MIN: Duration = Duration::from_secs(1);
/// Longest such time. It doubles with every repetition, because a receiver that takes nothing for
/// minutes must not have its stream filled with copies.
pub const PATIENCE_MAX: Duration = Duration::from_secs(60);

/// The name of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelKey {
    /// Computer that sends the rows.
    pub sender: ComputerId,
    /// Log of the sender.
    pub log: LogId,
    /// Computer that takes the rows.
    pub receiver: ComputerId,
}
