//! Locks by key: tasks with the same key run one at a time, and tasks with different keys together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Mutex as AsyncMutex;

/// Locks by key. A lock is dropped when its last holder has dropped it.
#[derive(Default)]
pub struct KeyedLocks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl KeyedLocks {
    /// Returns the lock of a key, which all holders share.
    pub fn of(&self, key: &str) -> Arc<AsyncMutex<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, lock| lock.strong_count() > 0);
        let known = all.get(key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let new = Arc::new(AsyncMutex::default());
            all.insert(key.to_owned(), Arc::downgrade(&new));
            new
        })
    }
}
