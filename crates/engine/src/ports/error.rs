//! Why a log did not do what was asked of it.

use moothall_kernel::ids::{Seq, StreamId};

use super::claims::Claim;

/// Why nothing was appended. The log is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AppendError {
    /// The stream has another head.
    #[error("stream {stream} is at {head}, not where the writer thought")]
    Conflict {
        /// The stream to which was appended.
        stream: StreamId,
        /// The position of its newest event.
        head: Seq,
    },
    /// Another writer has taken the stream over.
    #[error("stream {stream} has a newer writer")]
    Fenced {
        /// The stream to which was appended.
        stream: StreamId,
    },
    /// A key is held already.
    #[error("{}:{} is held by {}", .0.namespace, .0.key, .0.stream)]
    Claimed(Box<Claim>),
    /// The disk is full; reads go on, and writes will too once there is room.
    #[error("the disk is full")]
    Full,
    /// Too much is waiting to be written. Nothing was decided; try again.
    #[error("the log is overloaded")]
    Overloaded,
    /// The log can no longer be trusted to write; the process has to stop.
    #[error("the log failed: {0}")]
    Fatal(String),
}

/// Why nothing could be read, or a stream's writer could not be noted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// No event of such a stream was ever appended.
    #[error("no stream {0}")]
    NotFound(StreamId),
    /// There was one, and it was deleted.
    #[error("stream {0} was deleted")]
    Deleted(StreamId),
    /// What is stored does not match its checksum.
    #[error("stream {stream} is damaged at {seq}: {reason}")]
    Damaged {
        /// The stream that is damaged.
        stream: StreamId,
        /// The position of the first event that cannot be read.
        seq: Seq,
        /// The fault in words for people.
        reason: String,
    },
    /// A row beside the streams does not match its checksum.
    #[error("table {table}, row {row}: {reason}")]
    DamagedRow {
        /// The table that the row is in.
        table: String,
        /// The key of the row, or which rows.
        row: String,
        /// The fault in words for people.
        reason: String,
    },
    /// The disk is full: nothing can be noted, reads go on.
    #[error("the disk is full")]
    Full,
    /// The log can no longer be trusted to write; the process has to stop.
    #[error("the log failed: {0}")]
    Fatal(String),
    /// The disk could not be read, as far as this goes; what is written is not touched by that.
    #[error("the disk could not be read: {0}")]
    Unreadable(String),
    /// Anything else; the text is for people.
    #[error("the log failed: {0}")]
    Failed(String),
}
