//! Metrics of the engine. Numbers only, never names, ids or content.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moothall_kernel::Conversation;
use moothall_kernel::budget::Charge;
use moothall_kernel::event::{Event, RecordedEvent, WhyNot};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Runtime;

use crate::hall::budgets::BudgetState;
use crate::ports::{AppendError, DeliveryState};

/// Upper bounds of a histogram's buckets, in seconds: from a fast disk to a stuck one.
const BOUNDS: [f64; 12] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    counts: [AtomicU64; BOUNDS.len() + 1],
    sum_micros: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramSnapshot {
    /// Upper bounds in seconds, and the number of observations up to each.
    pub buckets: Vec<(f64, u64)>,
    /// Number of observations.
    pub count: u64,
    /// Sum of the observations in seconds.
    pub sum: f64,
}

impl Histogram {
    /// Adds an observation.
    pub fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum_micros
            .fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns a snapshot.
    pub fn spread(&self) -> HistogramSnapshot {
        let mut count = 0;
        let mut up_to = |place: &AtomicU64| {
            count += place.load(Ordering::Relaxed);
            count
        };
        let buckets = BOUNDS
            .into_iter()
            .zip(&self.counts)
            .map(|(bound, place)| (bound, up_to(place)))
            .collect();
        up_to(&self.counts[BOUNDS.len()]);
        HistogramSnapshot {
            buckets,
            count,
            sum: self.sum_micros.load(Ordering::Relaxed) as f64 / 1e6,
        }
    }
}

/// Counters by key.
#[derive(Debug)]
pub struct CounterMap<K>(Mutex<BTreeMap<K, u64>>);

impl<K> Default for CounterMap<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord + Clone> CounterMap<K> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one to the counter of a key.
    pub fn count(&self, what: K) {
        *self.lock().entry(what).or_default() += 1;
    }

    /// Returns a snapshot.
    pub fn counts(&self) -> BTreeMap<K, u64> {
        self.lock().clone()
    }
}

/// The counters of the engine.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) events: AtomicU64,
    pub(crate) appends: CounterMap<&'static str>,
    pub(crate) broken: CounterMap<&'static str>,
    pub(crate) append_time: Histogram,
    pub(crate) turns: CounterMap<(Runtime, &'static str)>,
    pub(crate) open: Mutex<BTreeMap<Runtime, u64>>,
    pub(crate) input_tokens: AtomicU64,
    pub(crate) output_tokens: AtomicU64,
    pub(crate) cost_micros: AtomicU64,
    pub(crate) over_budget: AtomicU64,
}

/// The metrics of the engine up to now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineCounts {
    /// Events appended since the server started.
    pub events: u64,
    /// Appends by result: `ok`, `full`, `overloaded`, `conflict`, `fenced`, `claimed`, `marked`,
    /// `fatal`.
    pub appends: BTreeMap<&'static str, u64>,
    /// Decisions that were dropped because they broke an invariant, by rule. Each is a fault of
    /// this program.
    pub broken: BTreeMap<&'static str, u64>,
    /// Durations of appends, from the request to the sync.
    pub append_time: HistogramSnapshot,
    /// Turns that ended, by runtime and outcome.
    pub turns: BTreeMap<(Runtime, &'static str), u64>,
    /// Open turns of conversations in memory, by runtime. Other conversations have none.
    pub open_turns: BTreeMap<Runtime, u64>,
    /// Conversations in memory.
    pub live: usize,
    /// Requests in the queues of their conversations.
    pub waiting_requests: usize,
    /// Appends that wait to be written.
    pub waiting_appends: usize,
    /// Deliveries by state, without those that are done.
    pub deliveries: BTreeMap<DeliveryState, u64>,
    /// Tokens read by models since the server started.
    pub input_tokens: u64,
    /// Tokens written by models since the server started.
    pub output_tokens: u64,
    /// Cost of these tokens, in millionths of the currency.
    pub cost_micros: u64,
    /// The currency of all costs and budgets, as an ISO 4217 code.
    pub currency: String,
    /// Turns that were skipped because a budget was spent.
    pub over_budget: u64,
    /// The budgets of the hall that have limits.
    pub budgets: Vec<BudgetState>,
}

impl Metrics {
    pub(crate) fn open(&self) -> MutexGuard<'_, BTreeMap<Runtime, u64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an append of this many events, and its result.
    pub(crate) fn appended(&self, events: usize, took: Duration, result: Result<(), &AppendError>) {
        if result.is_ok() {
            self.events.fetch_add(events as u64, Ordering::Relaxed);
        }
        self.appends.count(result.map_or_else(Into::into, |()| "ok"));
        self.append_time.observe(took);
    }

    /// Counts a decision that broke this rule.
    pub(crate) fn broken(&self, rule: &'static str) {
        self.broken.count(rule);
    }

    /// Adds the usage of charges that were appended.
    pub(crate) fn charged(&self, charges: &[Charge]) {
        for Charge { usage, .. } in charges {
            self.input_tokens.fetch_add(usage.input_tokens, Ordering::Relaxed);
            self.output_tokens.fetch_add(usage.output_tokens, Ordering::Relaxed);
            self.cost_micros.fetch_add(usage.cost_micros, Ordering::Relaxed);
        }
    }

    /// Counts the turns that these committed events ended, and the turns skipped for a budget. Logs
    /// each ended turn without its content.
    pub(crate) fn committed(
        &self,
        stream: &StreamId,
        state: &Conversation,
        events: &[RecordedEvent],
    ) {
        let over_budget = |recorded: &&RecordedEvent| {
            matches!(recorded.event, Event::Skipped { why_not: WhyNot::OverBudget, .. })
        };
        self.over_budget
            .fetch_add(events.iter().filter(over_budget).count() as u64, Ordering::Relaxed);
        for recorded in events {
            let Event::TurnEnded { turn, participant, attempt, outcome, fault, usage, .. } =
                &recorded.event
            else {
                continue;
            };
            let runtime = runtime_of(state, participant);
            let outcome = <&str>::from(*outcome);
            self.turns.count((runtime.clone(), outcome));
            let fault = fault.as_ref().map_or("", |fault| fault.code.as_str());
            tracing::info!(target: "moothall::turn", thread = %stream, turn = turn.0, attempt, %runtime, outcome, fault, ms = usage.ms, "turn ended");
        }
    }
}

/// Returns the runtime of a participant; `gone` for one that has left. The names of runtimes come
/// from the registry, so there are few of them.
fn runtime_of(state: &Conversation, participant: &ParticipantId) -> Runtime {
    state
        .participant(participant)
        .map_or(Runtime::new("gone"), |participant| participant.facts.runtime.clone())
}

/// The open turns of one conversation, as the metrics count them. Dropping this value subtracts
/// them.
pub(crate) struct OpenTurns {
    meters: Arc<Metrics>,
    counted: Vec<Runtime>,
}

impl OpenTurns {
    pub(crate) fn new(meters: Arc<Metrics>) -> Self {
        Self { meters, counted: Vec::new() }
    }

    /// Sets the open turns of the conversation.
    pub(crate) fn set(&mut self, state: &Conversation) {
        let now: Vec<_> =
            state.open_turns().map(|turn| runtime_of(state, &turn.participant)).collect();
        self.replace(now);
    }

    /// Replaces the turns that this conversation adds to the open turns of each runtime.
    fn replace(&mut self, now: Vec<Runtime>) {
        if now == self.counted {
            return;
        }
        let mut open = self.meters.open();
        for runtime in std::mem::replace(&mut self.counted, now) {
            if let Some(count) = open.get_mut(&runtime) {
                *count = count.saturating_sub(1);
            }
        }
        for runtime in &self.counted {
            *open.entry(runtime.clone()).or_default() += 1;
        }
    }
}

impl Drop for OpenTurns {
    fn drop(&mut self) {
        self.replace(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_counts_what_was_at_most_so_long() {
        let histogram = Histogram::default();
        for millis in [0, 1, 1, 30, 60_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let spread = histogram.spread();
        let at_most = |bound: f64| {
            spread.buckets.iter().find(|(known, _)| *known == bound).map(|(_, count)| *count)
        };
        assert_eq!(
            [at_most(0.000_5), at_most(0.001), at_most(0.05), at_most(5.0)],
            [Some(1), Some(3), Some(4), Some(4)]
        );
        assert_eq!((spread.count, spread.sum), (5, 60.032));
    }

    #[test]
    fn a_conversation_that_is_let_go_takes_its_open_turns_along() {
        let meters = Arc::new(Metrics::default());
        let mut one = OpenTurns::new(meters.clone());
        let mut two = OpenTurns::new(meters.clone());
        one.replace(vec![Runtime::SCRIPT, Runtime::COMMAND]);
        two.replace(vec![Runtime::SCRIPT]);
        assert_eq!(*meters.open(), BTreeMap::from([(Runtime::SCRIPT, 2), (Runtime::COMMAND, 1)]));
        one.replace(vec![Runtime::COMMAND]);
        drop(two);
        assert_eq!(*meters.open(), BTreeMap::from([(Runtime::SCRIPT, 0), (Runtime::COMMAND, 1)]));
    }
}
