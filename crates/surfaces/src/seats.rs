//! Who has a connection: how many there are, which of them gives way when there are no more, and
//! what is kept free for operators.
//!
//! Before a request's head has come, a connection's sender is unknown. So those that say nothing
//! give way first, and a few seats are kept back: they are taken only when all others are, and only
//! for as long as it takes to see whether an operator asks. An eighth of the others is kept for
//! addresses from which a good key came.
//!
//! A connection is a stranger's until the door let its request in. Strangers share one budget of
//! bytes, for everything that came of them and is not answered yet: when it is used up, and when
//! seats are, the stranger with the most bytes gives way.

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

/// The time limit of the first request's head.
pub const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The same on a seat that is kept back.
const SPARE_HEAD_WITHIN: Duration = Duration::from_secs(2);
/// The time between looks for a connection that may be cut off.
const ROOM_ASKED_EVERY: Duration = Duration::from_millis(50);
/// The part of the ordinary seats that is kept for addresses from which a good key came.
const KEPT_FOR_GOOD: usize = 8;

/// The connections that there are, and the most that there may be.
pub struct ConnectionSlots {
    /// The seats beside those that are kept back.
    most: usize,
    /// Seats that are kept back.
    spare: usize,
    /// Most connections from one address that is not this computer's.
    per_address: AtomicUsize,
    table: Mutex<Table>,
    accounts: Accounts,
    freed: Notify,
    meters: Arc<SurfaceMetrics>,
}

/// A connection's seat, free again when it is dropped.
pub struct ConnectionSlot {
    number: u64,
    address: IpAddr,
    sitting: Arc<SlotState>,
    /// This address has too many connections; its requests are answered with that.
    pub crowded: bool,
    seats: Arc<ConnectionSlots>,
}

/// A request that is being answered.
pub struct BusyGuard {
    sitting: Arc<SlotState>,
    seats: Arc<ConnectionSlots>,
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        if self.sitting.answered() {
            // The next request on this connection shows a key of its own.
            self.seats.accounts.clear(&self.sitting.account);
        }
    }
}

impl ConnectionSlots {
    /// Makes this number of seats together, some of them kept back.
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

    /// Allows this number of connections from one address from now on; those that are there stay.
    pub fn replace(&self, per_address: usize) {
        self.per_address.store(per_address, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a connection can be let in; until then clients wait outside.
    pub async fn room(&self) {
        loop {
            let freed = self.freed.notified();
            if self.lock().has_room(self.most, self.spare) {
                return;
            }
            // The longest silent one becomes old enough to give way without any other leaving.
            let _ = tokio::time::timeout(ROOM_ASKED_EVERY, freed).await;
        }
    }

    /// A seat for a connection from this address, after [`ConnectionSlots::room`] has said that there is one.
    /// Nothing for one more from an address that is sent away in numbers already, nor for an
    /// unknown one when only seats for known addresses are left.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let address = grouped(address);
        let mut table = self.lock();
        let crowded = !address.is_loopback()
            && table.from(address) >= self.per_address.load(Ordering::Acquire);
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
        Some(ConnectionSlot { number, address, sitting, crowded, seats: self.clone() })
    }

    /// Ends the connection that gives way first, as no file is left for another.
    pub fn free_one(&self) {
        self.lock().remove_for_a_file().iter().for_each(|sitting| self.end(sitting));
    }

    /// Ends the connection that gives way first. With many seats it ends some more, so that a storm
    /// of strangers is not looked through for each of them.
    fn send_one_away(&self, table: &mut Table, spare: bool) -> bool {
        let leaving = table.remove_least(spare);
        leaving.iter().for_each(|sitting| self.end(sitting));
        !leaving.is_empty()
    }

    /// Cuts off those who hold the most bytes, if they hold more than they may together, until
    /// there is room again for more than the next few bytes.
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

    /// Ends a connection that was taken out of the table. Its seat and its bytes are free at
    /// once; its task ends when it is polled.
    fn end(&self, sitting: &SlotState) {
        self.accounts.close(&sitting.account);
        sitting.leave.notify_one();
        self.meters.sent_away();
    }
}

impl ConnectionSlot {
    /// A request's head has come, whole.
    pub fn hear(&self) -> BusyGuard {
        self.sitting.hears();
        BusyGuard { sitting: self.sitting.clone(), seats: self.seats.clone() }
    }

    /// Remembers that the door let the request in that is being answered. Its sender is known until
    /// it is answered, and its address is one from which good keys come.
    pub fn vouch(&self) {
        self.seats.accounts.vouch(&self.sitting.account);
        self.seats.lock().good.add(self.address);
        // Those that are known have a budget of their own.
        self.seats.cut_heaviest();
    }

    /// True if the door let its sender in.
    pub fn is_known(&self) -> bool {
        self.sitting.account.is_known()
    }

    /// Adds bytes that came and are part of something unfinished.
    pub fn receive(&self, bytes: usize) {
        self.seats.accounts.add(&self.sitting.account, bytes);
        self.seats.cut_heaviest();
    }

    /// Counts these bytes from now on instead of those that were received.
    pub fn hold(&self, bytes: usize) {
        self.seats.accounts.set(&self.sitting.account, bytes);
        self.seats.cut_heaviest();
    }

    /// True if this seat is kept back for operators.
    pub fn is_spare(&self) -> bool {
        self.sitting.is_spare()
    }

    /// Resolves when the connection has to end: its first head is late, or another one needs its
    /// seat.
    pub async fn over(&self) {
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

    /// Resolves when the connection has to end because another one needs its seat, or it holds too
    /// many bytes.
    pub async fn cut(&self) {
        self.sitting.leave.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.seats.accounts.close(&self.sitting.account);
        let mut table = self.seats.lock();
        table.stand_up(self.number, self.address);
        self.seats.meters.connections(table.len());
        drop(table);
        self.seats.freed.notify_one();
    }
}

/// The address that counts as one: whoever has one address of the newer kind has the 64 bits behind
/// it as well.
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
