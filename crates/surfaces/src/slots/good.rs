//! Addresses of good keys: those from which the door has admitted a request.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Maximum number of addresses. Beyond it, the one whose last good key is oldest is dropped.
const ADDRESSES_MAX: usize = 4_096;

#[derive(Default)]
pub(super) struct GoodAddresses {
    next: u64,
    last: HashMap<IpAddr, u64>,
    by_age: BTreeMap<u64, IpAddr>,
}

impl GoodAddresses {
    pub(super) fn has(&self, address: IpAddr) -> bool {
        self.last.contains_key(&address)
    }

    /// Notes that a good key came from this address now. Drops the address whose last good key is
    /// oldest if there are more than [`ADDRESSES_MAX`].
    pub(super) fn add(&mut self, address: IpAddr) {
        self.next += 1;
        if let Some(before) = self.last.insert(address, self.next) {
            self.by_age.remove(&before);
        }
        self.by_age.insert(self.next, address);
        if self.by_age.len() > ADDRESSES_MAX
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.last.remove(&oldest);
        }
    }
}
