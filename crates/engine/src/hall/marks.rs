//! How far people have read: takes a position, keeps the furthest, and counts what came after it.

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use crate::answers::HallError;
use crate::hall::Hall;
use crate::ports::{ReadMarks, UnreadCount};

/// Nobody wants to know more exactly than this how many messages there are to read.
pub const UNREAD_MAX: usize = 100;

impl Hall {
    /// Notes that a reader has read everything up to a position; it never goes back.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist, or nothing can be noted.
    pub async fn mark_read(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
        seq: Seq,
    ) -> Result<UnreadCount, HallError> {
        self.inner.is_open()?;
        let marks = self.marks();
        let read = marks.mark(reader, stream, seq).await?;
        let before = marks.unread(reader, std::slice::from_ref(stream), UNREAD_MAX).await?;
        Ok(UnreadCount { read, messages: before.first().map_or(0, |unread| unread.messages) })
    }

    /// What a reader has before them in each of these streams, in their order; counts up to
    /// [`UNREAD_MAX`].
    ///
    /// # Errors
    /// [`HallError`] when the log cannot be read.
    pub async fn unread(
        &self,
        reader: &ParticipantId,
        streams: &[StreamId],
    ) -> Result<Vec<UnreadCount>, HallError> {
        Ok(self.marks().unread(reader, streams, UNREAD_MAX).await?)
    }

    fn marks(&self) -> &dyn ReadMarks {
        &*self.inner.store.marks
    }
}
