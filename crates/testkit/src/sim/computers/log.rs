//! The log of one process: its writes are steps of the process, and are shown to the checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_engine::MemoryLog;
use moothall_engine::ports::{
    Acquisition, AppendError, AppendResult, Claim, Deliveries, Delivery, DeliveryState, Durability,
    EventLog, ListFilter, ListPage, ListedStream, LogError, NewDelivery, Page, PostBook,
    PostChannel, PostMark, Snapshot, Store, StreamBatch, StreamStart, Target,
};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ComputerId, Seq, StreamId};
use moothall_kernel::time::Timestamp;

use super::check::NumberedRow;
use super::ledger::{SharedLedger, lock};
use super::life::Life;
use super::rows::{self, RowEffect};

/// The log of one process.
#[derive(Clone)]
pub(super) struct WatchedLog {
    /// The place of the computer.
    pub(super) own: usize,
    /// The log, which survives the process.
    pub(super) kept: Arc<MemoryLog>,
    pub(super) life: Arc<Life>,
    pub(super) ledger: SharedLedger,
}

/// The parts of a batch that concern other computers.
struct BatchOfRows {
    stream: StreamId,
    events: Vec<RecordedEvent>,
    marks: Vec<PostMark>,
    effects: Vec<RowEffect>,
    owed: Vec<NewDelivery>,
}

impl BatchOfRows {
    fn of(batch: &StreamBatch) -> Self {
        let events = batch.events.iter();
        let noticed = events.filter_map(|recorded| rows::effect_of_event(&recorded.event));
        let refused = batch.deliveries.iter().filter_map(rows::effect_of_delivery);
        let is_row = |new: &&NewDelivery| matches!(new.target, Target::Computer(_));
        Self {
            stream: batch.stream.clone(),
            events: batch.events.clone(),
            marks: batch.marks.clone(),
            effects: noticed.chain(refused).collect(),
            owed: batch.deliveries.iter().filter(is_row).cloned().collect(),
        }
    }
}

impl WatchedLog {
    /// Returns all storage of the process.
    pub(super) fn store(&self) -> Store {
        let watched = Arc::new(self.clone());
        Store {
            log: watched.clone(),
            outbox: watched.clone(),
            posts: watched,
            ..Store::of(self.kept.clone())
        }
    }

    /// Shows an append to the checks.
    async fn note(&self, batches: Vec<BatchOfRows>) -> Result<(), LogError> {
        for BatchOfRows { stream, events, marks, effects, owed } in batches {
            let mut numbered = Vec::new();
            let mut later: BTreeMap<&Target, usize> = BTreeMap::new();
            for new in owed.iter().rev() {
                let nth = later.entry(&new.target).or_default();
                *nth += 1;
                let newest = self.kept.of_target(&new.target, None, *nth).await?;
                numbered.push((new, newest.last().and_then(|row| row.number)));
            }
            let mut ledger = lock(&self.ledger);
            ledger.note_taken(self.own, &marks, &effects);
            ledger.note_events(self.own, &stream, &events);
            for (new, number) in numbered.into_iter().rev() {
                let Target::Computer(id) = &new.target else { continue };
                let Some(receiver) = ledger.place(id.as_str()) else { continue };
                let command = new.command.as_deref().and_then(rows::command).unwrap_or_default();
                ledger.note_owed(self.own, NumberedRow { receiver, number, command });
            }
            // A run ends at its first objection, and a process that goes on might never rest.
            if ledger.objection.is_some() {
                self.life.die();
            }
        }
        Ok(())
    }
}

#[async_trait]
impl EventLog for WatchedLog {
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<AppendResult>, AppendError> {
        let of_rows: Vec<_> = batches.iter().map(BatchOfRows::of).collect();
        let events: usize = batches.iter().map(|batch| batch.events.len()).sum();
        let takes_rows = batches.iter().any(|batch| !batch.marks.is_empty());
        let operation = if takes_rows { "taking" } else { "appending" };
        self.life
            .through(operation, async {
                let appended = self.kept.append(batches).await?;
                lock(&self.ledger).stats.events += events as u64;
                let noted = self.note(of_rows).await;
                noted.map_err(|error| AppendError::Fatal(error.to_string()))?;
                Ok(appended)
            })
            .await
    }

    async fn erase_deleted(&self) -> Result<(), LogError> {
        self.kept.erase_deleted().await
    }

    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError> {
        self.kept.read(stream, after, limit).await
    }

    async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, LogError> {
        self.kept.messages_before(stream, before, limit).await
    }

    async fn load(
        &self,
        stream: &StreamId,
        version: u32,
        limit: usize,
    ) -> Result<StreamStart, LogError> {
        self.kept.load(stream, version, limit).await
    }

    async fn put_snapshot(&self, stream: &StreamId, snapshot: Snapshot) -> Result<bool, LogError> {
        self.life.through("keeping", self.kept.put_snapshot(stream, snapshot)).await
    }

    async fn find(&self, stream: &StreamId) -> Result<Option<ListedStream>, LogError> {
        self.kept.find(stream).await
    }

    async fn acquire(&self, stream: &StreamId, owner: &str) -> Result<Acquisition, LogError> {
        self.life.through("acquiring", self.kept.acquire(stream, owner)).await
    }

    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError> {
        self.kept.due(now).await
    }

    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        self.kept.next_wake().await
    }

    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError> {
        EventLog::list(&*self.kept, filter).await
    }

    async fn claim(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Claim>, LogError> {
        self.kept.claim(namespace, key, now).await
    }

    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError> {
        self.kept.claims(namespace, now).await
    }
}

#[async_trait]
impl Deliveries for WatchedLog {
    async fn heads(&self) -> Result<Vec<Delivery>, LogError> {
        self.kept.heads().await
    }

    async fn pending_deliveries(
        &self,
        target: &Target,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        self.kept.pending_deliveries(target, after, limit).await
    }

    async fn of_target(
        &self,
        target: &Target,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        self.kept.of_target(target, before, limit).await
    }

    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError> {
        self.kept.of_stream(stream).await
    }

    async fn advance(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<bool, LogError> {
        self.life
            .through("settling", async {
                let moved = self.kept.advance(id, from, to, evidence, lasting).await?;
                if moved && to == DeliveryState::Done {
                    self.note_done(id).await?;
                }
                Ok(moved)
            })
            .await
    }

    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError> {
        self.kept.tally().await
    }

    async fn owed(&self) -> Result<BTreeMap<Target, u64>, LogError> {
        self.kept.owed().await
    }
}

impl WatchedLog {
    async fn note_done(&self, id: u64) -> Result<(), LogError> {
        let ids = lock(&self.ledger).ids.clone();
        for (receiver, computer) in ids.iter().enumerate() {
            let target = Target::Computer(ComputerId::new(computer.to_string()));
            let found = self.kept.of_target(&target, Some(id + 1), 1).await?;
            let found = found.first().filter(|row| row.id == id);
            if let Some(number) = found.and_then(|row| row.number) {
                lock(&self.ledger).note_done(self.own, receiver, number);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl PostBook for WatchedLog {
    async fn through(&self, channel: &PostChannel) -> Result<u64, LogError> {
        self.kept.through(channel).await
    }

    async fn marks(&self, sender: &ComputerId) -> Result<Vec<(PostChannel, u64)>, LogError> {
        self.kept.marks(sender).await
    }

    async fn last_number(&self, computer: &ComputerId) -> Result<u64, LogError> {
        self.kept.last_number(computer).await
    }

    async fn forget(&self, computer: &ComputerId) -> Result<u64, LogError> {
        self.life
            .through("forgetting", async {
                let forgotten = self.kept.forget(computer).await?;
                let mut ledger = lock(&self.ledger);
                if let Some(receiver) = ledger.place(computer.as_str()) {
                    let own = self.own;
                    ledger.story.tell(|| format!("    c{own} forgets the rows for c{receiver}"));
                    ledger.owed[own].remove(&receiver);
                    ledger.turns.excuse(own, computer.as_str());
                }
                Ok(forgotten)
            })
            .await
    }

    async fn doubt_all(&self, why: &str) -> Result<(), LogError> {
        self.life
            .through("doubting", async {
                self.kept.doubt_all(why).await?;
                let mut ledger = lock(&self.ledger);
                let own = self.own;
                ledger.story.tell(|| format!("    c{own} doubts all rows"));
                ledger.owed[own].clear();
                ledger.turns.excuse_all(own);
                Ok(())
            })
            .await
    }
}
