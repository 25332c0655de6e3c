//! The outbox: side effects that appends owe to somebody.

use std::collections::BTreeMap;

use async_trait::async_trait;
use moothall_kernel::ids::{Seq, StreamId, TurnNo};
use serde::{Deserialize, Serialize};

use super::error::LogError;

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryState {
    /// Written with its event; nothing was sent yet.
    Pending,
    /// Begun; after a crash nobody knows.
    Sending,
    /// It left for the target, which has not said that it has it.
    Sent,
    /// The target has it.
    Accepted,
    /// The target acted on it.
    Done,
    /// It cannot arrive, and is not tried again.
    Failed,
    /// It may have arrived: shown to a person, never blindly repeated.
    Unknown,
}

impl DeliveryState {
    /// Whether nothing is owed any more.
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

/// Whose idempotency keys those of commands from stream to stream are.
pub const COMMANDER: &str = "moothall:outbox";

/// The claim that a target stream takes with the command of a delivery: its namespace and its key.
/// It does not lapse.
pub fn command_claim(delivery: u64) -> (&'static str, String) {
    ("idem", format!("{COMMANDER}:{delivery}"))
}

/// A durable row for a side effect that must reach one target once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id; rises with insertion, so that each target is served first in, first out.
    pub id: u64,
    /// Whom it must reach, e.g. `chat:telegram:-100`, `session:7f3a`.
    pub target: String,
    /// Whose event caused it.
    pub stream: StreamId,
    /// The turn it prompts, if it is a prompt.
    pub turn: Option<TurnNo>,
    /// The attempt of that turn.
    pub attempt: u32,
    /// The newest event it covers.
    pub through_seq: Seq,
    /// What the target shall do, where it is a stream; gone once that is settled, and its words
    /// with it.
    pub command: Option<String>,
    /// How far it has come.
    pub state: DeliveryState,
    /// What is known about that, for people.
    pub evidence: String,
}

/// A delivery to be inserted with the append that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Whom it must reach.
    pub target: String,
    /// The turn it prompts.
    pub turn: Option<TurnNo>,
    /// The attempt of that turn.
    pub attempt: u32,
    /// The newest event it covers.
    pub through_seq: Seq,
    /// What the target shall do, where it is a stream.
    pub command: Option<String>,
}

/// How long what was written has to last when it is said that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut.
    Synced,
    /// It survives the process. A power cut may take it, and then everything after it too, until
    /// something later is synced.
    Written,
}

/// The deliveries that appends have inserted.
#[async_trait]
pub trait Deliveries: Send + Sync + 'static {
    /// The oldest delivery of each target that is not `done`, `failed` or `unknown`.
    async fn heads(&self) -> Result<Vec<Delivery>, LogError>;
    /// The deliveries to one target that are not `done`, `failed` or `unknown`, oldest first.
    async fn owed(&self, target: &str) -> Result<Vec<Delivery>, LogError>;
    /// The newest deliveries to a target, newest first.
    async fn of_target(&self, target: &str, limit: usize) -> Result<Vec<Delivery>, LogError>;
    /// All deliveries of a stream, oldest first.
    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError>;
    /// Moves one from whichever of some states it is in to another, in one write; `false` when it
    /// was in none of them. Once it is settled, its command is forgotten, and with it the claim
    /// that made it count once ([`command_claim`]).
    async fn advance(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<bool, LogError>;
    /// How many there are in each state that any is in. Those that are `done` are not counted:
    /// there is no end to them.
    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError>;
}
