//! Errors of a provider: the words for people, and the rule for a retry.
//!
//! Our own words never repeat the prompt, the key or the address. The provider's words are quoted
//! only if they help, shortened and without the key.

use std::error::Error as _;
use std::time::Duration;

use moothall_kernel::ending::Ending;
use moothall_kernel::event::Fault;
use moothall_kernel::text::{cut, for_terminal};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::ANSWER_BYTES_MAX;
use super::backoff;
use super::client::StreamEnd;
use super::provider::{Provider, Target};
use super::waits;

const QUOTE_BYTES_MAX: usize = 300;

/// The reason why a request has no answer.
#[derive(Debug)]
pub(super) struct ProviderError {
    pub(super) fault: Fault,
    pub(super) again: Retry,
    /// True if the error counts against the provider, and not against the request.
    pub(super) strike: bool,
}

/// The rule for a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Never,
    /// After a wait of our own choice.
    Soon,
    /// After the wait that the provider asked for.
    After(Duration),
}

impl ProviderError {
    fn new(code: &str, message: String, again: Retry, strike: bool) -> Self {
        Self { fault: Fault::new(code, message), again, strike }
    }

    pub(super) fn unavailable(message: String) -> Self {
        Self::new("provider_unavailable", message, Retry::Soon, true)
    }

    pub(super) fn cut(who: Provider) -> Self {
        Self::new(
            "provider_cut",
            format!("{who} broke off in the middle of its answer."),
            Retry::Soon,
            true,
        )
    }

    pub(super) fn bad_response(message: String) -> Self {
        Self::new("provider_bad_response", message, Retry::Never, true)
    }

    fn unpaid(who: Provider, code: u16) -> Self {
        let message = format!(
            "{who} wants to be paid first ({code}). Check the account of this agent's key."
        );
        Self::useless("provider_auth", message)
    }

    /// Returns an error that a retry cannot repair and that does not count against the provider.
    pub(super) fn useless(code: &str, message: String) -> Self {
        Self::new(code, message, Retry::Never, false)
    }

    /// Returns the error for a request that ended without a whole answer.
    pub(super) fn of(broken: StreamEnd, target: &Target) -> Self {
        let who = target.provider;
        match broken {
            StreamEnd::Refused { status, headers, body } => {
                refused(status, &body, &headers, target)
            }
            // Half the turn's time may be used up: not enough is left for another such wait.
            StreamEnd::Silence => Self {
                again: Retry::Never,
                ..Self::unavailable(format!("{who} was silent for too long."))
            },
            StreamEnd::Connection(error) if error.is_body() || error.is_decode() => Self::cut(who),
            StreamEnd::Connection(error) => {
                Self::unavailable(format!("{who} could not be reached: {}.", cause(&error)))
            }
            StreamEnd::Overlong => Self::too_much(who),
            StreamEnd::Address => Self::useless(
                "provider_bad_response",
                format!("{who} cannot be asked at this address. Check base_url of this agent."),
            ),
        }
    }

    /// Returns the error for an answer without words. `None` for an ordinary end: the model chose
    /// to say nothing.
    pub(super) fn wordless(ended: Ending, refusal: &str, target: &Target) -> Option<Self> {
        let who = target.provider;
        let (code, message) = match ended {
            Ending::Stop => return None,
            Ending::Length => (
                "out_of_tokens",
                format!(
                    "A model of {who} reached its limit of tokens before its first word. Its thoughts count too: raise max_tokens of this agent, or leave it out."
                ),
            ),
            Ending::Filter => (
                "answer_filtered",
                format!(
                    "A filter of {who} ended the answer before its first word. Say it in other words."
                ),
            ),
            Ending::Refusal => (
                "answer_refused",
                format!("A model of {who} refused to answer.{}", quoted(refusal, target)),
            ),
            Ending::Tool => {
                ("provider_bad_response", format!("{who} asked for a tool, and none was offered."))
            }
            Ending::Error | Ending::Cut => {
                return Some(Self::unavailable(format!("{who} failed before its first word.")));
            }
        };
        Some(Self::useless(code, message))
    }

    /// Returns the ending that this error means for an answer that had begun. `None` if its code
    /// means no ending. Such an error can still come in the middle of an answer, for instance
    /// `provider_bad_response`. The turn reports no ending then.
    pub(super) fn ending(&self) -> Option<Ending> {
        match self.fault.code.as_str() {
            "provider_cut" => Some(Ending::Cut),
            "output_too_large" => Some(Ending::Length),
            "provider_unavailable" | "provider_rate_limited" => Some(Ending::Error),
            _ => None,
        }
    }

    pub(super) fn too_much(who: Provider) -> Self {
        let most = ANSWER_BYTES_MAX / 1024;
        Self::useless("output_too_large", format!("{who} said more than {most} KiB and was ended."))
    }
}

/// Returns the words of the innermost cause, which names neither address nor key.
fn cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    let said = cause.map_or_else(|| "no connection".to_owned(), ToString::to_string);
    cut(&for_terminal(&said), QUOTE_BYTES_MAX).to_owned()
}

/// Returns the error for a status other than success.
fn refused(status: StatusCode, body: &str, headers: &HeaderMap, target: &Target) -> ProviderError {
    let (who, code) = (target.provider, status.as_u16());
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let again = wait_of(headers).or_else(|| waits::asked_in(&body));
    let again = again.map_or(Retry::Soon, Retry::After);
    let kind = kind_of(&body);
    match code {
        // A used-up quota comes with status 429 too, and waiting does not fill it.
        _ if kind.contains("insufficient_quota") => ProviderError::unpaid(who, code),
        400..=499 if FILTERED.iter().any(|word| kind.contains(word)) => {
            let said = quote(&body, target);
            ProviderError::useless(
                "answer_filtered",
                format!("A filter of {who} refused the request ({code}).{said}"),
            )
        }
        401 | 403 => ProviderError::useless(
            "provider_auth",
            format!("{who} refused the key ({code}). Check api_key of this agent."),
        ),
        402 => ProviderError::unpaid(who, code),
        429 => ProviderError::new(
            "provider_rate_limited",
            format!("{who} has had too many requests ({code}).{}", asked_wait(again)),
            again,
            true,
        ),
        408 | 409 | 425 | 500..=599 => {
            let state = if matches!(code, 503 | 529) { "overloaded" } else { "not available" };
            let message = format!("{who} is {state} ({code}).{}", asked_wait(again));
            ProviderError::new("provider_unavailable", message, again, true)
        }
        300..=399 => ProviderError::useless(
            "provider_bad_response",
            format!("{who} points elsewhere ({code}). Check base_url of this agent."),
        ),
        _ => {
            let said = quote(&body, target);
            let elsewhere = matches!(code, 404 | 405) && said.is_empty();
            let hint = if elsewhere { " Check base_url and model of this agent." } else { "" };
            ProviderError::useless(
                "provider_refused",
                format!("{who} refused the request ({code}).{said}{hint}"),
            )
        }
    }
}

fn asked_wait(again: Retry) -> String {
    match again {
        Retry::After(wait) => format!(" It asks to wait {} s.", wait.as_secs_f64().ceil()),
        Retry::Never | Retry::Soon => String::new(),
    }
}

fn wait_of(headers: &HeaderMap) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    let asked = |name: &str| backoff::retry_after(value(name)?, value("date"));
    // `retry_after` reads the number as seconds.
    asked("retry-after-ms").map(|thousandfold| thousandfold / 1000).or_else(|| asked("retry-after"))
}

/// Words that mark a filter in the kind of an error.
const FILTERED: [&str; 3] = ["content_filter", "content_policy", "responsibleai"];

/// Returns the words by which a body names the kind of its error.
fn kind_of(body: &Value) -> String {
    let paths = [
        "/error/type",
        "/error/status",
        "/error/code",
        "/error/innererror/code",
        "/error/metadata/error_type",
        "/type",
        "/status",
        "/code",
    ];
    let kinds = paths.iter().filter_map(|path| body.pointer(path));
    kinds.map(|kind| format!("{kind} ").to_ascii_lowercase()).collect()
}

/// Returns the HTTP status that a body names, as a number or as text.
fn status_of(body: &Value) -> Option<u64> {
    let paths = ["/error/code", "/code", "/error/status", "/status", "/error/status_code"];
    paths
        .iter()
        .filter_map(|path| body.pointer(path))
        .find_map(|status| status.as_u64().or_else(|| status.as_str()?.parse().ok()))
}

/// Returns the error that a frame of a stream reports.
pub(super) fn reported_error(body: &Value, target: &Target) -> ProviderError {
    let who = target.provider;
    let kind = kind_of(body);
    let again = waits::asked_in(body).map_or(Retry::Soon, Retry::After);
    let is = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if is(&["insufficient_quota", "insufficient_credits", "402"]) {
        ProviderError::unpaid(who, 402)
    } else if is(&["rate_limit", "ratelimit", "resource_exhausted", "too_many", "throttl", "429"]) {
        let message = format!("{who} has had too many requests.{}", asked_wait(again));
        ProviderError::new("provider_rate_limited", message, again, true)
    } else if is(&[
        "overloaded",
        "server_error",
        "api_error",
        "internal",
        "unavailable",
        "bad_gateway",
        "timeout",
        "timed_out",
        "connection",
    ]) || status_of(body).is_some_and(|status| matches!(status, 408 | 425 | 500..600))
    {
        let failed = format!("{who} failed while answering.{}", quote(body, target));
        ProviderError { again, ..ProviderError::unavailable(failed) }
    } else if is(&[
        "authentication",
        "permission",
        "unauthenticated",
        "invalid_api_key",
        "401",
        "403",
    ]) {
        ProviderError::useless(
            "provider_auth",
            format!("{who} refused the key. Check api_key of this agent."),
        )
    } else {
        ProviderError::useless(
            "provider_bad_response",
            format!("{who} gave no answer.{}", quote(body, target)),
        )
    }
}

/// Returns the message of an error's body, shortened and without the key.
fn quote(body: &Value, target: &Target) -> String {
    let said = ["/error/message", "/message", "/error"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str());
    quoted(said.unwrap_or_default(), target)
}

/// Returns a sentence with words of the provider, shortened and without the key.
fn quoted(said: &str, target: &Target) -> String {
    let said = said.trim();
    if said.is_empty() {
        return String::new();
    }
    let said = match &target.api_key {
        Some(key) if !key.is_empty() => said.replace(key.as_str(), "[api_key hidden]"),
        _ => said.to_owned(),
    };
    let said = for_terminal(&said).replace('\n', " ");
    format!(" It said: {}", cut(&said, QUOTE_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn target() -> Target {
        Target {
            provider: Provider::Openai,
            model: "m".into(),
            base_url: None,
            api_key: Some("CANARY-KEY".into()),
        }
    }

    fn of_status(
        status: u16,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> ProviderError {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        refused(StatusCode::from_u16(status).unwrap(), body, &headers, &target())
    }

    #[test]
    fn a_status_says_whether_to_try_again() {
        for (status, code, again, strike) in [
            (401, "provider_auth", Retry::Never, false),
            (403, "provider_auth", Retry::Never, false),
            (404, "provider_refused", Retry::Never, false),
            (400, "provider_refused", Retry::Never, false),
            (302, "provider_bad_response", Retry::Never, false),
            (408, "provider_unavailable", Retry::Soon, true),
            (409, "provider_unavailable", Retry::Soon, true),
            (425, "provider_unavailable", Retry::Soon, true),
            (429, "provider_rate_limited", Retry::Soon, true),
            (500, "provider_unavailable", Retry::Soon, true),
            (529, "provider_unavailable", Retry::Soon, true),
        ] {
            let trouble = of_status(status, &[], "");
            assert_eq!(
                (&*trouble.fault.code, trouble.again, trouble.strike),
                (code, again, strike),
                "{status}"
            );
        }
        assert_eq!(
            of_status(429, &[("retry-after", "3")], "").again,
            Retry::After(Duration::from_secs(3))
        );
        let dated = [
            ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("retry-after", "Wed, 21 Oct 2015 07:28:09 GMT"),
        ];
        assert_eq!(of_status(429, &dated, "").again, Retry::After(Duration::from_secs(9)));
        let said = r#"{"error": {"message": "Please try again in 1.5s."}}"#;
        assert_eq!(of_status(429, &[], said).again, Retry::After(Duration::from_millis(1500)));
        let unpaid = r#"{"error": {"code": "insufficient_quota"}}"#;
        assert_eq!(of_status(429, &[], unpaid).again, Retry::Never);
        let filtered = r#"{"error": {"code": "content_filter", "message": "policy"}}"#;
        assert_eq!(of_status(400, &[], filtered).fault.code, "answer_filtered");
        let precise = of_status(503, &[("retry-after-ms", "1500"), ("retry-after", "2")], "");
        assert_eq!(precise.again, Retry::After(Duration::from_millis(1500)));
    }

    #[test]
    fn what_the_provider_says_is_shown_without_the_key() {
        let body = json!({"error": {"message": "no\u{1b}[31m model\u{202e} m for\nCANARY-KEY"}})
            .to_string();
        let message = of_status(404, &[], &body).fault.message;
        assert_eq!(
            message,
            "openai refused the request (404). It said: no model m for [api_key hidden]"
        );
        let long = json!({"error": "x".repeat(10_000)}).to_string();
        assert!(of_status(400, &[], &long).fault.message.len() < 400);
        assert!(!of_status(401, &[], &body).fault.message.contains("It said"));
    }

    #[test]
    fn an_error_inside_a_stream_has_a_kind() {
        for (body, code) in [
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
                "provider_unavailable",
            ),
            (json!({"message": "slow down", "type": "rate_limit_error"}), "provider_rate_limited"),
            (
                json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}),
                "provider_unavailable",
            ),
            (
                json!({"error": {"code": 502, "message": "Provider returned error"}}),
                "provider_unavailable",
            ),
            (json!({"error": {"code": "504"}}), "provider_unavailable"),
            (json!({"error": {"code": 408, "message": "timed out"}}), "provider_unavailable"),
            (
                json!({"error": {"metadata": {"error_type": "provider_unavailable"}}}),
                "provider_unavailable",
            ),
            (
                json!({"object": "error", "type": "InternalServerError", "code": 500}),
                "provider_unavailable",
            ),
            (json!({"error": {"type": "insufficient_quota"}}), "provider_auth"),
            (json!({"error": {"code": 429, "message": "slow"}}), "provider_rate_limited"),
            (json!({"error": {"type": "authentication_error"}}), "provider_auth"),
            (json!({"finishReason": null}), "provider_bad_response"),
        ] {
            assert_eq!(reported_error(&body, &target()).fault.code, code, "{body}");
        }
    }
}
