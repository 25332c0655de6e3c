//! All storage ports, as one value.

use std::fmt;
use std::sync::Arc;

use super::{
    Apps, Deliveries, EventLog, Ledger, PostBook, Principals, ReadMarks, Search, SessionBook,
    Upkeep,
};

/// All storage, as one port for each part. Cheap to clone.
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
    /// Side effects of appends that have to reach a target.
    pub outbox: Arc<dyn Deliveries>,
    /// The numbers and marks of posts between computers.
    pub posts: Arc<dyn PostBook>,
    /// The sessions, past and present.
    pub sessions: Arc<dyn SessionBook>,
    /// Principals, their credentials and the audit record.
    pub principals: Arc<dyn Principals>,
    /// The apps and the agents that manage their tasks.
    pub apps: Arc<dyn Apps>,
    /// The read marks of people.
    pub marks: Arc<dyn ReadMarks>,
    /// The usage of turns.
    pub ledger: Arc<dyn Ledger>,
    /// The search index of messages.
    pub search: Arc<dyn Search>,
    /// Verifying, copying and closing all storage.
    pub upkeep: Arc<dyn Upkeep>,
}

/// A value that implements all storage ports.
pub trait FullStore:
    EventLog
    + Deliveries
    + PostBook
    + SessionBook
    + Principals
    + Apps
    + ReadMarks
    + Ledger
    + Search
    + Upkeep
{
}

impl<T> FullStore for T where
    T: EventLog
        + Deliveries
        + PostBook
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
    /// Makes all parts from one value.
    pub fn of<T: FullStore>(all: Arc<T>) -> Self {
        Self {
            log: all.clone(),
            outbox: all.clone(),
            posts: all.clone(),
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
