//! Rates of calls: 5 in 5 seconds for each bot, route and channel, and the headers that tell them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const CALLS_MAX: usize = 5;
const WINDOW: Duration = Duration::from_secs(5);

/// The calls of the last seconds.
#[derive(Default)]
pub(super) struct RateLimits {
    pub(super) is_on: bool,
    calls: BTreeMap<String, Vec<Instant>>,
}

/// The state of a bucket after a call, as its headers tell it.
pub(super) struct BucketState {
    pub(super) bucket: String,
    pub(super) remaining: usize,
    pub(super) reset_after: f64,
    /// True if the call is one too many.
    pub(super) is_over: bool,
}

impl RateLimits {
    /// Counts a call of a bucket; `None` if rates are not limited.
    pub(super) fn count(&mut self, bucket: &str) -> Option<BucketState> {
        if !self.is_on {
            return None;
        }
        let now = Instant::now();
        let calls = self.calls.entry(bucket.to_owned()).or_default();
        calls.retain(|at| now.duration_since(*at) < WINDOW);
        let is_over = calls.len() >= CALLS_MAX;
        if !is_over {
            calls.push(now);
        }
        let oldest = calls.first().copied().unwrap_or(now);
        let reset_after = WINDOW.saturating_sub(now.duration_since(oldest)).as_secs_f64();
        let remaining = CALLS_MAX - calls.len();
        Some(BucketState { bucket: bucket.to_owned(), remaining, reset_after, is_over })
    }
}

impl BucketState {
    /// Returns the headers of an answer.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        vec![
            ("x-ratelimit-limit", CALLS_MAX.to_string()),
            ("x-ratelimit-remaining", self.remaining.to_string()),
            ("x-ratelimit-reset-after", format!("{:.3}", self.reset_after)),
            ("x-ratelimit-bucket", self.bucket.clone()),
        ]
    }
}
