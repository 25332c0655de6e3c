//! The outbox: makes the deliveries of streams to each target in order, once.
//!
//! A delivery is inserted with the append that caused it. The kind of its target selects the
//! delivery handler: [`stream`] for commands to streams of this hall, others by registration.
//! Prompts in terminals, whose targets are sessions, are served by the task of their session.
//!
//! Each target is served by one task at a time, which ends when it has no more deliveries. A
//! delivery that failed, or may have arrived, is noted and does not block later ones. A target that
//! cannot take deliveries now is retried.

mod command;
pub(crate) mod stream;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use async_trait::async_trait;

pub use command::{ConversationStart, HOPS_MAX, OutboxEntry, StreamCommand};
use tokio::sync::Notify;

use crate::crash;
use crate::ports::{Deliveries, Delivery, DeliveryState, Durability, LogError, Target, TargetKind};

/// First and longest pause before a target is retried that could not take deliveries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// The result of carrying a delivery to its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The delivery has arrived; with details for people.
    Done(String),
    /// The delivery cannot arrive, for this reason.
    Failed(String),
    /// The delivery may have arrived, for this reason.
    Unknown(String),
    /// The target cannot take the delivery now, for this reason.
    Later(String),
}

/// Carries deliveries to targets of one kind.
#[async_trait]
pub trait DeliveryHandler: Send + Sync + 'static {
    /// True if a delivery that was begun before a crash may be carried again. Otherwise it becomes
    /// `unknown`.
    fn repeats(&self) -> bool {
        false
    }
    /// Carries one delivery. Not called for the same target again before this returns.
    async fn carry(&self, delivery: &Delivery) -> Outcome;
}

/// The outbox of a hall.
pub(crate) struct Outbox {
    deliveries: Arc<dyn Deliveries>,
    handlers: RwLock<BTreeMap<TargetKind, Arc<dyn DeliveryHandler>>>,
    /// The targets that have a task now, with true if a delivery was added since its last look.
    served: Mutex<BTreeMap<Target, bool>>,
    /// Notified when a target has no more deliveries to carry.
    done: Notify,
}

impl Outbox {
    pub(crate) fn new(deliveries: Arc<dyn Deliveries>) -> Arc<Self> {
        let (handlers, served, done) = <_>::default();
        Arc::new(Self { deliveries, handlers, served, done })
    }

    fn served(&self) -> MutexGuard<'_, BTreeMap<Target, bool>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the delivery handler for targets of this kind. Existing deliveries to them are
    /// made as well.
    ///
    /// # Errors
    /// [`LogError`] if the deliveries cannot be read.
    pub(crate) async fn register(
        self: &Arc<Self>,
        kind: TargetKind,
        handler: Arc<dyn DeliveryHandler>,
    ) -> Result<(), LogError> {
        // Registered before the look, so that a delivery inserted meanwhile is served as new.
        self.handlers.write().unwrap_or_else(PoisonError::into_inner).insert(kind, handler);
        let heads = self.deliveries.heads().await?;
        heads
            .iter()
            .filter(|head| head.target.kind() == Some(kind))
            .for_each(|head| self.serve(&head.target));
        Ok(())
    }

    fn handler_of(&self, kind: TargetKind) -> Option<Arc<dyn DeliveryHandler>> {
        self.handlers.read().unwrap_or_else(PoisonError::into_inner).get(&kind).cloned()
    }

    /// True if a delivery handler is registered for targets of this kind.
    pub(crate) fn has_handler(&self, kind: TargetKind) -> bool {
        self.handler_of(kind).is_some()
    }

    /// Serves a target that has a new delivery, if a delivery handler is registered for it.
    pub(crate) fn serve(self: &Arc<Self>, target: &Target) {
        let Some(handler) = target.kind().and_then(|kind| self.handler_of(kind)) else { return };
        if self.served().insert(target.clone(), true).is_some() {
            return;
        }
        tokio::spawn(work(Arc::downgrade(self), target.clone(), handler));
    }

    /// True if a delivery was added since the last look. Otherwise removes the target, whose task
    /// then ends.
    fn goes_on(&self, target: &Target) -> bool {
        let mut served = self.served();
        // Cleared before the look, so that a delivery added during the look leads to another.
        let more = served.get_mut(target).is_some_and(std::mem::take);
        if !more {
            served.remove(target);
            self.done.notify_waiters();
        }
        more
    }

    /// Waits until the earlier deliveries to a target have been made.
    pub(crate) async fn wait_for_deliveries(&self, target: &Target) {
        loop {
            let mut done = pin!(self.done.notified());
            // Registered before the check, so that a notification after the check is not missed.
            done.as_mut().enable();
            if !self.served().contains_key(target) {
                return;
            }
            done.await;
        }
    }

    /// Carries the open deliveries to a target.
    ///
    /// # Errors
    /// The reason for which the rest has to be carried later.
    async fn carry_all(
        &self,
        target: &Target,
        handler: &dyn DeliveryHandler,
    ) -> Result<(), String> {
        for delivery in
            self.deliveries.pending_deliveries(target).await.map_err(|error| error.to_string())?
        {
            crash::point("delivery_taken");
            carry_one(&*self.deliveries, handler, &delivery)
                .await
                .map_err(|error| error.to_string())??;
        }
        Ok(())
    }
}

/// Carries one delivery, and stores the result. The inner error is the reason to carry it later.
async fn carry_one(
    deliveries: &dyn Deliveries,
    handler: &dyn DeliveryHandler,
    delivery: &Delivery,
) -> Result<Result<(), String>, LogError> {
    let advance = async |to, evidence: &str, lasting| {
        let from = [DeliveryState::Pending, DeliveryState::Sending];
        deliveries.advance(delivery.id, &from, to, evidence, lasting).await
    };
    let outcome = match (delivery.state, handler.repeats()) {
        (_, true) => handler.carry(delivery).await,
        (DeliveryState::Sending, false) => {
            Outcome::Unknown("it was on its way when the server stopped".into())
        }
        (_, false) => {
            advance(DeliveryState::Sending, "", Durability::Synced).await?;
            handler.carry(delivery).await
        }
    };
    crash::point("delivery_carried");
    match outcome {
        Outcome::Done(evidence) => {
            // Unsynced: after a power cut the delivery is repeated, or becomes `unknown`.
            advance(DeliveryState::Done, &evidence, Durability::Written).await?
        }
        Outcome::Failed(why) => advance(DeliveryState::Failed, &why, Durability::Synced).await?,
        Outcome::Unknown(why) => advance(DeliveryState::Unknown, &why, Durability::Synced).await?,
        Outcome::Later(why) => {
            if !handler.repeats() {
                advance(DeliveryState::Pending, "", Durability::Written).await?;
            }
            return Ok(Err(why));
        }
    };
    Ok(Ok(()))
}

/// Serves one target while it has deliveries and the hall is open.
async fn work(outbox: Weak<Outbox>, target: Target, handler: Arc<dyn DeliveryHandler>) {
    let mut pause = PAUSES.0;
    loop {
        let Some(open) = outbox.upgrade() else { return };
        if !open.goes_on(&target) {
            return;
        }
        match open.carry_all(&target, &*handler).await {
            Ok(()) => pause = PAUSES.0,
            Err(why) => {
                tracing::debug!(%target, why, "deliveries are retried later");
                open.served().insert(target.clone(), true);
                drop(open);
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(PAUSES.1);
            }
        }
    }
}
