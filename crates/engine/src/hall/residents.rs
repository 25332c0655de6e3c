//! The hall from inside: operations for the residents, which surfaces may not use.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{ComputerId, ParticipantId, Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::{Millis, Timestamp};
use tokio::sync::broadcast::error::RecvError;

use crate::answers::{Answer, HallChange, HallError, Idempotency};
use crate::computers::{ComputerDirectory, PairedComputer, RemoteMessage, SessionWord};
use crate::hall::inner::Inner;
pub use crate::hall::taking::TakenRow;
use crate::outbox::{DeliveryHandler, OutboxEntry, StreamCommand};
use crate::ports::{COMPUTER_FORGOTTEN, Claim, LogError, Page, Store, Target, TargetKind};
use crate::runtime::agent::{Job, Report, TurnKey};
use crate::sessions::{Residents, SessionError};
use crate::stream::idempotency::{IDEM, claim_key};
use crate::stream::mail::TurnNotice;
use crate::stream::{OwedItems, Verdict};

/// Time limit for a change that another computer causes.
const COMES_WITHIN: Duration = Duration::from_secs(5);

/// Residents that get a handle to their hall.
#[async_trait]
pub trait MoveIn: Residents {
    /// Continues the sessions that lived when the server stopped. The hall calls this one time,
    /// before all other methods.
    ///
    /// # Errors
    /// [`HallError`] if they cannot be read; the hall is not opened then.
    async fn move_in(&self, hall: WeakHall) -> Result<(), HallError>;
}

#[async_trait]
impl MoveIn for crate::sessions::NoResidents {
    async fn move_in(&self, _hall: WeakHall) -> Result<(), HallError> {
        Ok(())
    }
}

/// A weak handle to a hall, for its residents. It does not keep the hall open.
#[derive(Clone)]
pub struct WeakHall(Weak<Inner>);

impl WeakHall {
    pub(crate) fn of(hall: &Arc<Inner>) -> Self {
        Self(Arc::downgrade(hall))
    }

    /// Returns the hall, if it is still open.
    pub fn enter(&self) -> Option<ResidentHall> {
        self.0.upgrade().map(ResidentHall)
    }
}

/// A handle to a hall, while a resident uses it. Cheap to clone.
#[derive(Clone)]
pub struct ResidentHall(Arc<Inner>);

impl ResidentHall {
    /// Returns the storage, for the residents' own rows.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Returns the time now, by the hall's clock.
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Returns the default settings of conversations.
    pub fn defaults(&self) -> Arc<Policy> {
        self.0.standing().defaults()
    }

    /// Returns the time limit for turns of a client in a terminal, if one is configured.
    pub fn time_limit(&self, client: &str) -> Option<Millis> {
        let facts = self.0.standing().agents().roster.facts(client);
        facts.timeout.filter(|_| facts.abilities.lives_in_session)
    }

    /// Creates a conversation.
    ///
    /// # Errors
    /// [`HallError`]. No conversation was created then, but after `Failed` the outcome is unknown.
    pub async fn create(
        &self,
        name: String,
        policy: Policy,
        by: Actor,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.0.create(name, policy, by, key).await
    }

    /// Creates a conversation together with deliveries, which are committed with its first event.
    ///
    /// # Errors
    /// [`HallError`]. Neither the conversation nor a delivery was created then, but after `Failed`
    /// the outcome is unknown.
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

    /// Registers the handler that makes deliveries to targets of this kind, including deliveries
    /// that wait already.
    ///
    /// # Errors
    /// [`LogError`] if the deliveries cannot be read.
    pub async fn register_handler(
        &self,
        kind: TargetKind,
        handler: Arc<dyn DeliveryHandler>,
    ) -> Result<(), LogError> {
        self.0.outbox.register(kind, handler).await
    }

    /// Waits until the earlier deliveries to a stream have been made.
    pub async fn wait_for_deliveries(&self, stream: &StreamId) {
        self.0.outbox.wait_for_deliveries(&Target::Stream(stream.clone())).await;
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
        command: impl Into<Command>,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.0.submit(stream, command, key).await
    }

    /// Deletes a conversation for good, in the server's own name.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::submit`]; the conversation was not deleted then.
    pub async fn delete(&self, stream: &StreamId) -> Result<(), HallError> {
        self.0.delete(stream, Actor::human(ParticipantId::moothall())).await.map(drop)
    }

    /// Submits a command together with deliveries. They are committed with its events. If the
    /// command is retried with its key, no delivery is committed a second time.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::submit`]. After an error other than `Failed` no
    /// delivery is committed.
    pub async fn submit_owing(
        &self,
        stream: &StreamId,
        command: impl Into<Command>,
        key: Option<Idempotency>,
        owed: Vec<OutboxEntry>,
    ) -> Result<Answer, HallError> {
        self.0.submit_owing(stream, command, key, OwedItems { hops: 0, owed }).await
    }

    /// Commits deliveries of a stream without a command. A second call with the same key commits
    /// nothing.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::submit`]. After an error other than `Failed` no
    /// delivery is committed.
    pub async fn owe(
        &self,
        stream: &StreamId,
        owed: Vec<OutboxEntry>,
        key: Idempotency,
    ) -> Result<Answer, HallError> {
        self.0.owe(stream, owed, key).await
    }

    /// Takes rows of one channel of another computer, in their order, each in the append of a
    /// stream. Rows of streams that are gone are refused by the conversation of the computers.
    ///
    /// Returns a verdict for each row up to the first that was not taken
    /// ([`counts_as_taken`](crate::stream::io::counts_as_taken)). That row and all later ones have
    /// to be taken again.
    pub async fn take(&self, rows: Vec<TakenRow>) -> Vec<Verdict> {
        self.0.take(rows).await
    }

    /// Returns the newest job of a turn that is offered to another computer; `None` if the turn is
    /// over, or must not run now.
    ///
    /// # Errors
    /// [`HallError`] if the conversation cannot be read.
    pub async fn offered(&self, key: &TurnKey) -> Result<Option<Job>, HallError> {
        self.0.offered(key).await
    }

    /// Tells a computer again about the turns that were offered to it, because a log was restored
    /// and the rows about these turns may have been lost.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn offer_again(&self, computer: &ComputerId) -> Result<(), HallError> {
        self.0.offer_again(computer).await
    }

    /// Ends the turns that are offered to a computer, because its pair ended.
    pub fn end_offers(&self, computer: &ComputerId) {
        for key in self.0.offers.of_computer(computer) {
            let fault = Fault::new("unknown_computer", COMPUTER_FORGOTTEN);
            self.report(&key, Report::Finished { result: Err(fault), usage: Usage::default() });
        }
    }

    /// Returns the other computers; `None` on a server that has none.
    pub fn computers(&self) -> Option<Arc<dyn ComputerDirectory>> {
        self.0.computers.get().and_then(Weak::upgrade)
    }

    /// Returns the command for a conversation that a session, or a participant in it, has to give.
    /// `None` if it is not a member of the conversation.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn command_in(
        &self,
        stream: &StreamId,
        command: StreamCommand,
    ) -> Result<Option<ClientCommand>, HallError> {
        self.0.command_in(stream, command).await
    }

    /// Waits until the closure is true of a conversation, for five seconds at most. Returns true if
    /// it became true.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn comes_about(
        &self,
        stream: &StreamId,
        holds: impl Fn(&Conversation) -> bool + Send + Sync + Clone + 'static,
    ) -> Result<bool, HallError> {
        // The subscription precedes the first look, so that a change between the two is not missed.
        let mut changes = self.0.changes.subscribe();
        let wait = async {
            loop {
                let holds = holds.clone();
                if self.view(stream, move |state| holds(state)).await? {
                    return Ok(true);
                }
                loop {
                    match changes.recv().await {
                        Ok(HallChange::Head { stream: changed, .. }) if changed == *stream => break,
                        // Some changes were missed.
                        Err(RecvError::Lagged(_)) => break,
                        Err(RecvError::Closed) => return Ok(false),
                        Ok(_) => {}
                    }
                }
            }
        };
        tokio::time::timeout(COMES_WITHIN, wait).await.unwrap_or(Ok(false))
    }

    /// Splits a word for a session into the computer that it names and the rest of the word.
    ///
    /// # Errors
    /// [`SessionError::Invalid`] if no computer has that name.
    pub fn meaning<'w>(&self, word: &'w str) -> Result<SessionWord<'w>, SessionError> {
        self.0.meaning(word)
    }

    /// Commits a message to a session of another computer as a delivery. With a key, only the first
    /// call commits a delivery. If a session sends the message, also stores that this session waits
    /// for the end of the turn that answers the message. Returns the conversation of the delivery.
    ///
    /// # Errors
    /// [`HallError`], as for [`ResidentHall::owe`].
    pub async fn post_message(
        &self,
        computer: &PairedComputer,
        message: RemoteMessage,
        key: Option<Idempotency>,
    ) -> Result<StreamId, HallError> {
        self.0.post_message(computer, message, key).await
    }

    /// Returns the conversation of the computers, which has the notices about them. Makes it if
    /// there is none.
    ///
    /// # Errors
    /// [`HallError`] if it cannot be read or made.
    pub async fn computers_stream(&self) -> Result<StreamId, HallError> {
        self.0.computers_stream().await
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
        self.0.view(stream, question).await
    }

    /// Returns events after a position, all or at most `limit`. All of them are in memory together,
    /// so use this function for short spans.
    ///
    /// # Errors
    /// [`HallError`] if the stream does not exist or cannot be read.
    pub async fn read(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: Option<usize>,
    ) -> Result<Page, HallError> {
        self.0.read(stream, after, limit).await
    }

    /// Returns the claim of an earlier request with this key.
    ///
    /// # Errors
    /// [`LogError`] if the claim cannot be looked up.
    pub async fn claimed(&self, key: &Idempotency) -> Result<Option<Claim>, LogError> {
        self.claimed_at(key, self.now()).await
    }

    /// Returns the claim of an earlier request with this key as of a time. A claim that expired
    /// long ago may have been deleted.
    ///
    /// # Errors
    /// [`LogError`] if the claim cannot be looked up.
    pub async fn claimed_at(
        &self,
        key: &Idempotency,
        at: Timestamp,
    ) -> Result<Option<Claim>, LogError> {
        self.0.store.log.claim(IDEM, &claim_key(key), at).await
    }

    /// Sends a runtime's report about a turn to its stream.
    pub fn report(&self, key: &TurnKey, report: Report) {
        self.0.notify(&key.stream, Box::new(TurnNotice::Report(key.clone(), report, None)));
    }

    /// Sends the result of a turn to its stream, and waits until it is committed. A second report
    /// with the same key takes no effect.
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

    /// Notifies watchers of sessions and links that these have changed.
    pub fn notify_of_sessions(&self) {
        // The send fails without watchers, which is fine.
        let _ = self.0.changes.send(HallChange::Sessions);
        self.0.occupations.note_sessions();
    }

    /// Runs a task in the background, until the process ends.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(task);
    }
}
