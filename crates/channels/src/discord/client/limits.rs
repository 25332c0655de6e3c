//! The limits that Discord's answers have reported: calls that would be refused wait before they
//! are made.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::time::Instant;

/// Pause after a refusal that does not tell its time.
const UNTOLD_PAUSE: Duration = Duration::from_secs(5);
/// Longest pause that is taken from an answer. A longer one would not fit into the clock.
const PAUSE_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// If this many buckets are stored, those that are filled again are forgotten.
const BUCKETS_MAX: usize = 1_000;

/// The limits of a bot's calls.
#[derive(Default)]
pub(super) struct Limits(Mutex<KnownLimits>);

#[derive(Default)]
struct KnownLimits {
    /// Time until which no call at all may be made.
    all: Option<Instant>,
    /// Buckets that are empty, with the time at which they are filled again.
    buckets: BTreeMap<String, Instant>,
}

impl Limits {
    fn lock(&self) -> MutexGuard<'_, KnownLimits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time that a call of a bucket has to wait; zero if it may be made now.
    pub(super) fn wait(&self, bucket: &str, now: Instant) -> Duration {
        let known = self.lock();
        let until = known.buckets.get(bucket).copied().max(known.all);
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// Notes the headers of an answer. If they say that the bucket is empty, its calls wait.
    pub(super) fn note_headers(&self, bucket: &str, headers: &HeaderMap, now: Instant) {
        let number = |name: &str| headers.get(name)?.to_str().ok()?.parse::<f64>().ok();
        if number("x-ratelimit-remaining") != Some(0.0) {
            return;
        }
        let after = number("x-ratelimit-reset-after").and_then(seconds).unwrap_or(UNTOLD_PAUSE);
        self.hold(bucket, after, now);
    }

    /// Notes a refusal with 429, and returns its pause. The pause is for all calls if the refusal
    /// says so, or if it is not in JSON and so was not written by Discord's interface.
    pub(super) fn note_refusal(
        &self,
        bucket: &str,
        headers: &HeaderMap,
        answer: Option<&Value>,
        now: Instant,
    ) -> Duration {
        let header = headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let told = answer.and_then(|answer| answer["retry_after"].as_f64()).or(header);
        let after = told.and_then(seconds).unwrap_or(UNTOLD_PAUSE);
        if answer.is_none_or(|answer| answer["global"] == true) {
            self.lock().all = Some(now + after);
        } else {
            self.hold(bucket, after, now);
        }
        after
    }

    fn hold(&self, bucket: &str, after: Duration, now: Instant) {
        let mut known = self.lock();
        if known.buckets.len() >= BUCKETS_MAX {
            known.buckets.retain(|_, until| *until > now);
        }
        known.buckets.insert(bucket.to_owned(), now + after);
    }
}

fn seconds(seconds: f64) -> Option<Duration> {
    let is_wait = seconds.is_finite() && seconds >= 0.0;
    is_wait.then(|| Duration::from_secs_f64(seconds.min(PAUSE_MAX.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn an_empty_bucket_holds_its_own_calls_and_a_ban_holds_all() {
        let (limits, now) = (Limits::default(), Instant::now());
        let left = headers(&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset-after", "9")]);
        limits.note_headers("a", &left, now);
        assert_eq!(limits.wait("a", now), Duration::ZERO);
        let empty = headers(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset-after", "1.5")]);
        limits.note_headers("a", &empty, now);
        assert_eq!(limits.wait("a", now), Duration::from_millis(1500));
        assert_eq!(limits.wait("b", now), Duration::ZERO);
        let refusal = json!({"retry_after": 2.25, "global": false});
        let after = limits.note_refusal("b", &HeaderMap::new(), Some(&refusal), now);
        assert_eq!((after, limits.wait("b", now)), (after, Duration::from_millis(2250)));
        assert_eq!(limits.wait("c", now), Duration::ZERO);
        let page = headers(&[("retry-after", "3600")]);
        limits.note_refusal("c", &page, None, now);
        assert_eq!(limits.wait("d", now), Duration::from_secs(3600));
        let endless = json!({"retry_after": 1e300, "global": true});
        assert_eq!(limits.note_refusal("c", &page, Some(&endless), now), PAUSE_MAX);
    }
}
