//! A computer: its folder and its log outlive its processes.

use std::sync::Arc;
use std::time::Duration;

use moothall_computers::bridge::Computers;
use moothall_computers::bridge::config::ComputersConfig;
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
use moothall_engine::residents::ResidentHall;
use moothall_kernel::command::Actor;
use moothall_kernel::ids::StreamId;
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;

use super::super::world::DAWN;
use super::ledger::{OwedRows, SharedLedger, lock};
use super::life::Life;
use super::log::WatchedLog;
use super::post::WatchedPost;
use super::sessions::Residence;
use super::terminal::{Terminal, TerminalTask};
use super::turns::TurnRecord;

/// Time between the beginnings of two conversations, so that their ids have an order.
const APART: Duration = Duration::from_millis(1);

/// A computer.
pub(super) struct SimComputer {
    pub(super) place: usize,
    pub(super) id: ComputerId,
    folder: TempDir,
    pub(super) log: Arc<MemoryLog>,
    pub(super) process: Option<Process>,
    /// The terminal of its session, in worlds that converse.
    terminal: Option<Arc<Terminal>>,
    /// An earlier state of the log, with the rows that it owed and its turns.
    backup: Option<(MemoryLog, OwedRows, TurnRecord)>,
    server: Arc<MemoryServer>,
    ledger: SharedLedger,
    requests: u64,
    restores: u64,
}

/// A process of a computer.
pub(super) struct Process {
    pub(super) life: Arc<Life>,
    pub(super) hall: Hall,
    pub(super) computers: Computers,
    /// The conversation that owes rows.
    stream: StreamId,
    /// The conversation that people invite sessions of other computers into.
    pub(super) talk: StreamId,
    pub(super) sessions: Arc<Residence>,
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
pub(super) fn kernel_id(id: ComputerId) -> moothall_kernel::ids::ComputerId {
    moothall_kernel::ids::ComputerId::new(id.to_string())
}

/// Returns the key of a request that takes effect once.
pub(super) fn once(key: String) -> Idempotency {
    Idempotency { principal: "simulator".into(), key, fingerprint: String::new() }
}

/// Returns the rights of all computers: each may bring sessions into conversations.
fn rights() -> ComputersConfig {
    let allow = json!({"allow": ["list", "message", "link", "read", "invite"]});
    let all = json!({"c0": allow, "c1": allow, "c2": allow});
    serde_json::from_value(all).unwrap_or_default()
}

impl SimComputer {
    /// Makes a computer. It converses if it has a terminal.
    pub(super) fn new(
        place: usize,
        server: Arc<MemoryServer>,
        ledger: SharedLedger,
        terminal: Option<Arc<Terminal>>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("a folder: {error}"));
        let id = lock(&ledger).ids[place];
        let log = Arc::new(MemoryLog::new().with_id(format!("log 0 of c{place}")));
        let (process, backup, requests, restores) = <_>::default();
        let computer = Self {
            place,
            id,
            folder,
            log,
            process,
            terminal,
            backup,
            server,
            ledger,
            requests,
            restores,
        };
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
        let task = self.terminal.as_ref().map(|terminal| {
            let (own, ledger, hall) = (self.place, self.ledger.clone(), <_>::default());
            let (terminal, life, desk) = (terminal.clone(), life.clone(), <_>::default());
            Arc::new(TerminalTask { own, terminal, life, ledger, hall, desk })
        });
        let converses = task.is_some();
        let sessions = Arc::new(Residence::new(task));
        let hall = Hall::open_with(parts, sessions.clone()).await?;
        let create = async |name: &str| {
            let (by, once) = (Actor::human("user"), once(name.to_owned()));
            if converses {
                tokio::time::sleep(APART).await;
            }
            hall.create(name.to_owned(), Policy::default(), by, Some(once)).await
        };
        let stream = create("Owes").await?.stream;
        let talk = match hall.weak().enter().filter(|_| converses) {
            Some(open) => {
                sessions.take_up(&open).await?;
                create("Talk").await?.stream
            }
            None => {
                sessions.settle(create("Home").await?.stream);
                stream.clone()
            }
        };
        let (server, life_of, ledger) = (self.server.clone(), life.clone(), self.ledger.clone());
        let posts = Arc::new(move |own| {
            let (post, log) = (server.post(own), log.clone());
            let (life, ledger) = (life_of.clone(), ledger.clone());
            Arc::new(WatchedPost { post, log, life, ledger }) as Arc<dyn Post>
        });
        let folder = self.folder.path().to_owned();
        let computers = Computers::open_with(posts, &hall, rights(), folder).await?;
        // People resume at once what a restore stopped.
        let resumed = computers.directory().resume().await;
        resumed.map_err(|error| HallError::Failed(error.to_string()))?;
        Ok(Process { life: life.clone(), hall, computers, stream, talk, sessions })
    }

    /// Returns the hall, if the computer works.
    pub(super) fn hall(&self) -> Option<ResidentHall> {
        self.process.as_ref()?.hall.weak().enter().filter(|_| self.is_awake())
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
        let ledger = lock(&self.ledger);
        let owed = ledger.owed[self.place].clone();
        self.backup = Some((self.log.restored(), owed, ledger.turns.records[self.place].clone()));
    }

    /// Puts the backup in place of the log. Returns false if there is none, or a process runs.
    pub(super) fn restore(&mut self) -> bool {
        let backup = self.backup.as_ref().filter(|_| self.process.is_none());
        let Some((backup, owed, turns)) = backup else { return false };
        self.restores += 1;
        let id = format!("log {} of c{}", self.restores, self.place);
        self.log = Arc::new(backup.restored().with_id(id));
        self.terminal = self.terminal.as_ref().map(|terminal| Arc::new(terminal.anew()));
        let mut ledger = lock(&self.ledger);
        ledger.owed[self.place].clone_from(owed);
        let ids = ledger.ids.clone();
        ledger.turns.restore(self.place, &ids, turns.clone());
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
