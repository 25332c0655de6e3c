//! Which sagas this process is at.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The sagas that this process is at, each until it is over.
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

    /// Resolves when this process is not at it.
    pub(crate) async fn over(&self, saga: &str) {
        let Some(mut under_way) = self.lock().get(saga).map(watch::Sender::subscribe) else {
            return;
        };
        // Nothing is ever sent: it ends with its sender.
        let _ = under_way.changed().await;
    }
}
