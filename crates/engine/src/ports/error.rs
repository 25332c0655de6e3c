//! The reasons why a log refuses or fails, each with its code.

use moothall_kernel::ids::{Seq, StreamId};

use super::claims::Claim;
use super::post_marks::PostChannel;

/// The reason why an append failed. The log is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AppendError {
    /// The stream has another head.
    #[error("stream {stream} is at {head}, not at the position that the writer expected")]
    Conflict {
        /// The stream of the append.
        stream: StreamId,
        /// The position of its newest event.
        head: Seq,
    },
    /// Another writer has taken the stream over.
    #[error("stream {stream} has a newer writer")]
    Fenced {
        /// The stream of the append.
        stream: StreamId,
    },
    /// A claim is held already.
    #[error("{}:{} is held by {}", .0.namespace, .0.key, .0.stream)]
    Claimed(Box<Claim>),
    /// The mark of a channel is at another number, because these rows were taken before, or a row
    /// is missing.
    #[error("the rows of computer {} were taken through {through}", .channel.sender)]
    Marked {
        /// The channel of the rows.
        channel: PostChannel,
        /// The number of the newest row that was taken from it.
        through: u64,
    },
    /// The disk is full. Reads still work, and writes work again when there is space.
    #[error("the disk is full")]
    Full,
    /// Too many appends wait to be written. Nothing was decided; retry later.
    #[error("the log is overloaded")]
    Overloaded,
    /// The log can no longer be trusted to write; the process has to stop.
    #[error("the log failed: {0}")]
    Fatal(String),
}

/// The reason why a read failed, or why a stream's writer could not be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The stream does not exist.
    #[error("stream {0} was not found")]
    NotFound(StreamId),
    /// The stream was deleted.
    #[error("stream {0} was deleted")]
    Deleted(StreamId),
    /// The stored data does not match its checksum.
    #[error("stream {stream} is damaged at {seq}: {reason}")]
    Damaged {
        /// The stream that is damaged.
        stream: StreamId,
        /// The position of the first event that cannot be read.
        seq: Seq,
        /// The fault in words for people.
        reason: String,
    },
    /// A row of a table other than the streams does not match its checksum.
    #[error("table {table}, row {row}: {reason}")]
    DamagedRow {
        /// The table that the row is in.
        table: String,
        /// The key of the row or rows.
        row: String,
        /// The fault in words for people.
        reason: String,
    },
    /// The disk is full: writes fail, reads still work.
    #[error("the disk is full")]
    Full,
    /// The log can no longer be trusted to write; the process has to stop.
    #[error("the log failed: {0}")]
    Fatal(String),
    /// The disk could not be read. The stored data is not affected.
    #[error("the disk could not be read: {0}")]
    Unreadable(String),
    /// Any other fault; the text is for people.
    #[error("the log failed: {0}")]
    Failed(String),
}
