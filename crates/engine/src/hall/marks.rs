//! Read marks: stores the furthest position of each reader, and counts the messages after it.

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use crate::answers::HallError;
use crate::hall::Hall;
use crate::ports::{ReadMarks, UnreadCount};

/// Maximum count of unread messages.
pub const UNREAD_MAX: usize = 100;

impl Hall {
    /// Notes that a reader has read everything up to a position. An earlier position changes
    /// nothing.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist, or the mark cannot be stored.
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

    /// Returns the read mark and the number of unread messages of a reader for each of these
    /// streams, in their order. Counts up to [`UNREAD_MAX`].
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
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
