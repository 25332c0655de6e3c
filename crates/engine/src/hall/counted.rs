//! The metrics of a hall at one moment.

use std::sync::atomic::Ordering;

use moothall_kernel::budget::BudgetOwner;

use crate::answers::HallError;
use crate::hall::Hall;
use crate::hall::meters::EngineCounts;

impl Hall {
    /// Returns the metrics up to now.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn counted(&self) -> Result<EngineCounts, HallError> {
        let (meters, store) = (&self.inner.meters, &self.inner.store);
        let queues = self.inner.directory.queues();
        let deliveries = store.outbox.tally().await?;
        Ok(EngineCounts {
            events: meters.events.load(Ordering::Relaxed),
            appends: meters.appends.counts(),
            broken: meters.broken.counts(),
            append_time: meters.append_time.spread(),
            turns: meters.turns.counts(),
            open_turns: meters.open().clone(),
            live: self.live_streams(),
            waiting_requests: queues
                .iter()
                .map(|queue| queue.max_capacity() - queue.capacity())
                .sum(),
            waiting_appends: store.log.waiting(),
            deliveries,
            input_tokens: meters.input_tokens.load(Ordering::Relaxed),
            output_tokens: meters.output_tokens.load(Ordering::Relaxed),
            cost_micros: meters.cost_micros.load(Ordering::Relaxed),
            currency: self.currency(),
            over_budget: meters.over_budget.load(Ordering::Relaxed),
            budgets: self.budgets_of(&BudgetOwner::Hall, None),
        })
    }
}
