//! The engine's front door: what surfaces and channels call.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, EngineCommand, Refusal, Rejection};
use moothall_kernel::event::{Recorded, To};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::invariants::Broken;
use moothall_kernel::policy::Policy;
use moothall_kernel::preview::Forecast;
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;

use crate::budgets::BudgetsConfig;
use crate::crash;
use crate::inner::{Inner, stopped};
use crate::ports::{Clock, EventLog, ListFilter, ListPage, Listed, Page};
use crate::presence::Presence;
use crate::registry::Registry;
use crate::sessions::{SessionError, SessionParts, Sessions};
use crate::stream::mail::Request;
pub use crate::updates::Listener;
use crate::wakes;

/// A client's key for a request that must take effect once. (Section "Claims" of ARCHITECTURE.md.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// Whose key it is: keys of two principals never meet.
    pub principal: String,
    /// The key, 1 to 255 visible ASCII characters.
    pub key: String,
    /// Hash of the request.
    pub fingerprint: String,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The stream.
    pub stream: StreamId,
    /// The event that answers the command, committed and synced. Nothing when the command changed nothing.
    pub event: Option<Recorded>,
    /// The stream's head after it.
    pub head: Seq,
    /// This is the stored answer to an earlier request with the same key.
    pub replayed: bool,
}

/// Why a request to the hall failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HallError {
    /// The rules say no.
    #[error("{}", .0.message)]
    Rejected(Box<Rejection>),
    /// No such conversation.
    #[error("there is no conversation {0}")]
    NotFound(StreamId),
    /// The same key came with another request.
    #[error("this Idempotency-Key was used for another request")]
    KeyReused,
    /// Too much is waiting; nothing was decided.
    #[error("the server is overloaded; try again in a moment")]
    Overloaded,
    /// No room on the disk; nothing was decided, reads go on.
    #[error("the disk is full; free some space and try again")]
    DiskFull,
    /// A newer version wrote to this conversation: it can be read, not written.
    #[error("{stream} was written by a newer version of Moothall (event {kind:?} at {seq}); it is read-only here")]
    ReadOnly {
        /// Which conversation.
        stream: StreamId,
        /// Where this version stops understanding.
        seq: Seq,
        /// The kind it does not know.
        kind: String,
    },
    /// The state of this conversation is one that no rule allows: it can be read, not written.
    #[error("{stream} can be read, not written: {rule}. This is a fault of Moothall; export the conversation, and report it")]
    Broken {
        /// Which conversation.
        stream: StreamId,
        /// What does not hold.
        rule: Broken,
    },
    /// What is stored is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The disk could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// The server is going down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// Something that goes to everyone who listens to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Committed events, in order, without a gap.
    Events(Arc<Vec<Recorded>>),
    /// An ephemeral signal.
    Signal(Arc<Signal>),
}

/// Ephemeral: never logged, may be missed.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// Somebody's presence changed.
    Presence(Presence),
    /// A piece of a running turn's answer; `offset` counts bytes of the answer before it. Held back while it may become `[PASS]`.
    Delta {
        /// The turn.
        turn: TurnNo,
        /// The try.
        attempt: u32,
        /// Whose.
        participant: ParticipantId,
        /// Where the piece begins.
        offset: usize,
        /// The piece.
        text: String,
    },
    /// What a running turn is doing.
    Progress {
        /// The turn.
        turn: TurnNo,
        /// Whose.
        participant: ParticipantId,
        /// In a few words.
        text: String,
    },
}

/// A listener's end of a conversation.
pub struct Subscription {
    /// The head when it began: everything after it comes through `updates`.
    pub head: Seq,
    /// Partial answers of the turns that run now.
    pub partials: Vec<Signal>,
    /// What comes. Lagging means that the listener was too slow and has to read the log again.
    pub updates: Listener,
}

/// A doorbell for those who watch the whole hall.
#[derive(Clone, Debug, PartialEq)]
pub enum Bell {
    /// A conversation has a new head.
    Head {
        /// Which.
        stream: StreamId,
        /// Its head.
        head: Seq,
    },
    /// Somebody's presence changed.
    Presence {
        /// Where.
        stream: StreamId,
        /// Whose, and how.
        presence: Presence,
    },
    /// The list of sessions, what one of them is doing, or a link changed.
    Sessions,
}

/// What a hall is made of.
pub struct HallParts {
    /// The log.
    pub log: Arc<dyn EventLog>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The agents.
    pub registry: Registry,
    /// Settings of conversations that do not say otherwise.
    pub defaults: Policy,
    /// What may be spent.
    pub budgets: BudgetsConfig,
    /// Who this process is, for the epochs of its streams.
    pub owner: String,
}

/// The engine. Cheap to clone; everything it does ends with the last clone, as in a crash. To end it gently, [`Hall::drain`] it first.
#[derive(Clone)]
pub struct Hall {
    pub(crate) inner: Arc<Inner>,
    _life: Arc<Life>,
}

/// Ends the tasks of a hall that nobody holds any more.
struct Life {
    inner: Arc<Inner>,
    wakes: JoinHandle<()>,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.wakes.abort();
        self.inner.directory.abort_all();
    }
}

/// While this lives, a participant counts as connected.
pub struct Connected {
    inner: Arc<Inner>,
    stream: StreamId,
    participant: ParticipantId,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.inner.attendance.disconnect(&self.stream, &self.participant);
    }
}

impl Hall {
    /// Opens the hall: reads the catalog, and takes up the streams that have duties.
    ///
    /// # Errors
    /// [`HallError`] when the log cannot be read.
    pub async fn open(parts: HallParts) -> Result<Hall, HallError> {
        Self::open_with(parts, None).await
    }

    /// The same, with terminals for agents that live in one.
    ///
    /// # Errors
    /// [`HallError`] when the log cannot be read.
    pub async fn open_with(parts: HallParts, sessions: Option<SessionParts>) -> Result<Hall, HallError> {
        let inner = Inner::new(parts, sessions);
        inner.open_purses().await?;
        inner.sessions.open().await?;
        let wakes = tokio::spawn(wakes::watch(Arc::downgrade(&inner)));
        let hall = Hall { _life: Arc::new(Life { inner: inner.clone(), wakes }), inner };
        wakes::load_due(&hall.inner).await?;
        hall.inner.spawn(Inner::count_old_turns(Arc::downgrade(&hall.inner)));
        crash::point("hall_opened");
        Ok(hall)
    }

    /// The time now, by the hall's clock.
    pub fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// Settings of conversations that do not say otherwise.
    pub fn defaults(&self) -> Policy {
        (*self.inner.standing().defaults()).clone()
    }

    /// The sessions of agents in terminals, and the links between them.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`] when the hall was opened without terminals.
    pub fn sessions(&self) -> Result<&Sessions, SessionError> {
        self.inner.sessions.host().map(|_| &self.inner.sessions)
    }

    /// The agents.
    pub fn registry(&self) -> Arc<Registry> {
        self.inner.standing().registry()
    }

    /// Replaces what the operator says. Conversations go on: running turns end as they began, and every participant whose agent is
    /// another one now, or none any more, is told so before its next turn.
    pub async fn replace(&self, registry: Registry, defaults: Policy) {
        self.inner.standing().replace(registry, defaults);
        for queue in self.inner.directory.queues() {
            // A stream that leaves meanwhile reads the registry when it is loaded again.
            let _ = queue.send(Request::Refresh).await;
        }
    }

    /// Begins a conversation; its id is a fresh UUID of version 7.
    ///
    /// # Errors
    /// [`HallError`]; nothing was created then.
    pub async fn create(&self, name: String, policy: Policy, by: Actor, idempotency: Option<Idempotency>) -> Result<Answer, HallError> {
        self.inner.create(name, policy, by, idempotency).await
    }

    /// Submits a command; the answer comes when its events are committed and synced.
    ///
    /// # Errors
    /// [`HallError`]. After `Rejected` the words may be in the trace; after anything else nothing was decided.
    pub async fn submit(&self, stream: &StreamId, command: ClientCommand, idempotency: Option<Idempotency>) -> Result<Answer, HallError> {
        if let ClientCommand::AnswerPermission { permission, .. } = &command {
            self.inner.sessions.see_question(stream, permission).await;
        }
        self.inner.submit(stream, command, idempotency).await
    }

    /// Tells a conversation how something of its own went on. It never comes from outside: surfaces and channels [`Hall::submit`].
    ///
    /// # Errors
    /// [`HallError`], as for [`Hall::submit`].
    pub async fn tell(&self, stream: &StreamId, command: EngineCommand, idempotency: Option<Idempotency>) -> Result<Answer, HallError> {
        self.inner.submit(stream, command, idempotency).await
    }

    /// Asks the committed state a question.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn view<T: Send + 'static>(
        &self,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, HallError> {
        self.inner.view(stream, question).await
    }

    /// Who would be asked if this speaker said this now, by the nominations of the policy in force.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn preview(&self, stream: &StreamId, speaker: ParticipantId, to: To, body: String) -> Result<Vec<Forecast>, HallError> {
        let (inner, now) = (self.inner.clone(), self.now());
        let forecast = move |state: &Conversation| {
            let facts = inner.facts(state, now);
            state.preview(now, &speaker, &to, &body, &facts)
        };
        self.view(stream, forecast).await
    }

    /// Makes words that were kept in the trace visible, in a person's name.
    ///
    /// # Errors
    /// [`HallError`] as for [`Hall::submit`].
    pub async fn publish(&self, stream: &StreamId, seq: Seq, by: Actor, idempotency: Option<Idempotency>) -> Result<Answer, HallError> {
        let page = self.read(stream, Seq(seq.0.saturating_sub(1)), Some(1)).await?;
        let unknown = || Rejection::new(Refusal::NotFound, "unknown_event", "There is no such event here.");
        let kept = page.events.into_iter().find(|event| event.seq == seq).ok_or_else(|| HallError::Rejected(Box::new(unknown())))?;
        self.submit(stream, ClientCommand::Publish { seq, kept: Box::new(kept), by }, idempotency).await
    }

    /// One page of events after a position: at most `limit`, and no more bytes than [`crate::ports::PAGE_BYTES_MAX`]. Go on after
    /// [`Page::through`] as long as it moves.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn page(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, HallError> {
        Ok(self.inner.log.read(stream, after, limit).await?)
    }

    /// Events after a position, all or at most `limit`, together in memory: for spans that are short. [`Hall::page`] is for the others.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn read(&self, stream: &StreamId, after: Seq, limit: Option<usize>) -> Result<Page, HallError> {
        self.inner.read(stream, after, limit).await
    }

    /// Lists streams in creation order, from the catalog alone.
    ///
    /// # Errors
    /// [`HallError`] when the log cannot be read.
    pub async fn list(&self, filter: ListFilter) -> Result<ListPage, HallError> {
        Ok(self.inner.log.list(filter).await?)
    }

    /// A stream's row, without loading the stream.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or the log cannot be read.
    pub async fn find(&self, stream: &StreamId) -> Result<Listed, HallError> {
        self.inner.find(stream).await
    }

    /// Listens to a stream. `updates` closes when the stream has to be read again: subscribe anew then, and read from where you were.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn subscribe(&self, stream: &StreamId) -> Result<Subscription, HallError> {
        let (reply, answer) = oneshot::channel();
        self.inner.send(stream, Request::Subscribe(reply)).await?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    /// Listens to the doorbells of all streams.
    pub fn bells(&self) -> broadcast::Receiver<Bell> {
        self.inner.bells.subscribe()
    }

    /// Says how somebody is. Details that are not given stay as they were.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist, or has too many presences.
    pub async fn set_presence(
        &self,
        stream: &StreamId,
        from: ParticipantId,
        state: String,
        details: Option<Map<String, Value>>,
    ) -> Result<Presence, HallError> {
        self.must_exist(stream).await?;
        self.inner.note_presence(stream, from, state, details).ok_or(HallError::Overloaded)
    }

    /// How everybody is: those that count first, then by id.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist.
    pub async fn presence(&self, stream: &StreamId) -> Result<Vec<Presence>, HallError> {
        self.must_exist(stream).await?;
        Ok(self.inner.attendance.presences(stream, self.now()))
    }

    async fn must_exist(&self, stream: &StreamId) -> Result<(), HallError> {
        self.inner.find(stream).await.map(drop)
    }

    /// While the guard lives, this participant counts as connected. (Ruling 5.)
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist.
    pub async fn connect(&self, stream: &StreamId, participant: ParticipantId) -> Result<Connected, HallError> {
        self.must_exist(stream).await?;
        self.inner.attendance.connect(stream, &participant);
        Ok(Connected { inner: self.inner.clone(), stream: stream.clone(), participant })
    }

    /// Stops taking commands, lets what is queued commit, and waits for that at most `within`. Cancels nothing.
    pub async fn drain(&self, within: Millis) {
        self.inner.stop_taking();
        let queues = self.inner.directory.queues();
        let all = join_all(queues.into_iter().map(|queue| async move {
            let (done, drained) = oneshot::channel();
            if queue.send(Request::Drain(done)).await.is_ok() {
                let _ = drained.await;
            }
        }));
        if tokio::time::timeout(Duration::from_millis(within.0), all).await.is_err() {
            tracing::warn!("the time to drain ran out");
        }
    }

    /// Resolves when the log failed so that the process has to stop, with the reason.
    pub async fn failed(&self) -> String {
        let mut fatal = self.inner.fatal();
        match fatal.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// How many streams are held in memory.
    pub fn live_streams(&self) -> usize {
        self.inner.directory.len()
    }
}
