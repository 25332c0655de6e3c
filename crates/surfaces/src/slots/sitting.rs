//! The state of one connection, as the table of slots compares it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::account::Account;

/// A connection in the table of slots.
pub(super) struct SlotState {
    spare: bool,
    /// True if a whole head has arrived.
    heard: AtomicBool,
    /// Number of requests that are being answered.
    busy: AtomicU32,
    /// Time of the last request or answer, or of the accept before the first request.
    since: Mutex<Instant>,
    pub(super) account: Account,
    pub(super) leave: Notify,
    pub(super) head: Notify,
}

impl SlotState {
    pub(super) fn new(spare: bool) -> Self {
        Self {
            spare,
            heard: AtomicBool::new(false),
            busy: AtomicU32::new(0),
            since: Mutex::new(Instant::now()),
            account: Account::default(),
            leave: Notify::new(),
            head: Notify::new(),
        }
    }

    pub(super) fn is_spare(&self) -> bool {
        self.spare
    }

    pub(super) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Acquire)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }

    pub(super) fn since(&self) -> Instant {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Counts one request more, whose whole head has arrived, and wakes the task that waits for the
    /// head.
    pub(super) fn hears(&self) {
        // The time comes first, because a connection with an old time that looks idle would be
        // evicted.
        self.touch();
        self.busy.fetch_add(1, Ordering::AcqRel);
        self.heard.store(true, Ordering::Release);
        self.head.notify_one();
    }

    /// Counts one request less. Returns true if it was the last one.
    pub(super) fn answered(&self) -> bool {
        // The time comes first: an idle connection with an old time would be evicted.
        self.touch();
        self.busy.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
