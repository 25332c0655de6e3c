//! The outbox: makes the deliveries of streams, to each target in order and only one time.
//!
//! A delivery is inserted with the append that caused it. The kind of its target selects the
//! delivery handler. The handler [`stream`] is for commands to streams of this hall, and other
//! handlers are registered. Prompts for terminals, whose targets are sessions, are typed by the
//! tasks of the sessions.
//!
//! Each target is served by one task at a time, which ends when it has no more deliveries. A
//! delivery that failed or may have arrived gets that state, and does not block later ones. If a
//! target cannot take deliveries now, they are tried again later.

mod carry;
mod carry_notes;
mod command;
mod post_command;
mod handler;
pub(crate) mod stream;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

pub use carry_notes::{CarryNotes, PartInDoubt, SentPart};
pub use command::{ConversationStart, HOPS_MAX, OutboxEntry, StreamCommand};
pub use handler::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome};
pub use post_command::PostCommand;
use tokio::sync::{Notify, watch};

use self::carry::{Carrier, Postponement};
use crate::ports::{Deliveries, LogError, Target, TargetKind};

/// First and longest pause before a target is tried again that could not take deliveries and named
/// no time.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// The outbox of a hall.
pub(crate) struct Outbox {
    deliveries: Arc<dyn Deliveries>,
    /// The handlers. A task that waits for its target notices a new handler of that kind.
    handlers: RwLock<BTreeMap<TargetKind, watch::Sender<Arc<dyn DeliveryHandler>>>>,
    /// The targets that have a task now. The value is true if a delivery was added since the task
    /// last looked.
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

    /// Registers the handler for deliveries to targets of this kind, including deliveries that wait
    /// already. Waiting targets are tried again immediately, through this handler.
    ///
    /// # Errors
    /// [`LogError`] if the deliveries cannot be read.
    pub(crate) async fn register(
        self: &Arc<Self>,
        kind: TargetKind,
        handler: Arc<dyn DeliveryHandler>,
    ) -> Result<(), LogError> {
        // The handler is registered before the look, so that a delivery inserted in the meantime is
        // served as new.
        self.handlers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(kind)
            .and_modify(|known| drop(known.send_replace(handler.clone())))
            .or_insert_with(|| watch::Sender::new(handler));
        let heads = self.deliveries.heads().await?;
        heads
            .iter()
            .filter(|head| head.target.kind() == Some(kind))
            .for_each(|head| self.serve(&head.target));
        Ok(())
    }

    /// Returns a receiver of the handler for targets of this kind, and of the handlers that replace
    /// it.
    fn handlers_of(&self, kind: TargetKind) -> Option<watch::Receiver<Arc<dyn DeliveryHandler>>> {
        let handlers = self.handlers.read().unwrap_or_else(PoisonError::into_inner);
        handlers.get(&kind).map(watch::Sender::subscribe)
    }

    /// True if a delivery handler is registered for targets of this kind.
    pub(crate) fn has_handler(&self, kind: TargetKind) -> bool {
        self.handlers_of(kind).is_some()
    }

    /// Starts a task for a target that has a new delivery, or notifies the running task. Does
    /// nothing if no handler is registered for the target.
    pub(crate) fn serve(self: &Arc<Self>, target: &Target) {
        let Some(handlers) = target.kind().and_then(|kind| self.handlers_of(kind)) else { return };
        if self.served().insert(target.clone(), true).is_some() {
            return;
        }
        tokio::spawn(work(Arc::downgrade(self), target.clone(), handlers));
    }

    /// Returns true if a delivery was added since the last look. Otherwise removes the target,
    /// whose task ends then.
    fn goes_on(&self, target: &Target) -> bool {
        let mut served = self.served();
        // The mark is cleared before the look, so that a delivery added during the look leads to
        // another look.
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
            // The wait is registered before the check, so that a notification after the check is
            // not missed.
            done.as_mut().enable();
            if !self.served().contains_key(target) {
                return;
            }
            done.await;
        }
    }
}

/// Serves one target while it has deliveries and the hall is open.
async fn work(
    outbox: Weak<Outbox>,
    target: Target,
    mut handlers: watch::Receiver<Arc<dyn DeliveryHandler>>,
) {
    let mut pause = PAUSES.0;
    loop {
        let Some(open) = outbox.upgrade() else { return };
        if !open.goes_on(&target) {
            return;
        }
        let handler = handlers.borrow_and_update().clone();
        let Err(Postponement { why, after }) =
            Carrier::new(&*open.deliveries, &*handler).carry_all(&target).await
        else {
            pause = PAUSES.0;
            continue;
        };
        tracing::debug!(%target, why, ?after, "deliveries are retried later");
        // `goes_on` cleared the mark, and the task must go on although no delivery was added.
        open.served().insert(target.clone(), true);
        // A task that waits must keep neither the outbox nor a replaced handler alive.
        drop((open, handler));
        let wait = after.unwrap_or(pause);
        pause = if after.is_some() { PAUSES.0 } else { (2 * pause).min(PAUSES.1) };
        tokio::select! {
            // The branches are polled in order, so that a simulated run can be repeated.
            biased;
            () = tokio::time::sleep(wait) => {}
            // Only a new handler ends the wait early. The channel closes with the hall.
            changed = handlers.changed() => if changed.is_err() { return },
        }
    }
}
