//! The life of one process: it counts its operations, pauses, and dies at one of them.

use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// The life of a process. Operations on the log and the post begin and end with a step of it.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// Number of steps until it dies; 0 if it is not doomed.
    left: AtomicU64,
    is_dead: AtomicBool,
    is_paused: AtomicBool,
    changed: Notify,
    /// The step with which it died.
    died_at: Mutex<Option<LifeStep>>,
}

/// A step of a process: before or after an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct LifeStep {
    pub(super) is_before: bool,
    pub(super) operation: &'static str,
}

impl fmt::Display for LifeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.is_before { "before" } else { "after" };
        write!(f, "{side} {}", self.operation)
    }
}

impl Life {
    /// Makes an operation between two steps.
    pub(super) async fn through<T>(
        &self,
        operation: &'static str,
        doing: impl Future<Output = T>,
    ) -> T {
        self.step(LifeStep { is_before: true, operation }).await;
        let done = doing.await;
        self.step(LifeStep { is_before: false, operation }).await;
        done
    }

    /// Makes a step. Never returns if the process is dead or dies with it.
    async fn step(&self, step: LifeStep) {
        while self.is_paused() && !self.is_dead() {
            self.changed.notified().await;
        }
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 1 {
            *self.died_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
            self.die();
        }
        if self.is_dead() {
            pending::<()>().await;
        }
    }

    /// Lets the process die after some steps.
    pub(super) fn doom(&self, steps: u64) {
        self.left.store(steps, Ordering::Relaxed);
    }

    /// Takes back its doom.
    pub(super) fn spare(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// Returns the step with which the process died; none if it was ended from outside.
    pub(super) fn died_at(&self) -> Option<LifeStep> {
        *self.died_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(super) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(super) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    /// Resolves when the process is dead.
    async fn died(&self) {
        while !self.is_dead() {
            self.changed.notified().await;
        }
    }

    /// Returns the result of an action; `None` if the process dies before.
    pub(super) async fn lives_through<T>(&self, action: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.died() => None,
            done = action => Some(done),
        }
    }
}
