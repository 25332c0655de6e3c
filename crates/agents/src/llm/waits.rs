//! The wait that a provider asks for in the body of a refusal.

use std::time::Duration;

use serde_json::Value;

use super::backoff::ASKED_MAX;

/// Words that come right before a wait.
const BEFORE: &[&str] = &[
    "try again in",
    "try again after",
    "retry after",
    "retry in",
    "retry again in",
    "wait for",
    "wait",
];

/// Returns the wait that a body asks for, in a field or in words; at most [`ASKED_MAX`].
pub(super) fn asked_in(body: &Value) -> Option<Duration> {
    let error = body.get("error").unwrap_or(body);
    let detail = |detail: &Value| duration(detail.get("retryDelay")?.as_str()?);
    let details = error.get("details").and_then(Value::as_array);
    let of_google = details.into_iter().flatten().find_map(detail);
    let field = || {
        let places = [error, body, error.get("metadata").unwrap_or(error)];
        places.iter().find_map(|place| {
            let seconds = |name| place.get(name).and_then(Value::as_f64);
            let ms = seconds("retry_after_ms").map(|ms| ms / 1000.0);
            ms.or_else(|| seconds("retry_after")).or_else(|| seconds("retry_after_seconds"))
        })
    };
    let field = || field().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let words = [error.get("message"), body.get("message"), body.get("detail"), Some(error)];
    let words = || words.into_iter().flatten().filter_map(Value::as_str).find_map(in_words);
    of_google.or_else(field).or_else(words).map(|wait| wait.min(ASKED_MAX))
}

/// Returns the wait that a sentence names.
fn in_words(said: &str) -> Option<Duration> {
    let said = said.to_ascii_lowercase();
    BEFORE.iter().find_map(|before| {
        let behind = said.split_once(before)?.1.trim_start();
        duration(behind.trim_start_matches(|c: char| c == ':' || c.is_whitespace()))
    })
}

/// Reads the duration that a text begins with, such as `1.5s`, `6m0s`, `120ms` or `20 seconds`.
fn duration(text: &str) -> Option<Duration> {
    let (mut rest, mut seconds) = (text, None);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..digits].parse::<f64>() else { break };
        let behind = rest[digits..].trim_start_matches(' ');
        let unit = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let unit_seconds = match &behind[..unit] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            _ => break,
        };
        seconds = Some(seconds.unwrap_or_default() + number * unit_seconds);
        rest = &behind[unit..];
    }
    Duration::try_from_secs_f64(seconds?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wait_is_read_where_providers_put_it() {
        let google = json!({"error": {"code": 429, "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}});
        for (body, ms) in [
            (google, 34_500),
            (
                json!({"error": {"message": "Rate limit reached. Please try again in 1.5s. Visit us"}}),
                1_500,
            ),
            (json!({"error": {"message": "Please try again in 6m0.5s."}}), 360_500),
            (json!({"error": {"message": "Try again in 120ms."}}), 120),
            (json!({"error": "Please retry after 20 seconds."}), 20_000),
            (json!({"detail": "Too many requests, wait 1 minute"}), 60_000),
            (json!({"error": {"retry_after_ms": 250}}), 250),
            (json!({"retry_after": 2, "message": "slow down"}), 2_000),
            (json!({"error": {"metadata": {"retry_after_seconds": 3}}}), 3_000),
            (json!({"error": {"message": "Try again in 99999999h"}}), 30 * 24 * 3_600 * 1_000),
        ] {
            assert_eq!(asked_in(&body), Some(Duration::from_millis(ms)), "{body}");
        }
        for none in [
            json!({"error": {"message": "Try again in a while."}}),
            json!({"error": {"message": "Wait, what? 5 apples"}}),
            json!({"error": {"retry_after": -1}}),
            json!({"error": null}),
            json!([]),
        ] {
            assert_eq!(asked_in(&none), None, "{none}");
        }
    }
}
