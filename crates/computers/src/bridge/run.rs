//! The tasks of the post: one renews the place of this computer, and one reads its entries.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use moothall_engine::hall::Hall;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::calls::{ANSWERING_MAX, OpenCalls};
use super::config::ComputersConfig;
use super::peers::Peers;
use crate::envelope::{Entry, EnvelopeError};
use crate::frame::{Frame, FrameError, Hello, SendingHead, Words};
use crate::id::{ComputerId, LogId};
use crate::invitation::Pair;
use crate::keys::{Opener, Sealer};
use crate::pairs::{OwnComputer, Pairs};
use crate::post::{LEASE, LeaseAnswer, Post, PostEntry, PostId, RENEW_EVERY};
use crate::redis_post::RedisPost;

/// First and longest pause after a failure of the post.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// The words by which a computer says that it ends a pair.
const FORGOTTEN: &[u8] = b"forgotten";

/// The tasks of the post of one boot. Dropping them ends them.
pub(super) struct PostTasks {
    own: OwnComputer,
    link: Arc<PostLink>,
    post: Arc<RedisPost>,
    tasks: JoinSet<()>,
}

/// The parts from which the tasks of a boot are made.
pub(super) struct PostParts {
    pub(super) hall: Hall,
    pub(super) pairs: Arc<Pairs>,
    pub(super) log: LogId,
    pub(super) post: Arc<RedisPost>,
    pub(super) peers: Arc<Peers>,
    pub(super) config: Arc<Mutex<ComputersConfig>>,
}

/// The parts that the tasks share.
pub(super) struct PostLink {
    pub(super) hall: Hall,
    pub(super) pairs: Arc<Pairs>,
    log: LogId,
    post: Arc<dyn Post>,
    sealer: Sealer,
    pub(super) peers: Arc<Peers>,
    pub(super) config: Arc<Mutex<ComputersConfig>>,
    pub(super) calls: OpenCalls,
    /// Bounds the questions of others that are answered at once.
    pub(super) answering: Arc<Semaphore>,
    /// Wakes the task that renews, because a pair was added.
    wake: Notify,
}

/// The last words to a computer that is forgotten.
pub(super) struct Farewell(Arc<PostLink>);

impl Farewell {
    /// Tells a computer that its pair ends. It is lost if the computer is away, which then learns
    /// of it because nothing answers.
    pub(super) async fn say(&self, pair: &Pair) {
        let words = Frame::Words(Words { body: FORGOTTEN.into() });
        self.0.put(pair, &words).await;
    }
}

impl PostTasks {
    /// Begins the tasks of a new boot.
    pub(super) fn begin(parts: PostParts) -> Self {
        let PostParts { hall, pairs, log, post, peers, config } = parts;
        let own = pairs.own();
        let link = Arc::new(PostLink {
            hall,
            pairs,
            log,
            post: post.clone(),
            sealer: Sealer::new(own.id, log),
            peers,
            config,
            calls: OpenCalls::default(),
            answering: Arc::new(Semaphore::new(ANSWERING_MAX)),
            wake: Notify::new(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(renew(link.clone()));
        tasks.spawn(read(link.clone()));
        Self { own, link, post, tasks }
    }

    /// True if the tasks are those of this computer as it is now.
    pub(super) fn is_for(&self, own: &OwnComputer) -> bool {
        self.own == *own
    }

    /// Reads at once the computers that are there.
    pub(super) fn wake(&self) {
        self.link.wake.notify_one();
    }

    pub(super) fn post(&self) -> Arc<RedisPost> {
        self.post.clone()
    }

    /// Returns the part that asks other computers.
    pub(super) fn asker(&self) -> Arc<PostLink> {
        self.link.clone()
    }

    pub(super) fn farewell(&self) -> Farewell {
        Farewell(self.link.clone())
    }

    /// Ends the tasks and the lease, so that the next start need not wait for its end.
    pub(super) async fn close(mut self) {
        self.tasks.shutdown().await;
        if let Err(error) = self.post.release(self.link.sealer.boot()).await {
            tracing::debug!(%error, "the lease could not be given back");
        }
    }
}

/// Renews the lease for as long as the task runs, and introduces this computer to those that are
/// there.
async fn renew(link: Arc<PostLink>) {
    let began = Instant::now();
    loop {
        let peers: Vec<ComputerId> = link.pairs.all().iter().map(|pair| pair.id).collect();
        match link.post.renew(link.sealer.boot(), &peers).await {
            Ok(answer) => link.note_leases(&answer, began).await,
            Err(error) => {
                tracing::debug!(%error, "the post cannot be reached");
                link.peers.note_away();
            }
        }
        let _ = tokio::time::timeout(RENEW_EVERY, link.wake.notified()).await;
    }
}

/// Reads the entries that arrive.
async fn read(link: Arc<PostLink>) {
    let mut pause = PAUSES.0;
    loop {
        match link.post.next().await {
            Ok(batch) => {
                pause = PAUSES.0;
                link.take_all(batch.entries).await;
            }
            Err(error) => {
                tracing::debug!(%error, "the post cannot be read");
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(PAUSES.1);
            }
        }
    }
}

impl PostLink {
    async fn note_leases(&self, answer: &LeaseAnswer, began: Instant) {
        let own = self.sealer.boot();
        // After a crash, the lease of the former boot stands for a while.
        let is_rival = answer.rival.is_some_and(|rival| rival != own);
        let is_other = answer.holder != own && began.elapsed() > LEASE;
        let is_doubled = is_rival || is_other;
        if is_doubled && !self.peers.is_doubled() {
            tracing::error!("another server runs with the id of this computer; both stop posting");
        }
        self.peers.set_doubled(is_doubled);
        let strangers = self.peers.note_leases(answer, self.hall.now(), Instant::now());
        for id in strangers.into_iter().filter(|_| !is_doubled && answer.holder == own) {
            if let Some(pair) = self.pairs.get(id) {
                self.introduce(&pair).await;
            }
        }
    }

    /// Takes entries, and deletes those that are done with.
    async fn take_all(self: &Arc<Self>, entries: Vec<PostEntry>) {
        // Two servers with one id read the same entries, and each would take a part of them.
        if self.peers.is_doubled() {
            return;
        }
        let mut done: Vec<PostId> = Vec::new();
        for entry in entries {
            if self.take(&entry.bytes).await {
                done.push(entry.id);
            }
        }
        if let Err(error) = self.post.done(&done).await {
            tracing::debug!(%error, "entries could not be deleted");
        }
    }

    /// Takes an entry. Returns false if it stays in the post.
    async fn take(self: &Arc<Self>, bytes: &[u8]) -> bool {
        let entry = match Entry::decode(bytes) {
            Ok(entry) => entry,
            Err(error) => {
                tracing::warn!(%error, "an entry of the post cannot be read");
                if matches!(error, EnvelopeError::NewerVersion(_)) {
                    self.note_newer();
                }
                return true;
            }
        };
        let (sender, boot) = (entry.header.sender, entry.header.boot);
        let Some(pair) = self.pairs.get(sender) else {
            tracing::debug!(%sender, "an entry of a computer that is not paired was dropped");
            return true;
        };
        let letter = match Opener::new(self.pairs.own().id).open(&pair.key, entry) {
            Ok(letter) => letter,
            Err(error) => {
                tracing::warn!(%sender, %error, "an entry was refused");
                return true;
            }
        };
        match Frame::decode(&letter.body) {
            Ok(Frame::Hello(hello)) => {
                let (now, clock) = (self.hall.now(), Instant::now());
                if self.peers.note_hello(sender, boot, &hello, now, clock) {
                    self.introduce(&pair).await;
                }
            }
            Ok(Frame::Words(words)) if *words.body == *FORGOTTEN => {
                self.peers.note_fault(sender, FORGOTTEN_CURE);
            }
            Ok(Frame::Words(words)) => self.take_call(pair, &words.body),
            Ok(Frame::Through(_)) => {}
            // Rows stay until this program can take them, and are not acknowledged.
            Ok(Frame::Row(_)) => return false,
            Err(FrameError::UnknownKind(kind)) => {
                tracing::warn!(%sender, kind, "a frame of an unknown kind was skipped");
            }
            Err(error @ FrameError::Malformed(_)) => tracing::warn!(%sender, %error, "bad frame"),
        }
        true
    }

    /// An entry of a newer version names its sender perhaps elsewhere, so all computers that have
    /// not introduced themselves may be meant.
    fn note_newer(&self) {
        for pair in self.pairs.all() {
            if self.peers.is_unknown(pair.id) {
                self.peers.note_fault(pair.id, NEWER_CURE);
            }
        }
    }

    /// Introduces this computer to another.
    async fn introduce(&self, pair: &Pair) {
        self.peers.note_introduced(pair.id, Instant::now());
        let own = self.pairs.own();
        let hello = Hello {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            name: own.name,
            clock_ms: self.hall.now().millis(),
            sending: SendingHead { log: self.log, first: 1, last: 0 },
            received: Vec::new(),
        };
        self.put(pair, &Frame::Hello(hello)).await;
    }

    pub(super) async fn put(&self, pair: &Pair, frame: &Frame) {
        let entry = match self.sealer.seal(pair.id, &pair.key, &frame.encode()) {
            Ok(entry) => entry.encode(),
            Err(error) => return tracing::error!(%error, "an entry could not be sealed"),
        };
        if let Err(error) = self.post.put(pair.id, &entry).await {
            tracing::debug!(%error, computer = %pair.name, "an entry could not be put");
        }
    }
}

/// The next step if the other computer has ended the pair.
const FORGOTTEN_CURE: &str =
    "It has forgotten this computer. Forget it here too, and pair both anew if you want to.";
/// The next step if the other computer has a newer program.
const NEWER_CURE: &str =
    "It may run a newer version of Moothall, whose words this one cannot read. Update this one.";
