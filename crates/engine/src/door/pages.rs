//! The log of a conversation, a page at a time, as one viewer sees it.

use std::ops::Range;

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::view::{Viewer, visible};

use super::{Action, Door, EventFilter};
use crate::access::AccessError;

/// Number of events in one read of the log.
pub(super) const PAGE: usize = 256;

/// The events of a range of the log that pass a reader's filter, oldest first, a page at a time.
pub struct Pages {
    door: Door,
    action: Action,
    stream: StreamId,
    filter: EventFilter,
    through: Seq,
    until: Seq,
}

impl Pages {
    /// Returns the newest position that was looked at, visible or not.
    pub fn through(&self) -> Seq {
        self.through
    }

    /// Returns the visible events of the next page, possibly none; `None` after the last page.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<RecordedEvent>>, AccessError> {
        if self.through >= self.until {
            return Ok(None);
        }
        let span = usize::try_from(self.until.0 - self.through.0).unwrap_or(PAGE).min(PAGE);
        let mut page = self
            .door
            .page(self.action, &self.stream, self.filter.viewer(), self.through, span)
            .await?;
        // Without progress, skip to the end: the same page would be read for ever.
        self.through = if page.through > self.through { page.through } else { self.until };
        self.filter.keep(&mut page.events);
        Ok(Some(page.events))
    }
}

/// The messages of a conversation that a viewer may see, newest first. Other events are not read.
pub struct Messages {
    door: Door,
    action: Action,
    stream: StreamId,
    viewer: Viewer,
    before: Seq,
}

impl Messages {
    /// Reads at most `most` earlier messages, and returns those that the viewer may see, newest
    /// first. Returns `None` after the last message.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
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
    /// Returns the events after the range's start, up to its end, that pass the filter. Each page
    /// checks again that the caller may do `action`.
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

    /// Returns the messages before a position. Each call checks again that the caller may do
    /// `action`.
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

    /// Returns the position after which the newest `limit` events begin that pass the filter. The
    /// events are those after the range's start, up to its end.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
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
