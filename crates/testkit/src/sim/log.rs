//! The disk: the engine's own log in memory, and everything that may go wrong with one.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use moothall_engine::MemoryLog;
use moothall_engine::hall::HallError;
use moothall_engine::ports::{AppendError, Epoch, EventLog, LogError, Page, StreamBatch};
use moothall_engine::stream::{Earlier, Loaded, idempotency, load};
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::{Millis, Timestamp};

/// What goes wrong with an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Too much waits.
    Overloaded,
    /// The log says that it is elsewhere than the writer thought.
    Conflict,
}

/// It outlives every crash.
#[derive(Default)]
pub(crate) struct Disk {
    log: MemoryLog,
    pub(crate) full: bool,
}

/// The conversation's id.
pub(crate) fn stream(room: usize) -> StreamId {
    StreamId::new(format!("room-{room}"))
}

/// The log in memory never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match future.now_or_never() {
        Some(result) => result,
        None => unreachable!("the log in memory waited"),
    }
}

impl Disk {
    /// Becomes the writer of a stream.
    pub(crate) fn acquire(&self, room: usize) -> Result<Epoch, LogError> {
        at_once(self.log.acquire(&stream(room), "simulator", Millis(0)))
    }

    pub(crate) fn append(&self, batch: StreamBatch, fault: Option<Fault>) -> Result<Vec<u64>, AppendError> {
        match fault {
            _ if self.full => Err(AppendError::Full),
            Some(Fault::Overloaded) => Err(AppendError::Overloaded),
            Some(Fault::Conflict) => Err(AppendError::Conflict { stream: batch.stream, head: batch.expected_head }),
            None => {
                let appended = at_once(self.log.append(vec![batch]))?;
                Ok(appended.into_iter().flat_map(|appended| appended.deliveries).collect())
            }
        }
    }

    /// What is known about keys.
    pub(crate) fn look_up(&self, keys: &[String], now: Timestamp) -> Result<BTreeMap<String, Earlier>, HallError> {
        at_once(idempotency::look_up(&self.log, keys, now))
    }

    /// A stream as it comes back after a crash.
    pub(crate) fn load(&self, room: usize) -> Result<Loaded, HallError> {
        at_once(load::fold(&self.log, &stream(room)))
    }

    pub(crate) fn page(&self, room: usize, after: Seq, count: usize) -> Result<Page, LogError> {
        at_once(self.log.read(&stream(room), after, count))
    }

    /// Everything after a position.
    pub(crate) fn read(&self, room: usize, after: Seq) -> Vec<Recorded> {
        let (mut events, mut after) = (Vec::new(), after);
        while let Ok(page) = self.page(room, after, usize::MAX)
            && page.through > after
        {
            after = page.through;
            events.extend(page.events);
        }
        events
    }

    /// The event at a position.
    pub(crate) fn at(&self, room: usize, seq: Seq) -> Option<Recorded> {
        self.page(room, Seq(seq.0.checked_sub(1)?), 1).ok()?.events.into_iter().next()
    }
}

/// Whether an event is on the disk as it was told, or was erased there since.
pub(crate) fn is_same(told: &Recorded, kept: &Recorded) -> bool {
    let erased = |recorded: &Recorded| {
        let mut recorded = recorded.clone();
        recorded.event.erase();
        recorded
    };
    told == kept || (kept.event.is_erased() && erased(told) == erased(kept))
}
