//! Sagas that this process is working on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The sagas that this process is working on.
#[derive(Default)]
pub(crate) struct Sagas(Mutex<BTreeMap<String, watch::Sender<()>>>);

impl Sagas {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, saga: &str) {
        self.lock().insert(saga.to_owned(), watch::Sender::new(()));
    }

    pub(crate) fn end(&self, saga: &str) {
        self.lock().remove(saga);
    }

    /// Resolves when this process is not working on the saga.
    pub(crate) async fn wait_for_end(&self, saga: &str) {
        let Some(mut under_way) = self.lock().get(saga).map(watch::Sender::subscribe) else {
            return;
        };
        // No value is ever sent: the wait ends when the sender is dropped.
        let _ = under_way.changed().await;
    }
}
