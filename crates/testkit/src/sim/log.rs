//! The disk: the engine's own log in memory, with faults.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use moothall_engine::MemoryLog;
use moothall_engine::hall::HallError;
use moothall_engine::ports::{
    Acquisition, AppendError, Deliveries, DeliveryState, Durability, EventLog, LogError, Page,
    Snapshot, StreamBatch,
};
use moothall_engine::stream::{LoadedStream, PriorRequest, idempotency, load};
use moothall_kernel::aggregate::CONVERSATION;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Aggregate, Conversation, STATE_VERSION};

/// A fault of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The log reports that too many requests wait.
    Overloaded,
    /// The log reports another head than the writer expected.
    Conflict,
}

/// The disk, which survives every crash.
#[derive(Default)]
pub(crate) struct Disk {
    log: MemoryLog,
    pub(crate) full: bool,
}

/// Returns the id of a room's conversation.
pub(crate) fn stream(room: usize) -> StreamId {
    StreamId::new(format!("room-{room}"))
}

/// Returns the result of a future of the log in memory, which never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match future.now_or_never() {
        Some(result) => result,
        None => unreachable!("the log in memory waited"),
    }
}

impl Disk {
    /// Becomes the writer of a stream.
    pub(crate) fn acquire(&self, room: usize) -> Result<Acquisition, LogError> {
        at_once(self.log.acquire(&stream(room), "simulator"))
    }

    pub(crate) fn append(
        &self,
        batch: StreamBatch,
        fault: Option<Fault>,
    ) -> Result<Vec<u64>, AppendError> {
        match fault {
            _ if self.full => Err(AppendError::Full),
            Some(Fault::Overloaded) => Err(AppendError::Overloaded),
            Some(Fault::Conflict) => {
                Err(AppendError::Conflict { stream: batch.stream, head: batch.expected_head })
            }
            None => {
                let appended = at_once(self.log.append(vec![batch]))?;
                Ok(appended.into_iter().flat_map(|appended| appended.deliveries).collect())
            }
        }
    }

    /// Stores the outcome of a delivery.
    pub(crate) fn settle(&self, delivery: u64, state: DeliveryState) -> Result<(), String> {
        match at_once(self.log.advance(
            delivery,
            &[DeliveryState::Pending],
            state,
            "",
            Durability::Written,
        )) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("delivery {delivery} was settled before")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Checks that no owed command and no claim of one is left.
    pub(crate) fn commands_left(&self) -> Result<(), String> {
        let heads = at_once(self.log.heads()).map_err(|error| error.to_string())?;
        let owed = heads.iter().find(|head| head.command.is_some());
        let claims = at_once(self.log.claims("idem", Timestamp::from_millis(i64::MAX)))
            .map_err(|error| error.to_string())?;
        match (owed, claims.first()) {
            (None, None) => Ok(()),
            (Some(delivery), _) => Err(format!("{delivery:?} is owed still")),
            (None, Some(claim)) => Err(format!("{claim:?} is held still")),
        }
    }

    /// Returns the stored results of idempotency keys.
    pub(crate) fn look_up(
        &self,
        keys: &[String],
        now: Timestamp,
    ) -> Result<BTreeMap<String, PriorRequest>, HallError> {
        at_once(idempotency::look_up(&self.log, keys, now))
    }

    /// Loads a stream as after a crash.
    pub(crate) fn load(&self, room: usize) -> Result<LoadedStream, HallError> {
        at_once(load::fold(&self.log, CONVERSATION, &stream(room)))
    }

    /// Stores a snapshot of a host's state, as the shell does beside its work.
    pub(crate) fn keep(&self, room: usize, state: &Aggregate) -> Result<(), String> {
        let bytes = state.to_bytes().ok_or("a state cannot be written")?;
        let snapshot = Snapshot { version: STATE_VERSION, head: state.head(), bytes };
        at_once(self.log.put_snapshot(&stream(room), snapshot))
            .map(drop)
            .map_err(|error| error.to_string())
    }

    /// Checks that a snapshot and the events after it give the same state as all events.
    pub(crate) fn check_snapshot(&self, room: usize) -> Result<(), String> {
        let opening = at_once(self.log.load(&stream(room), STATE_VERSION, usize::MAX))
            .map_err(|error| error.to_string())?;
        let Some(snapshot) = opening.snapshot else { return Ok(()) };
        let mut state = snapshot
            .state(&opening.kind, &stream(room))
            .ok_or("a snapshot is not of its stream")?;
        self.read(room, snapshot.head).iter().for_each(|recorded| state.apply(recorded));
        let whole = Aggregate::from(Conversation::fold(stream(room), &self.read(room, Seq(0))));
        if state == whole {
            Ok(())
        } else {
            Err(format!(
                "the snapshot of room {room} at {} leads elsewhere than its events",
                snapshot.head
            ))
        }
    }

    pub(crate) fn page(&self, room: usize, after: Seq, count: usize) -> Result<Page, LogError> {
        at_once(self.log.read(&stream(room), after, count))
    }

    /// Returns `count` events after a position, page by page, as the shell reads them.
    pub(crate) fn span(&self, room: usize, after: Seq, count: usize) -> Result<Page, LogError> {
        let mut all = self.page(room, after, count)?;
        loop {
            let left = count.saturating_sub((all.through.0 - after.0) as usize);
            let next = self.page(room, all.through, left)?;
            if next.through <= all.through {
                return Ok(all);
            }
            all.through = next.through;
            all.events.extend(next.events);
        }
    }

    /// Returns messages before a position, oldest first, as the shell reads them.
    pub(crate) fn messages(
        &self,
        room: usize,
        before: Seq,
        limit: usize,
    ) -> Result<Page, LogError> {
        let mut events = at_once(self.log.messages_before(&stream(room), before, limit))?;
        events.reverse();
        Ok(Page { through: Seq(before.0.saturating_sub(1)), events, newer: None })
    }

    /// Returns all events after a position.
    pub(crate) fn read(&self, room: usize, after: Seq) -> Vec<RecordedEvent> {
        let (mut events, mut after) = (Vec::new(), after);
        while let Ok(page) = self.page(room, after, usize::MAX)
            && page.through > after
        {
            after = page.through;
            events.extend(page.events);
        }
        events
    }

    /// Returns the event at a position.
    pub(crate) fn at(&self, room: usize, seq: Seq) -> Option<RecordedEvent> {
        self.page(room, Seq(seq.0.checked_sub(1)?), 1).ok()?.events.into_iter().next()
    }
}

/// True if an event on the disk equals the told one, apart from a later erasure.
pub(crate) fn is_same(reported: &RecordedEvent, kept: &RecordedEvent) -> bool {
    let erased = |recorded: &RecordedEvent| {
        let mut recorded = recorded.clone();
        recorded.event.erase();
        recorded
    };
    reported == kept || (kept.event.is_erased() && erased(reported) == erased(kept))
}
