//! What a surface holds of a hall: it makes a door for each caller, and answers what needs no
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

/// The hall as a surface has it: a door for each caller, and the little that is nobody's in
/// particular. Cheap to clone.
#[derive(Clone)]
pub struct Entrance(Hall);

impl Hall {
    /// What a surface needs of the hall, and not more.
    pub fn entrance(&self) -> Entrance {
        Entrance(self.clone())
    }
}

impl Entrance {
    /// The hall as this caller has it.
    pub fn of(&self, caller: Caller) -> Door {
        self.0.as_(caller)
    }

    /// The time now, by the hall's clock.
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// The id of the log, which says of which log a position is.
    pub fn log_id(&self) -> &str {
        self.0.inner.store.upkeep.log_id()
    }

    /// The agents that there are.
    pub fn registry(&self) -> Arc<Registry> {
        self.0.registry()
    }

    /// How many conversations are held in memory.
    pub fn live_streams(&self) -> usize {
        self.0.live_streams()
    }

    /// Tells somebody who keeps copies of words when some are erased.
    pub fn keeps_copies(&self, copies: Weak<dyn Copies>) {
        self.0.keeps_copies(copies);
    }

    /// Does something once for a key: [`Hall::once`].
    ///
    /// # Errors
    /// Those of `doing`, and [`HallError`] of the key.
    pub async fn once<E: From<HallError>>(
        &self,
        key: Option<&Idempotency>,
        doing: impl Future<Output = Result<(StreamId, String), E>>,
    ) -> Result<String, E> {
        self.0.once(key, doing).await
    }
}
