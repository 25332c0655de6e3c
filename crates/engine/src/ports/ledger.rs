//! The port to the usage of turns and the raises of budgets.

use async_trait::async_trait;
use moothall_kernel::budget::{BudgetOwner, Charge, Raise};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;

use super::error::LogError;
use super::principals::AuditEntry;

/// The usage of turns, in rows that can be rebuilt from the log. There is one row for each hour,
/// stream, agent and principal that caused the turns.
#[async_trait]
pub trait Ledger: Send + Sync + 'static {
    /// Returns the charges from this hour on, summed over all streams.
    async fn charged_since(&self, hour: Timestamp) -> Result<Vec<Charge>, LogError>;
    /// Returns sums of usage. The highest cost comes first, and for the same cost the most turns.
    /// Sums by day come newest first.
    async fn used(&self, wanted: &UsageWanted) -> Result<Vec<UsageSum>, LogError>;
    /// Stores the raise of a budget, in place of an earlier one.
    async fn keep_raise(
        &self,
        owner: &BudgetOwner,
        raise: &Raise,
        entry: &AuditEntry,
    ) -> Result<(), LogError>;
    /// Returns the raises that are in force at this time.
    async fn raises(&self, now: Timestamp) -> Result<Vec<(BudgetOwner, Raise)>, LogError>;
    /// Returns streams with events from before the ledger existed, and the position of the last
    /// such event.
    async fn uncounted(&self, limit: usize) -> Result<Vec<(StreamId, Seq)>, LogError>;
    /// Counts the charges of a stream from before the ledger existed. Further calls for the stream
    /// have no effect.
    async fn count(&self, stream: &StreamId, charges: Vec<Charge>) -> Result<(), LogError>;
}

/// A query for sums of usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageWanted {
    /// Only these streams.
    pub streams: Option<Vec<StreamId>>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only from this time on. Whole hours are counted.
    pub from: Option<Timestamp>,
    /// Only before this time.
    pub to: Option<Timestamp>,
    /// The grouping of the sums; `None` for one total.
    pub by: Option<UsageBy>,
    /// Maximum number of sums.
    pub limit: usize,
}

/// The grouping of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// One sum for each agent.
    Agent,
    /// One sum for each stream.
    Stream,
    /// One sum for each day in UTC, the newest first.
    Day,
}

/// A sum of usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// The agent, in sums by agent.
    pub agent: Option<String>,
    /// The stream, in sums by stream.
    pub stream: Option<StreamId>,
    /// The beginning of the day, in sums by day.
    pub day: Option<Timestamp>,
    /// Number of turns that began.
    pub turns: u64,
    /// Number of those turns that no person caused.
    pub unattended: u64,
    /// Tokens read by models, as counted by their providers.
    pub input_tokens: u64,
    /// Tokens written by models, as counted by their providers.
    pub output_tokens: u64,
    /// Cost in millionths of the currency.
    pub cost_micros: u64,
}
