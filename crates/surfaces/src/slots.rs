//! The connections of the server: their number, the order in which they are evicted, and the spare
//! slots for operators.
//!
//! Before a request's head arrives, the sender is unknown. So silent connections are evicted first,
//! and a few slots are spare. A connection gets a spare slot if all ordinary slots that its address
//! may use are taken, or if its address has too many connections. On a spare slot the server
//! answers a single request: an operator's, or one that needs no right. Any other gets an error. An
//! eighth of the ordinary slots is reserved for addresses of good keys, from which the door has
//! admitted a request before.
//!
//! A connection is a stranger's until the door admits its request. The unfinished input of all
//! strangers has one budget of bytes, and that of all known callers another. If a group exceeds its
//! budget, its connections with the most bytes are evicted. If the slots are used up, the silent
//! connections go first, then the strangers with the most bytes, and then idle ones.

mod account;
mod good;
mod sitting;
mod table;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use self::account::Accounts;
use self::sitting::SlotState;
use self::table::Table;
use crate::meters::SurfaceMetrics;

/// The time limit for the first request's head.
pub const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The time limit for the first request's head on a spare slot.
const SPARE_HEAD_WITHIN: Duration = Duration::from_secs(2);
/// The interval between checks for a connection that may be evicted.
const ROOM_ASKED_EVERY: Duration = Duration::from_millis(50);
/// The divisor for the share of ordinary slots that is reserved for addresses of good keys.
const KEPT_FOR_GOOD: usize = 8;

/// The open connections, and their maximum number.
pub struct ConnectionSlots {
    /// Number of ordinary slots.
    most: usize,
    /// Number of spare slots.
    spare: usize,
    /// Maximum number of connections from one remote address.
    per_address: AtomicUsize,
    table: Mutex<Table>,
    accounts: Accounts,
    freed: Notify,
    meters: Arc<SurfaceMetrics>,
}

/// A connection's slot. It is freed when this is dropped.
pub struct ConnectionSlot {
    number: u64,
    address: IpAddr,
    sitting: Arc<SlotState>,
    /// True if this address has too many connections. Each request on this connection is answered
    /// with that error.
    pub crowded: bool,
    slots: Arc<ConnectionSlots>,
}

/// A request that is being answered. Dropping this marks it as answered.
pub struct BusyGuard {
    sitting: Arc<SlotState>,
    slots: Arc<ConnectionSlots>,
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        if self.sitting.answered() {
            // The next request on this connection shows its own key.
            self.slots.accounts.clear(&self.sitting.account);
        }
    }
}

impl ConnectionSlots {
    /// Creates `all` slots, some of them spare.
    pub fn new(all: usize, per_address: usize, meters: Arc<SurfaceMetrics>) -> Arc<Self> {
        let spare = if all < 2 { 0 } else { (all / 16).clamp(1, 64) };
        Arc::new(Self {
            most: all - spare,
            spare,
            per_address: per_address.into(),
            table: Mutex::default(),
            accounts: Accounts::default(),
            freed: Notify::new(),
            meters,
        })
    }

    /// Replaces the maximum number of connections from one address. Open connections stay.
    pub fn replace(&self, per_address: usize) {
        self.per_address.store(per_address, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a connection can be accepted. Clients queue in the system's backlog until then.
    pub async fn room(&self) {
        loop {
            let freed = self.freed.notified();
            if self.lock().has_room(self.most, self.spare) {
                return;
            }
            // Time alone can make the oldest silent connection evictable.
            let _ = tokio::time::timeout(ROOM_ASKED_EVERY, freed).await;
        }
    }

    /// Returns a slot for a connection from this address. Evicts other connections if the slots
    /// that the address may use are full. The slot is a spare one if the ordinary slots stay full,
    /// or if the address has too many connections. Call this after [`ConnectionSlots::room`] has
    /// returned.
    ///
    /// Returns `None` if the address has too many connections and half of the spare slots are
    /// taken. Also returns `None` if the address has sent no good key and all slots that it may use
    /// stay full.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let address = grouped(address);
        let mut table = self.lock();
        // A local client belongs to the owner, or is a proxy, which has limits of its own.
        let crowded = !address.is_loopback()
            && table.from(address) >= self.per_address.load(Ordering::Acquire);
        // A crowded address gets spare slots, at most half of them, only to be sent its error.
        if crowded && table.spares() >= self.spare.div_ceil(2) {
            self.meters.sent_away();
            return None;
        }
        let kept = if table.good.has(address) { 0 } else { self.most / KEPT_FOR_GOOD };
        let is_full = |table: &Table| table.ordinary() >= self.most - kept;
        if !crowded && is_full(&table) && !self.send_one_away(&mut table, false) {
            let has_room = table.spares() < self.spare || self.send_one_away(&mut table, true);
            if !has_room && kept > 0 {
                self.meters.sent_away();
                return None;
            }
        }
        let sitting = Arc::new(SlotState::new(crowded || is_full(&table)));
        let number = table.sit(address, sitting.clone());
        self.meters.connections(table.len());
        Some(ConnectionSlot { number, address, sitting, crowded, slots: self.clone() })
    }

    /// Evicts the first connections in order, because the process has no file descriptor left.
    /// Evicts none while each is too young or carries a known caller's request.
    pub fn free_one(&self) {
        self.lock().remove_for_a_file().iter().for_each(|sitting| self.end(sitting));
    }

    /// Evicts the first connections in order, on spare slots if `spare` is true and otherwise on
    /// ordinary ones. With many slots it evicts several, so that the table is not scanned for each
    /// connection of a flood. Returns true if it evicted any.
    fn send_one_away(&self, table: &mut Table, spare: bool) -> bool {
        let leaving = table.remove_least(spare);
        leaving.iter().for_each(|sitting| self.end(sitting));
        !leaving.is_empty()
    }

    /// Evicts connections if the strangers or the known callers exceed their budget: those of that
    /// group with the most bytes, until an eighth of the budget is free.
    fn cut_heaviest(&self) {
        let Some(known) = self.accounts.overdrawn() else { return };
        let mut table = self.lock();
        for number in table.heaviest(known) {
            if self.accounts.has_room(known) {
                return;
            }
            if let Some(sitting) = table.remove(number) {
                self.end(&sitting);
            }
        }
    }

    /// Ends a connection that was removed from the table. Its slot and its bytes are free
    /// immediately. Its task ends when it is next polled.
    fn end(&self, sitting: &SlotState) {
        self.accounts.close(&sitting.account);
        sitting.leave.notify_one();
        self.meters.sent_away();
    }
}

impl ConnectionSlot {
    /// Records that a request's whole head has arrived. The request counts as unanswered until the
    /// returned guard is dropped.
    pub fn hear(&self) -> BusyGuard {
        self.sitting.hears();
        BusyGuard { sitting: self.sitting.clone(), slots: self.slots.clone() }
    }

    /// Records that the door admitted the current request. Its sender counts as known until the
    /// answer is sent. Its address counts as an address of good keys from now on.
    pub fn vouch(&self) {
        self.slots.accounts.vouch(&self.sitting.account);
        self.slots.lock().good.add(self.address);
        // The bytes moved to the budget of known callers, which may be exceeded now.
        self.slots.cut_heaviest();
    }

    /// True if the door admitted the sender of the current request.
    pub fn is_known(&self) -> bool {
        self.sitting.account.is_known()
    }

    /// Adds bytes received of an unfinished head, body or message.
    pub fn receive(&self, bytes: usize) {
        self.slots.accounts.add(&self.sitting.account, bytes);
        self.slots.cut_heaviest();
    }

    /// Sets the number of bytes that the connection holds. It replaces the number of received
    /// bytes.
    pub fn hold(&self, bytes: usize) {
        self.slots.accounts.set(&self.sitting.account, bytes);
        self.slots.cut_heaviest();
    }

    /// True if this slot is a spare one.
    pub fn is_spare(&self) -> bool {
        self.sitting.is_spare()
    }

    /// Resolves when the connection has to end: its first head has not arrived in time, or it is
    /// evicted. After the first head, only an eviction ends it.
    pub async fn wait_for_end(&self) {
        let within = if self.is_spare() { SPARE_HEAD_WITHIN } else { HEAD_WITHIN };
        let late = async {
            tokio::select! {
                () = tokio::time::sleep(within) => {}
                () = self.sitting.head.notified() => std::future::pending().await,
            }
        };
        tokio::select! {
            () = late => {}
            () = self.cut() => {}
        }
    }

    /// Resolves when the connection is evicted for its slot or its bytes.
    pub async fn cut(&self) {
        self.sitting.leave.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.accounts.close(&self.sitting.account);
        let mut table = self.slots.lock();
        table.stand_up(self.number, self.address);
        self.slots.meters.connections(table.len());
        drop(table);
        self.slots.freed.notify_one();
    }
}

/// Returns the address that counts as one client. An IPv6 address stands for its /64 network,
/// because a client usually owns all of it.
pub fn grouped(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) if !long.is_loopback() => {
            let [a, b, c, d, ..] = long.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
