//! A host of one computer, as small as it can be: two logs in memory, the tasks that carry rows
//! between them and a post, and a crash that leaves only the logs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use moothall_computers::channel::{ChannelKey, IncomingChannel, OutgoingChannel};
use moothall_computers::envelope::Entry;
use moothall_computers::frame::Frame;
use moothall_computers::id::{ComputerId, LogId};
use moothall_computers::keys::{Opener, PairKey, Sealer};
use moothall_computers::post::{Post, PostEntry, PostError, PostId};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Time between two looks at the lease of the other and at the post after an error. Short, so that
/// a test with many outages is quick.
const TICK: Duration = Duration::from_millis(50);
/// Longest time that a test waits for rows.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Two computers that share a key, and the logs of both.
#[derive(Clone)]
pub struct Ends {
    pub own: ComputerId,
    pub other: ComputerId,
    log: LogId,
    other_log: LogId,
    pair: PairKey,
    disk: Arc<Mutex<Disk>>,
    taken: watch::Sender<u64>,
}

/// The durable part of a computer: it outlives a crash.
#[derive(Default)]
struct Disk {
    /// Number of the first row that is kept.
    first: u64,
    rows: VecDeque<Arc<[u8]>>,
    /// Rows that were taken from the other, each with its mark.
    taken: Vec<u64>,
}

impl Ends {
    /// Makes two computers without rows.
    pub fn pair() -> (Self, Self) {
        let ids = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
        let logs = (LogId::random(), LogId::random());
        let pair = PairKey::random();
        let end = |own, other, log, other_log| {
            let disk = Arc::new(Mutex::new(Disk { first: 1, ..Disk::default() }));
            let taken = watch::Sender::new(0);
            Self { own, other, log, other_log, pair: pair.clone(), disk, taken }
        };
        (end(ids.0, ids.1, logs.0, logs.1), end(ids.1, ids.0, logs.1, logs.0))
    }

    /// Waits until this many rows were taken, and checks that they are the first, in order, each
    /// once.
    pub async fn has_taken(&self, count: u64) {
        let mut taken = self.taken.subscribe();
        let waited = tokio::time::timeout(DEADLINE, taken.wait_for(|taken| *taken >= count)).await;
        let numbers = self.disk().taken.clone();
        assert!(waited.is_ok(), "{} of {count} rows after {DEADLINE:?}", self.count());
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{numbers:?}");
    }

    /// Returns the number of rows that were taken.
    pub fn count(&self) -> u64 {
        self.disk().taken.len() as u64
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }
}

/// The running server of a computer. Dropping it is a crash.
pub struct Host {
    memory: Arc<Memory>,
    _tasks: JoinSet<()>,
}

/// The part of a computer that a crash loses.
struct Memory {
    ends: Ends,
    post: Arc<dyn Post>,
    sealer: Sealer,
    outgoing: Mutex<OutgoingChannel>,
    incoming: Mutex<IncomingChannel>,
    pushed: tokio::sync::Notify,
    /// True from a failed put until the post answers again.
    rests: AtomicBool,
}

impl Host {
    /// Starts the server of a computer from its logs.
    pub fn start(ends: &Ends, post: Arc<dyn Post>) -> Self {
        let (own, other) = (ends.own, ends.other);
        let key = ChannelKey { sender: own, log: ends.log, receiver: other };
        let from = ChannelKey { sender: other, log: ends.other_log, receiver: own };
        let disk = ends.disk();
        let rows: Vec<Arc<[u8]>> = disk.rows.iter().cloned().collect();
        let memory = Arc::new(Memory {
            post,
            sealer: Sealer::new(own, ends.log),
            outgoing: Mutex::new(OutgoingChannel::new(key, disk.first, rows, now())),
            incoming: Mutex::new(IncomingChannel::new(from, disk.taken.len() as u64)),
            pushed: tokio::sync::Notify::new(),
            rests: AtomicBool::new(false),
            ends: ends.clone(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(memory.clone().reads());
        tasks.spawn(memory.clone().writes());
        tasks.spawn(memory.clone().renews());
        Self { memory, _tasks: tasks }
    }

    /// Owes rows to the other: they are in the log before they are in the channel.
    pub fn push(&self, count: u64) {
        for _ in 0..count {
            let mut disk = self.memory.ends.disk();
            let number = disk.first + disk.rows.len() as u64;
            let body: Arc<[u8]> = format!("row {number}").into_bytes().into();
            disk.rows.push_back(body.clone());
            self.memory.outgoing.lock().unwrap().push(body).unwrap();
        }
        self.memory.pushed.notify_one();
    }
}

impl Memory {
    async fn reads(self: Arc<Self>) {
        let mut pause = tokio::time::interval(TICK);
        loop {
            match self.post.next().await {
                Ok(batch) => {
                    if batch.fresh {
                        self.outgoing.lock().unwrap().reconnected();
                    }
                    let mut done: Vec<PostId> =
                        batch.entries.into_iter().filter_map(|entry| self.take(entry)).collect();
                    done.extend(self.append());
                    // An entry that is not deleted comes again, and is recognised.
                    let _ = self.post.done(&done).await;
                    self.acknowledge().await;
                    self.pushed.notify_one();
                }
                Err(_) => drop(pause.tick().await),
            }
        }
    }

    /// Takes an entry. Returns its id if it may be deleted at once.
    fn take(&self, entry: PostEntry) -> Option<PostId> {
        let opened = Entry::decode(&entry.bytes).expect("an entry");
        let letter = Opener::new(self.ends.own).open(&self.ends.pair, opened).expect("a letter");
        match Frame::decode(&letter.body).expect("a frame") {
            Frame::Row(row) => {
                assert_eq!(*row.body, *format!("row {}", row.number).into_bytes());
                self.incoming.lock().unwrap().receive(row, entry.id.clone());
            }
            Frame::Through(through) => {
                let mut outgoing = self.outgoing.lock().unwrap();
                let released = outgoing.acknowledge(through, now()).expect("an own channel");
                let mut disk = self.ends.disk();
                disk.rows.drain(..usize::try_from(released).unwrap());
                disk.first += released;
            }
            Frame::Hello(_) | Frame::Words(_) => panic!("this host sends no such frame"),
        }
        Some(entry.id)
    }

    /// Appends the rows that are ready, with the mark, and commits them.
    fn append(&self) -> Vec<PostId> {
        let mut incoming = self.incoming.lock().unwrap();
        let ready: Vec<u64> = incoming.ready().map(|(number, _)| number).collect();
        let Some(last) = ready.last() else { return Vec::new() };
        self.ends.disk().taken.extend(&ready);
        let done = incoming.committed(*last).expect("rows that are ready");
        self.ends.taken.send_replace(*last);
        done
    }

    async fn acknowledge(&self) {
        let through = self.incoming.lock().unwrap().acknowledgement();
        if let Some(through) = through {
            // A lost one is owed again when the sender repeats its rows.
            let _ = self.put(&Frame::Through(through)).await;
        }
    }

    async fn put(&self, frame: &Frame) -> Result<(), PostError> {
        let (other, pair) = (self.ends.other, &self.ends.pair);
        let entry = self.sealer.seal(other, pair, &frame.encode()).expect("a sealed frame");
        self.post.put(other, &entry.encode()).await
    }

    async fn writes(self: Arc<Self>) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                () = self.pushed.notified() => {}
                _ = tick.tick() => {}
            }
            loop {
                let next = self.outgoing.lock().unwrap().next_row(now());
                let Some((number, body)) = next else { break };
                if self.put(&Frame::row(number, &body)).await.is_err() {
                    self.outgoing.lock().unwrap().put_failed(number);
                    self.rests.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    async fn renews(self: Arc<Self>) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tick.tick().await;
            let other = self.ends.other;
            if let Ok(answer) = self.post.renew(self.sealer.boot(), &[other]).await {
                let mut outgoing = self.outgoing.lock().unwrap();
                outgoing.receiver_seen(answer.peers.get(&other).copied());
                if self.rests.swap(false, Ordering::Relaxed) {
                    outgoing.reconnected();
                }
            }
        }
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}
