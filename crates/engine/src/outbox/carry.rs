//! Carries the open deliveries of a target and stores the results.

use std::time::Duration;

use super::handler::{Begun, DeliveryHandler, Notes, OPEN, Outcome};
use crate::crash;
use crate::ports::{Deliveries, Delivery, DeliveryState, Durability, LogError, Target};

/// The reason for which the deliveries of a target are carried later.
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

/// Carries deliveries by one handler.
pub(super) struct Carrier<'a> {
    deliveries: &'a dyn Deliveries,
    handler: &'a dyn DeliveryHandler,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(deliveries: &'a dyn Deliveries, handler: &'a dyn DeliveryHandler) -> Self {
        Self { deliveries, handler }
    }

    /// Carries the open deliveries to a target.
    ///
    /// # Errors
    /// The reason for which the rest has to be carried later.
    pub(super) async fn carry_all(&self, target: &Target) -> Result<(), Postponement> {
        for delivery in self.deliveries.pending_deliveries(target).await? {
            crash::point("delivery_taken");
            self.carry(&delivery).await?;
        }
        Ok(())
    }

    /// Carries one delivery, and stores the result.
    async fn carry(&self, delivery: &Delivery) -> Result<(), Postponement> {
        let outcome = match (self.handler.begun(), delivery.state) {
            (Begun::Doubtful, DeliveryState::Sending) => {
                Outcome::Unknown("it was on its way when the server stopped".into())
            }
            (Begun::Doubtful, _) => {
                self.advance(delivery, DeliveryState::Sending, "", Durability::Synced).await?;
                self.hand_over(delivery).await
            }
            (Begun::Repeats | Begun::Noted, _) => self.hand_over(delivery).await,
        };
        crash::point("delivery_carried");
        self.store(delivery, outcome).await
    }

    async fn hand_over(&self, delivery: &Delivery) -> Outcome {
        self.handler.carry(delivery, &Notes::of(self.deliveries, delivery.id)).await
    }

    /// Stores the result of carrying a delivery.
    async fn store(&self, delivery: &Delivery, outcome: Outcome) -> Result<(), Postponement> {
        let (to, evidence, lasting) = match outcome {
            // Unsynced: after a power cut the delivery is repeated, or becomes `unknown`.
            Outcome::Done(evidence) => (DeliveryState::Done, evidence, Durability::Written),
            Outcome::Failed(why) => (DeliveryState::Failed, why, Durability::Synced),
            Outcome::Unknown(why) => (DeliveryState::Unknown, why, Durability::Synced),
            Outcome::Later { why, after } => {
                // Another handler's delivery keeps its state: there was nothing to take back, or
                // its notes still count.
                if self.handler.begun() == Begun::Doubtful {
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
