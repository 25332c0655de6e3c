//! The engine's front door, which surfaces and channels call.

pub(crate) mod services;
pub(crate) mod inner;
pub mod residents;
mod posting;
mod taking;
mod offering;
pub(crate) mod streams;
pub(crate) mod wakes;
pub mod presence;
pub mod occupation;
pub(crate) mod occupations;
mod states;
pub(crate) mod presences;
pub mod context;
pub(crate) mod slash;
pub mod search;
mod gatherings;
pub mod marks;
pub(crate) mod once;
pub mod keyed_locks;
pub mod budgets;
pub mod voices;
pub mod reservations;
pub(crate) mod spending;
pub mod erase;
mod delete;
mod clock_doubt;
mod retention;
pub(crate) mod copies;
pub(crate) mod counted;
pub mod meters;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use moothall_kernel::Conversation;
use moothall_kernel::aggregate::TASK;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Command, EngineCommand, Refusal, Rejection};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::preview::{Draft, Preview};
use moothall_kernel::say::check_length;
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;

pub use crate::answers::{Answer, HallChange, HallError, Idempotency, Signal, Update};
use crate::crash;
pub use crate::hall::inner::ConversationDraft;
use crate::hall::inner::{Inner, stopped};
use crate::hall::presence::Presence;
use crate::hall::residents::{MoveIn, WeakHall};
pub use crate::hall::services::HallParts;
use crate::outbox::stream::StreamCourier;
use crate::outbox::{DeliveryHandler, OutboxEntry};
use crate::ports::{Claim, ListFilter, ListPage, ListedStream, Page, TargetKind};
use crate::runtime::registry::Registry;
use crate::sessions::{NoResidents, SessionDirectory, SessionError};
use crate::stream::OwedItems;
use crate::stream::asking::ConsentRequest;
use crate::stream::effects;
use crate::stream::mail::Request;
pub use crate::stream::updates::{Listener, Subscription};
use crate::stream::{Condition, ConsentAsker, ItemBody};

/// The engine. Cheap to clone. Dropping the last clone ends all of its tasks, as in a crash. For a
/// gentle end, call [`Hall::drain`] first.
#[derive(Clone)]
pub struct Hall {
    pub(crate) inner: Arc<Inner>,
    _life: Arc<Life>,
}

/// Ends the tasks of a hall when its last clone is dropped.
struct Life {
    inner: Arc<Inner>,
    wakes: JoinHandle<()>,
    states: JoinHandle<()>,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.wakes.abort();
        self.states.abort();
        self.inner.directory.abort_all();
    }
}

/// A guard: while it lives, a participant counts as connected.
pub struct ConnectionGuard {
    inner: Arc<Inner>,
    stream: StreamId,
    participant: ParticipantId,
    takes_turns: bool,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.inner.presences.disconnect(
            &self.stream,
            &self.participant,
            self.takes_turns,
            self.inner.now(),
        );
        self.inner.occupations.note_change(&self.stream);
    }
}

impl Hall {
    /// Opens the hall: reads the catalog, and loads the streams that have duties.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn open(parts: HallParts) -> Result<Hall, HallError> {
        Self::open_with(parts, Arc::new(NoResidents)).await
    }

    /// Opens the hall with residents: the sessions that live in it.
    ///
    /// # Errors
    /// [`HallError`] if the log or the residents' state cannot be read.
    pub async fn open_with(
        parts: HallParts,
        residents: Arc<dyn MoveIn>,
    ) -> Result<Hall, HallError> {
        let inner = Inner::new(parts, residents.clone());
        // The budgets are restored before a stream is live. Otherwise the charges of a live stream
        // would be read from the ledger too, and count twice.
        inner.restore_budgets().await?;
        residents.move_in(WeakHall::of(&inner)).await?;
        let wakes = tokio::spawn(wakes::watch(Arc::downgrade(&inner)));
        let states = tokio::spawn(Inner::tell_states(Arc::downgrade(&inner)));
        let life = Life { inner: inner.clone(), wakes, states };
        let hall = Hall { _life: Arc::new(life), inner };
        wakes::load_due(&hall.inner).await?;
        hall.inner
            .outbox
            .register(TargetKind::Stream, Arc::new(StreamCourier(hall.inner.weak())))
            .await?;
        hall.inner.spawn(Inner::count_old_turns(Arc::downgrade(&hall.inner)));
        hall.inner.spawn(Inner::finish_deletions(Arc::downgrade(&hall.inner)));
        hall.inner.spawn(Inner::watch_memberships(Arc::downgrade(&hall.inner)));
        crash::point("hall_opened");
        Ok(hall)
    }

    /// Returns the time now, by the hall's clock.
    pub fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// Returns the default settings of conversations.
    pub fn defaults(&self) -> Policy {
        (*self.inner.standing().defaults()).clone()
    }

    /// Returns the sessions of agents in terminals, and the links between them.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`] if the hall was opened without terminals.
    pub fn sessions(&self) -> Result<&dyn SessionDirectory, SessionError> {
        let none = || SessionError::Unavailable("this server was started without terminals".into());
        self.inner.residents.directory().ok_or_else(none)
    }

    /// Returns the configured agents. [`Hall::replace`] does not change a copy that was taken
    /// before.
    pub fn registry(&self) -> Arc<Registry> {
        self.inner.standing().registry()
    }

    /// Replaces the agents and the default settings. A running turn ends with the agent with which
    /// it began. Live conversations record the changed facts of their participants before the next
    /// turns of these participants; other conversations do so when they are loaded.
    pub async fn replace(&self, registry: Registry, defaults: Policy) {
        self.inner.standing().replace(registry, defaults);
        for queue in self.inner.directory.queues() {
            // A stream that is unloaded in the meantime reads the registry when it is loaded again.
            let _ = queue.send(Request::Refresh).await;
        }
    }

    /// Creates a conversation. Its id is a new UUID of version 7.
    ///
    /// # Errors
    /// [`HallError`]. No conversation was created then, but after `Failed` the outcome is unknown.
    pub async fn create(
        &self,
        name: String,
        policy: Policy,
        by: Actor,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.inner.create(name, policy, by, idempotency).await
    }

    /// Creates a conversation, with a folder if one is given. Its id is a new UUID of version 7.
    ///
    /// # Errors
    /// [`HallError`]. No conversation was created then, but after `Failed` the outcome is unknown.
    pub(crate) async fn create_from(
        &self,
        new: ConversationDraft,
        by: Actor,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.inner.create_as(new, by, idempotency, Vec::new()).await
    }

    /// Returns a weak handle, which does not keep the hall open.
    pub fn weak(&self) -> WeakHall {
        WeakHall::of(&self.inner)
    }

    /// Submits a command. The answer comes when its events are committed and synced.
    ///
    /// # Errors
    /// [`HallError`]. After `Rejected` the trace perhaps holds the words. After `Failed` the
    /// outcome is unknown, and a retry with the same key returns it. After any other error nothing
    /// was decided.
    pub async fn submit(
        &self,
        stream: &StreamId,
        command: ClientCommand,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        if let ClientCommand::AnswerPermission { permission, .. } = &command {
            self.inner.residents.see_question(stream, permission).await;
        }
        self.inner.submit(stream, command, idempotency).await
    }

    /// Submits a command together with deliveries. They are committed with its events. If the
    /// command is retried with its key, no delivery is committed a second time.
    ///
    /// # Errors
    /// [`HallError`], as for [`Hall::submit`]. After an error other than `Failed` no delivery is
    /// committed.
    pub async fn submit_owing(
        &self,
        stream: &StreamId,
        command: impl Into<Command>,
        idempotency: Option<Idempotency>,
        owed: Vec<OutboxEntry>,
    ) -> Result<Answer, HallError> {
        self.inner.submit_owing(stream, command, idempotency, OwedItems { hops: 0, owed }).await
    }

    /// Commits deliveries of a stream without a command. A second call with the same key commits
    /// nothing.
    ///
    /// # Errors
    /// [`HallError`], as for [`Hall::submit`]. After an error other than `Failed` no delivery is
    /// committed.
    pub async fn owe(
        &self,
        stream: &StreamId,
        owed: Vec<OutboxEntry>,
        key: Idempotency,
    ) -> Result<Answer, HallError> {
        self.inner.owe(stream, owed, key).await
    }

    /// Submits a command that needs consent. `condition` names the principal that is asked and the
    /// time limit, and `asker` asks. The conversation is not blocked while the question is open. If
    /// the idempotency key was used before, the caller gets the earlier answer, and the question is
    /// not asked again. A waiting request is not stored, so a retry with its key asks again after a
    /// restart.
    ///
    /// # Errors
    /// [`HallError`], as for [`Hall::submit`]; also `Rejected` if consent was refused
    /// (`not_agreed`) or did not come in time (`unanswered`).
    pub async fn submit_if_agreed(
        &self,
        stream: &StreamId,
        command: ClientCommand,
        idempotency: Option<Idempotency>,
        condition: Condition,
        asker: Arc<dyn ConsentAsker>,
    ) -> Result<Answer, HallError> {
        let asked = ConsentRequest { condition, asker };
        self.inner
            .submit_wanted(
                stream,
                ItemBody::Decision(command.into()),
                idempotency,
                Some(asked),
                OwedItems::default(),
            )
            .await
    }

    /// Submits an engine command. It is for parts of the server that report on a conversation's own
    /// work; surfaces and channels use [`Hall::submit`].
    ///
    /// # Errors
    /// [`HallError`], as for [`Hall::submit`].
    pub async fn tell(
        &self,
        stream: &StreamId,
        command: EngineCommand,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.inner.submit(stream, command, idempotency).await
    }

    /// Runs a closure on the committed state and returns its result.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn view<T: Send + 'static>(
        &self,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, HallError> {
        self.inner.view(stream, question).await
    }

    /// Predicts which agents would be asked if this speaker posted this draft now, by the
    /// nominations of the policy in force.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read, or the words are too long to
    /// be said.
    pub async fn preview(
        &self,
        stream: &StreamId,
        speaker: ParticipantId,
        draft: Draft,
    ) -> Result<Preview, HallError> {
        let (inner, now) = (self.inner.clone(), self.now());
        let forecast = move |state: &Conversation| {
            check_length(&speaker, state.is_human(&speaker), &draft.body)
                .map_err(|why| HallError::Rejected(Box::new(why)))?;
            let facts = inner.facts(state, now);
            Ok(state.preview(now, &speaker, &draft, &facts))
        };
        self.view(stream, forecast).await?
    }

    /// Returns the command that publishes words that the trace holds.
    ///
    /// # Errors
    /// [`HallError`] if the event does not exist or cannot be read.
    pub async fn publishing(
        &self,
        stream: &StreamId,
        seq: Seq,
        by: Actor,
    ) -> Result<ClientCommand, HallError> {
        let page = self.read(stream, Seq(seq.0.saturating_sub(1)), Some(1)).await?;
        let unknown = || {
            Rejection::new(
                Refusal::NotFound,
                "unknown_event",
                "This conversation has no such event.",
            )
        };
        let kept = page
            .events
            .into_iter()
            .find(|event| event.seq == seq)
            .ok_or_else(|| HallError::Rejected(Box::new(unknown())))?;
        Ok(ClientCommand::Publish { seq, kept: Box::new(kept), by })
    }

    /// Returns one page of events after a position: at most `limit` events, and at most
    /// [`crate::ports::PAGE_BYTES_MAX`] bytes. The next page begins after [`Page::through`]. After
    /// the last page, a read returns a page whose `through` does not advance.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn page(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: usize,
    ) -> Result<Page, HallError> {
        Ok(self.inner.store.log.read(stream, after, limit).await?)
    }

    /// Returns events after a position, all or at most `limit`. All of them are in memory together,
    /// so use this function for short spans and [`Hall::page`] for others.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn read(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: Option<usize>,
    ) -> Result<Page, HallError> {
        self.inner.read(stream, after, limit).await
    }

    /// Returns messages before a position, the newest first, as from
    /// [`crate::ports::EventLog::messages_before`].
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, HallError> {
        Ok(self.inner.store.log.messages_before(stream, before, limit).await?)
    }

    /// Lists streams in the order of their creation, from the catalog alone.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn list(&self, filter: ListFilter) -> Result<ListPage, HallError> {
        Ok(self.inner.store.log.list(filter).await?)
    }

    /// Returns the open conversation that is bound to a chat.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn bound_to(&self, chat: &Chat) -> Result<Option<StreamId>, HallError> {
        let (namespace, key) = effects::claim_on(&chat.to_string());
        let claim = self.inner.store.log.claim(&namespace, &key, self.now()).await?;
        Ok(claim.map(|claim| claim.stream))
    }

    /// Returns all bound chats with their open conversations, in the order of their keys.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn bound_chats(&self) -> Result<Vec<(Chat, StreamId)>, HallError> {
        let namespace = TargetKind::Chat.scheme();
        let claims = self.inner.store.log.claims(namespace, self.now()).await?;
        let bound = |claim: Claim| Some((claim.key.parse().ok()?, claim.stream));
        Ok(claims.into_iter().filter_map(bound).collect())
    }

    /// Returns the catalog row of a conversation, without loading it.
    ///
    /// # Errors
    /// [`HallError`] if the conversation does not exist or the log cannot be read.
    pub async fn find(&self, stream: &StreamId) -> Result<ListedStream, HallError> {
        let row = self.inner.find(stream).await?;
        if row.catalog.kind == TASK { Err(HallError::NotFound(stream.clone())) } else { Ok(row) }
    }

    /// Subscribes to a stream. When `updates` closes, the listener has to subscribe again and read
    /// from its last position.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn subscribe(&self, stream: &StreamId) -> Result<Subscription, HallError> {
        let (reply, answer) = oneshot::channel();
        self.inner.send(stream, Request::Subscribe(reply)).await?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    /// Subscribes to the notifications of all streams.
    pub fn changes(&self) -> broadcast::Receiver<HallChange> {
        self.inner.changes.subscribe()
    }

    /// Sets the presence of a participant. Without `details` the earlier details stay.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or has too many presences.
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

    /// Returns all presences of a stream: first those that are not stale, then by id.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist.
    pub async fn presence(&self, stream: &StreamId) -> Result<Vec<Presence>, HallError> {
        self.must_exist(stream).await?;
        Ok(self.inner.presences.presences(stream, self.now()))
    }

    async fn must_exist(&self, stream: &StreamId) -> Result<(), HallError> {
        self.find(stream).await.map(drop)
    }

    /// Connects a participant. While the guard lives, the participant counts as connected, and
    /// takes turns if `takes_turns` is set. (Ruling 5.)
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist.
    pub async fn connect(
        &self,
        stream: &StreamId,
        participant: ParticipantId,
        takes_turns: bool,
    ) -> Result<ConnectionGuard, HallError> {
        self.must_exist(stream).await?;
        self.inner.presences.connect(stream, &participant, takes_turns);
        self.inner.occupations.note_change(stream);
        Ok(ConnectionGuard {
            inner: self.inner.clone(),
            stream: stream.clone(),
            participant,
            takes_turns,
        })
    }

    /// Registers the handler that makes deliveries to targets of this kind, including deliveries
    /// that wait already.
    ///
    /// # Errors
    /// [`HallError`] if the deliveries cannot be read.
    pub async fn register_handler(
        &self,
        kind: TargetKind,
        handler: Arc<dyn DeliveryHandler>,
    ) -> Result<(), HallError> {
        Ok(self.inner.outbox.register(kind, handler).await?)
    }

    /// Stops accepting commands and starting turns. Then waits, for at most `within`, until the
    /// queued commands are committed and the turns in this process have ended. Cancels nothing.
    /// Does not wait for programs in terminals and remote clients, which keep running.
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
            tracing::warn!("the time limit for draining ran out");
        }
    }

    /// Resolves with the reason when the log has failed and the process has to stop.
    pub async fn wait_for_failure(&self) -> String {
        let mut fatal = self.inner.fatal();
        match fatal.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns the number of streams in memory.
    pub fn live_streams(&self) -> usize {
        self.inner.directory.len()
    }
}
