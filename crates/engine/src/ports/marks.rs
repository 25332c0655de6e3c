//! The port to read marks: how far each person has read in each conversation.

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use super::error::LogError;

/// How much of a stream a reader has before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadCount {
    /// The newest event that the reader has read; 0 when there is no mark.
    pub read: Seq,
    /// Messages of others after it, erased ones apart.
    pub messages: usize,
}

/// How far readers have read. A reader is a participant's id, the same in all streams.
#[async_trait]
pub trait ReadMarks: Send + Sync {
    /// Moves a reader's mark forward: never back, and never past the stream's head. Gives where it
    /// is then.
    async fn mark(
        &self,
        reader: &ParticipantId,
        stream: &StreamId,
        seq: Seq,
    ) -> Result<Seq, LogError>;
    /// What a reader has before them in each of these streams, in their order; counts no further
    /// than `most`. Nothing in a stream that did not begin.
    async fn unread(
        &self,
        reader: &ParticipantId,
        streams: &[StreamId],
        most: usize,
    ) -> Result<Vec<UnreadCount>, LogError>;
}
