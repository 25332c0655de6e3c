//! Replays a stream, to verify that its catalog row and snapshot match its events.

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Aggregate, Conversation, STATE_VERSION};

use crate::ports::{Catalog, ListedStream, LogError, Page, Snapshot};

/// A stream that is being replayed.
#[derive(Debug)]
pub struct Walk<'a> {
    listed: &'a ListedStream,
    snapshot: Option<&'a Snapshot>,
    /// The state so far; `None` after an event that only a newer version knows.
    state: Option<Aggregate>,
    wrong: Option<LogError>,
}

impl<'a> Walk<'a> {
    /// Starts before the first event of a stream with this row and this snapshot.
    pub fn new(listed: &'a ListedStream, snapshot: Option<&'a Snapshot>) -> Self {
        // A snapshot of another version is never loaded, so its content does not matter.
        let snapshot = snapshot.filter(|snapshot| snapshot.version == STATE_VERSION);
        // Any state will do for an unknown kind of stream, because this version does not know its
        // events either. The same holds for a deleted stream, of which only the end is left.
        let state = Aggregate::new(&listed.catalog.kind, listed.stream.clone())
            .unwrap_or_else(|| Conversation::new(listed.stream.clone()).into());
        let state = Some(state);
        Self { listed, snapshot, state, wrong: None }
    }

    /// Applies the next page.
    pub fn page(&mut self, page: &Page) {
        self.state.take_if(|_| page.newer.is_some());
        let wrong =
            self.state.as_mut().and_then(|state| follow(state, &page.events, self.snapshot));
        self.wrong = self.wrong.take().or(wrong);
    }

    /// Returns the first mismatch. Call this after the last page.
    pub fn end(self) -> Option<LogError> {
        let Self { listed, state, wrong, .. } = self;
        wrong.or_else(|| state.and_then(|state| differs(listed, &state)))
    }
}

/// Applies events. Returns an error if the snapshot differs from the state at its position.
fn follow(
    state: &mut Aggregate,
    events: &[RecordedEvent],
    snapshot: Option<&Snapshot>,
) -> Option<LogError> {
    let mut wrong = None;
    for event in events {
        state.apply(event);
        let taken_here = snapshot.filter(|snapshot| snapshot.head == event.seq);
        if taken_here.is_some_and(|snapshot| {
            snapshot.state(state.kind(), state.stream()).as_ref() != Some(&*state)
        }) {
            wrong = Some(damaged(
                state.stream(),
                event.seq,
                "its snapshot differs from its events".into(),
            ));
        }
    }
    wrong
}

/// Returns an error if the catalog row contradicts the events. The row has no checksum, but it can
/// be derived from the events. A row may wake a conversation too early or in vain: such a wake is
/// harmless, and perhaps another version has computed it in another way.
fn differs(listed: &ListedStream, state: &Aggregate) -> Option<LogError> {
    let (row, made) = (&listed.catalog, Catalog::of(state));
    let too_late = made.next_wake.is_some_and(|wake| row.next_wake.is_none_or(|row| row > wake));
    let wrong = [
        ("kind", row.kind != made.kind),
        ("title", row.title != made.title),
        ("policy", row.policy != made.policy),
        ("creation time", row.created_at != made.created_at),
        ("time of its last event", listed.last_ts != state.last_ts()),
        ("archived mark", row.archived != made.archived),
        ("mark for open duties", made.has_duties && !row.has_duties),
        ("wake time", too_late),
    ];
    let (what, _) = wrong.into_iter().find(|(_, wrong)| *wrong)?;
    // A stream without a creation event has nothing to compare with.
    let reason = || format!("its row in the catalog contradicts its events: the {what}");
    (made.created_at != Timestamp::default())
        .then(|| damaged(&listed.stream, state.head(), reason()))
}

fn damaged(stream: &StreamId, seq: Seq, reason: String) -> LogError {
    LogError::Damaged { stream: stream.clone(), seq, reason }
}
