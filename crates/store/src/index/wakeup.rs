//! Wakes the indexer when there is something to index. Nobody polls.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the indexer waits for company after it was woken: what comes together is written
/// together, and a burst of appends has the processor for itself. It is also how old the index
/// usually is.
const GATHER: Duration = Duration::from_millis(50);

/// Between the writer, which rings, and the indexer, which waits.
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

    /// Something was committed. Costs a system call only when somebody sleeps.
    pub(crate) fn ring(&self) {
        let mut state = self.lock();
        state.rung = true;
        if std::mem::take(&mut state.asleep) {
            self.changed.notify_all();
        }
    }

    /// Nothing more is wanted.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Waits until something was committed, and for what comes shortly after. `false` when nothing
    /// more is wanted.
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
