//! Delivery handlers: the interface by which deliveries leave the hall.

use std::time::Duration;

use async_trait::async_trait;

use crate::crash;
use crate::ports::{Deliveries, Delivery, DeliveryState, Durability, LogError};

/// The states of a delivery that is not settled and that a handler carries.
pub(super) const OPEN: [DeliveryState; 2] = [DeliveryState::Pending, DeliveryState::Sending];

/// The result of carrying a delivery to its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The delivery has arrived. The text has details for people.
    Done(String),
    /// The delivery cannot arrive, for this reason.
    Failed(String),
    /// The delivery may have arrived, for this reason.
    Unknown(String),
    /// The target cannot take the delivery now.
    Later {
        /// The reason.
        why: String,
        /// The time during which the target may not be tried again, such as a flood wait. New
        /// deliveries do not shorten it. A new handler and a restart of the server end it. `None`
        /// for the pauses of the outbox, which grow up to 5 s.
        after: Option<Duration>,
    },
}

impl Outcome {
    /// Makes a [`Outcome::Later`] with the pauses of the outbox.
    pub fn later(why: impl Into<String>) -> Self {
        Outcome::Later { why: why.into(), after: None }
    }
}

/// The treatment of a delivery that was begun before a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashRule {
    /// The delivery is carried again, because a second delivery has no effect.
    Repeats,
    /// The delivery becomes `unknown`. Before it is carried, the outbox stores and syncs that it
    /// begins.
    Doubtful,
    /// The delivery is carried again, with the notes that the handler wrote in
    /// [`DeliveryNotes::write`]. Without a note it did not begin.
    Noted,
}

/// Carries deliveries to targets of one kind.
#[async_trait]
pub trait DeliveryHandler: Send + Sync + 'static {
    /// Returns the treatment of deliveries that were begun before a crash.
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Doubtful
    }

    /// Returns the number of deliveries to one target that may be under way at the same time, at
    /// least 1. They begin in the order of their ids, and are settled in any order.
    fn window(&self) -> usize {
        1
    }

    /// Carries one delivery. A handler that is [`CrashRule::Noted`] writes its progress with
    /// `notes`. After a crash and after [`Outcome::Later`] the newest note is in
    /// [`Delivery::evidence`].
    async fn carry(&self, delivery: &Delivery, notes: &DeliveryNotes<'_>) -> Outcome;
}

/// The notes on a delivery under way.
pub struct DeliveryNotes<'a> {
    deliveries: &'a dyn Deliveries,
    delivery: u64,
}

impl<'a> DeliveryNotes<'a> {
    pub(super) fn of(deliveries: &'a dyn Deliveries, delivery: u64) -> Self {
        Self { deliveries, delivery }
    }

    /// Stores a note as the evidence of the delivery, which is then `sending`. Replaces the earlier
    /// note. When this returns, the note survives a power cut.
    ///
    /// # Errors
    /// [`LogError`] if the note is not stored, for instance because the delivery is settled. The
    /// handler must not take the step that the note announces.
    pub async fn write(&self, text: &str) -> Result<(), LogError> {
        crash::point("before_note");
        let (to, lasting) = (DeliveryState::Sending, Durability::Synced);
        let stored = self.deliveries.advance(self.delivery, &OPEN, to, text, lasting).await?;
        crash::point("after_note");
        if stored { Ok(()) } else { Err(LogError::Failed("the delivery is settled".into())) }
    }
}
