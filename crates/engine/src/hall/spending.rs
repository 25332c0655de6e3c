//! Budgets of a running hall: budgets that are restored when it opens, and raises by people.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use moothall_kernel::budget::{BudgetOwner, Charge, DAY, Measure, Raise, WindowTotals, start_of};
use moothall_kernel::decide::check_raise;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Millis;
use strum::VariantArray;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::access::{AuditAction, AuditEntry, Caller};
use crate::answers::HallError;
use crate::hall::Hall;
use crate::hall::budgets::{BudgetState, BudgetsConfig};
use crate::hall::inner::Inner;
use crate::hall::reservations::TurnReservation;
use crate::ports::{LogError, UsageSum, UsageWanted};
use crate::stream::load::charges_up_to;

/// Number of streams that are counted together while the ledger is new.
const COUNTED_AT_ONCE: usize = 16;
/// Pauses in minutes before the streams are counted that could not be read. After the last one,
/// they wait for the next start of the server.
const COUNTED_AGAIN_MINUTES: [u64; 4] = [1, 4, 16, 64];

impl Inner {
    /// Restores the raises, and the amounts that were spent on this day before the hall was opened.
    pub(crate) async fn restore_budgets(self: &Arc<Self>) -> Result<(), LogError> {
        let ledger = &self.store.ledger;
        let now = self.now();
        for (owner, raise) in ledger.raises(now).await? {
            self.budgets.raise(&owner, raise, now);
        }
        let charges = ledger.charged_since(start_of(now, DAY)).await?;
        let mut book = self.budgets.book();
        charges.iter().for_each(|charge| book.budgets.charge(charge));
        book.tell(&charges, now);
        Ok(())
    }

    /// Counts the turns that were appended before the ledger existed. Streams that cannot be read
    /// at present are tried again after pauses of 1, 4, 16 and 64 minutes.
    pub(crate) async fn count_old_turns(hall: Weak<Inner>) {
        let mut pauses = COUNTED_AGAIN_MINUTES.into_iter();
        while let Err(error) = Self::count_all(&hall).await {
            tracing::warn!(%error, "the cost of turns of earlier versions is not counted completely");
            let Some(minutes) = pauses.next() else { return };
            sleep(Duration::from_secs(60 * minutes)).await;
        }
    }

    /// Counts every stream that can be read.
    ///
    /// # Errors
    /// The error of one of the streams that could not be read, or of the ledger.
    async fn count_all(hall: &Weak<Inner>) -> Result<(), HallError> {
        let mut left = BTreeMap::new();
        while let Some(hall) = hall.upgrade()
            && hall.count_some(&mut left).await? > 0
        {
            yield_now().await;
        }
        left.into_values().next_back().map_or(Ok(()), Err)
    }

    /// Counts some streams, and adds those that cannot be read at present to `left`. Returns the
    /// number of streams that it has tried, which is 0 after the last one.
    async fn count_some(
        &self,
        left: &mut BTreeMap<StreamId, HallError>,
    ) -> Result<usize, HallError> {
        let mut streams = self.store.ledger.uncounted(COUNTED_AT_ONCE + left.len()).await?;
        streams.retain(|(stream, _)| !left.contains_key(stream));
        let charges = streams.iter().map(|(stream, through)| self.old_charges(stream, *through));
        let mut counted = Vec::with_capacity(streams.len());
        for ((stream, _), charges) in streams.iter().zip(join_all(charges).await) {
            match charges {
                Ok(charges) => counted.push(self.store.ledger.count(stream, charges)),
                Err(error) => {
                    tracing::debug!(%stream, %error, "a conversation's turns are counted later");
                    left.insert(stream.clone(), error);
                }
            }
        }
        join_all(counted).await.into_iter().collect::<Result<(), LogError>>()?;
        Ok(streams.len())
    }

    /// Returns the charges of a stream from before the ledger existed. A stream that can never be
    /// read has none.
    ///
    /// # Errors
    /// The stream cannot be read at present.
    async fn old_charges(&self, stream: &StreamId, through: Seq) -> Result<Vec<Charge>, HallError> {
        match charges_up_to(&*self.store.log, stream, through).await {
            Err(error) if !may_pass(&error) => {
                tracing::warn!(%stream, %error, "the cost of a conversation's turns cannot be \
                                                 counted");
                // The stream is counted without charges, because otherwise the ledger would return
                // it for ever.
                Ok(Vec::new())
            }
            result => result,
        }
    }
}

/// True if a later read of the same stream may succeed.
fn may_pass(error: &HallError) -> bool {
    matches!(
        error,
        HallError::Unreadable(_)
            | HallError::Failed(_)
            | HallError::DiskFull
            | HallError::Overloaded
            | HallError::ShuttingDown
    )
}

impl Hall {
    /// Returns the currency of costs.
    pub fn currency(&self) -> String {
        self.inner.budgets.book().budgets.currency.clone()
    }

    /// Replaces the limits. The amounts spent in the current hour and day count against the new
    /// limits, and raises stay.
    pub fn replace_budgets(&self, config: &BudgetsConfig) {
        self.inner.budgets.replace(config, self.now());
        self.inner.reservations.look_again();
    }

    /// Returns the budgets of an owner that have limits. For a conversation's budget, `own` is its
    /// standing.
    pub fn budgets_of(&self, owner: &BudgetOwner, own: Option<WindowTotals>) -> Vec<BudgetState> {
        let now = self.now();
        let (limits, standing) = self.inner.budgets.look(owner);
        let standing = own.unwrap_or(standing);
        let state = |measure| {
            let limit = standing.limit(limits.of(owner), measure, now)?;
            let (spent, until) = standing.spent(measure, now);
            Some(BudgetState { owner: owner.clone(), measure, limit, spent, until })
        };
        Measure::VARIANTS.iter().copied().filter_map(state).collect()
    }

    /// Returns the money that is reserved for calls in progress, and the turns that wait for money.
    pub fn reserved(&self) -> Vec<TurnReservation> {
        self.inner.reservations.list()
    }

    /// Raises the limits of a budget for a time. The budget is not a conversation's own. The raise
    /// survives a restart, and is recorded in the audit log.
    ///
    /// # Errors
    /// [`HallError::Rejected`] if the budget has no limit to raise or the raise is invalid; others
    /// if it cannot be stored.
    pub async fn raise_budget(
        &self,
        by: &Caller,
        owner: &BudgetOwner,
        turns: u64,
        micros: u64,
        within: Millis,
    ) -> Result<Raise, HallError> {
        let now = self.now();
        let (limits, _) = self.inner.budgets.look(owner);
        check_raise(limits.of(owner), turns, micros, within)
            .map_err(|rejection| HallError::Rejected(Box::new(rejection)))?;
        let raise = Raise { turns, micros, until: now + within };
        let entry = AuditEntry {
            detail: self.raise_text(owner, &raise),
            ..AuditEntry::of(by, AuditAction::BudgetRaised, now)
        };
        self.inner.store.ledger.keep_raise(owner, &raise, &entry).await?;
        self.inner.budgets.raise(owner, raise, now);
        self.inner.reservations.look_again();
        Ok(raise)
    }

    /// Returns a short text about a raise.
    fn raise_text(&self, owner: &BudgetOwner, raise: &Raise) -> String {
        let whose = match owner {
            BudgetOwner::Hall => "the hall".to_owned(),
            BudgetOwner::Conversation => "a conversation".to_owned(),
            BudgetOwner::Agent(client) => format!("agent {client}"),
            BudgetOwner::Principal(principal) => format!("principal {principal}"),
        };
        let money = raise.micros as f64 / 1e6;
        format!(
            "{whose}: {} more turns an hour, {money} {} more a day, until {}",
            raise.turns,
            self.currency(),
            raise.until
        )
    }

    /// Returns the usage of turns, summed.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn used(&self, wanted: &UsageWanted) -> Result<Vec<UsageSum>, HallError> {
        Ok(self.inner.store.ledger.used(wanted).await?)
    }
}
