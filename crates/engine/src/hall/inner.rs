//! Access to the streams of a hall: sends commands, questions and notices, and loads streams that
//! are not live.

use std::ops::Deref;
use std::sync::{Arc, Mutex, Weak};

use moothall_kernel::command::{Actor, ClientCommand, Command, Facts};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::task::Task;
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Aggregate, Conversation};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use uuid::Uuid;

use crate::access::start_rate::CreationLimiter;
use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::clock_doubt::Retention;
use crate::hall::keyed_locks::KeyedLocks;
use crate::hall::services::{HallParts, Services};
use crate::hall::streams::{HandOver, StreamHandle};
use crate::outbox::OutboxEntry;
use crate::ports::Page;
use crate::runtime::agent::{Report, TurnKey};
use crate::sessions::Residents;
use crate::stream::asking::ConsentRequest;
use crate::stream::brief::read_span;
use crate::stream::idempotency::{IDEM, claim_key, replay};
use crate::stream::mail::{NoticeRouter, Receipt, Request, Submission, TurnNotice};
use crate::stream::remote_effects::MemberElsewhere;
use crate::stream::shown::ConversationFlags;
use crate::stream::{ItemBody, OwedItems, StartMode, shell};

/// A conversation to create.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationDraft {
    /// The title; an empty one becomes `Untitled`.
    pub name: String,
    /// The floor policy, with its settings.
    pub policy: Policy,
    /// The folder in which known programs work for it: an absolute path. The server's own if
    /// absent.
    pub folder: Option<String>,
}

/// A hall: the services of its parts, and the access to its streams.
pub(crate) struct Inner {
    services: Arc<Services>,
    pub(crate) opened_at: Timestamp,
    pub(crate) keyed_locks: KeyedLocks,
    pub(crate) begun: CreationLimiter,
    /// The task that deletes old archived conversations, if one is configured, and its check of
    /// the clock.
    pub(crate) retention: Mutex<Retention>,
    runtime: Handle,
}

impl Deref for Inner {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}

/// Streams get notices of their turns through the hall, which loads a stream if it has to.
impl NoticeRouter for Inner {
    fn tell(self: Arc<Self>, stream: &StreamId, notice: Box<TurnNotice>) {
        self.notify(stream, notice);
    }

    fn offer(self: Arc<Self>, key: TurnKey, to: MemberElsewhere) {
        let hall = self.clone();
        self.spawn(async move { hall.keep_offer(key, to).await });
    }
}

impl Inner {
    pub(crate) fn new(parts: HallParts, residents: Arc<dyn Residents>) -> Arc<Self> {
        let services = Arc::new(Services::new(parts, residents));
        Arc::new(Self {
            opened_at: services.now(),
            services,
            keyed_locks: KeyedLocks::default(),
            begun: CreationLimiter::default(),
            retention: Mutex::default(),
            runtime: Handle::current(),
        })
    }

    /// Returns the facts for a decision about a conversation.
    pub(crate) fn facts(&self, state: &Conversation, now: Timestamp) -> Facts {
        let here = self.attendees(state.stream(), Some(state), now);
        Facts { budgets: self.budgets.facts(), ..here.facts(state, &[]) }
    }

    /// Creates a conversation with a new id.
    pub(crate) async fn create(
        self: &Arc<Self>,
        name: String,
        policy: Policy,
        by: Actor,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.create_owing(name, policy, by, idempotency, Vec::new()).await
    }

    /// Creates a conversation together with deliveries.
    pub(crate) async fn create_owing(
        self: &Arc<Self>,
        name: String,
        policy: Policy,
        by: Actor,
        idempotency: Option<Idempotency>,
        owed: Vec<OutboxEntry>,
    ) -> Result<Answer, HallError> {
        let new = ConversationDraft { name, policy, folder: None };
        self.create_as(new, by, idempotency, owed).await
    }

    /// Creates a conversation together with deliveries, in a folder if one is given.
    pub(crate) async fn create_as(
        self: &Arc<Self>,
        new: ConversationDraft,
        by: Actor,
        idempotency: Option<Idempotency>,
        owed: Vec<OutboxEntry>,
    ) -> Result<Answer, HallError> {
        let ConversationDraft { name, policy, folder } = new;
        let create = ClientCommand::Create { name, policy, folder, by };
        let owing = OwedItems { hops: 0, owed };
        let stream = fresh_id(self.now());
        self.begin(&stream, StartMode::New, create, idempotency, owing).await
    }

    /// Makes a new stream live, which is not in the log yet, and submits its first command. A
    /// second call with the same key returns the answer of the first.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        stream: &StreamId,
        begin: StartMode,
        first: impl Into<Command>,
        idempotency: Option<Idempotency>,
        owing: OwedItems,
    ) -> Result<Answer, HallError> {
        self.is_open()?;
        // The key is looked up before the stream is started, because a repeated request must not
        // start a stream that stays without events.
        if let Some(idempotency) = &idempotency {
            let earlier = self.store.log.claim(IDEM, &claim_key(idempotency), self.now()).await?;
            if let Some(claim) = earlier {
                return replay(&*self.store.log, &claim, idempotency).await;
            }
        }
        let (reply, answer) = oneshot::channel();
        let wanted = ItemBody::Decision(first.into());
        let submitted = Submission { wanted, idempotency, asked: None, owing, taking: None, reply };
        self.enqueue(stream, Request::Submit(Box::new(submitted)), begin)?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    /// Submits a command. See [`crate::hall::Hall::submit`] for the errors.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        stream: &StreamId,
        command: impl Into<Command>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.submit_owing(stream, command, idempotency, OwedItems::default()).await
    }

    /// Submits a command together with deliveries, which are committed with its events.
    pub(crate) async fn submit_owing(
        self: &Arc<Self>,
        stream: &StreamId,
        command: impl Into<Command>,
        idempotency: Option<Idempotency>,
        owing: OwedItems,
    ) -> Result<Answer, HallError> {
        self.submit_wanted(stream, ItemBody::Decision(command.into()), idempotency, None, owing)
            .await
    }

    /// Commits deliveries of a stream without a command. A second call with the same key commits
    /// nothing.
    pub(crate) async fn owe(
        self: &Arc<Self>,
        stream: &StreamId,
        owed: Vec<OutboxEntry>,
        key: Idempotency,
    ) -> Result<Answer, HallError> {
        self.submit_wanted(stream, ItemBody::Owing, Some(key), None, OwedItems { hops: 0, owed })
            .await
    }

    /// Stores the answer to a request under its key, as a claim of a stream.
    pub(crate) async fn keep_answer(
        self: &Arc<Self>,
        stream: &StreamId,
        key: &Idempotency,
        answer: String,
    ) -> Result<(), HallError> {
        self.submit_wanted(
            stream,
            ItemBody::Keeping(answer),
            Some(key.clone()),
            None,
            OwedItems::default(),
        )
        .await
        .map(drop)
    }

    /// Sends a request to the task of a stream, which is loaded if necessary, and waits for the
    /// answer.
    pub(crate) async fn submit_wanted(
        self: &Arc<Self>,
        stream: &StreamId,
        wanted: ItemBody,
        idempotency: Option<Idempotency>,
        asked: Option<ConsentRequest>,
        owing: OwedItems,
    ) -> Result<Answer, HallError> {
        self.is_open()?;
        let (reply, answer) = oneshot::channel();
        let submitted = Submission { wanted, idempotency, asked, owing, taking: None, reply };
        self.send(stream, Request::Submit(Box::new(submitted))).await?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    /// Runs a closure on the committed state of a conversation and returns its result. `NotFound`
    /// if the stream is a task.
    pub(crate) async fn view<T: Send + 'static>(
        self: &Arc<Self>,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, HallError> {
        let missing = HallError::NotFound(stream.clone());
        self.view_any(stream, move |state| state.conversation().map(question).ok_or(missing))
            .await?
    }

    /// Runs a closure on the committed state of a task.
    pub(crate) async fn view_task<T: Send + 'static>(
        self: &Arc<Self>,
        stream: &StreamId,
        question: impl FnOnce(&Task) -> T + Send + 'static,
    ) -> Result<T, HallError> {
        let missing = HallError::NotFound(stream.clone());
        self.view_any(stream, move |state| state.task().map(question).ok_or(missing)).await?
    }

    /// Runs a closure on the committed state of a stream of any kind.
    pub(crate) async fn view_any<T: Send + 'static>(
        self: &Arc<Self>,
        stream: &StreamId,
        question: impl FnOnce(&Aggregate) -> T + Send + 'static,
    ) -> Result<T, HallError> {
        let (reply, answer) = oneshot::channel();
        let ask = move |state: Result<&Aggregate, HallError>| drop(reply.send(state.map(question)));
        self.send(stream, Request::Ask(Box::new(ask))).await?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    /// Returns the flags of a conversation. They are read without its task if it is live; otherwise
    /// the conversation is loaded.
    pub(crate) async fn conversation_flags(
        self: &Arc<Self>,
        stream: &StreamId,
    ) -> Result<ConversationFlags, HallError> {
        match self.directory.live_flags(stream) {
            Some(shown) => Ok(shown),
            None => self.view(stream, ConversationFlags::of).await,
        }
    }

    /// Reads the events after a position, all or at most `limit`, into memory.
    pub(crate) async fn read(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: Option<usize>,
    ) -> Result<Page, HallError> {
        Ok(read_span(&*self.store.log, stream, after, limit.unwrap_or(usize::MAX)).await?)
    }

    /// Sends a request to a stream. Loads the stream if it exists and is not live.
    pub(crate) async fn send(
        self: &Arc<Self>,
        stream: &StreamId,
        request: Request,
    ) -> Result<(), HallError> {
        let request = match self.directory.send(stream, request) {
            HandOver::Yes => return Ok(()),
            HandOver::Full => return Err(HallError::Overloaded),
            HandOver::Absent(request) => request,
        };
        self.find(stream).await?;
        self.enqueue(stream, request, StartMode::Existing(self.opened_at))
    }

    /// Sends a request to a stream, and starts its task if it has none. Does not check that the
    /// stream exists.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        stream: &StreamId,
        request: Request,
        begin: StartMode,
    ) -> Result<(), HallError> {
        match self.directory.enqueue(stream, request, |handle| self.start(stream, handle, begin)) {
            HandOver::Yes | HandOver::Absent(_) => Ok(()),
            HandOver::Full => Err(HallError::Overloaded),
        }
    }

    /// Spawns the task of a stream on the runtime in which the hall was opened.
    fn start(
        self: &Arc<Self>,
        stream: &StreamId,
        handle: StreamHandle,
        begin: StartMode,
    ) -> tokio::task::AbortHandle {
        self.runtime
            .spawn(shell::run(self.services.clone(), self.streams(), stream.clone(), handle, begin))
            .abort_handle()
    }

    /// Runs a task in the background, until the process ends.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_abortable(task);
    }

    /// Runs a task in the background, and returns a handle to abort it.
    pub(crate) fn spawn_abortable(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> AbortHandle {
        self.runtime.spawn(task).abort_handle()
    }

    /// Sends a notice of a turn to its stream. A final report loads a stream that is not live, so
    /// that results are not lost.
    pub(crate) fn notify(self: &Arc<Self>, stream: &StreamId, notice: Box<TurnNotice>) {
        let HandOver::Absent(notice) = self.directory.notify(stream, notice) else { return };
        if matches!(*notice, TurnNotice::Report(_, Report::Finished { .. }, _)) {
            self.directory.enqueue_notice(stream, notice, |handle| {
                self.start(stream, handle, StartMode::Existing(self.opened_at))
            });
        }
    }

    /// Sends a report of a turn to its stream, and waits until it is committed. A second report
    /// with the same key takes no effect.
    pub(crate) async fn keep_report(
        self: &Arc<Self>,
        key: &TurnKey,
        report: Report,
        once: Idempotency,
    ) -> Result<Answer, HallError> {
        let (reply, answer) = oneshot::channel();
        let receipt = Some(Receipt { idempotency: once, reply });
        self.notify(&key.stream, Box::new(TurnNotice::Report(key.clone(), report, receipt)));
        match answer.await {
            Ok(answer) => answer,
            // If the conversation was deleted, the caller must learn that a retry is useless.
            Err(_) => {
                Err(self.find(&key.stream).await.err().unwrap_or_else(|| stopped(&key.stream)))
            }
        }
    }

    /// Returns a weak handle to the hall.
    pub(crate) fn weak(self: &Arc<Self>) -> Weak<Self> {
        Arc::downgrade(self)
    }

    /// Returns the hall as the receiver of notices about turns.
    fn streams(self: &Arc<Self>) -> Weak<dyn NoticeRouter> {
        let weak: Weak<Self> = self.weak();
        weak
    }
}

/// Returns the error for a request whose stream ended before it answered.
pub(crate) fn stopped(stream: &StreamId) -> HallError {
    HallError::Failed(format!("the task of conversation {stream} stopped; try again"))
}

/// Returns a new unique id. Ids sort by the time at which they were made.
pub(crate) fn fresh_id(now: Timestamp) -> StreamId {
    let millis = u64::try_from(now.millis()).unwrap_or_default();
    let nanos = u32::try_from(millis % 1000).unwrap_or_default() * 1_000_000;
    let id = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, millis / 1000, nanos));
    StreamId::new(id.to_string())
}
