//! How much somebody may ask for in a time, in token mode. Looked at before anything is decided, so
//! a refusal costs next to nothing.

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
use crate::seats::grouped;

/// What one principal, thread or address may have. Zero means no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests of a principal that change something, each second.
    pub writes_per_second: u32,
    /// How many of them may come at once after a pause.
    pub writes_burst: u32,
    /// Invitations into one thread, each minute.
    pub invites_per_minute: u32,
    /// Wrong keys and codes from one address, each minute, before their answer is 429.
    pub logins_per_minute: u32,
    /// Streams of events that one principal has open.
    pub streams_per_principal: u32,
    /// Connections from one address that is not this computer's, in every mode.
    pub connections_per_address: usize,
    /// Most that a task may ask for as the number of words that its agents exchange before a person
    /// has to go on.
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

/// The usual number of words that agents of a task exchange before a person has to go on.
const TASK_EXCHANGES: NonZeroU32 = NonZeroU32::new(TASK_EXCHANGES_MAX).expect("not zero");
/// Keys looked through before those that owe nothing any more are let go.
const KEYS_MIN: usize = 1024;
/// What a repeated request costs: it changes nothing, but it is looked up.
const REPEAT_COST: f64 = 0.1;
/// Connections of an address that may end without a key at once after a pause, and each second
/// after that, until its next ones wait.
const KEYLESS_BURST: u32 = 40;
const KEYLESS_PER_SECOND: u32 = 20;
/// The time that such a connection waits. Always the same, so that others behind that address wait
/// no longer than that, however many come again at once.
pub const KEYLESS_PAUSE: Duration = Duration::from_secs(1);
/// How long a key is known to be a repeated one.
const REPEATED_WITHIN: Duration = Duration::from_secs(600);

/// Counts what everybody asks for.
#[derive(Clone)]
pub struct Rates(Arc<Counts>);

struct Counts {
    /// Whether anything is limited at all.
    on: bool,
    limits: RwLock<Limits>,
    writes: Bucket<String>,
    invites: Bucket<StreamId>,
    logins: Bucket<IpAddr>,
    /// Connections that ended without a key, in every mode.
    keyless: Bucket<IpAddr>,
    streams: Mutex<HashMap<String, u32>>,
    /// Idempotency keys of requests that were charged, and when.
    charged: Mutex<HashMap<(String, String), Instant>>,
}

/// An open stream, counted as long as this lives.
pub struct Streaming(Option<(Rates, String)>);

impl Drop for Streaming {
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
    /// These limits, for everybody who is no operator. In local mode there are none: whoever is
    /// there is one person's.
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

    /// These limits from now on.
    pub fn replace(&self, limits: Limits) {
        self.0.writes.replace(limits.writes());
        self.0.invites.replace(limits.invites());
        self.0.logins.replace(limits.logins());
        *self.0.limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    fn limit<T>(&self, of: impl FnOnce(&Limits) -> T) -> T {
        of(&self.0.limits.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whoever is limited, by name.
    fn limited(&self, caller: &Caller) -> Option<String> {
        let operator = caller.must_prove(Scope::ServerAdmin).is_ok();
        caller
            .principal()
            .filter(|_| self.0.on && !operator)
            .map(|principal| principal.id.to_string())
    }

    /// Charges a request that changes something. One that is repeated under its key is charged
    /// once, and a little for each repetition.
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
        let mut charged = lock(&self.0.charged);
        if charged.len() >= KEYS_MIN && charged.len().is_power_of_two() {
            charged.retain(|_, at| now - *at < REPEATED_WITHIN);
        }
        charged.insert(place, now);
        Ok(())
    }

    /// Charges the invitations in a command, those that take somebody out too.
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

    /// Charges so many invitations.
    ///
    /// # Errors
    /// `rate_limited`.
    pub fn invite(&self, caller: &Caller, stream: &StreamId, count: usize) -> ApiResult<()> {
        if count == 0 || self.limited(caller).is_none() {
            return Ok(());
        }
        // A whole set at once, as a conversation begins, counts as what the burst allows.
        let cost = u32::try_from(count)
            .unwrap_or(u32::MAX)
            .min(self.limit(|limits| limits.invites_per_minute).max(1));
        self.0.invites.take(stream.clone(), f64::from(cost))
    }

    /// Counts a wrong key against the address that it came from. Returns `rate_limited` once that
    /// address showed too many. Called only after the key was looked up, so a good key never waits
    /// for the wrong ones of others at its address.
    pub fn wrong_key(&self, address: Option<IpAddr>) -> Option<ApiError> {
        let address = address.filter(|_| self.0.on)?;
        self.0.logins.take(grouped(address), 1.0).err()
    }

    /// Returns what a request with a wrong key gets.
    pub fn refuse_key(&self, address: Option<IpAddr>) -> ApiError {
        self.wrong_key(address).unwrap_or_else(ApiError::unauthenticated)
    }

    /// Counts a connection that ended and on which no key was shown.
    pub fn ended_keyless(&self, address: Option<IpAddr>) {
        // What is owed beyond the burst is not counted: it would be waited for by others.
        let _ = address.map(|address| self.0.keyless.take(grouped(address), 1.0));
    }

    /// Returns how long a connection from this address waits that has shown no key. It comes to
    /// more than nothing if too many ended without one: each costs more to accept than to open.
    pub fn pause(&self, address: Option<IpAddr>) -> Duration {
        let is_owing = address.is_some_and(|address| self.0.keyless.is_used_up(&grouped(address)));
        if is_owing { KEYLESS_PAUSE } else { Duration::ZERO }
    }

    /// Returns the number of words that the agents of a task may exchange before a person has to go
    /// on. Without a wish it is none if the usual number is within the operator's ceiling.
    ///
    /// # Errors
    /// The ceiling, if more was asked for, or nothing at all.
    pub fn task_exchanges(&self, asked: Option<u32>) -> Result<Option<u32>, u32> {
        let ceiling = self.limit(|limits| limits.task_exchanges.get());
        match asked {
            Some(asked) if (1..=ceiling).contains(&asked) => Ok(Some(asked)),
            Some(_) => Err(ceiling),
            None => Ok(Some(ceiling).filter(|ceiling| *ceiling < TASK_EXCHANGES_MAX)),
        }
    }

    /// Counts a stream that is being opened.
    ///
    /// # Errors
    /// `too_many_streams`.
    pub fn stream(&self, caller: &Caller) -> ApiResult<Streaming> {
        let most = self.limit(|limits| limits.streams_per_principal);
        let Some(who) = self.limited(caller).filter(|_| most > 0) else {
            return Ok(Streaming(None));
        };
        let mut streams = lock(&self.0.streams);
        let count = streams.entry(who.clone()).or_default();
        if *count >= most {
            return Err(ApiError::too_many_streams(most));
        }
        *count += 1;
        Ok(Streaming(Some((self.clone(), who))))
    }
}

const KEYLESS: Pace =
    Pace { each: Duration::from_millis(1_000 / KEYLESS_PER_SECOND as u64), burst: KEYLESS_BURST };

/// How fast something may go.
#[derive(Clone, Copy, PartialEq)]
struct Pace {
    /// How long one takes to be paid; nothing where there is no limit.
    each: Duration,
    burst: u32,
}

impl Pace {
    fn new(many: u32, within: Duration, burst: u32) -> Self {
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

/// Lets so many through at once, and then one in so long: when each key has paid for everything it
/// had.
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

    /// Another pace from now on. What was owed at the old one says nothing about the new one, so it
    /// is forgotten.
    fn replace(&self, pace: Pace) {
        let mut owed = lock(&self.owed);
        if owed.pace != pace {
            *owed = PaceTable { pace, paid: HashMap::new() };
        }
    }

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

    /// True if one thing more is too much now.
    fn is_used_up(&self, key: &K) -> bool {
        let PaceTable { pace, paid } = &*lock(&self.owed);
        self.after(pace, paid.get(key), Instant::now(), 1.0).is_err()
    }

    /// When a key will have paid for one thing more.
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
