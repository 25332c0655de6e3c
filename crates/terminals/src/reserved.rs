//! Names of sessions whose programs are being started.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::ParticipantId;

/// The names that are reserved.
#[derive(Clone, Default)]
pub(crate) struct ReservedNames(Arc<Mutex<BTreeSet<ParticipantId>>>);

/// A reserved name: another session gets it only after this was dropped.
pub(crate) struct ReservedName {
    names: ReservedNames,
    name: ParticipantId,
}

impl Drop for ReservedName {
    fn drop(&mut self) {
        self.names.lock().remove(&self.name);
    }
}

impl ReservedNames {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<ParticipantId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a name. The caller has seen that it is free and holds the lock of those that are
    /// made since.
    pub(crate) fn reserve(&self, name: &ParticipantId) -> ReservedName {
        self.lock().insert(name.clone());
        ReservedName { names: self.clone(), name: name.clone() }
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> BTreeSet<ParticipantId> {
        self.lock().clone()
    }
}
