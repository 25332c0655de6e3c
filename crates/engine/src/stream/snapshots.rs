//! When a live stream's state is kept, so that loading it costs what its state costs. Beside its
//! work: nobody waits for it.

use std::sync::Arc;

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::{Aggregate, STATE_VERSION};
use tokio::task::JoinHandle;

use crate::ports::{EventLog, SNAPSHOT_BYTES_MAX, Snapshot};

/// Events after a snapshot that make another one worth its while, while the stream is at work.
const EVENTS_AT_WORK: u64 = 500;
/// The same when it has nothing to do. Fewer are read again as fast as a state is.
const EVENTS_AT_REST: u64 = 100;

/// The snapshots of one stream. What is being written when this goes away is not written.
#[derive(Debug)]
pub(super) struct Snapshots {
    newest: Seq,
    writing: Option<Writing>,
}

/// A snapshot on its way. Most streams are idle and have none, so there is no set of them.
#[derive(Debug)]
struct Writing(JoinHandle<()>);

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Snapshots {
    /// The newest one is at this event.
    pub(super) fn at(newest: Seq) -> Self {
        Self { newest, writing: None }
    }

    /// The stream has appended something.
    pub(super) fn at_work(&mut self, log: &Arc<dyn EventLog>, state: &Aggregate) {
        self.keep(log, state, EVENTS_AT_WORK);
    }

    /// These events were appended. What erases words takes the snapshots that may hold them along.
    pub(super) fn hear(&mut self, events: &[RecordedEvent]) {
        if events
            .iter()
            .any(|recorded| recorded.event.erases_all() || recorded.event.erases().next().is_some())
        {
            self.newest = Seq(0);
        }
    }

    /// The stream has nothing to do.
    pub(super) fn at_rest(&mut self, log: &Arc<dyn EventLog>, state: &Aggregate) {
        self.keep(log, state, EVENTS_AT_REST);
    }

    fn keep(&mut self, log: &Arc<dyn EventLog>, state: &Aggregate, events: u64) {
        self.writing.take_if(|writing| writing.0.is_finished());
        if state.head().0 < self.newest.0 + events || self.writing.is_some() {
            return;
        }
        self.newest = state.head();
        let Some(bytes) = state.to_bytes().filter(|bytes| bytes.len() <= SNAPSHOT_BYTES_MAX) else {
            return;
        };
        let (log, stream) = (log.clone(), state.stream().clone());
        let snapshot = Snapshot { version: STATE_VERSION, head: self.newest, bytes };
        self.writing = Some(Writing(tokio::spawn(put(log, stream, snapshot))));
    }
}

async fn put(log: Arc<dyn EventLog>, stream: StreamId, snapshot: Snapshot) {
    if let Err(error) = log.put_snapshot(&stream, snapshot).await {
        tracing::debug!(%stream, %error, "its state was not kept; loading it takes longer");
    }
}
