//! Wakes the indexer after a commit, so that it does not poll.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time from a wake-up to the next step, so that a burst of appends has the processor to itself and
/// is indexed in one transaction. It is also the usual age of the index.
const GATHER: Duration = Duration::from_millis(50);

/// The signal from the writer to the indexer.
#[derive(Debug, Default)]
pub(crate) struct Wakeup {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    asleep: bool,
    closing: bool,
}

impl Wakeup {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a commit. Makes a system call only if the indexer sleeps.
    pub(crate) fn ring(&self) {
        let mut state = self.lock();
        state.rung = true;
        if std::mem::take(&mut state.asleep) {
            self.changed.notify_all();
        }
    }

    /// Asks the indexer to end.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Waits for a commit and then for [`GATHER`]. Returns false if the indexer is to end.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.lock();
        while !state.rung && !state.closing {
            state.asleep = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.asleep = false;
        let waited = self.changed.wait_timeout_while(state, GATHER, |state| !state.closing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.rung = false;
        !state.closing
    }
}
