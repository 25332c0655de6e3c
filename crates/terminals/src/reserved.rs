//! Names of sessions whose programs are being started.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::ParticipantId;

/// The names that are reserved.
#[derive(Clone, Default)]
pub(crate) struct ReservedNames(Arc<Mutex<BTreeSet<ParticipantId>>>);

/// A reserved name. Dropping it frees the name for other sessions.
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

    /// Reserves a name. The caller has checked that the name is free, and still holds the lock
    /// under which names are given.
    pub(crate) fn reserve(&self, name: &ParticipantId) -> ReservedName {
        self.lock().insert(name.clone());
        ReservedName { names: self.clone(), name: name.clone() }
    }

    /// Returns all reserved names.
    pub(crate) fn all(&self) -> BTreeSet<ParticipantId> {
        self.lock().clone()
    }
}
