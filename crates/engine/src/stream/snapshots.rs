//! Snapshots of a live stream's state, so that a stream loads without replaying all its events. A
//! snapshot is written in the background.

use std::sync::Arc;

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::{Aggregate, STATE_VERSION};
use tokio::task::JoinHandle;

use crate::ports::{EventLog, SNAPSHOT_BYTES_MAX, Snapshot};

/// Number of events after the last snapshot that justify another one while the stream works.
const EVENTS_AT_WORK: u64 = 500;
/// Number of events after the last snapshot that justify another one while the stream is idle.
/// Reading fewer events takes no longer than reading a state.
const EVENTS_AT_REST: u64 = 100;

/// The snapshots of one stream. Dropping it aborts a snapshot that is still being written.
#[derive(Debug)]
pub(super) struct Snapshots {
    newest: Seq,
    writing: Option<SnapshotWrite>,
}

/// A snapshot that is being written. It is not a `JoinSet`, because most streams are idle and never
/// need one.
#[derive(Debug)]
struct SnapshotWrite(JoinHandle<()>);

impl Drop for SnapshotWrite {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Snapshots {
    /// Starts with the newest snapshot at this event.
    pub(super) fn at(newest: Seq) -> Self {
        Self { newest, writing: None }
    }

    /// Writes a snapshot after an append, if enough events are new.
    pub(super) fn at_work(&mut self, log: &Arc<dyn EventLog>, state: &Aggregate) {
        self.keep(log, state, EVENTS_AT_WORK);
    }

    /// Notes appended events. If they erase words, the log drops its snapshots of the stream, so
    /// the next snapshot is due as if there was none.
    pub(super) fn hear(&mut self, events: &[RecordedEvent]) {
        if events
            .iter()
            .any(|recorded| recorded.event.erases_all() || recorded.event.erases().next().is_some())
        {
            self.newest = Seq(0);
        }
    }

    /// Writes a snapshot while the stream is idle, if enough events are new.
    pub(super) fn at_rest(&mut self, log: &Arc<dyn EventLog>, state: &Aggregate) {
        self.keep(log, state, EVENTS_AT_REST);
    }

    /// Writes a snapshot in the background if at least `events` events are new. Does nothing while
    /// another one is being written, or if the state is too large.
    fn keep(&mut self, log: &Arc<dyn EventLog>, state: &Aggregate, events: u64) {
        self.writing.take_if(|writing| writing.0.is_finished());
        if state.head().0 < self.newest.0 + events || self.writing.is_some() {
            return;
        }
        // The position is set before the write, so that a state that is too large is not encoded
        // again with the next event.
        self.newest = state.head();
        let Some(bytes) = state.to_bytes().filter(|bytes| bytes.len() <= SNAPSHOT_BYTES_MAX) else {
            return;
        };
        let (log, stream) = (log.clone(), state.stream().clone());
        let snapshot = Snapshot { version: STATE_VERSION, head: self.newest, bytes };
        self.writing = Some(SnapshotWrite(tokio::spawn(put(log, stream, snapshot))));
    }
}

/// Stores a snapshot. A failure is only logged, because it only makes loading slower.
async fn put(log: Arc<dyn EventLog>, stream: StreamId, snapshot: Snapshot) {
    if let Err(error) = log.put_snapshot(&stream, snapshot).await {
        tracing::debug!(%stream, %error, "the snapshot of a stream could not be stored; loading \
                                          it takes longer");
    }
}
