//! The port to what turns have cost, and to raises of budgets: what was charged, added up as asked.

use async_trait::async_trait;
use moothall_kernel::budget::{Charge, BudgetOwner, Raise};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;

use super::error::LogError;
use super::principals::AuditEntry;

/// What turns have cost, in rows beside the log that could be made again from it: one for each
/// hour, stream, agent and causer.
#[async_trait]
pub trait Ledger: Send + Sync + 'static {
    /// What was charged from this hour on, summed over all streams.
    async fn charged_since(&self, hour: Timestamp) -> Result<Vec<Charge>, LogError>;
    /// Sums, those that cost or were called most first.
    async fn used(&self, wanted: &UsageWanted) -> Result<Vec<UsageSum>, LogError>;
    /// Keeps what a purse may spend above its limit, in place of an earlier raise.
    async fn keep_raise(
        &self,
        purse: &BudgetOwner,
        raise: &Raise,
        entry: &AuditEntry,
    ) -> Result<(), LogError>;
    /// What purses may spend above their limits from this time on.
    async fn raises(&self, now: Timestamp) -> Result<Vec<(BudgetOwner, Raise)>, LogError>;
    /// Streams of which something was appended before there were rows, and how far that goes.
    async fn uncounted(&self, limit: usize) -> Result<Vec<(StreamId, Seq)>, LogError>;
    /// Counts, once, what was appended to a stream before there were rows.
    async fn count(&self, stream: &StreamId, charges: Vec<Charge>) -> Result<(), LogError>;
}

/// What sums are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageWanted {
    /// Only in these streams.
    pub streams: Option<Vec<StreamId>>,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only from this time on; whole hours count.
    pub from: Option<Timestamp>,
    /// Only before this time.
    pub to: Option<Timestamp>,
    /// A sum for each of these; one of everything where unset.
    pub by: Option<UsageBy>,
    /// At most so many sums.
    pub limit: usize,
}

/// What there is a sum for each of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// One sum for each agent.
    Agent,
    /// One sum for each stream.
    Stream,
    /// For each day in UTC, the newest first.
    Day,
}

/// A sum of what turns have cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// The agent, of sums by agent.
    pub agent: Option<String>,
    /// The stream, of sums by stream.
    pub stream: Option<StreamId>,
    /// The beginning of the day, of sums by day.
    pub day: Option<Timestamp>,
    /// The number of turns that began.
    pub turns: u64,
    /// Those that no person set off.
    pub unattended: u64,
    /// Tokens that models read, as their providers counted them.
    pub input_tokens: u64,
    /// Tokens that models wrote, as their providers counted them.
    pub output_tokens: u64,
    /// Millionths of the currency.
    pub cost_micros: u64,
}
