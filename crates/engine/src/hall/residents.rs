//! The hall from inside: what those may do who live in it, and no surface may.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, Command};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::{Millis, Timestamp};

use crate::answers::{Answer, HallChange, HallError, Idempotency};
use crate::hall::inner::Inner;
use crate::outbox::{DeliveryHandler, OutboxEntry};
use crate::ports::{Claim, LogError, Page, Store};
use crate::runtime::agent::{Report, TurnKey};
use crate::sessions::Residents;
use crate::stream::OwedItems;
use crate::stream::idempotency::{IDEM, claim_key};
use crate::stream::mail::TurnNotice;

/// Residents that are told where they live.
#[async_trait]
pub trait MoveIn: Residents {
    /// Takes up whatever lived here when the server went away. Asked once, before anything else is.
    ///
    /// # Errors
    /// [`HallError`] when that cannot be read; the hall is not opened then.
    async fn move_in(&self, hall: WeakHall) -> Result<(), HallError>;
}

#[async_trait]
impl MoveIn for crate::sessions::NoResidents {
    async fn move_in(&self, _hall: WeakHall) -> Result<(), HallError> {
        Ok(())
    }
}

/// A hall, for those who live in it. It does not keep the hall open.
#[derive(Clone)]
pub struct WeakHall(Weak<Inner>);

impl WeakHall {
    pub(crate) fn of(hall: &Arc<Inner>) -> Self {
        Self(Arc::downgrade(hall))
    }

    /// The hall, as long as it is there.
    pub fn enter(&self) -> Option<ResidentHall> {
        self.0.upgrade().map(ResidentHall)
    }
}

/// A hall, while somebody who lives in it does something there. Cheap to clone.
#[derive(Clone)]
pub struct ResidentHall(Arc<Inner>);

impl ResidentHall {
    /// What is kept, for rows of one's own beside the conversations.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The time now, by the hall's clock.
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Settings of conversations that do not say otherwise.
    pub fn defaults(&self) -> Arc<Policy> {
        self.0.standing().defaults()
    }

    /// How long a turn of a client that lives in a terminal may take, where the operator says so.
    pub fn time_limit(&self, client: &str) -> Option<Millis> {
        let facts = self.0.standing().agents().roster.facts(client);
        facts.timeout.filter(|_| facts.abilities.lives_in_session)
    }

    /// Begins a conversation.
    ///
    /// # Errors
    /// [`HallError`]; nothing was created then.
    pub async fn create(
        &self,
        name: String,
        policy: Policy,
        by: Actor,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.0.create(name, policy, by, key).await
    }

    /// The same; this is owed with it, and carried once.
    ///
    /// # Errors
    /// [`HallError`]; nothing was created then, and nothing is owed.
    pub async fn create_owing(
        &self,
        name: String,
        policy: Policy,
        by: Actor,
        key: Option<Idempotency>,
        owed: Vec<OutboxEntry>,
    ) -> Result<Answer, HallError> {
        self.0.create_owing(name, policy, by, key, owed).await
    }

    /// Says who carries what is owed to targets that begin like this; what is owed to them already
    /// is taken up.
    ///
    /// # Errors
    /// [`LogError`] when the deliveries cannot be read.
    pub async fn register_courier(
        &self,
        scheme: &str,
        courier: Arc<dyn DeliveryHandler>,
    ) -> Result<(), LogError> {
        self.0.outbox.register(scheme, courier).await
    }

    /// Resolves when what was owed to a stream before has been carried there.
    pub async fn carried(&self, stream: &StreamId) {
        self.0.outbox.carried(&OutboxEntry::target_of(stream)).await;
    }

    /// Submits a command; the answer comes when its events are committed and synced.
    ///
    /// # Errors
    /// [`HallError`]. After `Rejected` the words may be in the trace; after anything else nothing
    /// was decided.
    pub async fn submit(
        &self,
        stream: &StreamId,
        command: impl Into<Command>,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.0.submit(stream, command, key).await
    }

    /// The same; what is owed elsewhere is noted with it, if it is decided, and carried there once.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::submit`]; nothing is owed then.
    pub async fn submit_owing(
        &self,
        stream: &StreamId,
        command: impl Into<Command>,
        key: Option<Idempotency>,
        owed: Vec<OutboxEntry>,
    ) -> Result<Answer, HallError> {
        self.0.submit_owing(stream, command, key, OwedItems { hops: 0, owed }).await
    }

    /// Notes, once for a key, what a stream owes elsewhere.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::submit`]; nothing is owed then.
    pub async fn owe(
        &self,
        stream: &StreamId,
        owed: Vec<OutboxEntry>,
        key: Idempotency,
    ) -> Result<Answer, HallError> {
        self.0.owe(stream, owed, key).await
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
        self.0.view(stream, question).await
    }

    /// Events after a position, all or at most `limit`, together in memory: for spans that are
    /// short.
    ///
    /// # Errors
    /// [`HallError`] when the stream does not exist or cannot be read.
    pub async fn read(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: Option<usize>,
    ) -> Result<Page, HallError> {
        self.0.read(stream, after, limit).await
    }

    /// The claim of an earlier request with this key.
    ///
    /// # Errors
    /// [`LogError`] when it cannot be looked up.
    pub async fn claimed(&self, key: &Idempotency) -> Result<Option<Claim>, LogError> {
        self.claimed_at(key, self.now()).await
    }

    /// The same, as it was at a time; one that lapsed long since may be gone.
    ///
    /// # Errors
    /// [`LogError`] when it cannot be looked up.
    pub async fn claimed_at(
        &self,
        key: &Idempotency,
        at: Timestamp,
    ) -> Result<Option<Claim>, LogError> {
        self.0.store.log.claim(IDEM, &claim_key(key), at).await
    }

    /// A runtime reports about a turn.
    pub fn report(&self, key: &TurnKey, report: Report) {
        self.0.notify(&key.stream, Box::new(TurnNotice::Report(key.clone(), report, None)));
    }

    /// The same for what came of a turn, once for this key; resolves when it is kept.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::submit`].
    pub async fn keep_report(
        &self,
        key: &TurnKey,
        report: Report,
        once: Idempotency,
    ) -> Result<Answer, HallError> {
        self.0.keep_report(key, report, once).await
    }

    /// Whoever watches sessions and links shall look again.
    pub fn notify_of_sessions(&self) {
        // Nobody may be watching.
        let _ = self.0.changes.send(HallChange::Sessions);
    }

    /// Runs something beside the conversations; it ends with the process.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(task);
    }
}
