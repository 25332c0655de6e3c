//! The read marks of the log in memory.

use async_trait::async_trait;
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use super::{Entry, MemoryLog, Tables};
use crate::ports::{LogError, ReadMarks, UnreadCount};

#[async_trait]
impl ReadMarks for MemoryLog {
    async fn mark(
        &self,
        reader: &ParticipantId,
        stream: &StreamId,
        seq: Seq,
    ) -> Result<Seq, LogError> {
        let mut tables = self.to_write()?;
        let head = tables.readable(stream)?.head();
        let mark = tables.marks.entry((reader.clone(), stream.clone())).or_default();
        *mark = (*mark).max(seq.min(head));
        Ok(*mark)
    }

    async fn unread(
        &self,
        reader: &ParticipantId,
        streams: &[StreamId],
        most: usize,
    ) -> Result<Vec<UnreadCount>, LogError> {
        let tables = self.tables();
        Ok(streams.iter().map(|stream| tables.unread(reader, stream, most)).collect())
    }
}

impl Tables {
    /// Returns the position up to which the reader has read, and the number of others' messages
    /// after it. Erased messages are not counted. Counts up to `most`.
    fn unread(&self, reader: &ParticipantId, stream: &StreamId, most: usize) -> UnreadCount {
        let Some(stored) = self.streams.get(stream) else { return UnreadCount::default() };
        let read = self.marks.get(&(reader.clone(), stream.clone())).copied().unwrap_or_default();
        let counts = |entry: &&Entry| match entry {
            Entry::Known(recorded) => {
                matches!(&recorded.event, Event::Posted(posted) if posted.from != *reader)
                    && recorded.seq > read
                    && !recorded.event.is_erased()
            }
            Entry::Newer { .. } | Entry::Erased { .. } => false,
        };
        UnreadCount { read, messages: stored.entries.iter().filter(counts).take(most).count() }
    }
}
