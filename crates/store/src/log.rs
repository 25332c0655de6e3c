//! The log port on SQLite: appends, pages of events, claims and epochs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use async_trait::async_trait;
use moothall_engine::access::AuditEntry;
use moothall_engine::ports::{
    Acquisition, AppendError, AppendResult, Claim, CopyError, Deliveries, Delivery, DeliveryState,
    Durability, EventLog, Hits, Ledger, ListFilter, ListPage, ListedStream, LogError, Page,
    ReadMarks, Search, SearchRequest, SessionBook, Snapshot, StreamBatch, StreamStart, Target,
    UnreadCount, Upkeep, UsageSum, UsageWanted, Verification,
};
use moothall_engine::sessions::{Session, SessionId};
use moothall_kernel::budget::{BudgetOwner, Charge, Raise};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::errors::{Refusal, StoreFault, failed};
use crate::folder::{Folder, LOG_FILE, OpenError};
use crate::index::{ErasedPart, Index, Wakeup};
use crate::reader::{self, Readers};
use crate::writer::{self, Kind, Request};
use crate::{
    append, audit, backup, deletion, identity, ledger, loss, marks, reserve, schema, sessions,
    snapshots, verify,
};

/// Maximum number of requests that wait for the writer. The next one fails with
/// [`AppendError::Overloaded`].
const QUEUE: usize = 4096;

const CLOSED: &str = "the log is closed";

/// The log on disk. Dropping it waits until the writer has finished all requests.
#[derive(Debug)]
pub struct SqliteLog {
    dir: PathBuf,
    queue: Mutex<Option<mpsc::Sender<Request>>>,
    synced: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
    id: String,
    readers: Arc<Readers>,
    /// `None` if the index could not be opened. The log works without it.
    index: Option<Arc<Index>>,
}

impl SqliteLog {
    /// Opens the log in a folder and creates the folder if it is missing. Only its owner can read
    /// it (folder 0700, files 0600). It stays locked until the log is closed or dropped.
    ///
    /// # Errors
    /// [`OpenError`]: another server uses the folder, a newer version wrote the log, acknowledged
    /// events are missing, or the folder or file cannot be used.
    pub fn open(dir: &Path) -> Result<SqliteLog, OpenError> {
        Self::open_with_queue(dir, QUEUE)
    }

    /// Opens the log as [`SqliteLog::open`] does, with room for this number of waiting requests. It
    /// opens even without a usable index, and with too little free space for the reserve.
    pub(crate) fn open_with_queue(dir: &Path, queue: usize) -> Result<SqliteLog, OpenError> {
        let folder = Folder::take(dir)?;
        // Check before SQLite opens the file: it would silently drop the frames after a damaged
        // one.
        loss::refuse(dir)?;
        let path = folder.log_file()?;
        let (conn, id) = with_room(dir, || open_file(dir, &path))?;
        if !reserve::keep(dir) {
            tracing::warn!(
                "the disk is full: reads work, and writes resume by themselves when there is space"
            );
        }
        folder.sync()?;
        let wakeup = Arc::new(Wakeup::default());
        let index = Index::start(dir, &path, wakeup.clone());
        let started = writer::start(conn, folder, queue, wakeup);
        let (queue, writer, synced) =
            started.map_err(|source| OpenError::Io { path: path.clone(), source })?;
        let index = index.inspect_err(
            |error| tracing::warn!(%error, "search is not available: its index cannot be opened"),
        );
        let index = index.ok().map(Arc::new);
        Ok(Self {
            dir: dir.to_owned(),
            queue: Mutex::new(Some(queue)),
            synced,
            writer: Some(writer),
            id,
            readers: Arc::new(Readers::new(path)),
            index,
        })
    }

    /// Returns the number of synced commits since the log was opened. The sync is the slow part of
    /// a commit.
    pub fn synced(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    fn queue(&self) -> Result<mpsc::Sender<Request>, StoreFault> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.clone().ok_or_else(|| StoreFault::Fatal(CLOSED.into()))
    }

    /// Runs a synced write. Waits for room in the queue.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, LogError> {
        self.write_as(Kind::Synced, work).await
    }

    /// Runs a write with a requirement on its commit. Waits for room in the queue.
    pub(crate) async fn write_as<T: Send + 'static>(
        &self,
        kind: Kind,
        work: impl Fn(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, LogError> {
        let (request, result) = writer::request(kind, work);
        let sent = self.queue()?.send(request).await;
        sent.map_err(|_| LogError::Failed(CLOSED.into()))?;
        result.await.unwrap_or_else(|_| Err(LogError::Failed(CLOSED.into())))
    }

    fn opened_index(&self) -> Result<&Index, LogError> {
        self.index.as_deref().ok_or_else(|| {
            LogError::Failed(
                "the search index could not be opened; the server's log says why".into(),
            )
        })
    }

    pub(crate) fn readers(&self) -> &Arc<Readers> {
        &self.readers
    }

    pub(crate) async fn read_rows<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LogError> {
        self.readers.read(|conn| query(conn).map_err(failed)).await
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        // The index stops before the writer ends and releases the folder to another server, as in
        // `close`.
        if let Some(index) = &self.index {
            index.stop();
        }
        // The writer ends once its last sender is dropped, so `join` would never return without
        // this.
        self.queue.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has closed the reply channels, so no caller waits.
            drop(writer.join());
        }
    }
}

/// Opens the file for its one writer, in this version's format. Returns the id of the log too.
fn open_file(dir: &Path, path: &Path) -> Result<(Connection, String), OpenError> {
    let conn = schema::open_writer(path).map_err(|error| unusable(dir, &error))?;
    let found = schema::prepare(&conn).map_err(|error| unusable(dir, &error))?;
    if found > schema::FORMAT {
        return Err(OpenError::Newer { dir: dir.to_owned(), found, known: schema::FORMAT });
    }
    let id = identity::of(&conn, dir).map_err(|error| unusable(dir, &error))?;
    schema::settle_wal(&conn).map_err(|error| unusable(dir, &error))?;
    Ok((conn, id))
}

/// Converts an error of SQLite on opening. Only `Full` may go away by itself.
pub(crate) fn unusable(dir: &Path, error: &rusqlite::Error) -> OpenError {
    match StoreFault::of(error) {
        StoreFault::Full => OpenError::Full { dir: dir.to_owned() },
        StoreFault::Busy | StoreFault::Unwritten(_) | StoreFault::Fatal(_) => {
            OpenError::Unusable { path: dir.join(LOG_FILE), reason: error.to_string() }
        }
    }
}

/// Opens something. If the disk is full, releases the reserve and tries once more.
pub(crate) fn with_room<T>(
    dir: &Path,
    open: impl Fn() -> Result<T, OpenError>,
) -> Result<T, OpenError> {
    match open() {
        Err(OpenError::Full { .. }) if reserve::spend(dir) => open(),
        opened => opened,
    }
}

#[async_trait]
impl EventLog for SqliteLog {
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<AppendResult>, AppendError> {
        let kind = if append::erases(&batches) { Kind::Erases } else { Kind::Synced };
        let (request, result) = writer::request(kind, move |conn| append::append(conn, &batches));
        self.queue()?.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) => AppendError::Overloaded,
            TrySendError::Closed(_) => AppendError::Fatal(CLOSED.into()),
        })?;
        result.await.unwrap_or_else(|_| Err(AppendError::Fatal(CLOSED.into())))
    }

    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError> {
        let stream = stream.clone();
        self.readers.read(move |conn| reader::page(conn, &stream, after, limit)).await
    }

    async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, LogError> {
        let stream = stream.clone();
        self.readers.read(move |conn| reader::messages_before(conn, &stream, before, limit)).await
    }

    async fn load(
        &self,
        stream: &StreamId,
        version: u32,
        limit: usize,
    ) -> Result<StreamStart, LogError> {
        let stream = stream.clone();
        self.readers.read(move |conn| snapshots::load(conn, &stream, version, limit)).await
    }

    async fn put_snapshot(&self, stream: &StreamId, snapshot: Snapshot) -> Result<bool, LogError> {
        let stream = stream.clone();
        self.write_as(Kind::Written, move |conn| snapshots::put(conn, &stream, &snapshot)).await
    }

    async fn find(&self, stream: &StreamId) -> Result<Option<ListedStream>, LogError> {
        let stream = stream.clone();
        let found = self.read_rows(move |conn| reader::find(conn, &stream)).await?;
        found
            .as_ref()
            .map_or(Ok(()), |listed| deletion::refuse(&listed.stream, &listed.catalog.kind))?;
        Ok(found)
    }

    async fn erase_deleted(&self) -> Result<(), LogError> {
        if !self.read_rows(deletion::is_left).await? {
            return Ok(());
        }
        while self.write_as(Kind::Written, deletion::erase_some).await? {}
        // Overwritten content may still be in the write-ahead log.
        self.write_as(Kind::Erases, |_| Ok(())).await
    }

    /// Returns the next epoch. The lock of the folder is the lease, and this process holds it.
    async fn acquire(&self, stream: &StreamId, _owner: &str) -> Result<Acquisition, LogError> {
        let stream = stream.clone();
        self.write(move |conn| append::acquire(conn, &stream)).await.map(Acquisition::Epoch)
    }

    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError> {
        self.read_rows(move |conn| reader::due(conn, now)).await
    }

    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        self.read_rows(reader::next_wake).await
    }

    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError> {
        self.read_rows(move |conn| reader::list(conn, &filter)).await
    }

    async fn claim(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Claim>, LogError> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.read_rows(move |conn| reader::claim(conn, &namespace, &key, now)).await
    }

    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError> {
        let namespace = namespace.to_owned();
        self.read_rows(move |conn| reader::claims(conn, &namespace, now)).await
    }

    fn waiting(&self) -> usize {
        self.queue().map_or(0, |queue| queue.max_capacity() - queue.capacity())
    }
}

#[async_trait]
impl Ledger for SqliteLog {
    async fn charged_since(&self, hour: Timestamp) -> Result<Vec<Charge>, LogError> {
        self.read_rows(move |conn| ledger::charged_since(conn, hour)).await
    }

    async fn used(&self, wanted: &UsageWanted) -> Result<Vec<UsageSum>, LogError> {
        let wanted = wanted.clone();
        self.read_rows(move |conn| ledger::used(conn, &wanted)).await
    }

    /// Stores the raise and its entry in the audit record in one write.
    async fn keep_raise(
        &self,
        owner: &BudgetOwner,
        raise: &Raise,
        entry: &AuditEntry,
    ) -> Result<(), LogError> {
        let owner =
            serde_json::to_string(owner).map_err(|error| LogError::Failed(error.to_string()))?;
        let (raise, entry) = (*raise, entry.clone());
        self.write(move |conn| {
            ledger::keep_raise(conn, &owner, &raise).and_then(|()| audit::record(conn, &entry))
        })
        .await
    }

    async fn raises(&self, now: Timestamp) -> Result<Vec<(BudgetOwner, Raise)>, LogError> {
        self.read_rows(move |conn| ledger::raises(conn, now)).await
    }

    async fn uncounted(&self, limit: usize) -> Result<Vec<(StreamId, Seq)>, LogError> {
        self.read_rows(move |conn| ledger::uncounted(conn, limit)).await
    }

    async fn count(&self, stream: &StreamId, charges: Vec<Charge>) -> Result<(), LogError> {
        let stream = stream.clone();
        self.write(move |conn| ledger::count_old(conn, &stream, &charges)).await
    }
}

#[async_trait]
impl ReadMarks for SqliteLog {
    /// Returns the mark after reading up to `seq`, which never moves back. Writes only if it moves.
    async fn mark(
        &self,
        reader: &ParticipantId,
        stream: &StreamId,
        seq: Seq,
    ) -> Result<Seq, LogError> {
        let (by, id) = (reader.clone(), stream.clone());
        let place = self.read_rows(move |conn| marks::place(conn, &by, &id, seq)).await?;
        let Some((now, then)) = place else {
            let id = stream.clone();
            return Err(self.readers.read(move |conn| Ok(deletion::absent(conn, &id))).await?);
        };
        // Readers report their position again and again; only a change is worth a commit.
        if now == then {
            return Ok(now);
        }
        let (by, id) = (reader.clone(), stream.clone());
        self.write(move |conn| marks::advance(conn, &by, &id, then)).await
    }

    async fn unread(
        &self,
        reader: &ParticipantId,
        streams: &[StreamId],
        most: usize,
    ) -> Result<Vec<UnreadCount>, LogError> {
        let (reader, streams) = (reader.clone(), streams.to_vec());
        self.read_rows(move |conn| marks::unread(conn, &reader, &streams, most)).await
    }
}

#[async_trait]
impl SessionBook for SqliteLog {
    async fn keep(&self, session: &Session) -> Result<(), LogError> {
        let row =
            serde_json::to_string(session).map_err(|error| LogError::Failed(error.to_string()))?;
        let id = session.id.clone();
        self.write(move |conn| sessions::keep(conn, &id, &row)).await
    }

    async fn all(&self) -> Result<Vec<Session>, LogError> {
        self.read_rows(sessions::all).await
    }

    async fn listen(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError> {
        let (target, caller) = (target.clone(), caller.clone());
        self.write(move |conn| sessions::listen(conn, &target, &caller)).await
    }

    async fn listeners(&self, target: &SessionId) -> Result<Vec<SessionId>, LogError> {
        let target = target.clone();
        self.read_rows(move |conn| sessions::listeners(conn, &target)).await
    }

    async fn unlisten(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError> {
        let (target, caller) = (target.clone(), caller.clone());
        self.write(move |conn| sessions::unlisten(conn, &target, &caller)).await
    }

    async fn enter(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError> {
        let (session, room) = (session.clone(), room.clone());
        self.write(move |conn| sessions::enter(conn, &session, &room)).await
    }

    async fn leave(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError> {
        let (session, room) = (session.clone(), room.clone());
        self.write(move |conn| sessions::leave(conn, &session, &room)).await
    }

    async fn rooms(&self, session: &SessionId) -> Result<Vec<StreamId>, LogError> {
        let session = session.clone();
        self.read_rows(move |conn| sessions::rooms(conn, &session)).await
    }
}

#[async_trait]
impl Search for SqliteLog {
    async fn search(
        &self,
        wanted: &SearchRequest,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, LogError> {
        self.opened_index()?.search(&self.readers, wanted, limit, cursor).await
    }

    async fn forget(&self, stream: &StreamId, seq: Seq) -> Result<(), LogError> {
        self.opened_index()?.forget(&self.readers, stream, ErasedPart::Event(seq)).await
    }

    async fn forget_stream(&self, stream: &StreamId) -> Result<(), LogError> {
        self.opened_index()?.forget(&self.readers, stream, ErasedPart::Stream).await
    }
}

#[async_trait]
impl Deliveries for SqliteLog {
    async fn heads(&self) -> Result<Vec<Delivery>, LogError> {
        self.read_rows(reader::heads).await
    }

    async fn pending_deliveries(
        &self,
        target: &Target,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        let target = target.to_string();
        self.read_rows(move |conn| reader::pending_deliveries(conn, &target, after, limit)).await
    }

    async fn of_target(
        &self,
        target: &Target,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        let target = target.to_string();
        self.read_rows(move |conn| reader::of_target(conn, &target, before, limit)).await
    }

    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError> {
        let stream = stream.clone();
        self.read_rows(move |conn| reader::of_stream(conn, &stream)).await
    }

    /// Sends the change to the writer. [`Durability::Written`] does not wait for a sync.
    async fn advance(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<bool, LogError> {
        let (from, evidence) = (from.to_vec(), evidence.to_owned());
        let kind = match lasting {
            Durability::Synced => Kind::Synced,
            Durability::Written => Kind::Written,
        };
        self.write_as(kind, move |conn| append::advance(conn, id, &from, to, &evidence)).await
    }

    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError> {
        self.read_rows(reader::tally).await
    }

    async fn owed(&self) -> Result<BTreeMap<Target, u64>, LogError> {
        self.read_rows(reader::owed).await
    }
}

#[async_trait]
impl Upkeep for SqliteLog {
    fn log_id(&self) -> &str {
        &self.id
    }

    async fn verify(&self) -> Verification {
        verify::walk_all(&self.readers).await
    }

    async fn backup(&self, dest: &Path) -> Result<Verification, CopyError> {
        backup::backup(&self.dir, dest).await.map_err(|error| CopyError::Failed(error.to_string()))
    }

    /// Moves the WAL into the one file and releases the folder.
    async fn close(&self) -> Result<(), LogError> {
        let Ok(queue) = self.queue() else { return Ok(()) };
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(index) = self.index.clone() {
            // The index must be finished before another server can take the folder.
            drop(tokio::task::spawn_blocking(move || index.stop()).await);
        }
        self.readers.close();
        let (reply, closed) = oneshot::channel();
        if queue.send(Request::Close(reply)).await.is_err() {
            return Err(LogError::Failed(CLOSED.into()));
        }
        closed
            .await
            .unwrap_or_else(|_| Err(StoreFault::Fatal(CLOSED.into())))
            .map_err(LogError::from)
    }
}
