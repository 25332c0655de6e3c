//! The bytes that came over connections and are part of something unfinished: of a head, a body or
//! a message.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most bytes that strangers have under way together: 32 MiB.
const STRANGERS_BYTES_MAX: usize = 32 << 20;
/// The same for those whom the door let in: 128 MiB.
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
    /// The connection was cut off, so it counts no more.
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

    pub(super) fn vouch(&self, account: &Account) {
        self.change(account, |state| state.is_known = true);
    }

    /// Forgets what the connection holds and who its sender is.
    pub(super) fn clear(&self, account: &Account) {
        self.change(account, |state| *state = AccountState::default());
    }

    pub(super) fn close(&self, account: &Account) {
        self.change(account, |state| *state = AccountState { bytes: 0, is_closed: true, ..*state });
    }

    /// Returns which of the two hold more than they may: true for those who are known.
    pub(super) fn overdrawn(&self) -> Option<bool> {
        [false, true].into_iter().find(|is_known| self.has(*is_known) > most(*is_known))
    }

    /// True if those hold at most seven eighths of their limit.
    pub(super) fn has_room(&self, is_known: bool) -> bool {
        self.has(is_known) <= most(is_known) / 8 * 7
    }

    fn has(&self, is_known: bool) -> usize {
        self.total(is_known).load(Ordering::Acquire)
    }
}
