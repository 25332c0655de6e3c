//! Rate limits of registrations, per address and per code. The log, which stores the agents, limits
//! the registrations of the whole hall.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use moothall_kernel::time::{Millis, Timestamp};

use super::{RegistrationError, TokenHash};

/// Maximum number of agents that register from one address within an hour.
const FROM_ADDRESS_MAX: u64 = 600;
/// Maximum number of agents that register with one code within an hour.
const WITH_CODE_MAX: u64 = 1_000;
/// The window of all limits.
pub(super) const WINDOW: Millis = Millis::from_secs(3_600);
/// Number of remembered addresses above which expired ones are dropped.
const ADDRESSES_MIN: usize = 1_024;

/// Counters of registrations.
#[derive(Default)]
pub(super) struct RegistrationCounter(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    addresses: HashMap<IpAddr, Count>,
    /// The current code, and its count. A new code starts a new count.
    code: Option<(TokenHash, Count)>,
}

#[derive(Clone, Copy)]
struct Count {
    began: Timestamp,
    taken: u64,
}

impl Count {
    fn at(now: Timestamp) -> Self {
        Self { began: now, taken: 0 }
    }

    fn is_over(self, now: Timestamp) -> bool {
        !self.began.is_within(WINDOW, now)
    }

    /// Returns the time to wait if `most` registrations were counted within the window. Begins a
    /// new window if the old one is over.
    fn wait(&mut self, most: u64, now: Timestamp) -> Option<Millis> {
        if self.is_over(now) {
            *self = Self::at(now);
        }
        (self.taken >= most).then(|| Millis(WINDOW.0 - now.since(self.began).0))
    }
}

impl RegistrationCounter {
    /// Counts a registration, or rejects it if a limit is reached.
    pub(super) fn admit(
        &self,
        from: Option<IpAddr>,
        code: Option<&TokenHash>,
        now: Timestamp,
    ) -> Result<(), RegistrationError> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Counts { addresses, code: of_code } = &mut *counts;
        if addresses.len() >= ADDRESSES_MIN {
            addresses.retain(|_, count| !count.is_over(now));
        }
        let of_address = from.map(|from| addresses.entry(from).or_insert_with(|| Count::at(now)));
        let of_code = code.map(|code| {
            of_code.take_if(|(known, _)| known != code);
            &mut of_code.get_or_insert_with(|| (*code, Count::at(now))).1
        });
        let mut all = [
            (of_address, "from this address", FROM_ADDRESS_MAX),
            (of_code, "with this invite code", WITH_CODE_MAX),
        ];
        // The counting comes after all checks, so a registration that one limit refuses counts
        // against none.
        for (count, of, most) in &mut all {
            if let Some(wait) = count.as_mut().and_then(|count| count.wait(*most, now)) {
                return Err(RegistrationError::TooMany { of, most: *most, wait });
            }
        }
        all.iter_mut().filter_map(|(count, ..)| count.as_mut()).for_each(|count| count.taken += 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::Ipv4Addr;

    use super::*;

    fn address(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(192, 0, 2, last).into())
    }

    fn admitted(
        registering: &RegistrationCounter,
        from: u8,
        code: Option<&TokenHash>,
        at: i64,
    ) -> u64 {
        let now = Timestamp::from_millis(at);
        (0..2 * FROM_ADDRESS_MAX)
            .filter(|_| registering.admit(address(from), code, now).is_ok())
            .count() as u64
    }

    #[test]
    fn an_address_and_a_code_have_an_hourly_measure() {
        let registering = RegistrationCounter::default();
        assert_eq!(admitted(&registering, 1, None, 0), FROM_ADDRESS_MAX);
        assert_eq!(admitted(&registering, 2, None, 0), FROM_ADDRESS_MAX, "each for itself");
        let code = TokenHash::from_bytes([1; 32]);
        assert_eq!(admitted(&registering, 3, Some(&code), 0), FROM_ADDRESS_MAX);
        let rest = WITH_CODE_MAX - FROM_ADDRESS_MAX;
        assert_eq!(admitted(&registering, 4, Some(&code), 0), rest);
        let other = TokenHash::from_bytes([2; 32]);
        assert_eq!(admitted(&registering, 4, Some(&other), 0), FROM_ADDRESS_MAX - rest);
    }

    #[test]
    fn an_hour_later_there_is_room_again_and_the_wait_is_told() {
        let registering = RegistrationCounter::default();
        admitted(&registering, 1, None, 0);
        let late = Timestamp::from_millis(1_800_000);
        let refused = registering.admit(address(1), None, late).unwrap_err();
        assert!(
            matches!(refused, RegistrationError::TooMany { wait, .. } if wait == Millis(1_800_000))
        );
        assert_eq!(admitted(&registering, 1, None, 3_600_000), FROM_ADDRESS_MAX);
        assert_eq!(admitted(&registering, 1, None, -1), FROM_ADDRESS_MAX, "a clock set back");
    }
}
