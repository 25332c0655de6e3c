//! A computer: its folder and its log outlive its processes.

use std::sync::Arc;

use moothall_computers::bridge::Computers;
use moothall_computers::id::ComputerId;
use moothall_computers::invitation::Pair;
use moothall_computers::memory_post::MemoryServer;
use moothall_computers::pairs::{OwnComputer, Pairs};
use moothall_computers::post::Post;
use moothall_engine::MemoryLog;
use moothall_engine::answers::Idempotency;
use moothall_engine::hall::{Hall, HallError, HallParts};
use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::{Clock, Deliveries as _, PostBook as _, PostChannel, Target};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::StreamId;
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use tempfile::TempDir;
use tokio::time::Instant;

use super::super::world::DAWN;
use super::ledger::{OwedRows, SharedLedger, lock};
use super::life::Life;
use super::log::WatchedLog;
use super::post::WatchedPost;
use super::sessions::OneSession;

/// A computer.
pub(super) struct SimComputer {
    pub(super) place: usize,
    pub(super) id: ComputerId,
    folder: TempDir,
    pub(super) log: Arc<MemoryLog>,
    pub(super) process: Option<Process>,
    /// An earlier state of the log, with the rows that it owed.
    backup: Option<(MemoryLog, OwedRows)>,
    server: Arc<MemoryServer>,
    ledger: SharedLedger,
    requests: u64,
}

/// A process of a computer.
pub(super) struct Process {
    pub(super) life: Arc<Life>,
    hall: Hall,
    pub(super) computers: Computers,
    /// The conversation that owes rows.
    stream: StreamId,
}

/// The clock of a run.
struct SimClock(Instant);

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let millis = i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(DAWN + millis)
    }
}

/// Returns the name of a computer.
pub(super) fn name(place: usize) -> String {
    format!("c{place}")
}

/// Returns the id of a computer as the log names it.
fn kernel_id(id: ComputerId) -> moothall_kernel::ids::ComputerId {
    moothall_kernel::ids::ComputerId::new(id.to_string())
}

/// Returns the key of a request that takes effect once.
fn once(key: String) -> Idempotency {
    Idempotency { principal: "simulator".into(), key, fingerprint: String::new() }
}

impl SimComputer {
    pub(super) fn new(place: usize, server: Arc<MemoryServer>, ledger: SharedLedger) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("a folder: {error}"));
        let id = lock(&ledger).ids[place];
        let (log, process, backup) = <_>::default();
        let computer =
            Self { place, id, folder, log, process, backup, server, ledger, requests: 0 };
        let parsed = (name(place).parse().ok(), "redis://127.0.0.1".parse().ok());
        if let (Some(name), Some(redis)) = parsed {
            let _ =
                Pairs::create(computer.folder.path(), OwnComputer { id, name, redis, ca: None });
        }
        computer
    }

    /// Returns the book of pairs, as it is in the folder.
    pub(super) fn book(&self) -> Pairs {
        match Pairs::open(self.folder.path()) {
            Ok(Some(pairs)) => pairs,
            other => unreachable!("the book cannot be read: {:?}", other.err()),
        }
    }

    /// Returns the pair with another computer.
    pub(super) fn pair_with(&self, other: ComputerId) -> Option<Pair> {
        self.book().get(other)
    }

    pub(super) fn is_up(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !process.life.is_dead())
    }

    /// True if the process works.
    pub(super) fn is_awake(&self) -> bool {
        let is_awake = |process: &Process| !process.life.is_dead() && !process.life.is_paused();
        self.process.as_ref().is_some_and(is_awake)
    }

    /// Starts a process, which may die before it is up.
    pub(super) async fn start(&mut self, doom: Option<u64>) {
        // The process that forgot another is gone.
        lock(&self.ledger).forgetting.retain(|(own, _)| *own != self.place);
        let life = Arc::new(Life::default());
        doom.into_iter().for_each(|steps| life.doom(steps));
        let opened = life.lives_through(self.open(&life)).await;
        self.process = opened.and_then(Result::ok);
        if self.process.is_none() {
            let (place, step) = (self.place, life.died_at());
            let told = || {
                format!(
                    "c{place} did not start: {}",
                    step.map_or_else(String::new, |step| format!("died {step}"))
                )
            };
            lock(&self.ledger).story.tell(told);
            life.die();
        }
    }

    async fn open(&self, life: &Arc<Life>) -> Result<Process, HallError> {
        let (log, ledger) = (self.log.clone(), self.ledger.clone());
        let watched = WatchedLog { own: self.place, kept: log.clone(), life: life.clone(), ledger };
        let parts = HallParts {
            store: watched.store(),
            clock: Arc::new(SimClock(lock(&self.ledger).began)),
            registry: Default::default(),
            defaults: Policy::default(),
            budgets: Default::default(),
            owner: "simulator".into(),
        };
        let sessions = Arc::new(OneSession::default());
        let hall = Hall::open_with(parts, sessions.clone()).await?;
        let create = async |name: &str| {
            let (by, once) = (Actor::human("user"), once(name.to_owned()));
            hall.create(name.to_owned(), Policy::default(), by, Some(once)).await
        };
        let created = create("Owes").await?;
        let _ = sessions.home.set(create("Home").await?.stream);
        let (server, life_of, ledger) = (self.server.clone(), life.clone(), self.ledger.clone());
        let posts = Arc::new(move |own| {
            let (post, log) = (server.post(own), log.clone());
            let (life, ledger) = (life_of.clone(), ledger.clone());
            Arc::new(WatchedPost { post, log, life, ledger }) as Arc<dyn Post>
        });
        let folder = self.folder.path().to_owned();
        let computers = Computers::open_with(posts, &hall, <_>::default(), folder).await?;
        // People resume at once what a restore stopped.
        let resumed = computers.directory().resume().await;
        resumed.map_err(|error| HallError::Failed(error.to_string()))?;
        Ok(Process { life: life.clone(), hall, computers, stream: created.stream })
    }

    /// Ends the process at once.
    pub(super) fn crash(&mut self) {
        if let Some(process) = self.process.take() {
            process.life.die();
        }
    }

    /// Ends the process as a server is stopped. It may die meanwhile.
    pub(super) async fn stop(&mut self) {
        let Some(Process { life, hall, computers, .. }) = self.process.take() else { return };
        life.lives_through(computers.close()).await;
        life.die();
        drop(hall);
    }

    /// Makes a backup of the log.
    pub(super) fn back_up(&mut self) {
        let owed = lock(&self.ledger).owed[self.place].clone();
        self.backup = Some((self.log.restored(), owed));
    }

    /// Puts the backup in place of the log. Returns false if there is none, or a process runs.
    pub(super) fn restore(&mut self) -> bool {
        let Some((backup, owed)) = self.backup.as_ref().filter(|_| self.process.is_none()) else {
            return false;
        };
        self.log = Arc::new(backup.restored());
        lock(&self.ledger).owed[self.place].clone_from(owed);
        true
    }

    /// Owes another computer some rows, in one append. The process may die before it has.
    pub(super) async fn owe(&mut self, to: ComputerId, rows: &[PostCommand]) {
        self.requests += 1;
        let once = once(self.requests.to_string());
        let Some(process) = &self.process else { return };
        let Some(hall) = process.hall.weak().enter() else { return };
        let rows = rows.iter().map(|row| row.entry(&kernel_id(to))).collect();
        process.life.lives_through(hall.owe(&process.stream, rows, once)).await;
    }

    /// Returns the number of rows that another computer is owed.
    pub(super) async fn open_rows(&self, to: ComputerId) -> usize {
        let target = Target::Computer(kernel_id(to));
        let open = self.log.pending_deliveries(&target, 0, usize::MAX).await;
        open.map_or(0, |rows| rows.len())
    }

    /// Returns the mark of a channel of another computer.
    pub(super) async fn mark(&self, channel: &PostChannel) -> u64 {
        self.log.through(channel).await.unwrap_or_default()
    }
}
