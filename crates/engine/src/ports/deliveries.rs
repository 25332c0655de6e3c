//! The outbox: side effects of appends that have to reach a target.

use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;
use moothall_kernel::ids::{Seq, StreamId, TurnNo};
use serde::{Deserialize, Serialize};

use super::error::LogError;
use super::target::Target;

/// The progress of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryState {
    /// Stored with its event, and not sent yet.
    Pending,
    /// Begun. If a crash follows, the delivery may have arrived or not.
    Sending,
    /// Sent to the target, which has not confirmed it.
    Sent,
    /// The target has confirmed the delivery.
    Accepted,
    /// The target has acted on the delivery.
    Done,
    /// The delivery cannot arrive and is not retried.
    Failed,
    /// The delivery may have arrived. It is shown to a person, and not retried.
    Unknown,
}

impl DeliveryState {
    /// True if the delivery is finished: done, failed, or unknown.
    pub fn is_settled(self) -> bool {
        match self {
            DeliveryState::Pending
            | DeliveryState::Sending
            | DeliveryState::Sent
            | DeliveryState::Accepted => false,
            DeliveryState::Done | DeliveryState::Failed | DeliveryState::Unknown => true,
        }
    }
}

/// Principal of the idempotency keys for commands from stream to stream.
pub const COMMANDER: &str = "moothall:outbox";

/// Returns the claim that a target stream takes with the command of a delivery: its namespace and
/// its key. The claim does not expire.
pub fn command_claim(delivery: u64) -> (&'static str, String) {
    ("idem", format!("{COMMANDER}:{delivery}"))
}

/// A durable row for a side effect that must reach one target only one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The id. Ids rise with insertion, and each target is served in their order.
    pub id: u64,
    /// The recipient.
    pub target: Target,
    /// The stream whose event caused it.
    pub stream: StreamId,
    /// The turn, if the delivery is its prompt.
    pub turn: Option<TurnNo>,
    /// The attempt of that turn.
    pub attempt: u32,
    /// The newest event that it covers.
    pub through_seq: Seq,
    /// The number, if the target is a computer. The log numbers the deliveries to each computer
    /// from 1, in order and without a gap, in the append that inserts them.
    pub number: Option<u64>,
    /// The command for the target, if the target takes commands. It is removed, with its words,
    /// when the delivery is settled. A command for a computer may be removed earlier, with its
    /// stream ([`keeps_command`](super::keeps_command)).
    pub command: Option<String>,
    /// The progress so far.
    pub state: DeliveryState,
    /// Details about the state, as text for people.
    pub evidence: String,
}

/// A delivery to insert with the append that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The recipient.
    pub target: Target,
    /// The turn, if the delivery is its prompt.
    pub turn: Option<TurnNo>,
    /// The attempt of that turn.
    pub attempt: u32,
    /// The newest event that it covers.
    pub through_seq: Seq,
    /// The command for the target, if that takes commands.
    pub command: Option<String>,
}

/// The durability of a write when it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The write survives a power cut.
    Synced,
    /// The write survives the process. A power cut may lose it, together with all later writes,
    /// until one of them is synced.
    Written,
}

/// The deliveries that appends have inserted.
#[async_trait]
pub trait Deliveries: Send + Sync + 'static {
    /// Returns the oldest delivery of each target that is not `done`, `failed` or `unknown`.
    async fn heads(&self) -> Result<Vec<Delivery>, LogError>;
    /// Returns the oldest deliveries to one target with an id above `after` that are not `done`,
    /// `failed` or `unknown`, oldest first and at most `limit`. [`PendingDeliveries`] reads them
    /// all.
    async fn pending_deliveries(
        &self,
        target: &Target,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError>;
    /// Returns the newest deliveries to a target with an id below `before`, newest first and at
    /// most `limit`. Without `before`, returns the newest of all.
    async fn of_target(
        &self,
        target: &Target,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError>;
    /// Returns all deliveries of a stream, oldest first.
    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError>;
    /// Moves a delivery from one of several states to another, in one write. Returns `false` if it
    /// was in none of these states. A settled delivery loses its command, and also the claim that
    /// kept the command from taking effect twice ([`command_claim`]).
    async fn advance(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<bool, LogError>;
    /// Counts the deliveries in each state. Those that are `done` are left out, because their
    /// number grows without limit.
    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError>;
    /// Counts the deliveries to each target that are not `done`, `failed` or `unknown`. Targets
    /// without such deliveries are left out.
    async fn owed(&self) -> Result<BTreeMap<Target, u64>, LogError>;
}

/// Number of deliveries in one page of [`PendingDeliveries`].
pub const DELIVERIES_PAGE: usize = 256;

/// Reads the unsettled deliveries to a target page by page, so that a long absence of the target
/// costs no memory.
pub struct PendingDeliveries<'a> {
    deliveries: &'a dyn Deliveries,
    target: &'a Target,
    page: VecDeque<Delivery>,
    /// The id of the last delivery that was read.
    after: u64,
    is_last: bool,
}

impl<'a> PendingDeliveries<'a> {
    /// Makes a reader that begins with the oldest delivery.
    pub fn of(deliveries: &'a dyn Deliveries, target: &'a Target) -> Self {
        Self { deliveries, target, page: VecDeque::new(), after: 0, is_last: false }
    }

    /// Returns the next delivery; `None` after the last one.
    ///
    /// # Errors
    /// [`LogError`] if a page cannot be read. The next call reads it again.
    pub async fn next(&mut self) -> Result<Option<Delivery>, LogError> {
        if self.page.is_empty() && !self.is_last {
            let (target, limit) = (self.target, DELIVERIES_PAGE);
            self.page = self.deliveries.pending_deliveries(target, self.after, limit).await?.into();
            self.is_last = self.page.len() < limit;
            self.after = self.page.back().map_or(self.after, |last| last.id);
        }
        Ok(self.page.pop_front())
    }
}
