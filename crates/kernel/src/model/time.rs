//! Time as an argument: this crate never reads a clock.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the time this many milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds after the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the time that has passed since `earlier`; zero if `earlier` is in the future.
    pub fn since(self, earlier: Timestamp) -> Millis {
        Millis(self.0.saturating_sub(earlier.0).max(0) as u64)
    }

    /// True if less than `length` has passed since this time. False for a time in the future: the
    /// clock was set back, and the time would count until the clock catches up.
    pub fn is_within(self, length: Millis, now: Timestamp) -> bool {
        self <= now && now.since(self) < length
    }
}

impl Add<Millis> for Timestamp {
    type Output = Timestamp;

    fn add(self, length: Millis) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(length.0).unwrap_or(i64::MAX)))
    }
}

impl Sub<Millis> for Timestamp {
    type Output = Timestamp;

    fn sub(self, length: Millis) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(length.0).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    /// Formats the time as RFC 3339 in UTC with milliseconds and `Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        write!(f, "{instant:.3}")
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|instant| Self(instant.as_millisecond()))
    }
}

/// A duration in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// Returns a duration of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1000)
    }

    /// Returns a duration from seconds with a fraction, as the configuration and the wire write
    /// them. `None` unless finite, at least 0 and below 10 years.
    pub fn from_secs_f64(seconds: f64) -> Option<Self> {
        const LIMIT_S: f64 = 10.0 * 366.0 * 86_400.0;
        (seconds.is_finite() && (0.0..LIMIT_S).contains(&seconds))
            .then(|| Self((seconds * 1000.0).round() as u64))
    }

    /// Returns the seconds with a fraction.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Returns the duration for people, in its largest unit: `1.5 s`, `30 min`, `2.5 h`.
    pub fn for_people(self) -> String {
        const MINUTE_S: f64 = 60.0;
        const HOUR_S: f64 = 3600.0;
        let (unit_s, unit) = match self.as_secs_f64() {
            seconds if seconds < MINUTE_S => (1.0, "s"),
            seconds if seconds < HOUR_S => (MINUTE_S, "min"),
            _ => (HOUR_S, "h"),
        };
        let rounded = (self.as_secs_f64() / unit_s * 10.0).round() / 10.0;
        format!("{rounded} {unit}")
    }

    /// Returns half of the duration.
    #[must_use]
    pub const fn half(self) -> Self {
        Self(self.0 / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_prints_as_rfc_3339_and_reads_back() {
        let ts = Timestamp::from_millis(1_763_693_999_042);
        assert_eq!(ts.to_string(), "2025-11-21T02:59:59.042Z");
        assert_eq!(ts.to_string().parse::<Timestamp>().ok(), Some(ts));
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_duration_is_told_in_its_largest_unit() {
        let told = [0, 1_500, 59_000, 60_000, 90_000, 1_800_000, 9_000_000]
            .map(|ms| Millis(ms).for_people());
        assert_eq!(told, ["0 s", "1.5 s", "59 s", "1 min", "1.5 min", "30 min", "2.5 h"]);
    }

    #[test]
    fn a_time_in_the_future_is_not_within_the_past() {
        let now = Timestamp::from_millis(1_000);
        let within = [500, 501, 1_000, 1_001]
            .map(|at| Timestamp::from_millis(at).is_within(Millis(500), now));
        assert_eq!(within, [false, true, true, false]);
    }

    #[test]
    fn seconds_outside_reason_are_refused() {
        assert_eq!(Millis::from_secs_f64(2.5), Some(Millis(2500)));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(Millis::from_secs_f64(bad), None);
        }
    }
}
