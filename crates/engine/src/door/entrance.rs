//! The hall for surfaces: makes a door for each caller, and gives the few facts that need no
//! caller.

use std::future::Future;
use std::sync::{Arc, Weak};

use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;

use super::Door;
use crate::access::Caller;
use crate::hall::erase::Copies;
use crate::hall::{Hall, HallError, Idempotency};
use crate::runtime::registry::Registry;

/// A hall as a surface holds it: doors for callers, and the few facts that need no caller. Cheap to
/// clone.
#[derive(Clone)]
pub struct Entrance(Hall);

impl Hall {
    /// Returns the part of the hall that a surface needs.
    pub fn entrance(&self) -> Entrance {
        Entrance(self.clone())
    }
}

impl Entrance {
    /// Returns the hall as this caller may use it.
    pub fn of(&self, caller: Caller) -> Door {
        self.0.as_(caller)
    }

    /// Returns the time by the hall's clock.
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Returns the id of the log. Positions are valid only together with it.
    pub fn log_id(&self) -> &str {
        self.0.inner.store.upkeep.log_id()
    }

    /// Returns the agents of the registry.
    pub fn registry(&self) -> Arc<Registry> {
        self.0.registry()
    }

    /// Returns the number of conversations held in memory.
    pub fn live_streams(&self) -> usize {
        self.0.live_streams()
    }

    /// Registers an owner of copied text, which is then notified of each erasure.
    pub fn keeps_copies(&self, copies: Weak<dyn Copies>) {
        self.0.keeps_copies(copies);
    }

    /// Runs `doing` only one time per key, as [`Hall::once`].
    ///
    /// # Errors
    /// The errors of `doing`, and [`HallError`] for the key.
    pub async fn once<E: From<HallError>>(
        &self,
        key: Option<&Idempotency>,
        doing: impl Future<Output = Result<(StreamId, String), E>>,
    ) -> Result<String, E> {
        self.0.once(key, doing).await
    }
}
