//! The log in memory: the reference implementation, on which tests and the simulator run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Timestamp;

use crate::log_format::codec;
use crate::ports::{
    Acquisition, AppendError, AppendResult, Catalog, Claim, ClaimChange, Clock, DELETED, Delivery,
    DeliveryState, Epoch, EventLog, HeldApp, Lease, ListFilter, ListPage, ListedStream, LogError,
    NewDelivery, PAGE_BYTES_MAX, Page, PostChannel, SNAPSHOT_BEHIND_MAX, SNAPSHOT_BYTES_MAX,
    Session, SessionId, Snapshot, StreamBatch, StreamStart, SystemClock,
};

mod apps;
mod deliveries;
mod ledger;
mod marks;
mod posts;
mod principals;
mod search;
mod sessions;
mod upkeep;

const CLOSED: &str = "the log is closed";

/// A log that is lost when its value is dropped. In everything else it works like a durable log.
#[derive(Debug, Default)]
pub struct MemoryLog {
    tables: Mutex<Tables>,
    id: LogId,
}

/// An id that distinguishes this value from another with the same content.
#[derive(Debug)]
struct LogId(String);

impl Default for LogId {
    fn default() -> Self {
        Self(format!("{:016x}", RandomState::new().hash_one("log")))
    }
}

impl MemoryLog {
    /// Makes a log without streams.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the log this id, so that a simulated run can be repeated.
    pub fn with_id(self, id: String) -> Self {
        Self { id: LogId(id), ..self }
    }

    /// Returns a copy that has another id, like a restored backup.
    pub fn restored(&self) -> Self {
        Self { tables: Mutex::new(self.tables().clone()), id: LogId::default() }
    }

    /// Appends an event of a kind that this version does not know, like one that a newer version
    /// wrote. Does nothing if the stream has not begun.
    pub fn append_newer(&self, stream: &StreamId, ts: Timestamp, kind: &str) {
        if let Some(stream) = self.tables().streams.get_mut(stream).filter(|stream| stream.began())
        {
            stream.entries.push(Entry::Newer { ts, kind: kind.to_owned() });
        }
    }

    /// Gives the log's lease to another process, for tests. Other owners cannot acquire a stream
    /// until it expires on the [`SystemClock`].
    pub fn lease(&self, lease: Lease) {
        self.tables().lease = Some(lease);
    }

    /// Locks the tables for writing.
    fn to_write(&self) -> Result<MutexGuard<'_, Tables>, LogError> {
        let tables = self.tables();
        if tables.closed { Err(LogError::Fatal(CLOSED.into())) } else { Ok(tables) }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Debug, Default)]
struct Tables {
    closed: bool,
    lease: Option<Lease>,
    streams: HashMap<StreamId, Stream>,
    in_order: Vec<StreamId>,
    /// All events in the order of appending.
    appended: Vec<(StreamId, Seq)>,
    forgotten: BTreeSet<(StreamId, Seq)>,
    marks: BTreeMap<(ParticipantId, StreamId), Seq>,
    claims: BTreeMap<(String, String), Claim>,
    deliveries: Vec<Delivery>,
    posts: posts::PostTables,
    keys: principals::Keys,
    apps: BTreeMap<String, HeldApp>,
    ledger: ledger::Rows,
    sessions: BTreeMap<SessionId, Session>,
    listeners: BTreeSet<(SessionId, SessionId)>,
    rooms: BTreeSet<(SessionId, StreamId)>,
}

/// A stream. It may have a writer before it begins. Readers see it after its first event.
#[derive(Clone, Debug, Default)]
struct Stream {
    epoch: Epoch,
    entries: Vec<Entry>,
    catalog: Option<Catalog>,
    snapshot: Option<Snapshot>,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every entry is of the larger kind")]
enum Entry {
    Known(RecordedEvent),
    Newer {
        ts: Timestamp,
        kind: String,
    },
    /// An erased event of a deleted stream.
    Erased {
        ts: Timestamp,
    },
}

impl Entry {
    fn ts(&self) -> Timestamp {
        match self {
            Entry::Known(recorded) => recorded.ts,
            Entry::Newer { ts, .. } | Entry::Erased { ts } => *ts,
        }
    }

    /// Returns the size of the entry, as it counts in a page.
    fn weight(&self) -> usize {
        match self {
            Entry::Known(recorded) => codec::weight(&recorded.event),
            Entry::Newer { kind, .. } => kind.len(),
            Entry::Erased { .. } => 0,
        }
    }
}

impl Stream {
    fn began(&self) -> bool {
        !self.entries.is_empty()
    }

    fn head(&self) -> Seq {
        Seq(self.entries.len() as u64)
    }

    fn listed(&self, id: &StreamId) -> Option<ListedStream> {
        let last_ts = self.entries.last()?.ts();
        Some(ListedStream {
            stream: id.clone(),
            head: self.head(),
            last_ts,
            catalog: self.catalog.clone()?,
        })
    }

    /// Erases the words of an event, and drops the snapshot if it may hold them.
    fn erase(&mut self, seq: Seq) {
        self.snapshot.take_if(|snapshot| snapshot.head >= seq);
        let found = usize::try_from(seq.0)
            .ok()
            .and_then(|place| self.entries.get_mut(place.checked_sub(1)?));
        if let Some(Entry::Known(recorded)) = found {
            recorded.event.erase();
        }
    }

    fn is_deleted(&self) -> bool {
        self.catalog.as_ref().is_some_and(|catalog| catalog.kind == DELETED)
    }

    /// Erases everything but the event that deleted the stream.
    fn erase_all(&mut self) {
        self.snapshot = None;
        let earlier = self.entries.len().saturating_sub(1);
        self.entries[..earlier]
            .iter_mut()
            .for_each(|entry| *entry = Entry::Erased { ts: entry.ts() });
    }

    /// Returns at most `limit` messages before a position, the newest first. Returns fewer if they
    /// are larger than a page, but at least one.
    fn messages_before(&self, before: Seq, limit: usize) -> Vec<RecordedEvent> {
        let earlier = &self.entries[..self
            .entries
            .len()
            .min(usize::try_from(before.0.saturating_sub(1)).unwrap_or(usize::MAX))];
        let (mut messages, mut bytes) = (Vec::new(), 0);
        for entry in earlier.iter().rev() {
            let Entry::Known(recorded @ RecordedEvent { event: Event::Posted(_), .. }) = entry
            else {
                continue;
            };
            bytes += entry.weight();
            if messages.len() == limit || (bytes > PAGE_BYTES_MAX && !messages.is_empty()) {
                break;
            }
            messages.push(recorded.clone());
        }
        messages
    }

    /// True if an event after a position erases words at or before it.
    fn is_erased_after(&self, head: Seq) -> bool {
        let after = self.entries.iter().skip(usize::try_from(head.0).unwrap_or(usize::MAX));
        let known = after.filter_map(|entry| match entry {
            Entry::Known(recorded) => Some(&recorded.event),
            Entry::Newer { .. } | Entry::Erased { .. } => None,
        });
        known.flat_map(Event::erases).any(|seq| seq <= head)
    }

    /// Stores a snapshot, unless one of the reasons in [`EventLog::put_snapshot`] forbids it.
    /// Returns true if it was stored.
    fn put(&mut self, snapshot: Snapshot) -> bool {
        let behind = self.head().0.checked_sub(snapshot.head.0).filter(|_| snapshot.head > Seq(0));
        let fits = behind.is_some_and(|behind| behind <= SNAPSHOT_BEHIND_MAX)
            && snapshot.bytes.len() <= SNAPSHOT_BYTES_MAX;
        let newer = self
            .snapshot
            .as_ref()
            .is_none_or(|kept| kept.version != snapshot.version || kept.head < snapshot.head);
        let kept = fits && newer && !self.is_erased_after(snapshot.head);
        if kept {
            self.snapshot = Some(snapshot);
        }
        kept
    }

    /// Returns the page after a position: at most `limit` events, and fewer if they are larger than
    /// a page, but at least one. Leaves out erased events, and notes the first event of a newer
    /// version.
    fn page(&self, after: Seq, limit: usize) -> Page {
        let mut page = Page { through: after, ..Page::default() };
        let skip = usize::try_from(after.0).unwrap_or(usize::MAX);
        let mut bytes = 0;
        for entry in self.entries.iter().skip(skip).take(limit) {
            bytes += entry.weight();
            if bytes > PAGE_BYTES_MAX && page.through > after {
                break;
            }
            page.through = page.through.next();
            match entry {
                Entry::Known(recorded) => page.events.push(recorded.clone()),
                Entry::Erased { .. } => {}
                Entry::Newer { kind, .. } => {
                    page.newer.get_or_insert_with(|| (page.through, kind.clone()));
                }
            }
        }
        page
    }
}

/// The effects of an append, checked batch by batch before anything is changed.
struct Draft<'a> {
    tables: &'a Tables,
    newest: Option<Timestamp>,
    heads: HashMap<&'a StreamId, Seq>,
    claims: HashMap<(&'a str, &'a str), Option<&'a Claim>>,
    marks: HashMap<&'a PostChannel, u64>,
}

impl<'a> Draft<'a> {
    /// Checks that all batches can be appended together. Returns the head of each stream after its
    /// batch.
    fn check(tables: &'a Tables, batches: &'a [StreamBatch]) -> Result<Vec<Seq>, AppendError> {
        let newest =
            batches.iter().flat_map(|batch| &batch.events).map(|recorded| recorded.ts).max();
        let (heads, claims, marks) = <_>::default();
        let mut draft = Draft { tables, newest, heads, claims, marks };
        batches.iter().map(|batch| draft.admit(batch)).collect()
    }

    /// Checks one batch after those before it: its epoch, its position, its claims and its marks.
    /// Returns the head after it.
    fn admit(&mut self, batch: &'a StreamBatch) -> Result<Seq, AppendError> {
        let known = self.tables.streams.get(&batch.stream);
        if planted::has(Bug::NoEpochFencing) {
            return Ok(batch.events.last().map_or(batch.expected_head, |last| last.seq));
        }
        if known.map_or(Epoch(0), |stream| stream.epoch) != batch.epoch {
            return Err(AppendError::Fenced { stream: batch.stream.clone() });
        }
        let committed = known.map_or(Seq(0), Stream::head);
        let head = self.heads.get(&batch.stream).copied().unwrap_or(committed);
        let after = batch
            .follows(head)
            .ok_or_else(|| AppendError::Conflict { stream: batch.stream.clone(), head })?;
        self.heads.insert(&batch.stream, after);
        batch.claims.iter().try_for_each(|change| self.claim(&batch.stream, change))?;
        batch.marks.iter().try_for_each(|mark| self.mark(mark))?;
        Ok(after)
    }

    /// Checks that a claim to take is free or expired, and notes the change for the next batches. A
    /// release is ignored if another stream holds the claim.
    fn claim(&mut self, stream: &StreamId, change: &'a ClaimChange) -> Result<(), AppendError> {
        let (namespace, key) = match change {
            ClaimChange::Take(claim) => (claim.namespace.as_str(), claim.key.as_str()),
            ClaimChange::Release { namespace, key } => (namespace.as_str(), key.as_str()),
        };
        let committed = || self.tables.claims.get(&(namespace.to_owned(), key.to_owned()));
        let held = self.claims.get(&(namespace, key)).copied().unwrap_or_else(committed);
        match change {
            ClaimChange::Take(claim) => {
                let free = |held: &&Claim| {
                    planted::has(Bug::DuplicateClaim)
                        || self.newest.is_some_and(|now| held.has_lapsed(now))
                };
                if let Some(held) = held.filter(|held| !free(held)) {
                    return Err(AppendError::Claimed(Box::new(held.clone())));
                }
                self.claims.insert((namespace, key), Some(claim));
            }
            ClaimChange::Release { .. } => {
                self.claims.insert((namespace, key), held.filter(|held| held.stream != *stream));
            }
        }
        Ok(())
    }
}

impl StreamBatch {
    /// Returns the head after this batch, if it follows `head` without a gap. An empty batch cannot
    /// begin a stream.
    fn follows(&self, head: Seq) -> Option<Seq> {
        let begins_empty = head == Seq(0) && self.events.is_empty();
        let after = self.events.iter().try_fold(head, |last, recorded| {
            (recorded.seq == last.next()).then_some(recorded.seq)
        })?;
        (self.expected_head == head && !begins_empty).then_some(after)
    }
}

impl Claim {
    fn has_lapsed(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl Tables {
    /// Commits a batch. Returns the ids of its deliveries.
    fn commit(&mut self, batch: StreamBatch) -> Vec<u64> {
        for change in batch.claims {
            self.change(&batch.stream, change);
        }
        let deliveries =
            batch.deliveries.into_iter().map(|new| self.deliver(&batch.stream, new)).collect();
        self.posts.take(batch.marks);
        self.ledger.count(&batch.stream, &batch.charges);
        if batch.events.iter().any(|recorded| recorded.event.erases_all()) {
            self.let_go(&batch.stream);
        }
        let stream = self.streams.entry(batch.stream.clone()).or_default();
        if !stream.began() {
            self.in_order.push(batch.stream.clone());
        }
        self.appended
            .extend(batch.events.iter().map(|recorded| (batch.stream.clone(), recorded.seq)));
        for recorded in batch.events {
            let erased: Vec<Seq> = recorded.event.erases().collect();
            let erases_all = recorded.event.erases_all();
            stream.entries.push(Entry::Known(recorded));
            if erases_all {
                stream.erase_all();
            }
            erased.into_iter().for_each(|seq| stream.erase(seq));
        }
        stream.catalog = Some(batch.catalog);
        deliveries
    }

    /// Removes a deleted stream's claims, marks and rooms, and the commands in its deliveries.
    fn let_go(&mut self, stream: &StreamId) {
        self.claims.retain(|_, claim| claim.stream != *stream);
        self.marks.retain(|(_, marked), _| marked != stream);
        self.rooms.retain(|(_, room)| room != stream);
        let owed = self.deliveries.iter_mut().filter(|delivery| delivery.stream == *stream);
        owed.for_each(deliveries::let_go);
    }

    /// Returns a stream that has begun and was not deleted.
    fn readable(&self, id: &StreamId) -> Result<&Stream, LogError> {
        let found = self
            .streams
            .get(id)
            .filter(|stream| stream.began())
            .ok_or_else(|| LogError::NotFound(id.clone()))?;
        if found.is_deleted() { Err(LogError::Deleted(id.clone())) } else { Ok(found) }
    }

    /// Takes or releases a claim. A release is ignored if another stream holds the claim.
    fn change(&mut self, stream: &StreamId, change: ClaimChange) {
        match change {
            ClaimChange::Take(claim) => {
                self.claims.insert((claim.namespace.clone(), claim.key.clone()), claim);
            }
            ClaimChange::Release { namespace, key } => {
                let entry = (namespace, key);
                if self.claims.get(&entry).is_some_and(|held| held.stream == *stream) {
                    self.claims.remove(&entry);
                }
            }
        }
    }

    /// Adds a pending delivery. Returns its id.
    fn deliver(&mut self, stream: &StreamId, new: NewDelivery) -> u64 {
        let id = self.deliveries.len() as u64 + 1;
        if planted::has(Bug::NumberUsedAgain) {
            self.recount(&new.target);
        }
        let number = self.posts.next_number(&new.target);
        self.deliveries.push(Delivery {
            id,
            target: new.target,
            stream: stream.clone(),
            turn: new.turn,
            attempt: new.attempt,
            through_seq: new.through_seq,
            number,
            command: new.command,
            state: DeliveryState::Pending,
            evidence: String::new(),
        });
        id
    }

    fn find(&self, id: &StreamId) -> Option<ListedStream> {
        self.streams.get(id)?.listed(id)
    }

    fn catalogs(&self) -> impl Iterator<Item = (&StreamId, &Catalog)> {
        self.in_order.iter().filter_map(|id| Some((id, self.streams.get(id)?.catalog.as_ref()?)))
    }

    /// Returns a page of the streams that the filter selects, in the order of their creation.
    /// Deleted streams are left out.
    fn list(&self, filter: &ListFilter) -> ListPage {
        let mut page = ListPage::default();
        let after = filter.after.unwrap_or(0);
        let mut last = after;
        for (index, id) in
            self.in_order.iter().enumerate().skip(usize::try_from(after).unwrap_or(usize::MAX))
        {
            let wanted = |listed: &ListedStream| {
                filter.archived.is_none_or(|archived| listed.catalog.archived == archived)
                    && (!filter.marked || listed.catalog.is_marked())
                    && filter.kind.as_ref().is_none_or(|kind| listed.catalog.kind == *kind)
            };
            let Some(listed) =
                self.find(id).filter(wanted).filter(|listed| listed.catalog.kind != DELETED)
            else {
                continue;
            };
            if filter.limit.is_some_and(|limit| page.streams.len() >= limit) {
                page.next = Some(last);
                break;
            }
            last = index as u64 + 1;
            page.streams.push(listed);
        }
        page
    }
}

#[async_trait]
impl EventLog for MemoryLog {
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<AppendResult>, AppendError> {
        let mut tables = self.to_write().map_err(|_| AppendError::Fatal(CLOSED.into()))?;
        let heads = Draft::check(&tables, &batches)?;
        let appended = heads
            .into_iter()
            .zip(batches)
            .map(|(head, batch)| AppendResult { head, deliveries: tables.commit(batch) });
        Ok(appended.collect())
    }

    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError> {
        let tables = self.tables();
        Ok(tables.readable(stream)?.page(after, limit))
    }

    async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, LogError> {
        let tables = self.tables();
        Ok(tables.readable(stream)?.messages_before(before, limit))
    }

    async fn load(
        &self,
        stream: &StreamId,
        version: u32,
        limit: usize,
    ) -> Result<StreamStart, LogError> {
        let tables = self.tables();
        let found = tables.readable(stream)?;
        let snapshot = found.snapshot.clone().filter(|snapshot| snapshot.version == version);
        let after = snapshot.as_ref().map_or(Seq(0), |snapshot| snapshot.head);
        let kind = found.catalog.as_ref().map(|catalog| catalog.kind.clone()).unwrap_or_default();
        Ok(StreamStart { kind, snapshot, page: found.page(after, limit) })
    }

    async fn put_snapshot(&self, stream: &StreamId, snapshot: Snapshot) -> Result<bool, LogError> {
        Ok(self.to_write()?.streams.get_mut(stream).is_some_and(|stream| stream.put(snapshot)))
    }

    async fn find(&self, stream: &StreamId) -> Result<Option<ListedStream>, LogError> {
        let tables = self.tables();
        match tables.find(stream) {
            Some(_) => tables.readable(stream).map(|found| found.listed(stream)),
            None => Ok(None),
        }
    }

    /// Does nothing, because the append has erased their content already.
    async fn erase_deleted(&self) -> Result<(), LogError> {
        Ok(())
    }

    async fn acquire(&self, stream: &StreamId, owner: &str) -> Result<Acquisition, LogError> {
        let mut tables = self.to_write()?;
        if let Some(lease) = tables
            .lease
            .as_ref()
            .filter(|lease| lease.owner != owner && lease.until > SystemClock.now())
        {
            return Ok(Acquisition::Held(lease.clone()));
        }
        let stream = tables.streams.entry(stream.clone()).or_default();
        stream.epoch = Epoch(stream.epoch.0 + 1);
        Ok(Acquisition::Epoch(stream.epoch))
    }

    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError> {
        let tables = self.tables();
        let is_due = |catalog: &Catalog| {
            catalog.has_duties || catalog.next_wake.is_some_and(|wake| wake <= now)
        };
        Ok(tables
            .catalogs()
            .filter(|(_, catalog)| is_due(catalog))
            .map(|(id, _)| id.clone())
            .collect())
    }

    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        Ok(self.tables().catalogs().filter_map(|(_, catalog)| catalog.next_wake).min())
    }

    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError> {
        Ok(self.tables().list(&filter))
    }

    async fn claim(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Claim>, LogError> {
        let tables = self.tables();
        let held = tables.claims.get(&(namespace.to_owned(), key.to_owned()));
        Ok(held.filter(|held| !held.has_lapsed(now)).cloned())
    }

    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError> {
        let tables = self.tables();
        let wanted = |claim: &&Claim| claim.namespace == namespace && !claim.has_lapsed(now);
        Ok(tables.claims.values().filter(wanted).cloned().collect())
    }
}
