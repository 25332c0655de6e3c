//! All that is kept, as one value.

use std::fmt;
use std::sync::Arc;

use super::{
    Apps, Deliveries, EventLog, Ledger, Principals, ReadMarks, Search, SessionBook, Upkeep,
};

/// All that is kept, each part behind its port. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use moothall_engine::MemoryLog;
/// use moothall_engine::ports::Store;
///
/// let store = Store::of(Arc::new(MemoryLog::new()));
/// assert_eq!(store.log.waiting(), 0);
/// ```
#[derive(Clone)]
pub struct Store {
    /// The events of all streams.
    pub log: Arc<dyn EventLog>,
    /// Side effects that appends owe.
    pub outbox: Arc<dyn Deliveries>,
    /// The sessions that ever were.
    pub sessions: Arc<dyn SessionBook>,
    /// Principals, their credentials and the audit record.
    pub principals: Arc<dyn Principals>,
    /// The apps and the agents that manage their tasks.
    pub apps: Arc<dyn Apps>,
    /// How far people have read.
    pub marks: Arc<dyn ReadMarks>,
    /// What turns have cost.
    pub ledger: Arc<dyn Ledger>,
    /// The index of what was said.
    pub search: Arc<dyn Search>,
    /// Walking, copying and closing all of it.
    pub upkeep: Arc<dyn Upkeep>,
}

/// One value that keeps everything.
pub trait FullStore:
    EventLog + Deliveries + SessionBook + Principals + Apps + ReadMarks + Ledger + Search + Upkeep
{
}

impl<T> FullStore for T where
    T: EventLog
        + Deliveries
        + SessionBook
        + Principals
        + Apps
        + ReadMarks
        + Ledger
        + Search
        + Upkeep
{
}

impl Store {
    /// All parts from one value.
    pub fn of<T: FullStore>(all: Arc<T>) -> Self {
        Self {
            log: all.clone(),
            outbox: all.clone(),
            sessions: all.clone(),
            principals: all.clone(),
            apps: all.clone(),
            marks: all.clone(),
            ledger: all.clone(),
            search: all.clone(),
            upkeep: all,
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
