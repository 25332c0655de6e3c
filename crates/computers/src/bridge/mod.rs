//! The other computers of a hall: their pairs with it, and their states.
//!
//! A hall without pairs runs nothing of this: it has no task, no connection and no id.

mod calls;
pub mod config;
mod line;
mod former_boot;
mod off;
mod peers;
mod refusals;
mod status;
mod body;
mod compose;
mod inbound;
mod turns;
mod outgoing;
mod incoming;
mod courier;
mod sender;
mod taker;
mod hello;
mod run;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use moothall_engine::computers::{
    ComputerDirectory, ComputerError, ComputerPlace, ComputerState, ComputersStatus, JoinOutcome,
    NewComputer, PairedComputer, RemoteAnswer, RemoteQuestion,
};
use moothall_engine::hall::{Hall, HallError};
use moothall_kernel::command::EngineCommand;
use moothall_kernel::link::PartReason;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Timestamp;

use crate::id::{ComputerId, LogId};
use crate::invitation::{OpenInvitations, Pair};
use crate::pairs::{OwnComputer, Pairs};
use crate::post::Post;
use crate::redis_post::RedisPost;
use config::ComputersConfig;
use former_boot::FormerBoot;
use line::Line;
use peers::Peers;
use run::{PostParts, PostTasks, kernel_id};
#[cfg(feature = "fakes")]
pub use taker::post_channel;

/// Makes the posts of computers that meet at another place than a Redis.
pub type PostMaker = Arc<dyn Fn(ComputerId) -> Arc<dyn Post> + Send + Sync>;

/// The computers of a server. Dropping them ends their tasks.
pub struct Computers {
    inner: Arc<Directory>,
}

struct Directory {
    hall: Hall,
    folder: PathBuf,
    log: LogId,
    /// The book of this computer, once it has an id.
    pairs: Mutex<Option<Arc<Pairs>>>,
    invitations: Mutex<OpenInvitations>,
    peers: Arc<Peers>,
    /// The maker of posts; `None` if the computers meet at a Redis.
    posts: Option<PostMaker>,
    /// The rights of other computers here.
    config: Arc<Mutex<ComputersConfig>>,
    /// The tasks of the post, while there are pairs.
    tasks: Mutex<Option<RunningPost>>,
    /// Held while the book changes, so that two requests do not give the computer two ids.
    changing: tokio::sync::Mutex<()>,
}

/// The tasks of the post, and the Redis that they use.
struct RunningPost {
    tasks: PostTasks,
    server: Option<Arc<RedisPost>>,
}

/// A post, and the Redis if it is one.
type MadePost = (Arc<dyn Post>, Option<Arc<RedisPost>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_kept(error: impl ToString) -> ComputerError {
    ComputerError::NotKept(error.to_string())
}

impl Computers {
    /// Opens the computers of a hall. `folder` has their keys. A file of pairs that cannot be read,
    /// or a post that cannot be used, is logged as an error; the hall then works without other
    /// computers.
    ///
    /// # Errors
    /// [`HallError::ShuttingDown`].
    pub async fn open(
        hall: &Hall,
        config: ComputersConfig,
        folder: PathBuf,
    ) -> Result<Self, HallError> {
        Self::open_at(None, hall, config, folder).await
    }

    /// Opens the computers of a hall that meet at another place than a Redis.
    ///
    /// # Errors
    /// As [`Computers::open`].
    #[cfg(any(test, feature = "fakes"))]
    pub async fn open_with(
        posts: PostMaker,
        hall: &Hall,
        config: ComputersConfig,
        folder: PathBuf,
    ) -> Result<Self, HallError> {
        Self::open_at(Some(posts), hall, config, folder).await
    }

    /// Opens the computers of a hall: reads the file of pairs, runs the tasks, and gives the
    /// directory to the hall. Without `posts` the computers meet at a Redis.
    async fn open_at(
        posts: Option<PostMaker>,
        hall: &Hall,
        config: ComputersConfig,
        folder: PathBuf,
    ) -> Result<Self, HallError> {
        let Some(open) = hall.weak().enter() else { return Err(HallError::ShuttingDown) };
        let mut log = log_of(open.store().upkeep.log_id());
        let pairs = Pairs::open(&folder).unwrap_or_else(|error| {
            tracing::error!(%error, "this server runs without other computers");
            None
        });
        let pairs = pairs.map(Arc::new);
        if planted::has(Bug::RestoredSenderGoesOn) {
            log = pairs.as_ref().and_then(|pairs| pairs.log()).unwrap_or(log);
        }
        let inner = Arc::new(Directory {
            hall: hall.clone(),
            folder,
            log,
            pairs: Mutex::new(pairs),
            invitations: Mutex::default(),
            peers: Arc::default(),
            posts,
            config: Arc::new(Mutex::new(config)),
            tasks: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        });
        if let Err(error) = inner.run().await {
            tracing::error!(%error, "the post of this computer cannot be used");
        }
        let directory: Arc<dyn ComputerDirectory> = inner.clone();
        hall.serve_computers(Arc::downgrade(&directory));
        Ok(Self { inner })
    }

    /// Returns the directory, as the hall has it.
    #[cfg(any(test, feature = "fakes"))]
    pub fn directory(&self) -> Arc<dyn ComputerDirectory> {
        self.inner.clone()
    }

    /// Changes the rights of other computers. The new rights count from the next question and row.
    pub fn configure(&self, config: ComputersConfig) {
        *lock(&self.inner.config) = config;
    }

    /// Ends the tasks, and releases this computer's lease at the post. The pairs stay known until
    /// the server ends. A message to another computer in that time is stored, and is sent after the
    /// next start of this server.
    pub async fn close(&self) {
        self.inner.end_tasks().await;
    }
}

fn paired(pair: &Pair) -> PairedComputer {
    PairedComputer { id: kernel_id(pair.id), name: pair.name.to_string() }
}

/// Returns a log's id in the length that the post has for it.
fn log_of(id: &str) -> LogId {
    let hash = blake3::hash(id.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    LogId::from_bytes(bytes)
}

impl Directory {
    fn book(&self) -> Option<Arc<Pairs>> {
        lock(&self.pairs).clone()
    }

    /// Ends the tasks, and releases this computer's lease at the post.
    async fn end_tasks(&self) {
        let running = lock(&self.tasks).take();
        if let Some(running) = running {
            running.tasks.close().await;
        }
    }

    /// Runs the tasks of the post if there is a pair and the computers are on, and ends them
    /// otherwise. Tasks that run already are only woken, so that they read the changed pairs. If
    /// this computer's name or Redis changed, new tasks replace them.
    async fn run(&self) -> Result<(), ComputerError> {
        let Some(pairs) = self.noted_book().await? else {
            self.end_tasks().await;
            return Ok(());
        };
        let own = pairs.own();
        if let Some(known) = lock(&self.tasks).as_ref().filter(|known| known.tasks.is_for(&own)) {
            known.tasks.wake();
            return Ok(());
        }
        self.end_tasks().await;
        let post = self.make_post(&own)?;
        self.begin_tasks(pairs, post);
        Ok(())
    }

    /// Makes the post of this computer, which connects later. Fails if the file of certificates
    /// cannot be used.
    fn make_post(&self, own: &OwnComputer) -> Result<MadePost, ComputerError> {
        if let Some(make) = &self.posts {
            return Ok((make(own.id), None));
        }
        let post = RedisPost::new(own.id, own.redis.clone(), own.ca.as_deref());
        let post = post.map_err(|error| ComputerError::Invalid(error.to_string()))?;
        let server = Arc::new(post);
        Ok((server.clone(), Some(server)))
    }

    /// Begins the tasks of the post.
    fn begin_tasks(&self, pairs: Arc<Pairs>, (post, server): MadePost) {
        let (hall, peers) = (self.hall.clone(), self.peers.clone());
        let former = FormerBoot::read(&self.folder, self.log);
        let config = self.config.clone();
        let parts = PostParts { hall, pairs, log: self.log, post, peers, config, former };
        *lock(&self.tasks) = Some(RunningPost { tasks: PostTasks::begin(parts), server });
    }

    /// Deletes the rows that the log owes a computer, and the marks of the rows that it took from
    /// that computer.
    async fn forget_rows(&self, id: ComputerId) -> Result<(), ComputerError> {
        let Some(hall) = self.hall.weak().enter() else {
            return Err(not_kept(HallError::ShuttingDown));
        };
        let forgotten = hall.store().posts.forget(&kernel_id(id)).await;
        forgotten.map(drop).map_err(not_kept)
    }

    /// Ends the common work of sessions here with a computer that is forgotten. The turns that were
    /// offered to it end, and the living sessions here leave its conversations.
    async fn part_sessions(&self, id: ComputerId) {
        let Some(hall) = self.hall.weak().enter() else { return };
        let computer = kernel_id(id);
        hall.end_offers(&computer);
        let living = self.hall.sessions().map(|all| all.list(false)).unwrap_or_default();
        for session in living.into_iter().map(|status| status.session.id) {
            let of = computer.clone();
            let joined = hall.view(&session, move |state| {
                let theirs = state.joined().filter(|joined| joined.computer == of);
                theirs.map(|joined| joined.stream.clone()).collect::<Vec<_>>()
            });
            for stream in joined.await.unwrap_or_default() {
                let (computer, why) = (computer.clone(), PartReason::Forgotten);
                let part = EngineCommand::Part { computer, stream, why };
                if let Err(error) = hall.submit(&session, part, None).await {
                    tracing::warn!(%session, %error, "a session could not leave a conversation");
                }
            }
        }
    }
}

#[async_trait]
impl ComputerDirectory for Directory {
    fn place_of(&self, name: &str) -> Option<ComputerPlace> {
        let (pairs, name) = (self.book()?, name.parse().ok()?);
        if pairs.own().name == name {
            return Some(ComputerPlace::Here);
        }
        pairs.named(&name).map(|pair| ComputerPlace::Elsewhere(paired(&pair)))
    }

    fn own(&self) -> Option<PairedComputer> {
        let own = self.book()?.own();
        Some(PairedComputer { id: kernel_id(own.id), name: own.name.to_string() })
    }

    fn with_id(&self, id: &moothall_kernel::ids::ComputerId) -> Option<PairedComputer> {
        self.book()?.get(id.as_str().parse().ok()?).as_ref().map(paired)
    }

    fn paired(&self) -> Vec<PairedComputer> {
        let pairs = self.book().map(|pairs| pairs.all()).unwrap_or_default();
        let mut all: Vec<PairedComputer> = pairs.iter().map(paired).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    fn presence(&self, computer: &PairedComputer) -> (ComputerState, Option<Timestamp>) {
        let id = computer.id.as_str().parse().ok();
        let pair = self.book().zip(id).and_then(|(pairs, id)| pairs.get(id));
        let status = pair.map(|pair| self.peers.status(&pair));
        let seen_at = status.as_ref().and_then(|status| status.seen_at);
        match (self.must_be_on(), status) {
            (Err(_), _) => (ComputerState::Off, seen_at),
            (Ok(()), Some(status)) => (status.state, seen_at),
            (Ok(()), None) => (ComputerState::Away, None),
        }
    }

    fn must_be_on(&self) -> Result<(), ComputerError> {
        if self.is_off() { Err(ComputerError::Off) } else { Ok(()) }
    }

    async fn resume(&self) -> Result<bool, ComputerError> {
        let _changing = self.changing.lock().await;
        self.put_on().await
    }

    async fn ask(
        &self,
        computer: &PairedComputer,
        question: RemoteQuestion,
    ) -> Result<RemoteAnswer, ComputerError> {
        self.must_be_on()?;
        let asker = lock(&self.tasks).as_ref().map(|running| running.tasks.asker());
        match asker {
            Some(asker) => asker.ask(computer, question).await,
            None => Err(ComputerError::Away { name: computer.name.clone(), since: None }),
        }
    }

    async fn computers(&self) -> ComputersStatus {
        self.status().await
    }

    async fn invite(&self, new: NewComputer) -> Result<String, ComputerError> {
        let _changing = self.changing.lock().await;
        self.must_be_on()?;
        let pairs = self.begun(new).await?;
        let own = pairs.own();
        let invitation = crate::invitation::Invitation::new(own.id, own.name, own.redis);
        lock(&self.invitations).add(&invitation, Instant::now());
        Ok(invitation.line())
    }

    fn name_in(&self, line: &str) -> Result<String, ComputerError> {
        Ok(Line::read(line)?.name().to_string())
    }

    async fn join(&self, line: &str, new: NewComputer) -> Result<JoinOutcome, ComputerError> {
        let _changing = self.changing.lock().await;
        self.must_be_on()?;
        let joined = match Line::read(line)? {
            Line::Answer(answer) => self.take_answer(&answer).await?,
            Line::Invitation(invitation) => self.accept(invitation, new).await?,
        };
        self.run().await?;
        Ok(joined)
    }

    async fn forget(&self, name: &str) -> Result<bool, ComputerError> {
        let _changing = self.changing.lock().await;
        let Some(pairs) = self.book() else { return Ok(false) };
        let Some(pair) = name.parse().ok().and_then(|name| pairs.named(&name)) else {
            return Ok(false);
        };
        let farewell = lock(&self.tasks).as_ref().map(|running| running.tasks.farewell());
        if let Some(farewell) = farewell {
            farewell.say(&pair).await;
        }
        let forgotten = pairs.forget(pair.id).map_err(not_kept)?;
        self.peers.forget(pair.id);
        if let Some(running) = &*lock(&self.tasks) {
            running.tasks.forget(pair.id);
        }
        self.forget_rows(pair.id).await?;
        self.part_sessions(pair.id).await;
        self.run().await?;
        Ok(forgotten)
    }
}
