//! Times for people: in UTC with `--utc`, otherwise in the time zone of `TZ` or of this computer.
//! Times in output for programs are always in UTC.

use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Set once, before any time is shown.
static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// Sets the time zone of shown times: UTC or the system's.
pub fn settle(utc: bool) {
    let _ = ZONE.set(if utc { TimeZone::UTC } else { TimeZone::system() });
}

fn zone() -> TimeZone {
    ZONE.get().cloned().unwrap_or(TimeZone::UTC)
}

fn local(ts: &str, zone: TimeZone) -> Option<Zoned> {
    Some(ts.parse::<Timestamp>().ok()?.to_zoned(zone))
}

/// Returns `Z` for a time in UTC or at the offset zero, otherwise an empty text.
fn mark(at: &Zoned) -> &'static str {
    if at.time_zone() == &TimeZone::UTC || at.offset().is_zero() { "Z" } else { "" }
}

/// Returns hours, minutes and seconds of a time stamp, with `Z` at the offset zero. Returns a text
/// that is not a time stamp as it is.
pub fn time(ts: &str) -> String {
    local(ts, zone())
        .map_or_else(|| ts.to_owned(), |at| format!("{}{}", at.strftime("%H:%M:%S"), mark(&at)))
}

/// Returns day and time of a time stamp, to the second, with the offset of the zone. `None` if the
/// text is not a time stamp.
pub fn day_and_time(ts: &str) -> Option<String> {
    let at = local(ts, zone())?;
    let place =
        if mark(&at).is_empty() { at.strftime("%:z").to_string() } else { mark(&at).to_owned() };
    Some(format!("{}{place}", at.strftime("%Y-%m-%d %H:%M:%S")))
}

/// Returns the day of a time stamp. `None` if the text is not a time stamp.
pub fn day(ts: &str) -> Option<String> {
    Some(local(ts, zone())?.strftime("%Y-%m-%d").to_string())
}

/// Returns the age of a time stamp in its largest unit, such as `4 min`. A future time has the age
/// 0. `None` if the text is not a time stamp.
pub fn age(ts: &str, now: Timestamp) -> Option<String> {
    let seconds = now.duration_since(ts.parse().ok()?).as_secs().max(0);
    Some(match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    })
}

/// Parses a time stamp, a day in the time zone of shown times, or an age such as 90s, 10m, 2h or
/// 3d. Returns the time in RFC 3339 and UTC; `None` for any other word.
pub fn moment(word: &str, now: Timestamp) -> Option<String> {
    moment_in(word, now, zone())
}

/// Parses a word as [`moment`] does, with days in the given zone. Returns `None` for any other
/// word, and for times out of range.
fn moment_in(word: &str, now: Timestamp, zone: TimeZone) -> Option<String> {
    if let Ok(at) = word.parse::<Timestamp>() {
        return Some(at.to_string());
    }
    if let Ok(day) = word.parse::<jiff::civil::Date>() {
        return Some(day.to_zoned(zone).ok()?.timestamp().to_string());
    }
    let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    let span = number.parse::<u32>().ok()?;
    let ago = jiff::SignedDuration::from_secs(i64::from(span) * seconds);
    Some(now.checked_sub(ago).ok()?.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        for (ts, age) in [
            ("2026-01-31T11:59:01Z", "59 s"),
            ("2026-01-31T11:58:59Z", "1 min"),
            ("2026-01-31T09:00:00Z", "3 h"),
            ("2026-01-28T12:00:00Z", "3 d"),
            ("2026-01-31T12:00:09Z", "0 s"),
        ] {
            assert_eq!(super::age(ts, now).as_deref(), Some(age), "{ts}");
        }
        assert_eq!(super::age("noon", now), None);
    }

    #[test]
    fn times_are_those_of_the_place_and_marked_in_utc() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let shown = |zone: TimeZone| {
            local("2026-11-21T23:30:00.123Z", zone)
                .map(|at| format!("{}{}", at.strftime("%d %H:%M"), mark(&at)))
        };
        assert_eq!(shown(east).unwrap(), "22 01:30");
        assert_eq!(shown(TimeZone::UTC).unwrap(), "21 23:30Z");
        assert_eq!(time("no time"), "no time");
        assert_eq!(day_and_time("2026-11-21T09:30:00.123Z").unwrap(), "2026-11-21 09:30:00Z");
        assert_eq!(day_and_time("no time"), None);
    }

    #[test]
    fn a_moment_is_a_time_a_day_or_so_long_ago() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let at = |word: &str| moment_in(word, now, TimeZone::fixed(jiff::tz::offset(1)));
        assert_eq!(at("10m").as_deref(), Some("2026-11-21T11:50:00Z"));
        assert_eq!(at("3d").as_deref(), Some("2026-11-18T12:00:00Z"));
        assert_eq!(at("2026-11-20").as_deref(), Some("2026-11-19T23:00:00Z"));
        assert_eq!(at("2026-11-20T01:00:00+01:00").as_deref(), Some("2026-11-20T00:00:00Z"));
        for bad in ["", "10", "m", "-1h", "1w", "yesterday", "ü"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }
}
