//! The wait before a request is repeated.

use std::time::{Duration, SystemTime};

use moothall_engine::agent::TurnKey;

use crate::fingerprint::fingerprint;

/// Most requests for the answer of one turn.
pub(super) const TRIES_MAX: u32 = 4;

const FIRST_MS: u64 = 500;
const LONGEST_MS: u64 = 8_000;

/// Returns the wait after this try, counted from 1. A full wait doubles with each try, up to
/// [`LONGEST_MS`]. The result lies between half of the full wait and all of it, so that agents
/// which failed together do not retry together. The turn's key decides the point in between, so the
/// wait is deterministic.
pub(super) fn wait(key: &TurnKey, tries: u32) -> Duration {
    let whole = FIRST_MS.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(LONGEST_MS);
    let place = place(key, tries) % 1024;
    Duration::from_millis(whole / 2 + whole / 2 * place / 1023)
}

/// Returns a number, derived from the turn and the try alone, that places the wait in its range.
fn place(key: &TurnKey, tries: u32) -> u64 {
    let numbers = [
        key.turn.0.to_le_bytes(),
        u64::from(key.attempt).to_le_bytes(),
        u64::from(tries).to_le_bytes(),
    ];
    let bytes = key.stream.as_str().bytes().chain(numbers.into_iter().flatten());
    // `wait` takes ten bits. The lowest ones of this hash depend on the fewest bits of its input.
    fingerprint(bytes) >> 20
}

/// Longest wait that a provider may ask for.
pub(super) const ASKED_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// Returns the wait that a `Retry-After` asks for, in seconds or as a date, at most [`ASKED_MAX`].
/// A date counts from the date of the answer, `answered`, since the provider's clock and ours may
/// differ. A date in the past asks for no wait. A value that cannot be read counts as absent.
pub(super) fn retry_after(value: &str, answered: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    let wait = match value.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => {
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        }
        Ok(_) => return None,
        Err(_) => {
            let until = httpdate::parse_http_date(value).ok()?;
            let answered = answered
                .and_then(|date| httpdate::parse_http_date(date).ok())
                .unwrap_or_else(SystemTime::now);
            until.duration_since(answered).unwrap_or_default()
        }
    };
    Some(wait.min(ASKED_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use moothall_kernel::ids::TurnNo;

    fn key(turn: u64) -> TurnKey {
        TurnKey { stream: "s".into(), turn: TurnNo(turn), attempt: 1 }
    }

    #[test]
    fn waits_grow_to_a_limit_and_spread() {
        for (tries, whole) in [(1, 500), (2, 1_000), (3, 2_000), (5, 8_000), (60, 8_000)] {
            for turn in 1..50 {
                let ms = wait(&key(turn), tries).as_millis();
                assert!((whole / 2..=whole).contains(&ms), "{tries}: {ms}");
            }
        }
        let spread: std::collections::BTreeSet<_> =
            (1..50).map(|turn| wait(&key(turn), 1)).collect();
        assert!(spread.len() > 25, "{spread:?}");
        assert_eq!(wait(&key(7), 2), wait(&key(7), 2));
    }

    #[test]
    fn a_retry_after_may_say_anything() {
        assert_eq!(retry_after("2", None), Some(Duration::from_secs(2)));
        assert_eq!(retry_after(" 0.5 ", None), Some(Duration::from_millis(500)));
        assert_eq!(retry_after("1e300", None), Some(ASKED_MAX));
        for odd in ["-1", "NaN", "soon", "", "Wed, 99 Oct 2015 07:28:00 GMT"] {
            assert_eq!(retry_after(odd, None), None, "{odd}");
        }
    }

    #[test]
    fn a_date_counts_from_the_answers_own() {
        let answered = Some("Wed, 21 Oct 2015 07:28:00 GMT");
        for (until, seconds) in [
            ("Wed, 21 Oct 2015 07:28:07 GMT", 7),
            ("Wednesday, 21-Oct-15 07:29:00 GMT", 60),
            ("Wed Oct 21 07:28:01 2015", 1),
            ("Wed, 21 Oct 2015 07:27:59 GMT", 0),
            ("Fri, 21 Oct 2050 07:28:00 GMT", 30 * 24 * 3600),
        ] {
            assert_eq!(retry_after(until, answered), Some(Duration::from_secs(seconds)), "{until}");
        }
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:07 GMT", None), Some(Duration::ZERO));
    }
}
