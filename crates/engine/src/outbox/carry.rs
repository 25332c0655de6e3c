//! Carries the open deliveries of a target and stores the results.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use super::handler::{CrashRule, DeliveryHandler, DeliveryNotes, OPEN, Outcome};
use crate::crash;
use crate::ports::{
    Deliveries, Delivery, DeliveryState, Durability, LogError, PendingDeliveries, Target,
};

/// The reason why the deliveries of a target are carried later, and the time to wait.
pub(super) struct Postponement {
    /// The reason, for people.
    pub(super) why: String,
    /// The time to wait; `None` for the pause of the outbox.
    pub(super) after: Option<Duration>,
}

impl From<LogError> for Postponement {
    fn from(error: LogError) -> Self {
        Self { why: error.to_string(), after: None }
    }
}

impl Postponement {
    /// Returns this postponement, or the earlier one if that has a longer time to wait.
    fn or_longer(self, earlier: Result<(), Self>) -> Self {
        match earlier {
            Err(earlier) if earlier.after > self.after => earlier,
            _ => self,
        }
    }
}

/// A delivery that was taken to be carried.
struct BegunDelivery {
    delivery: Delivery,
    /// True if an earlier process began it, and its handler cannot find out if it has arrived.
    may_have_arrived: bool,
}

/// Carries deliveries by one handler.
pub(super) struct Carrier<'a> {
    deliveries: &'a dyn Deliveries,
    handler: &'a dyn DeliveryHandler,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(deliveries: &'a dyn Deliveries, handler: &'a dyn DeliveryHandler) -> Self {
        Self { deliveries, handler }
    }

    /// Carries the open deliveries to a target, at most as many at the same time as the window of
    /// the handler. After a postponement no further delivery begins, and those under way are
    /// completed.
    ///
    /// # Errors
    /// The postponement of the rest. If there are several, the one with the longest time.
    pub(super) async fn carry_all(&self, target: &Target) -> Result<(), Postponement> {
        let window = self.handler.window().max(1);
        let mut pending = PendingDeliveries::of(self.deliveries, target);
        let mut under_way = FuturesUnordered::new();
        let mut end = Ok(());
        loop {
            while end.is_ok() && under_way.len() < window {
                match self.begin(&mut pending).await {
                    Ok(Some(begun)) => under_way.push(self.carry(begun)),
                    Ok(None) => break,
                    Err(error) => end = Err(error),
                }
            }
            match under_way.next().await {
                Some(Ok(())) => {}
                Some(Err(postponed)) => end = Err(postponed.or_longer(end)),
                None => return end,
            }
        }
    }

    /// Returns the next delivery. If its handler is doubtful, first stores that the delivery
    /// begins. Only one delivery is begun at a time, because a later one must not overtake it.
    async fn begin(
        &self,
        pending: &mut PendingDeliveries<'_>,
    ) -> Result<Option<BegunDelivery>, Postponement> {
        let Some(delivery) = pending.next().await? else { return Ok(None) };
        crash::point("delivery_taken");
        let is_doubtful = self.handler.crash_rule() == CrashRule::Doubtful;
        let may_have_arrived = is_doubtful && delivery.state == DeliveryState::Sending;
        if is_doubtful && !may_have_arrived {
            self.advance(&delivery, DeliveryState::Sending, "", Durability::Synced).await?;
        }
        Ok(Some(BegunDelivery { delivery, may_have_arrived }))
    }

    /// Carries one delivery, and stores the result.
    async fn carry(&self, begun: BegunDelivery) -> Result<(), Postponement> {
        let BegunDelivery { delivery, may_have_arrived } = begun;
        let outcome = if may_have_arrived {
            Outcome::Unknown("it was on its way when the server stopped".into())
        } else {
            self.handler.carry(&delivery, &DeliveryNotes::of(self.deliveries, delivery.id)).await
        };
        crash::point("delivery_carried");
        self.store(&delivery, outcome).await
    }

    /// Stores the result of carrying a delivery.
    async fn store(&self, delivery: &Delivery, outcome: Outcome) -> Result<(), Postponement> {
        let (to, evidence, lasting) = match outcome {
            // The write of a done delivery is not synced. After a power cut the delivery is
            // repeated, or becomes `unknown`.
            Outcome::Done(evidence) => (DeliveryState::Done, evidence, Durability::Written),
            Outcome::Failed(why) => (DeliveryState::Failed, why, Durability::Synced),
            Outcome::Unknown(why) => (DeliveryState::Unknown, why, Durability::Synced),
            Outcome::Later { why, after } => {
                // The delivery of a handler that is not doubtful stays in its state. Either it has
                // nothing to take back, or its notes still count.
                if self.handler.crash_rule() == CrashRule::Doubtful {
                    let lasting = Durability::Written;
                    self.advance(delivery, DeliveryState::Pending, "", lasting).await?;
                }
                return Err(Postponement { why, after });
            }
        };
        Ok(self.advance(delivery, to, &evidence, lasting).await?)
    }

    async fn advance(
        &self,
        delivery: &Delivery,
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<(), LogError> {
        self.deliveries.advance(delivery.id, &OPEN, to, evidence, lasting).await.map(drop)
    }
}
