//! Rate limits of principals, threads and addresses. Most apply in token mode only. A request is
//! charged before it is decided, so a refusal is cheap.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use moothall_engine::access::{Caller, Mode, Scope};
use moothall_engine::door::PermittedCommand;
use moothall_engine::tasks::TASK_EXCHANGES_MAX;
use moothall_kernel::command::{ClientCommand, Control};
use moothall_kernel::ids::StreamId;
use tokio::time::Instant;

use crate::error::{ApiError, ApiResult};
use crate::slots::grouped;

/// Limits of one principal, thread or address. Zero means unlimited, with two exceptions: with zero
/// connections per address, every remote connection is refused, and a burst of zero counts as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Writing requests of a principal, per second.
    pub writes_per_second: u32,
    /// Writing requests that a principal may send in one burst after a pause.
    pub writes_burst: u32,
    /// Invited and removed participants and new invitation codes of one thread, per minute.
    pub invites_per_minute: u32,
    /// Wrong keys and codes from one address per minute, before the answer is 429.
    pub logins_per_minute: u32,
    /// Event streams that one principal may have open.
    pub streams_per_principal: u32,
    /// Connections from one remote address, in every mode.
    pub connections_per_address: usize,
    /// Ceiling for the number of messages that a task's agents may exchange before a person has to
    /// reply.
    pub task_exchanges: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            writes_per_second: 10,
            writes_burst: 30,
            invites_per_minute: 10,
            logins_per_minute: 5,
            streams_per_principal: 20,
            connections_per_address: 200,
            task_exchanges: TASK_EXCHANGES,
        }
    }
}

/// Default number of messages that a task's agents may exchange before a person has to reply.
const TASK_EXCHANGES: NonZeroU32 = NonZeroU32::new(TASK_EXCHANGES_MAX).expect("not zero");
/// Number of entries at which a table first drops its paid-up or expired ones.
const KEYS_MIN: usize = 1024;
/// Cost of a repeated request: it changes nothing, but is looked up.
const REPEAT_COST: f64 = 0.1;
/// Connections without a key that one address may end in one burst after a pause, and per second
/// after that. Beyond this, its next connections wait.
const KEYLESS_BURST: u32 = 40;
const KEYLESS_PER_SECOND: u32 = 20;
/// The time that a connection waits if its address ended too many connections without a key. It is
/// constant, so that other clients behind the same address never wait longer.
pub const KEYLESS_PAUSE: Duration = Duration::from_secs(1);
/// Time for which an idempotency key counts as repeated.
const REPEATED_WITHIN: Duration = Duration::from_secs(600);

/// Counters of requests, connections and streams. Clones share them.
#[derive(Clone)]
pub struct Rates(Arc<Counts>);

struct Counts {
    /// True if principals are limited at all: in token mode.
    on: bool,
    limits: RwLock<Limits>,
    writes: Bucket<String>,
    invites: Bucket<StreamId>,
    logins: Bucket<IpAddr>,
    /// Connections that ended without a key. Counted in every mode.
    keyless: Bucket<IpAddr>,
    streams: Mutex<HashMap<String, u32>>,
    /// Idempotency keys of charged requests, with the time of the charge.
    charged: Mutex<HashMap<(String, String), Instant>>,
}

/// An open stream. It is counted until this is dropped.
pub struct StreamSlot(Option<(Rates, String)>);

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let Some((rates, principal)) = self.0.take() else { return };
        let mut streams = lock(&rates.0.streams);
        if let Some(count) = streams.get_mut(&principal) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&principal);
            }
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rates {
    /// Creates counters with these limits. In local mode, only connections and the messages of
    /// tasks are limited, because all callers belong to one person. In token mode, operators are
    /// exempt from the limits of principals and threads.
    pub fn new(mode: Mode, limits: Limits) -> Self {
        Self(Arc::new(Counts {
            on: mode == Mode::Token,
            writes: Bucket::new("writes", limits.writes()),
            invites: Bucket::new("invites", limits.invites()),
            logins: Bucket::new("logins", limits.logins()),
            keyless: Bucket::new("connections", KEYLESS),
            limits: RwLock::new(limits),
            streams: Mutex::default(),
            charged: Mutex::default(),
        }))
    }

    /// Replaces the limits from now on.
    pub fn replace(&self, limits: Limits) {
        self.0.writes.replace(limits.writes());
        self.0.invites.replace(limits.invites());
        self.0.logins.replace(limits.logins());
        *self.0.limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    fn limit<T>(&self, of: impl FnOnce(&Limits) -> T) -> T {
        of(&self.0.limits.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the name of the caller's principal if the caller is limited: in token mode, unless
    /// it is an operator.
    fn limited(&self, caller: &Caller) -> Option<String> {
        let operator = caller.must_prove(Scope::ServerAdmin).is_ok();
        caller
            .principal()
            .filter(|_| self.0.on && !operator)
            .map(|principal| principal.id.to_string())
    }

    /// Charges a writing request. The first request with a key is charged in full. A repetition
    /// within ten minutes of the last request with the key is charged a tenth.
    ///
    /// # Errors
    /// `rate_limited`.
    pub fn write(&self, caller: &Caller, key: Option<&str>) -> ApiResult<()> {
        let Some(who) = self.limited(caller) else { return Ok(()) };
        let Some(key) = key else { return self.0.writes.take(who, 1.0) };
        let (place, now) = ((who.clone(), key.to_owned()), Instant::now());
        let repeated =
            lock(&self.0.charged).get(&place).is_some_and(|at| now - *at < REPEATED_WITHIN);
        self.0.writes.take(who, if repeated { REPEAT_COST } else { 1.0 })?;
        // A rejected request returns above, so its key is not noted, and its retry is charged in
        // full.
        let mut charged = lock(&self.0.charged);
        // Only at powers of two, so that inserts stay cheap on average.
        if charged.len() >= KEYS_MIN && charged.len().is_power_of_two() {
            charged.retain(|_, at| now - *at < REPEATED_WITHIN);
        }
        charged.insert(place, now);
        Ok(())
    }

    /// Charges the invitations and removals in a command.
    ///
    /// # Errors
    /// `rate_limited`.
    pub fn command(&self, caller: &Caller, permitted: &PermittedCommand) -> ApiResult<()> {
        let ClientCommand::Control { controls, .. } = permitted.command() else { return Ok(()) };
        let invites = controls
            .iter()
            .filter(|control| matches!(control, Control::Invite(_) | Control::Uninvite(_)));
        self.invite(caller, permitted.stream(), invites.count())
    }

    /// Charges a thread for `count` invitations or removals, if the caller is limited.
    ///
    /// # Errors
    /// `rate_limited`.
    pub fn invite(&self, caller: &Caller, stream: &StreamId, count: usize) -> ApiResult<()> {
        if count == 0 || self.limited(caller).is_none() {
            return Ok(());
        }
        // At most one full burst, so that a conversation can invite all its members when it begins.
        let cost = u32::try_from(count)
            .unwrap_or(u32::MAX)
            .min(self.limit(|limits| limits.invites_per_minute).max(1));
        self.0.invites.take(stream.clone(), f64::from(cost))
    }

    /// Counts a wrong key against its address, in token mode only. Returns `rate_limited` if the
    /// address has sent too many. Called only after the key was looked up, so that wrong keys never
    /// delay a good key from the same address.
    pub fn wrong_key(&self, address: Option<IpAddr>) -> Option<ApiError> {
        let address = address.filter(|_| self.0.on)?;
        self.0.logins.take(grouped(address), 1.0).err()
    }

    /// Counts a wrong key, and returns the error for its request: `rate_limited` if the address has
    /// sent too many, and otherwise `unauthenticated`.
    pub fn refuse_key(&self, address: Option<IpAddr>) -> ApiError {
        self.wrong_key(address).unwrap_or_else(ApiError::unauthenticated)
    }

    /// Counts a WebSocket that ended before its client sent a good key.
    pub fn ended_keyless(&self, address: Option<IpAddr>) {
        // An error means that the burst is used up, and adds no debt. Otherwise other clients of
        // the address would have to wait for it.
        let _ = address.map(|address| self.0.keyless.take(grouped(address), 1.0));
    }

    /// Returns the time that a connection without a key waits: a second if the address has ended
    /// too many such connections. They cost the server more than the client.
    pub fn pause(&self, address: Option<IpAddr>) -> Duration {
        let is_owing = address.is_some_and(|address| self.0.keyless.is_used_up(&grouped(address)));
        if is_owing { KEYLESS_PAUSE } else { Duration::ZERO }
    }

    /// Returns the number of messages that a task's agents may exchange before a person has to
    /// reply: the requested number, if the operator's ceiling allows it. Without a request, returns
    /// the ceiling if it is below the default, and otherwise `None` for the default.
    ///
    /// # Errors
    /// The ceiling, if the request is for zero or for more than the ceiling.
    pub fn task_exchanges(&self, asked: Option<u32>) -> Result<Option<u32>, u32> {
        let ceiling = self.limit(|limits| limits.task_exchanges.get());
        match asked {
            Some(asked) if (1..=ceiling).contains(&asked) => Ok(Some(asked)),
            Some(_) => Err(ceiling),
            None => Ok(Some(ceiling).filter(|ceiling| *ceiling < TASK_EXCHANGES_MAX)),
        }
    }

    /// Counts a stream that is being opened, until the returned slot is dropped.
    ///
    /// # Errors
    /// `too_many_streams`.
    pub fn stream(&self, caller: &Caller) -> ApiResult<StreamSlot> {
        let most = self.limit(|limits| limits.streams_per_principal);
        let Some(who) = self.limited(caller).filter(|_| most > 0) else {
            return Ok(StreamSlot(None));
        };
        let mut streams = lock(&self.0.streams);
        let count = streams.entry(who.clone()).or_default();
        if *count >= most {
            return Err(ApiError::too_many_streams(most));
        }
        *count += 1;
        Ok(StreamSlot(Some((self.clone(), who))))
    }
}

const KEYLESS: Pace =
    Pace { each: Duration::from_millis(1_000 / KEYLESS_PER_SECOND as u64), burst: KEYLESS_BURST };

/// A rate: a burst, and the time in which one more unit becomes available.
#[derive(Clone, Copy, PartialEq)]
struct Pace {
    /// Time in which one unit is paid off. Zero means unlimited.
    each: Duration,
    burst: u32,
}

impl Pace {
    fn new(many: u32, within: Duration, burst: u32) -> Self {
        // A burst of 0 would give no credit at all, and would refuse every request.
        Self { each: within.checked_div(many).unwrap_or(Duration::ZERO), burst: burst.max(1) }
    }
}

impl Limits {
    fn writes(&self) -> Pace {
        Pace::new(self.writes_per_second, Duration::from_secs(1), self.writes_burst)
    }

    fn invites(&self) -> Pace {
        Pace::new(self.invites_per_minute, Duration::from_secs(60), self.invites_per_minute)
    }

    fn logins(&self) -> Pace {
        Pace::new(self.logins_per_minute, Duration::from_secs(60), self.logins_per_minute)
    }
}

/// A token bucket per key: a burst after a pause, and then one unit per interval. Stores the time
/// at which each key will have paid off its debt.
struct Bucket<K> {
    name: &'static str,
    owed: Mutex<PaceTable<K>>,
}

struct PaceTable<K> {
    pace: Pace,
    paid: HashMap<K, Instant>,
}

impl<K: Hash + Eq> Bucket<K> {
    fn new(name: &'static str, pace: Pace) -> Self {
        Self { name, owed: Mutex::new(PaceTable { pace, paid: HashMap::new() }) }
    }

    /// Replaces the pace. If the pace changes, all debts are dropped, because they were counted at
    /// the old one.
    fn replace(&self, pace: Pace) {
        let mut owed = lock(&self.owed);
        if owed.pace != pace {
            *owed = PaceTable { pace, paid: HashMap::new() };
        }
    }

    /// Charges the key, or returns `rate_limited` without a charge if the cost exceeds its burst.
    fn take(&self, key: K, cost: f64) -> ApiResult<()> {
        let now = Instant::now();
        let PaceTable { pace, paid } = &mut *lock(&self.owed);
        let then = self.after(pace, paid.get(&key), now, cost)?;
        if paid.len() >= KEYS_MIN && paid.len().is_power_of_two() {
            paid.retain(|_, at| *at > now);
        }
        paid.insert(key, then);
        Ok(())
    }

    /// True if one more unit would be rejected now.
    fn is_used_up(&self, key: &K) -> bool {
        let PaceTable { pace, paid } = &*lock(&self.owed);
        self.after(pace, paid.get(key), Instant::now(), 1.0).is_err()
    }

    /// Returns the time at which the key will have paid off its debt and `cost` more.
    ///
    /// # Errors
    /// `rate_limited` if this debt exceeds the burst.
    fn after(
        &self,
        pace: &Pace,
        paid: Option<&Instant>,
        now: Instant,
        cost: f64,
    ) -> ApiResult<Instant> {
        let then = paid.copied().unwrap_or(now).max(now) + pace.each.mul_f64(cost);
        let credit = pace.each * pace.burst;
        if then - now <= credit {
            Ok(then)
        } else {
            Err(ApiError::rate_limited(self.name, (then - now).saturating_sub(credit)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bucket: &Bucket<&'static str>, key: &'static str, times: usize) -> usize {
        (0..times).filter(|_| bucket.take(key, 1.0).is_ok()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_whose_connections_end_without_a_key_waits_a_second_and_no_other_does() {
        for mode in [Mode::Local, Mode::Token] {
            let rates = Rates::new(mode, Limits::default());
            let address = |last: u8| Some(IpAddr::from([192, 0, 2, last]));
            for _ in 0..KEYLESS_BURST {
                assert_eq!(rates.pause(address(1)), Duration::ZERO);
                rates.ended_keyless(address(1));
            }
            for _ in 0..100 * KEYLESS_BURST {
                assert_eq!(rates.pause(address(1)), KEYLESS_PAUSE, "it grows with nothing");
                rates.ended_keyless(address(1));
            }
            assert_eq!([rates.pause(address(2)), rates.pause(None)], [Duration::ZERO; 2]);
            tokio::time::advance(KEYLESS.each).await;
            assert_eq!(rates.pause(address(1)), Duration::ZERO);
        }
    }

    fn second(many: u32, burst: u32) -> Pace {
        Pace::new(many, Duration::from_secs(1), burst)
    }

    #[tokio::test(start_paused = true)]
    async fn another_pace_begins_anew_and_the_same_one_changes_nothing() {
        let bucket = Bucket::new("writes", second(1, 100));
        assert_eq!(taken(&bucket, "a", 200), 100);
        bucket.replace(second(1, 100));
        assert_eq!(taken(&bucket, "a", 1), 0);
        bucket.replace(second(10, 5));
        assert_eq!(taken(&bucket, "a", 100), 5, "a debt of the slower pace would last for minutes");
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_through_and_then_one_at_a_time() {
        let bucket = Bucket::new("writes", second(10, 30));
        assert_eq!(taken(&bucket, "a", 100), 30);
        assert_eq!(taken(&bucket, "b", 1), 1, "one does not pay for another");
        tokio::time::advance(Duration::from_millis(1050)).await;
        assert_eq!(taken(&bucket, "a", 100), 10);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(taken(&bucket, "a", 100), 30, "nothing is saved beyond the burst");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_everything_goes_through_and_what_is_paid_is_forgotten() {
        assert_eq!(taken(&Bucket::new("writes", second(0, 30)), "a", 10_000), 10_000);
        let bucket = Bucket::new("writes", second(10, 30));
        for n in 0..5 * KEYS_MIN {
            assert!(bucket.take(n, 1.0).is_ok());
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert!(lock(&bucket.owed).paid.len() <= 2 * KEYS_MIN);
    }
}
