//! The one thread that writes. It takes all waiting requests, runs them in one transaction, and
//! commits once. Several requests have a savepoint each, so that a rejected one leaves no changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use moothall_engine::crash;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::errors::{Refusal, StoreFault, judged};
use crate::folder::Folder;
use crate::index::Wakeup;
use crate::reserve;
use crate::schema::PATIENCE;

/// Pages in the WAL that make a checkpoint worthwhile.
const CHECKPOINT_PAGES: u32 = 1000;
/// Pages in the WAL at which a checkpoint blocks readers for a moment to truncate the WAL.
/// Otherwise the WAL would grow for as long as readers overlap.
const RESET_PAGES: u32 = 16_000;

/// A request to the writer.
pub(crate) enum Request {
    /// Writes something, in one commit with all other waiting writes.
    Write(Box<dyn Write>),
    /// Commits the waiting writes and ends.
    Close(CloseReply),
}

/// Channel for the result of closing the log.
pub(crate) type CloseReply = oneshot::Sender<Result<(), StoreFault>>;

/// A write and the channel for its result.
pub(crate) trait Write: Send {
    /// Runs inside the open transaction, and again if that transaction was rolled back. Returns
    /// true if its changes are to be committed.
    fn decide(&mut self, conn: &Connection) -> Result<bool, StoreFault>;
    /// Sends the result, after the commit.
    fn tell(self: Box<Self>);
    /// Sends the failure of the transaction. A rejected write gets it too: the rejection may rest
    /// on another write of the group that was rolled back.
    fn undo(self: Box<Self>, trouble: &StoreFault);
    /// Returns what the write requires of its commit.
    fn kind(&self) -> Kind;
}

/// Requirement of a write on its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Synced before the reply.
    Synced,
    /// Synced before the reply. The write erases words. Before the reply, the writer also tries to
    /// remove them from the WAL. If a reader is using the WAL, it removes them later.
    Erases,
    /// Written. The next synced commit makes it durable.
    Written,
}

struct PendingWrite<T, E, F> {
    work: F,
    kind: Kind,
    decided: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Write for PendingWrite<T, E, F>
where
    T: Send,
    E: Send + From<Refusal>,
    F: Send + Fn(&Connection) -> Result<T, Refusal>,
{
    fn decide(&mut self, conn: &Connection) -> Result<bool, StoreFault> {
        let result = (self.work)(conn);
        let verdict = match &result {
            Ok(_) => Ok(true),
            Err(Refusal::Answer(_)) => Ok(false),
            Err(Refusal::StoreFault(trouble)) => Err(trouble.clone()),
        };
        self.decided = Some(result.map_err(E::from));
        verdict
    }

    fn tell(self: Box<Self>) {
        // The caller may have gone; the write stands.
        if let Some(decided) = self.decided {
            drop(self.reply.send(decided));
        }
    }

    fn undo(self: Box<Self>, trouble: &StoreFault) {
        drop(self.reply.send(Err(Refusal::StoreFault(trouble.clone()).into())));
    }

    fn kind(&self) -> Kind {
        self.kind
    }
}

/// Returns a write request, and the receiver of its result.
pub(crate) fn request<T, E>(
    kind: Kind,
    work: impl Fn(&Connection) -> Result<T, Refusal> + Send + 'static,
) -> (Request, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: Send + From<Refusal> + 'static,
{
    let (reply, result) = oneshot::channel();
    (Request::Write(Box::new(PendingWrite { work, kind, decided: None, reply })), result)
}

/// Starts the thread. It ends on `Close` or when all senders are dropped, and then releases the
/// folder.
pub(crate) fn start(
    mut conn: Connection,
    folder: Folder,
    queue: usize,
    wakeup: Arc<Wakeup>,
) -> std::io::Result<(mpsc::Sender<Request>, JoinHandle<()>, Arc<AtomicU64>)> {
    let (sender, receiver) = mpsc::channel(queue);
    let wal_pages = Arc::new(AtomicU32::new(0));
    let seen = wal_pages.clone();
    let hook = move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
        seen.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    };
    conn.wal_hook(Some(hook)).map_err(std::io::Error::other)?;
    let synced = Arc::<AtomicU64>::default();
    let (syncs, counted) = (true, synced.clone());
    let writer = Writer {
        conn,
        queue: receiver,
        wakeup,
        wal_pages,
        checkpointed: 0,
        residue: false,
        failed: None,
        folder,
        syncs,
        counted,
    };
    let thread = thread::Builder::new().name("log-writer".into()).spawn(move || writer.run())?;
    Ok((sender, thread, synced))
}

struct Writer {
    conn: Connection,
    queue: mpsc::Receiver<Request>,
    /// Wakes the indexer after each commit and its replies.
    wakeup: Arc<Wakeup>,
    /// Pages in the WAL after the last commit.
    wal_pages: Arc<AtomicU32>,
    /// Pages in the WAL at the last checkpoint.
    checkpointed: u32,
    /// True if erased words are still in the WAL because a reader was using it.
    residue: bool,
    /// Set when the log can no longer be trusted to write, and never unset.
    failed: Option<StoreFault>,
    folder: Folder,
    /// True if the connection syncs its commits now.
    syncs: bool,
    /// Number of synced commits.
    counted: Arc<AtomicU64>,
}

impl Writer {
    /// Carries out requests until `Close` comes or all senders are gone. Each round takes all
    /// waiting requests, answers them, and then makes a checkpoint if one is due.
    fn run(mut self) {
        while let Some(first) = self.queue.blocking_recv() {
            let (writes, close) = self.gather(first);
            if !writes.is_empty() {
                self.write(writes);
                self.wakeup.ring();
            }
            if let Some(reply) = close {
                let closed = self.finish();
                // Close the file and release the folder before the reply, so that the caller can
                // reopen it.
                drop(self);
                drop(reply.send(closed));
                return;
            }
            self.checkpoint_if_due();
        }
        if let Err(trouble) = self.finish() {
            tracing::error!(?trouble, "the log could not be closed cleanly");
        }
    }

    /// Takes the waiting requests, up to the queue's capacity or a `Close`.
    fn gather(&mut self, first: Request) -> (Vec<Box<dyn Write>>, Option<CloseReply>) {
        let mut writes = Vec::new();
        let mut next = Some(first);
        while let Some(request) = next {
            match request {
                Request::Write(write) => writes.push(write),
                Request::Close(reply) => return (writes, Some(reply)),
            }
            let room = writes.len() < self.queue.max_capacity();
            next = if room { self.queue.try_recv().ok() } else { None };
        }
        (writes, None)
    }

    /// Commits a group and sends the results. If the disk is full, SQLite rolls the whole group
    /// back. Then each half is tried alone, so that only the write that is too large fails.
    fn write(&mut self, mut writes: Vec<Box<dyn Write>>) {
        match self.commit(&mut writes).map_err(|trouble| judged(trouble, self.folder.path())) {
            Ok(()) => {
                if writes.iter().any(|write| write.kind() == Kind::Erases) {
                    self.residue = true;
                    self.clear_residue();
                }
                writes.into_iter().for_each(Write::tell);
            }
            Err(StoreFault::Full) if writes.len() > 1 => {
                self.abandon(&StoreFault::Full);
                let later = writes.split_off(writes.len() / 2);
                self.write(writes);
                self.write(later);
            }
            Err(trouble) => {
                self.abandon(&trouble);
                writes.into_iter().for_each(|write| write.undo(&trouble));
            }
        }
    }

    /// Runs the writes in one transaction and commits it. If all are [`Kind::Written`], the commit
    /// is not synced. After an error the transaction may be open still: [`Writer::abandon`] ends
    /// it.
    fn commit(&mut self, writes: &mut [Box<dyn Write>]) -> Result<(), StoreFault> {
        if let Some(trouble) = &self.failed {
            return Err(trouble.clone());
        }
        if let Some(pages) = crash::pages_max() {
            let set =
                self.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()));
            set.map_err(|error| StoreFault::of(&error))?;
        }
        self.sync_commits(writes.iter().any(|write| write.kind() != Kind::Written))?;
        self.execute("BEGIN IMMEDIATE")?;
        self.decide(writes)?;
        crash::point("before_commit");
        self.execute("COMMIT")?;
        self.counted.fetch_add(u64::from(self.syncs), Ordering::Relaxed);
        crash::point("after_commit");
        Ok(())
    }

    /// Turns the syncing of commits on or off. A sync also covers all earlier unsynced commits.
    fn sync_commits(&mut self, on: bool) -> Result<(), StoreFault> {
        if self.syncs != on {
            let set =
                self.conn.pragma_update(None, "synchronous", if on { "full" } else { "normal" });
            set.map_err(|error| StoreFault::of(&error))?;
            self.syncs = on;
        }
        Ok(())
    }

    /// Runs each of several writes in its own savepoint. A single write needs none, because the
    /// transaction holds nothing else.
    fn decide(&self, writes: &mut [Box<dyn Write>]) -> Result<(), StoreFault> {
        if let [write] = writes {
            if !write.decide(&self.conn)? {
                self.execute("ROLLBACK")?;
                // `commit` ends with COMMIT, which needs an open transaction, even an empty one.
                self.execute("BEGIN IMMEDIATE")?;
            }
            return Ok(());
        }
        for write in writes {
            self.execute("SAVEPOINT request")?;
            if !write.decide(&self.conn)? {
                self.execute("ROLLBACK TO request")?;
            }
            self.execute("RELEASE request")?;
        }
        Ok(())
    }

    /// Rolls a failed transaction back. After a fault that is neither `Full` nor `Busy`, or if the
    /// rollback fails, the writer accepts no more writes.
    fn abandon(&mut self, trouble: &StoreFault) {
        // After some errors, such as a full disk, SQLite itself has rolled back already.
        let rolled_back = if self.conn.is_autocommit() { Ok(()) } else { self.execute("ROLLBACK") };
        let fatal = match (trouble, rolled_back) {
            (StoreFault::Fatal(_) | StoreFault::Unwritten(_), _) => Some(trouble.clone()),
            (StoreFault::Full | StoreFault::Busy, Err(failure)) => Some(failure),
            (StoreFault::Full | StoreFault::Busy, Ok(())) => None,
        };
        if let Some(trouble) = fatal {
            self.fail(trouble);
        }
    }

    fn fail(&mut self, trouble: StoreFault) {
        if self.failed.is_none() {
            tracing::error!(?trouble, "the log accepts no more writes");
            self.failed = Some(trouble);
        }
    }

    /// Moves the WAL into the file from time to time, after the replies.
    fn checkpoint_if_due(&mut self) {
        if self.residue && self.failed.is_none() {
            // The first attempt has already waited for readers. Later attempts do not wait.
            let set = |patience| self.conn.busy_timeout(patience).is_ok();
            if set(Duration::ZERO) {
                self.clear_residue();
            }
            let _ = self.conn.busy_timeout(PATIENCE);
        }
        let pages = self.wal_pages.load(Ordering::Relaxed);
        // SQLite begins the WAL anew after a complete checkpoint, so it has fewer pages now.
        if pages < self.checkpointed {
            self.checkpointed = 0;
        }
        if self.failed.is_some() || pages < self.checkpointed + CHECKPOINT_PAGES {
            return;
        }
        self.checkpointed = pages;
        let mode = if pages >= RESET_PAGES { "TRUNCATE" } else { "PASSIVE" };
        if let Err(trouble) = self.checkpoint(mode) {
            self.fail(trouble);
        }
        reserve::keep(self.folder.path());
    }

    /// Runs a checkpoint. Pages that a full disk or a reader keeps from being moved stay in the
    /// WAL.
    fn checkpoint(&self, mode: &str) -> Result<(), StoreFault> {
        crash::point("before_checkpoint");
        let done = self.conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
        crash::point("after_checkpoint");
        match done.map_err(|error| judged(StoreFault::of(&error), self.folder.path())) {
            Ok(()) | Err(StoreFault::Full | StoreFault::Busy) => Ok(()),
            Err(fatal @ (StoreFault::Fatal(_) | StoreFault::Unwritten(_))) => Err(fatal),
        }
    }

    /// Truncates the WAL, so that erased words are gone from it too.
    fn clear_residue(&mut self) {
        let cut = self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(!row.get::<_, bool>(0)?));
        match cut.map_err(|error| judged(StoreFault::of(&error), self.folder.path())) {
            Ok(true) => self.residue = false,
            Ok(false) | Err(StoreFault::Full | StoreFault::Busy) => {
                tracing::warn!(
                    "erased text stays in the write-ahead log until all its readers are done"
                );
            }
            Err(fatal @ (StoreFault::Fatal(_) | StoreFault::Unwritten(_))) => self.fail(fatal),
        }
    }

    fn finish(&self) -> Result<(), StoreFault> {
        match &self.failed {
            Some(trouble) => Err(trouble.clone()),
            None => self.checkpoint("TRUNCATE"),
        }
    }

    fn execute(&self, sql: &str) -> Result<(), StoreFault> {
        let done = self.conn.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(|error| StoreFault::of(&error))
    }
}
