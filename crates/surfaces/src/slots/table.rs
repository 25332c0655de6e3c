//! The table of connections, and the order in which they are evicted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::good::GoodAddresses;
use super::sitting::SlotState;

/// The age before which a silent connection is not evicted. Otherwise honest clients in a burst
/// would be accepted only to be cut off.
pub(super) const SILENT_MIN: Duration = Duration::from_millis(250);
/// The silence after which a connection on a spare slot can be evicted. Short, because a client
/// that had to wait has its request ready.
pub(super) const SPARE_SILENT_MIN: Duration = Duration::from_millis(50);
/// The time after a request in which an idle connection is not evicted: its client may send the
/// next one.
pub(super) const IDLE_MIN: Duration = Duration::from_secs(2);
/// The time that a stranger has for a body, or for the key at the start of a WebSocket, when all
/// slots are taken.
pub(super) const STRANGER_MIN: Duration = Duration::from_secs(1);

/// The divisor for the number of silent connections or strangers that are evicted together: the
/// number of all connections divided by it, and at least one.
const AT_ONCE: usize = 64;

#[derive(Default)]
pub(super) struct Table {
    next: u64,
    taken: BTreeMap<u64, Arc<SlotState>>,
    spares: usize,
    addresses: HashMap<IpAddr, usize>,
    pub(super) good: GoodAddresses,
}

/// The order in which connections are evicted: the first variant goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ConnectionWorth {
    /// No request has arrived yet.
    Silent,
    /// A request of a stranger is unfinished.
    Stranger,
    /// A request has arrived before, but none is being answered now.
    Idle,
}

/// A connection that can be evicted: its sort key and its number.
type EvictionRank = (ConnectionWorth, Reverse<usize>, Instant, u64);

impl ConnectionWorth {
    /// Returns `None` for a connection that must stay.
    fn of(sitting: &SlotState) -> Option<Self> {
        match (sitting.is_busy(), sitting.is_heard()) {
            (false, false) => Some(Self::Silent),
            (false, true) => Some(Self::Idle),
            (true, _) => (!sitting.account.is_known()).then_some(Self::Stranger),
        }
    }

    /// Returns the age from which a connection of this worth can be evicted. `spare` is true for a
    /// connection on a spare slot.
    const fn least(self, spare: bool) -> Duration {
        match (self, spare) {
            (Self::Silent, false) => SILENT_MIN,
            (Self::Silent, true) => SPARE_SILENT_MIN,
            (Self::Idle, _) => IDLE_MIN,
            (Self::Stranger, _) => STRANGER_MIN,
        }
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.taken.len()
    }

    pub(super) fn spares(&self) -> usize {
        self.spares
    }

    pub(super) fn ordinary(&self) -> usize {
        self.taken.len() - self.spares
    }

    /// Counts the connections of this address.
    pub(super) fn from(&self, address: IpAddr) -> usize {
        self.addresses.get(&address).copied().unwrap_or(0)
    }

    /// True if an ordinary or a spare slot is free, or if a connection can be evicted. `most` and
    /// `spare` are the numbers of both kinds of slots.
    pub(super) fn has_room(&self, most: usize, spare: usize) -> bool {
        let may_leave = |spare| self.leaving(spare).next().is_some();
        self.ordinary() < most || self.spares < spare || may_leave(false) || may_leave(true)
    }

    /// Adds a connection. Returns its number.
    pub(super) fn sit(&mut self, address: IpAddr, sitting: Arc<SlotState>) -> u64 {
        self.next += 1;
        self.spares += usize::from(sitting.is_spare());
        self.taken.insert(self.next, sitting);
        *self.addresses.entry(address).or_default() += 1;
        self.next
    }

    /// Removes a connection that ended, from its slot and from the count of its address.
    pub(super) fn stand_up(&mut self, number: u64, address: IpAddr) {
        // An evicted connection is removed already, but counts for its address until its task ends.
        self.remove(number);
        if let Some(count) = self.addresses.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.addresses.remove(&address);
            }
        }
    }

    /// Frees the slot of a connection, which still counts for its address. Returns `None` if the
    /// slot was freed before.
    pub(super) fn remove(&mut self, number: u64) -> Option<Arc<SlotState>> {
        let sitting = self.taken.remove(&number)?;
        self.spares -= usize::from(sitting.is_spare());
        Some(sitting)
    }

    /// Removes the first connections in order: the oldest silent ones. If none is silent, removes
    /// the strangers with the most bytes, and if there are none either, the oldest idle connection.
    /// [`AT_ONCE`] sets the number of silent connections or strangers. Looks at spare slots if
    /// `spare` is true, and otherwise at ordinary ones.
    pub(super) fn remove_least(&mut self, spare: bool) -> Vec<Arc<SlotState>> {
        let leaving = self.leaving(spare).collect();
        self.remove_first(leaving)
    }

    /// Removes the first connections in order, on ordinary and on spare slots, because no file
    /// descriptor is left. A silent connection goes after [`SPARE_SILENT_MIN`] on either kind of
    /// slot.
    pub(super) fn remove_for_a_file(&mut self) -> Vec<Arc<SlotState>> {
        let leaving = self.leaving_after(|_| true, |worth| worth.least(true)).collect();
        self.remove_first(leaving)
    }

    /// Removes the connections that go first among `leaving`, as [`Table::remove_least`] says, and
    /// returns them.
    fn remove_first(&mut self, mut leaving: Vec<EvictionRank>) -> Vec<Arc<SlotState>> {
        let Some((least, ..)) = leaving.iter().min().copied() else { return Vec::new() };
        let many = match least {
            ConnectionWorth::Idle => 1,
            ConnectionWorth::Silent | ConnectionWorth::Stranger => (self.len() / AT_ONCE).max(1),
        };
        leaving.retain(|(worth, ..)| *worth == least);
        leaving.sort_unstable();
        let first = leaving.into_iter().take(many);
        first.filter_map(|(.., number)| self.remove(number)).collect()
    }

    /// Returns the numbers of the connections that hold bytes, those with the most bytes first. If
    /// `known` is true, these are the known callers' connections, and otherwise the strangers'.
    /// Among connections with equal bytes, the oldest comes first.
    pub(super) fn heaviest(&self, known: bool) -> Vec<u64> {
        let those = self.taken.iter().filter(|(_, sitting)| sitting.account.is_known() == known);
        let mut weighed: Vec<_> = those
            .map(|(number, sitting)| (Reverse(sitting.account.bytes()), sitting.since(), *number))
            .filter(|(Reverse(bytes), ..)| *bytes > 0)
            .collect();
        weighed.sort_unstable();
        weighed.into_iter().map(|(.., number)| number).collect()
    }

    /// Returns the connections that can be evicted: those on spare slots if `spare` is true, and
    /// otherwise those on ordinary slots.
    fn leaving(&self, spare: bool) -> impl Iterator<Item = EvictionRank> {
        self.leaving_after(
            move |sitting| sitting.is_spare() == spare,
            move |worth| worth.least(spare),
        )
    }

    /// Returns the connections that can be evicted, on the slots that `of` accepts. A connection
    /// stays while the server answers a known caller on it, and until it is as old as `least` says
    /// for its worth.
    fn leaving_after(
        &self,
        of: impl Fn(&SlotState) -> bool,
        least: impl Fn(ConnectionWorth) -> Duration,
    ) -> impl Iterator<Item = EvictionRank> {
        let now = Instant::now();
        let those = self.taken.iter().filter(move |(_, sitting)| of(sitting));
        those.filter_map(move |(number, sitting)| {
            let (worth, since) = (ConnectionWorth::of(sitting)?, sitting.since());
            // Bytes of a half-sent head do not count: such a connection is still silent.
            let bytes =
                if worth == ConnectionWorth::Stranger { sitting.account.bytes() } else { 0 };
            (now - since >= least(worth)).then_some((worth, Reverse(bytes), since, *number))
        })
    }
}
