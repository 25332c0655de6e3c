//! The tasks of the post: one renews the lease of this computer, one reads its entries, one puts
//! rows for others into the post, and one takes rows of others.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use moothall_engine::crash;
use moothall_engine::hall::Hall;
use moothall_engine::ports::{LogError, Store};
#[cfg(feature = "fakes")]
use moothall_kernel::planted::{self, Bug};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::calls::{ANSWERING_MAX, OpenCalls};
use super::config::ComputersConfig;
use super::former_boot::FormerBoot;
use super::incoming::IncomingPosts;
use super::outgoing::OutgoingPosts;
use super::peers::Peers;
use super::refusals::{PostRefusals, PostUse};
use super::{sender, taker};
use crate::channel::ChannelKey;
use crate::envelope::{Entry, EntryHeader, EnvelopeError};
use crate::frame::{Frame, FrameError, Hello, Row, Words};
#[cfg(feature = "fakes")]
use crate::id::BootId;
use crate::id::{ComputerId, LogId};
use crate::invitation::Pair;
use crate::keys::{Opener, Sealer};
use crate::pairs::{OwnComputer, Pairs};
use crate::post::{LEASE, LeaseAnswer, Post, PostEntry, PostError, PostId, RENEW_EVERY};

/// First and longest pause after a failure of the post.
pub(super) const PAUSES: (Duration, Duration) =
    (Duration::from_millis(200), Duration::from_secs(10));
/// The words by which a computer says that it ends a pair.
const FORGOTTEN: &[u8] = b"forgotten";

/// The tasks of the post of one boot. Dropping them ends them.
pub(super) struct PostTasks {
    own: OwnComputer,
    link: Arc<PostLink>,
    tasks: JoinSet<()>,
}

/// The parts from which the tasks of a boot are made.
pub(super) struct PostParts {
    pub(super) hall: Hall,
    pub(super) pairs: Arc<Pairs>,
    pub(super) log: LogId,
    pub(super) post: Arc<dyn Post>,
    pub(super) peers: Arc<Peers>,
    pub(super) config: Arc<Mutex<ComputersConfig>>,
    pub(super) former: FormerBoot,
}

/// The parts that the tasks share.
pub(super) struct PostLink {
    /// Itself, for the courier of rows, which outlives the post.
    pub(super) own: Weak<PostLink>,
    pub(super) hall: Hall,
    pub(super) pairs: Arc<Pairs>,
    pub(super) log: LogId,
    pub(super) post: Arc<dyn Post>,
    sealer: Sealer,
    former: FormerBoot,
    pub(super) peers: Arc<Peers>,
    refusals: PostRefusals,
    pub(super) config: Arc<Mutex<ComputersConfig>>,
    pub(super) outgoing: OutgoingPosts,
    pub(super) incoming: IncomingPosts,
    pub(super) calls: OpenCalls,
    /// Bounds the questions of other computers that are being answered at the same time.
    pub(super) answering: Arc<Semaphore>,
    /// Wakes the task that renews, because a pair was added.
    wake: Notify,
}

/// The last words to a computer that is forgotten.
pub(super) struct Farewell(Arc<PostLink>);

impl Farewell {
    /// Tells a computer that its pair ends. If this entry is lost, the other computer finds only
    /// that this one does not answer.
    pub(super) async fn say(&self, pair: &Pair) {
        let words = Frame::Words(Words { body: FORGOTTEN.into() });
        let _ = self.0.put(pair, &words).await;
    }
}

impl PostTasks {
    /// Begins the tasks of a new boot.
    pub(super) fn begin(parts: PostParts) -> Self {
        let PostParts { hall, pairs, log, post, peers, config, former } = parts;
        let own = pairs.own();
        let sealer = sealer(own.id, log);
        let link = Arc::new_cyclic(|own| PostLink {
            own: own.clone(),
            hall,
            pairs,
            log,
            post,
            sealer,
            former,
            peers,
            refusals: PostRefusals::default(),
            config,
            outgoing: OutgoingPosts::default(),
            incoming: IncomingPosts::default(),
            calls: OpenCalls::default(),
            answering: Arc::new(Semaphore::new(ANSWERING_MAX)),
            wake: Notify::new(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(renew(link.clone()));
        tasks.spawn(read(link.clone()));
        tasks.spawn(sender::send(link.clone()));
        tasks.spawn(taker::take(link.clone()));
        Self { own, link, tasks }
    }

    /// True if the tasks are those of this computer as it is now.
    pub(super) fn is_for(&self, own: &OwnComputer) -> bool {
        self.own == *own
    }

    /// Returns the error with which the post refuses this computer, if it does.
    pub(super) fn refusal(&self) -> Option<PostError> {
        self.link.refusals.current()
    }

    /// Lets the task renew the lease now. The answer names the computers that are there.
    pub(super) fn wake(&self) {
        self.link.wake.notify_one();
    }

    /// Returns the part that asks other computers.
    pub(super) fn asker(&self) -> Arc<PostLink> {
        self.link.clone()
    }

    pub(super) fn farewell(&self) -> Farewell {
        Farewell(self.link.clone())
    }

    /// Forgets the rows of a computer, whose pair has ended.
    pub(super) fn forget(&self, id: ComputerId) {
        self.link.outgoing.forget(id);
        self.link.incoming.forget(id);
    }

    /// Ends the tasks and then the lease, so that the next start need not wait for the lease to
    /// end.
    pub(super) async fn close(mut self) {
        self.tasks.shutdown().await;
        if let Err(error) = self.link.post.release(self.link.sealer.boot()).await {
            tracing::debug!(%error, "the lease could not be given back");
        }
    }
}

impl Drop for PostTasks {
    /// Makes the rows that are carried wait in the log again.
    fn drop(&mut self) {
        self.link.outgoing.note_away();
    }
}

/// Makes the sealer of a new boot.
fn sealer(own: ComputerId, log: LogId) -> Sealer {
    #[cfg(feature = "fakes")]
    if planted::has(Bug::NonceTwice) {
        return Sealer::of_boot(own, log, BootId::from_bytes(*log.as_bytes()));
    }
    Sealer::new(own, log)
}

/// Returns the time by which rows are sent again. It follows tokio's clock, so that a test need not
/// wait.
pub(super) fn clock() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns the id of a computer as the log names it.
pub(super) fn kernel_id(id: ComputerId) -> moothall_kernel::ids::ComputerId {
    moothall_kernel::ids::ComputerId::new(id.to_string())
}

/// Renews the lease for as long as the task runs, and introduces this computer to those that are
/// there.
async fn renew(link: Arc<PostLink>) {
    let began = clock();
    loop {
        let peers: Vec<ComputerId> = link.pairs.all().iter().map(|pair| pair.id).collect();
        let renewed = link.renew_lease(&peers).await;
        link.refusals.note(PostUse::Renewing, &renewed);
        match renewed {
            Ok(answer) => link.note_leases(&answer, began).await,
            Err(error) => {
                tracing::debug!(%error, "the post cannot be reached");
                link.peers.note_away();
                link.outgoing.note_away();
            }
        }
        let _ = tokio::time::timeout(RENEW_EVERY, link.wake.notified()).await;
    }
}

/// Reads the entries that arrive, for as long as the task runs. Pauses after each failure.
async fn read(link: Arc<PostLink>) {
    let mut pause = PAUSES.0;
    loop {
        let batch = link.post.next().await;
        link.refusals.note(PostUse::Reading, &batch);
        match batch {
            Ok(batch) => {
                pause = PAUSES.0;
                if batch.fresh {
                    link.outgoing.reconnected();
                }
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
    /// Renews the lease. If the former boot of this server, which crashed, still holds the lease,
    /// that lease is ended first.
    async fn renew_lease(&self, peers: &[ComputerId]) -> Result<LeaseAnswer, PostError> {
        let own = self.sealer.boot();
        let mut answer = self.post.renew(own, peers).await?;
        if self.former.is(answer.holder) {
            self.post.release(answer.holder).await?;
            answer = self.post.renew(own, peers).await?;
        }
        if answer.holder == own {
            self.former.keep(own);
        }
        Ok(answer)
    }

    /// Notes the answer to a renewal. Stops the post if another server has this computer's id, lets
    /// the outbox carry the rows of a computer that is back, and introduces this computer to the
    /// boots that have not introduced themselves.
    async fn note_leases(&self, answer: &LeaseAnswer, began: Instant) {
        let own = self.sealer.boot();
        // After a crash, the former boot can still hold the lease for up to [`LEASE`].
        let is_rival = answer.rival.is_some_and(|rival| rival != own);
        let is_other = answer.holder != own && clock().duration_since(began) > LEASE;
        let is_doubled = is_rival || is_other;
        if is_doubled && !self.peers.is_doubled() {
            tracing::error!("another server runs with the id of this computer; both stop posting");
        }
        self.peers.set_doubled(is_doubled);
        let strangers = self.peers.note_leases(answer, self.hall.now(), clock());
        if self.outgoing.note_leases(answer) {
            self.serve_rows().await;
        }
        for id in strangers.into_iter().filter(|_| !is_doubled && answer.holder == own) {
            if let Some(pair) = self.pairs.get(id) {
                self.introduce(&pair).await;
            }
        }
    }

    /// Takes entries, and deletes those that are not needed any more.
    async fn take_all(&self, entries: Vec<PostEntry>) {
        // Two servers with one id read the same entries, and each would take a part of them.
        if self.peers.is_doubled() {
            return;
        }
        let mut done: Vec<PostId> = Vec::new();
        for entry in entries {
            if self.take(&entry).await {
                done.push(entry.id);
            }
        }
        if let Err(error) = self.post.done(&done).await {
            tracing::debug!(%error, "entries could not be deleted");
        }
        // A row that came again is acknowledged again, because its acknowledgement may have been
        // lost.
        for pair in self.pairs.all() {
            self.tell_taken(&pair).await;
        }
    }

    /// Takes an entry. Returns false if it stays in the post: it has a row that waits here until
    /// the log has it, or whose mark could not be read. An entry that cannot be read or opened is
    /// dropped.
    async fn take(&self, posted: &PostEntry) -> bool {
        let entry = match Entry::decode(&posted.bytes) {
            Ok(entry) => entry,
            Err(error) => {
                tracing::warn!(%error, "an entry of the post cannot be read");
                if matches!(error, EnvelopeError::NewerVersion(_)) {
                    self.note_newer();
                }
                return true;
            }
        };
        let header = entry.header;
        let sender = header.sender;
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
        if let Err(error) = self.pairs.note_met(&pair) {
            tracing::warn!(%sender, %error, "a first entry could not be noted with the pair");
        }
        match Frame::decode(&letter.body) {
            Ok(Frame::Hello(hello)) => self.hear_hello(&pair, header, &hello).await,
            Ok(Frame::Words(words)) if *words.body == *FORGOTTEN => {
                self.peers.note_fault(sender, FORGOTTEN_CURE);
            }
            Ok(Frame::Words(words)) => self.take_call(pair, &words.body),
            Ok(Frame::Through(through)) => {
                match self.take_mark(&pair, header.boot, through).await {
                    Ok(cure) => self.note_foreign(sender, cure),
                    Err(error) => {
                        tracing::warn!(%error, "a mark could not be compared with the log")
                    }
                }
            }
            Ok(Frame::Row(row)) => {
                return self.receive(&pair, header, row, posted.id.clone()).await;
            }
            Err(FrameError::UnknownKind(kind)) => {
                tracing::warn!(%sender, kind, "a frame of an unknown kind was skipped");
            }
            Err(error @ FrameError::Malformed(_)) => tracing::warn!(%sender, %error, "bad frame"),
        }
        true
    }

    /// Takes an introduction, and answers it if that is due. If the log cannot be read, the
    /// introduction is not noted, so this computer introduces itself again at the next renewal.
    async fn hear_hello(&self, pair: &Pair, header: EntryHeader, hello: &Hello) {
        if header.log != hello.sending.log {
            return tracing::warn!(sender = %pair.id, "an introduction names another log");
        }
        let cure = match self.meet(pair, header.boot, hello).await {
            Ok(cure) => cure,
            Err(error) => return tracing::warn!(%error, "an introduction was not taken"),
        };
        let now = self.hall.now();
        if self.peers.note_hello(pair.id, header.boot, hello, now, clock()) {
            self.introduce(pair).await;
        }
        self.note_foreign(pair.id, cure);
    }

    fn note_foreign(&self, id: ComputerId, cure: Option<&'static str>) {
        if let Some(cure) = cure {
            tracing::error!(computer = %id, "the log here is older than what was taken from it");
            self.peers.note_fault(id, cure);
        }
    }

    /// Takes a row. Returns false if its entry stays in the post, until the log has the row or its
    /// mark could be read.
    async fn receive(&self, pair: &Pair, header: EntryHeader, row: Row, post: PostId) -> bool {
        crash::point("row_read");
        let EntryHeader { sender, receiver, log, .. } = header;
        let key = ChannelKey { sender, log, receiver };
        if self.incoming.is_new(key)
            && let Err(error) = self.begin_incoming(pair, key).await
        {
            tracing::warn!(%error, "a mark could not be read");
            return false;
        }
        self.incoming.receive(key, row, post)
    }

    /// Returns the storage of the hall.
    pub(super) fn store(&self) -> Result<Store, LogError> {
        let hall = self.hall.weak().enter();
        let store = hall.map(|hall| hall.store().clone());
        store.ok_or_else(|| LogError::Failed("the hall is closed".into()))
    }

    /// Notes an entry of a newer version. Its sender cannot be read, because a newer version may
    /// write it at another place. So each computer that has not introduced itself gets the advice
    /// about a newer version.
    fn note_newer(&self) {
        for pair in self.pairs.all() {
            if self.peers.is_unknown(pair.id) {
                self.peers.note_fault(pair.id, NEWER_CURE);
            }
        }
    }

    /// Introduces this computer to another.
    async fn introduce(&self, pair: &Pair) {
        self.peers.note_introduced(pair.id, clock());
        match self.hello_for(pair).await {
            Ok(hello) => drop(self.put(pair, &Frame::Hello(hello)).await),
            Err(error) => tracing::warn!(%error, "the log cannot be read for an introduction"),
        }
    }

    /// Seals a frame and puts it into the post.
    ///
    /// # Errors
    /// [`PostError`], which was reported.
    pub(super) async fn put(&self, pair: &Pair, frame: &Frame) -> Result<(), PostError> {
        let sealed = self.sealer.seal(pair.id, &pair.key, &frame.encode());
        let entry = sealed.map(|entry| entry.encode()).map_err(|error| {
            tracing::error!(%error, "an entry could not be sealed");
            PostError::Failed(error.to_string())
        })?;
        let put = self.post.put(pair.id, &entry).await;
        self.refusals.note(PostUse::Putting, &put);
        put.inspect_err(|error| {
            tracing::debug!(%error, computer = %pair.name, "an entry could not be put");
        })
    }
}

/// The next step if the other computer has ended the pair.
const FORGOTTEN_CURE: &str =
    "It has forgotten this computer. Forget it here too, and pair both anew if you want to.";
/// The next step if the other computer has a newer program.
const NEWER_CURE: &str =
    "It may run a newer version of Moothall, whose words this one cannot read. Update this one.";
