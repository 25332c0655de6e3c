//! The outbox: what streams owe outside themselves is carried to each target in the order in which
//! it was owed, once.
//!
//! What is owed is a delivery, inserted with the append that caused it. What stands before the
//! colon of its target says who carries it: commands for streams of this hall go by [`stream`],
//! others by whoever was registered for them. Prompts in terminals, whose targets begin with
//! `session:`, are served by the task of their session.
//!
//! A target is served by one task at a time, which ends when nothing is owed any more. What failed,
//! or may have arrived, is noted and does not hold up what follows; a target that cannot take
//! anything now is tried again.

mod command;
pub(crate) mod stream;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use async_trait::async_trait;

pub use command::{ConversationStart, HOPS_MAX, OutboxEntry, STREAM, StreamCommand};
use tokio::sync::Notify;

use crate::crash;
use crate::ports::{Deliveries, Delivery, DeliveryState, Durability, LogError};

/// Pause before a target that could take nothing is tried again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// What came of carrying a delivery to its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is there. What is said about it, for people.
    Done(String),
    /// It cannot arrive, for this reason.
    Failed(String),
    /// It may have arrived, for all that is known.
    Unknown(String),
    /// Not now: the target could not take anything.
    Later(String),
}

/// Carries deliveries to targets of one kind.
#[async_trait]
pub trait DeliveryHandler: Send + Sync + 'static {
    /// Whether a delivery that was begun before a crash may be carried again. What may not is
    /// `unknown` then.
    fn repeats(&self) -> bool {
        false
    }
    /// Carries one. It is not called again for the same target before this returns.
    async fn carry(&self, delivery: &Delivery) -> Outcome;
}

/// The outbox of a hall.
pub(crate) struct Outbox {
    deliveries: Arc<dyn Deliveries>,
    couriers: RwLock<BTreeMap<String, Arc<dyn DeliveryHandler>>>,
    /// The targets that a task serves now, and whether something more was owed since it last
    /// looked.
    served: Mutex<BTreeMap<String, bool>>,
    /// Rings when a target has nothing to be carried there any more.
    done: Notify,
}

impl Outbox {
    pub(crate) fn new(deliveries: Arc<dyn Deliveries>) -> Arc<Self> {
        let (couriers, served, done) = <_>::default();
        Arc::new(Self { deliveries, couriers, served, done })
    }

    fn served(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who carries deliveries to targets that begin like this; what is owed to them already is
    /// taken up.
    ///
    /// # Errors
    /// [`LogError`] when the deliveries cannot be read.
    pub(crate) async fn register(
        self: &Arc<Self>,
        scheme: &str,
        courier: Arc<dyn DeliveryHandler>,
    ) -> Result<(), LogError> {
        self.couriers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(scheme.to_owned(), courier);
        let heads = self.deliveries.heads().await?;
        heads
            .iter()
            .filter(|head| scheme_of(&head.target) == scheme)
            .for_each(|head| self.serve(&head.target));
        Ok(())
    }

    fn courier(&self, target: &str) -> Option<Arc<dyn DeliveryHandler>> {
        self.couriers.read().unwrap_or_else(PoisonError::into_inner).get(scheme_of(target)).cloned()
    }

    /// Something is owed to a target: it is served until nothing is, where anybody carries anything
    /// there.
    pub(crate) fn serve(self: &Arc<Self>, target: &str) {
        let Some(courier) = self.courier(target) else { return };
        if self.served().insert(target.to_owned(), true).is_some() {
            return;
        }
        tokio::spawn(work(Arc::downgrade(self), target.to_owned(), courier));
    }

    /// Whether there is something to look for. Where nothing came since the last look, the target's
    /// task ends.
    fn goes_on(&self, target: &str) -> bool {
        let mut served = self.served();
        let more = served.get_mut(target).is_some_and(std::mem::take);
        if !more {
            served.remove(target);
            self.done.notify_waiters();
        }
        more
    }

    /// Resolves when nothing is being carried to a target: what was owed there before was.
    pub(crate) async fn carried(&self, target: &str) {
        loop {
            let mut done = pin!(self.done.notified());
            // From here on it hears the bell, so none that rings after the look is missed.
            done.as_mut().enable();
            if !self.served().contains_key(target) {
                return;
            }
            done.await;
        }
    }

    /// Carries what is owed to a target.
    ///
    /// # Errors
    /// Why the rest has to be carried later.
    async fn carry_all(&self, target: &str, courier: &dyn DeliveryHandler) -> Result<(), String> {
        for delivery in self.deliveries.owed(target).await.map_err(|error| error.to_string())? {
            crash::point("delivery_taken");
            carry_one(&*self.deliveries, courier, &delivery)
                .await
                .map_err(|error| error.to_string())??;
        }
        Ok(())
    }
}

/// Carries one delivery, and notes what came of it; why it has to be carried later, where it has.
async fn carry_one(
    deliveries: &dyn Deliveries,
    courier: &dyn DeliveryHandler,
    delivery: &Delivery,
) -> Result<Result<(), String>, LogError> {
    let advance = async |to, evidence: &str, lasting| {
        let from = [DeliveryState::Pending, DeliveryState::Sending];
        deliveries.advance(delivery.id, &from, to, evidence, lasting).await
    };
    let outcome = match (delivery.state, courier.repeats()) {
        (_, true) => courier.carry(delivery).await,
        (DeliveryState::Sending, false) => {
            Outcome::Unknown("it was on its way when the server stopped".into())
        }
        (_, false) => {
            advance(DeliveryState::Sending, "", Durability::Synced).await?;
            courier.carry(delivery).await
        }
    };
    crash::point("delivery_carried");
    match outcome {
        Outcome::Done(evidence) => {
            advance(DeliveryState::Done, &evidence, Durability::Written).await?
        }
        Outcome::Failed(why) => advance(DeliveryState::Failed, &why, Durability::Synced).await?,
        Outcome::Unknown(why) => advance(DeliveryState::Unknown, &why, Durability::Synced).await?,
        Outcome::Later(why) => {
            if !courier.repeats() {
                advance(DeliveryState::Pending, "", Durability::Written).await?;
            }
            return Ok(Err(why));
        }
    };
    Ok(Ok(()))
}

/// Serves one target for as long as anything is owed to it and the hall is open.
async fn work(outbox: Weak<Outbox>, target: String, courier: Arc<dyn DeliveryHandler>) {
    let mut pause = PAUSES.0;
    loop {
        let Some(open) = outbox.upgrade() else { return };
        if !open.goes_on(&target) {
            return;
        }
        match open.carry_all(&target, &*courier).await {
            Ok(()) => pause = PAUSES.0,
            Err(why) => {
                tracing::debug!(target, why, "what is owed is carried later");
                open.served().insert(target.clone(), true);
                drop(open);
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(PAUSES.1);
            }
        }
    }
}

/// What stands before the colon.
fn scheme_of(target: &str) -> &str {
    target.split_once(':').map_or(target, |(scheme, _)| scheme)
}
