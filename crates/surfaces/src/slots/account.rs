//! The received bytes of unfinished heads, bodies and messages, counted for strangers and for known
//! callers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of unfinished bytes of all strangers: 32 MiB.
const STRANGERS_BYTES_MAX: usize = 32 << 20;
/// Maximum number of unfinished bytes of all known callers: 128 MiB.
const KNOWN_BYTES_MAX: usize = 128 << 20;

const fn most(is_known: bool) -> usize {
    if is_known { KNOWN_BYTES_MAX } else { STRANGERS_BYTES_MAX }
}

/// The bytes that one connection holds.
#[derive(Default)]
pub(super) struct Account(Mutex<AccountState>);

#[derive(Clone, Copy, Default)]
struct AccountState {
    bytes: usize,
    is_known: bool,
    /// True if the connection was evicted. Its bytes no longer count.
    is_closed: bool,
}

impl Account {
    fn lock(&self) -> MutexGuard<'_, AccountState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_known(&self) -> bool {
        self.lock().is_known
    }

    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }
}

/// The bytes that all connections hold together.
#[derive(Default)]
pub(super) struct Accounts {
    strangers: AtomicUsize,
    known: AtomicUsize,
}

impl Accounts {
    fn total(&self, is_known: bool) -> &AtomicUsize {
        if is_known { &self.known } else { &self.strangers }
    }

    /// Changes an account, and moves its bytes between the totals of strangers and known callers
    /// accordingly. Leaves the account of an evicted connection unchanged.
    fn change(&self, account: &Account, change: impl FnOnce(&mut AccountState)) {
        let mut state = account.lock();
        let before = *state;
        if before.is_closed {
            return;
        }
        change(&mut state);
        self.total(before.is_known).fetch_sub(before.bytes, Ordering::AcqRel);
        self.total(state.is_known).fetch_add(state.bytes, Ordering::AcqRel);
    }

    pub(super) fn add(&self, account: &Account, bytes: usize) {
        self.change(account, |state| state.bytes += bytes);
    }

    pub(super) fn set(&self, account: &Account, bytes: usize) {
        self.change(account, |state| state.bytes = bytes);
    }

    /// Counts the bytes of the account among those of known callers from now on.
    pub(super) fn vouch(&self, account: &Account) {
        self.change(account, |state| state.is_known = true);
    }

    /// Resets the connection to no bytes and an unknown sender.
    pub(super) fn clear(&self, account: &Account) {
        self.change(account, |state| *state = AccountState::default());
    }

    /// Stops counting the bytes of a connection that was evicted or has ended.
    pub(super) fn close(&self, account: &Account) {
        self.change(account, |state| *state = AccountState { bytes: 0, is_closed: true, ..*state });
    }

    /// Returns the group that exceeds its budget: `false` for strangers, `true` for known callers,
    /// and `None` if neither does.
    pub(super) fn overdrawn(&self) -> Option<bool> {
        [false, true].into_iter().find(|is_known| self.has(*is_known) > most(*is_known))
    }

    /// True if the group holds at most seven eighths of its budget.
    pub(super) fn has_room(&self, is_known: bool) -> bool {
        self.has(is_known) <= most(is_known) / 8 * 7
    }

    fn has(&self, is_known: bool) -> usize {
        self.total(is_known).load(Ordering::Acquire)
    }
}
