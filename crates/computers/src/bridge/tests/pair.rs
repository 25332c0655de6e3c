//! Two computers that know each other: their logs outlive a crash, their halls and posts do not.

use std::sync::Arc;

use moothall_engine::MemoryLog;
use moothall_engine::answers::Idempotency;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::outbox::{OutboxEntry, PostCommand};
use moothall_engine::ports::{
    Clock, Deliveries, EventLog, PostBook, Store, SystemClock, Target, Upkeep,
};
use moothall_kernel::command::Actor;
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::{Millis, Timestamp};
use tempfile::TempDir;

use crate::bridge::former_boot::FormerBoot;
use crate::bridge::log_of;
use crate::bridge::off::note_log;
use crate::bridge::peers::Peers;
use crate::bridge::run::{PostLink, PostParts, PostTasks, kernel_id};
use crate::id::{ComputerId, LogId};
use crate::invitation::Pair;
use crate::keys::PairKey;
use crate::memory_post::MemoryServer;
use crate::pairs::{OwnComputer, Pairs};

/// One of two computers.
pub(super) struct Side {
    pub(super) id: ComputerId,
    pub(super) other: ComputerId,
    server: Arc<MemoryServer>,
    pairs: Arc<Pairs>,
    folder: TempDir,
    pub(super) log: Arc<MemoryLog>,
    pub(super) peers: Arc<Peers>,
    running: Option<RunningSide>,
    /// Time by which its clock is ahead of the real one.
    pub(super) clock_ahead: Millis,
    /// Number of rows that were owed to the other.
    pub(super) owed: u64,
    requests: u64,
}

struct RunningSide {
    hall: Hall,
    tasks: PostTasks,
    /// A conversation that owes rows.
    stream: StreamId,
}

/// A clock that is ahead of the real one.
struct FastClock(Millis);

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.0
    }
}

/// Opens a hall without sessions.
pub(super) async fn hall_over(log: Arc<MemoryLog>) -> Hall {
    hall_with(log, Millis(0)).await
}

async fn hall_with(log: Arc<MemoryLog>, clock_ahead: Millis) -> Hall {
    let parts = HallParts {
        store: Store::of(log),
        clock: Arc::new(FastClock(clock_ahead)),
        registry: Default::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "test".into(),
    };
    Hall::open(parts).await.unwrap()
}

/// Makes two computers that run.
pub(super) async fn pair(server: &Arc<MemoryServer>) -> (Side, Side) {
    let ids = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
    let key = PairKey::random();
    let mut sides = (
        Side::new(server, (ids.0, "workstation"), (ids.1, "laptop"), &key),
        Side::new(server, (ids.1, "laptop"), (ids.0, "workstation"), &key),
    );
    sides.0.start().await;
    sides.1.start().await;
    sides
}

impl Side {
    pub(super) fn new(
        server: &Arc<MemoryServer>,
        (id, name): (ComputerId, &str),
        (other, other_name): (ComputerId, &str),
        key: &PairKey,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let redis = "redis://127.0.0.1".parse().unwrap();
        let own = OwnComputer { id, name: name.parse().unwrap(), redis, ca: None };
        let pairs = Pairs::create(folder.path(), own).unwrap();
        let name = other_name.parse().unwrap();
        pairs.add(Pair { id: other, name, key: key.clone() }).unwrap();
        Self {
            id,
            other,
            server: server.clone(),
            pairs: Arc::new(pairs),
            folder,
            log: Arc::default(),
            peers: Arc::default(),
            running: None,
            clock_ahead: Millis(0),
            owed: 0,
            requests: 0,
        }
    }

    pub(super) async fn start(&mut self) {
        let hall = hall_with(self.log.clone(), self.clock_ahead).await;
        let by = Actor::human("user");
        let stream = hall.create("owes".into(), Policy::default(), by, None).await.unwrap().stream;
        self.peers = Arc::default();
        let post = Arc::new(self.server.post(self.id));
        let log = log_of(self.log.log_id());
        let (pairs, peers) = (self.pairs.clone(), self.peers.clone());
        let config = Arc::default();
        let former = FormerBoot::read(self.folder.path(), log);
        let parts = PostParts { hall: hall.clone(), pairs, log, post, peers, config, former };
        let tasks = PostTasks::begin(parts);
        self.running = Some(RunningSide { hall, tasks, stream });
    }

    /// Ends everything but the log, without a word to the post.
    pub(super) fn crash(&mut self) {
        self.running = None;
    }

    /// Ends everything as a server does that is stopped.
    pub(super) async fn stop(&mut self) {
        let running = self.running.take().unwrap();
        running.tasks.close().await;
    }

    /// Goes on with another log, as after a restore.
    pub(super) async fn restart_with(&mut self, log: Arc<MemoryLog>) {
        self.stop().await;
        self.log = log;
        self.start().await;
    }

    /// Returns the parts that the tasks of the post share.
    pub(super) fn link(&self) -> Arc<PostLink> {
        self.running.as_ref().unwrap().tasks.asker()
    }

    pub(super) fn pair(&self) -> Pair {
        self.pairs.get(self.other).unwrap()
    }

    pub(super) fn hall(&self) -> &Hall {
        &self.running.as_ref().unwrap().hall
    }

    /// Owes the other computer a row with the next serial number, and then some rows without one.
    pub(super) async fn owe(&mut self, empty: usize) {
        self.owed += 1;
        let (code, message) = ("serial".into(), self.owed.to_string());
        let serial = PostCommand::Refused { number: self.owed, code, message, about: None };
        let to = kernel_id(self.other);
        let mut entries = vec![serial.entry(&to)];
        entries.extend(vec![PostCommand::Void.entry(&to); empty]);
        self.owe_entries(entries).await;
    }

    pub(super) async fn owe_entries(&mut self, entries: Vec<OutboxEntry>) {
        self.requests += 1;
        let key = self.requests.to_string();
        let key = Idempotency { principal: "test".into(), key, fingerprint: String::new() };
        let RunningSide { hall, stream, .. } = self.running.as_ref().unwrap();
        hall.weak().enter().unwrap().owe(stream, entries, key).await.unwrap();
    }

    /// Returns the texts of the notices about computers, in order.
    pub(super) async fn notices(&self) -> Vec<String> {
        let claim = self.log.claim("computers", "hall", self.hall().now()).await.unwrap();
        let Some(claim) = claim else { return Vec::new() };
        let events = self.log.read(&claim.stream, Seq(0), usize::MAX).await.unwrap().events;
        let text = |event| match event {
            Event::Noticed { text, .. } => Some(text),
            _ => None,
        };
        events.into_iter().filter_map(|recorded| text(recorded.event)).collect()
    }

    /// Returns the number of rows that are not acknowledged.
    pub(super) async fn open_rows(&self) -> usize {
        let target = Target::Computer(kernel_id(self.other));
        self.log.pending_deliveries(&target, 0, usize::MAX).await.unwrap().len()
    }

    /// Returns the state in which this computer shows the other, with its cure.
    pub(super) fn state(&self) -> (String, Option<String>) {
        let status = self.peers.status(&self.pairs.get(self.other).unwrap());
        (status.state.to_string(), status.cure)
    }

    /// Returns the difference of the other's clock to the own one, in milliseconds.
    pub(super) fn shown_clock(&self) -> Option<i64> {
        self.peers.status(&self.pair()).clock_ahead
    }

    /// Starts a copy of this computer on a copy of its data folder.
    pub(super) async fn copied(&self) -> Self {
        let mut copy = Self {
            id: self.id,
            other: self.other,
            server: self.server.clone(),
            pairs: self.pairs.clone(),
            folder: TempDir::new().unwrap(),
            log: Arc::new(self.log.restored()),
            peers: Arc::default(),
            running: None,
            clock_ahead: self.clock_ahead,
            owed: self.owed,
            requests: self.requests,
        };
        copy.start().await;
        copy
    }

    /// Notes the log as a start does.
    pub(super) async fn note_log(&self, log: LogId) {
        note_log(&self.pairs, &Store::of(self.log.clone()), log).await.unwrap();
    }

    pub(super) async fn last_number(&self) -> u64 {
        self.log.last_number(&kernel_id(self.other)).await.unwrap()
    }

    /// Loses the numbers and marks of the log.
    pub(super) async fn forget_rows(&self) {
        self.log.forget(&kernel_id(self.other)).await.unwrap();
    }

    /// Ends the pair here, as `forget` does, and begins it again with another key.
    pub(super) async fn forget_and_pair_again(&mut self, key: &PairKey) {
        let pair = Pair { key: key.clone(), ..self.pairs.get(self.other).unwrap() };
        self.pairs.forget(self.other).unwrap();
        self.peers.forget(self.other);
        self.running.as_ref().unwrap().tasks.forget(self.other);
        self.forget_rows().await;
        self.pairs.add(pair).unwrap();
    }
}
