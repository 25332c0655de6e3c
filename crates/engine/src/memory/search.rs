//! Search in memory. Each query reads all messages.

use std::collections::BTreeMap;

use async_trait::async_trait;
use moothall_kernel::event::{Posted, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::search::tokens::name_key;
use moothall_kernel::search::{Query, renamings, searchable, snippet};

use super::{Entry, MemoryLog, Stream, Tables};
use crate::ports::{Hit, Hits, LogError, Search, SearchRequest};

#[async_trait]
impl Search for MemoryLog {
    async fn search(
        &self,
        wanted: &SearchRequest,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, LogError> {
        Ok(self.tables().search(wanted, limit, cursor))
    }

    async fn forget(&self, stream: &StreamId, seq: Seq) -> Result<(), LogError> {
        self.to_write()?.forgotten.insert((stream.clone(), seq));
        Ok(())
    }

    /// Does nothing, because the messages of a deleted stream are erased already.
    async fn forget_stream(&self, _stream: &StreamId) -> Result<(), LogError> {
        Ok(())
    }
}

impl Tables {
    /// Returns a page of hits, the newest first. `cursor` is the `next` of the previous page, and
    /// the search goes on before that position.
    fn search(&self, wanted: &SearchRequest, limit: usize, cursor: Option<u64>) -> Hits {
        let mut page = Hits::default();
        let until = cursor
            .and_then(|cursor| usize::try_from(cursor).ok())
            .unwrap_or(usize::MAX)
            .min(self.appended.len());
        for (position, place) in self.appended[..until].iter().enumerate().rev() {
            let Some(hit) = self.hit(wanted, place) else { continue };
            if page.hits.len() == limit {
                page.next = Some(position as u64 + 1);
                break;
            }
            page.hits.push(hit);
        }
        page
    }

    /// Returns the hit at a place; `None` if the event does not match the request or was removed
    /// from the index.
    fn hit(&self, wanted: &SearchRequest, place @ (stream, seq): &(StreamId, Seq)) -> Option<Hit> {
        let asked_for = wanted.streams.as_ref().is_none_or(|streams| streams.contains(stream));
        if !asked_for || self.forgotten.contains(place) {
            return None;
        }
        let stored = self.streams.get(stream)?;
        let recorded = stored.known(*seq)?;
        let posted = searchable(&recorded.event)?;
        let in_time = wanted.query.after.is_none_or(|after| recorded.ts >= after)
            && wanted.query.before.is_none_or(|before| recorded.ts < before);
        if !in_time || !stored.is_from(&wanted.query, posted, *seq) {
            return None;
        }
        let marks = wanted.query.find(&posted.body)?;
        Some(Hit {
            stream: stream.clone(),
            recorded: recorded.clone(),
            snippet: snippet(&posted.body, &marks),
        })
    }
}

impl Stream {
    /// Returns the event at a position. `None` if it was erased with its stream, or comes from a
    /// newer version.
    fn known(&self, seq: Seq) -> Option<&RecordedEvent> {
        let index = usize::try_from(seq.0.checked_sub(1)?).ok()?;
        match self.entries.get(index)? {
            Entry::Known(recorded) => Some(recorded),
            Entry::Newer { .. } | Entry::Erased { .. } => None,
        }
    }

    /// True if the query names no author, or names the author of this message by its id or by its
    /// name at that time.
    fn is_from(&self, query: &Query, posted: &Posted, seq: Seq) -> bool {
        let is = |name: &str| query.from.iter().any(|from| name_key(from) == name_key(name));
        query.from.is_empty()
            || is(posted.from.as_str())
            || self.name_at(&posted.from, seq).is_some_and(is)
    }

    /// Returns the name of a participant at a position.
    fn name_at(&self, participant: &ParticipantId, seq: Seq) -> Option<&str> {
        let before = self.entries.iter().filter_map(|entry| match entry {
            Entry::Known(recorded) if recorded.seq < seq => Some(&recorded.event),
            Entry::Known(_) | Entry::Newer { .. } | Entry::Erased { .. } => None,
        });
        let names: BTreeMap<_, _> = before.flat_map(renamings).collect();
        names.get(participant).copied().flatten()
    }
}
