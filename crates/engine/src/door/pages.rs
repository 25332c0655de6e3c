//! The log of a conversation, a page at a time, as one viewer sees it.

use std::ops::Range;

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::view::{Viewer, visible};

use super::{Action, Door, EventFilter};
use crate::access::AccessError;

/// Events read from the log at once.
pub(super) const PAGE: usize = 256;

/// What a reader gets of a range of the log, the oldest first, read a page at a time.
pub struct Pages {
    door: Door,
    action: Action,
    stream: StreamId,
    filter: EventFilter,
    through: Seq,
    until: Seq,
}

impl Pages {
    /// The newest position that was looked at, seen or not.
    pub fn through(&self) -> Seq {
        self.through
    }

    /// What is seen of the next page, which may be nothing; `None` after the last page.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<RecordedEvent>>, AccessError> {
        if self.through >= self.until {
            return Ok(None);
        }
        let span = usize::try_from(self.until.0 - self.through.0).unwrap_or(PAGE).min(PAGE);
        let mut page = self
            .door
            .page(self.action, &self.stream, self.filter.viewer(), self.through, span)
            .await?;
        // A page that moves nothing would be read for ever.
        self.through = if page.through > self.through { page.through } else { self.until };
        self.filter.keep(&mut page.events);
        Ok(Some(page.events))
    }
}

/// The messages of a conversation that a viewer may see, the newest first. What else the
/// conversation holds is not read.
pub struct Messages {
    door: Door,
    action: Action,
    stream: StreamId,
    viewer: Viewer,
    before: Seq,
}

impl Messages {
    /// At most so many more, the newest first; `None` where there are no earlier ones.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn next(&mut self, most: usize) -> Result<Option<Vec<RecordedEvent>>, AccessError> {
        self.door.enter(self.action, &self.stream)?;
        let mut found = self.door.hall.messages_before(&self.stream, self.before, most).await?;
        let Some(oldest) = found.last() else { return Ok(None) };
        self.before = oldest.seq;
        found.retain(|recorded| visible(&recorded.event, &self.viewer));
        Ok(Some(found))
    }
}

impl Door {
    /// What a reader gets of what comes after the range's start and up to its end, for whoever does
    /// this there.
    pub fn pages(
        &self,
        action: Action,
        stream: &StreamId,
        filter: impl Into<EventFilter>,
        range: Range<Seq>,
    ) -> Pages {
        Pages {
            door: self.clone(),
            action,
            stream: stream.clone(),
            filter: filter.into(),
            through: range.start,
            until: range.end,
        }
    }

    /// The messages before a position, for whoever does this there.
    pub fn messages(
        &self,
        action: Action,
        stream: &StreamId,
        viewer: &Viewer,
        before: Seq,
    ) -> Messages {
        Messages {
            door: self.clone(),
            action,
            stream: stream.clone(),
            viewer: viewer.clone(),
            before,
        }
    }

    /// After which position the newest `limit` events begin that a reader gets, of those after the
    /// range's start and up to its end.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn newest(
        &self,
        action: Action,
        stream: &StreamId,
        filter: &EventFilter,
        range: Range<Seq>,
        limit: usize,
    ) -> Result<Seq, AccessError> {
        let (mut end, mut left) = (range.end, limit);
        while end > range.start {
            let begin = Seq(end.0.saturating_sub(PAGE as u64)).max(range.start);
            let mut pages = self.pages(action, stream, filter.clone(), begin..end);
            let mut seen = Vec::new();
            while let Some(events) = pages.next().await? {
                seen.extend(events.iter().map(|recorded| recorded.seq));
            }
            match seen.len().checked_sub(left) {
                Some(surplus) => {
                    return Ok(seen.get(surplus).map_or(end, |first| Seq(first.0 - 1)));
                }
                None => left -= seen.len(),
            }
            end = begin;
        }
        Ok(range.start)
    }
}
