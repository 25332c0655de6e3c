//! The port to read marks: the position up to which each person has read each conversation.

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use super::error::LogError;

/// The unread messages of a reader in one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadCount {
    /// The newest event that the reader has read; 0 without a mark.
    pub read: Seq,
    /// Number of messages by others after it, without erased ones.
    pub messages: usize,
}

/// The read marks. A reader is a participant's id, the same in all streams.
#[async_trait]
pub trait ReadMarks: Send + Sync {
    /// Moves a reader's mark forward, at most to the stream's head. Returns the mark after that.
    async fn mark(
        &self,
        reader: &ParticipantId,
        stream: &StreamId,
        seq: Seq,
    ) -> Result<Seq, LogError>;
    /// Returns the read mark and the number of unread messages of a reader for each of these
    /// streams, in order. Counts at most `most`, and 0 in a stream that has not begun.
    async fn unread(
        &self,
        reader: &ParticipantId,
        streams: &[StreamId],
        most: usize,
    ) -> Result<Vec<UnreadCount>, LogError>;
}
