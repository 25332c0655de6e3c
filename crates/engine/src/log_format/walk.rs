//! Folding a stream again, to see whether what is kept beside its events is what they make.

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Aggregate, Conversation, STATE_VERSION};

use crate::ports::{Catalog, ListedStream, LogError, Page, Snapshot};

/// A stream on the way through its events.
#[derive(Debug)]
pub struct Walk<'a> {
    listed: &'a ListedStream,
    snapshot: Option<&'a Snapshot>,
    /// Nothing where only a newer version can follow.
    state: Option<Aggregate>,
    wrong: Option<LogError>,
}

impl<'a> Walk<'a> {
    /// Before the first event of a stream with this row and this snapshot.
    pub fn new(listed: &'a ListedStream, snapshot: Option<&'a Snapshot>) -> Self {
        // One of another version is not used, and says nothing here.
        let snapshot = snapshot.filter(|snapshot| snapshot.version == STATE_VERSION);
        // What a newer version's kind of stream would be has events that this version does not
        // know, and of what was deleted only its end is left.
        let state = Aggregate::new(&listed.catalog.kind, listed.stream.clone())
            .unwrap_or_else(|| Conversation::new(listed.stream.clone()).into());
        let state = Some(state);
        Self { listed, snapshot, state, wrong: None }
    }

    /// Goes through the next page.
    pub fn page(&mut self, page: &Page) {
        self.state.take_if(|_| page.newer.is_some());
        let wrong =
            self.state.as_mut().and_then(|state| follow(state, &page.events, self.snapshot));
        self.wrong = self.wrong.take().or(wrong);
    }

    /// After the last page: what does not fit, if anything.
    pub fn end(self) -> Option<LogError> {
        let Self { listed, state, wrong, .. } = self;
        wrong.or_else(|| state.and_then(|state| differs(listed, &state)))
    }
}

/// Applies events; whether the snapshot is another state than they make where it was taken.
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
                "its snapshot is not what its events make".into(),
            ));
        }
    }
    wrong
}

/// Whether the row in the catalog says what the events say. No chain goes over it, but the events
/// make it. That it looks after a conversation too early or in vain harms nobody, and another
/// version may have had reasons to.
fn differs(listed: &ListedStream, state: &Aggregate) -> Option<LogError> {
    let (row, made) = (&listed.catalog, Catalog::of(state));
    let too_late = made.next_wake.is_some_and(|wake| row.next_wake.is_none_or(|row| row > wake));
    let wrong = [
        ("kind", row.kind != made.kind),
        ("title", row.title != made.title),
        ("policy", row.policy != made.policy),
        ("time of its beginning", row.created_at != made.created_at),
        ("time of its last event", listed.last_ts != state.last_ts()),
        ("mark of the archived", row.archived != made.archived),
        ("mark of those with something to do", made.has_duties && !row.has_duties),
        ("time to wake it", too_late),
    ];
    let (what, _) = wrong.into_iter().find(|(_, wrong)| *wrong)?;
    // Logs that were put together without a beginning have nothing to compare with.
    let reason = || format!("its row in the catalog does not fit its events: the {what}");
    (made.created_at != Timestamp::default())
        .then(|| damaged(&listed.stream, state.head(), reason()))
}

fn damaged(stream: &StreamId, seq: Seq, reason: String) -> LogError {
    LogError::Damaged { stream: stream.clone(), seq, reason }
}
