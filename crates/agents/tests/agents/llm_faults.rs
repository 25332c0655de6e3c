//! The faults of providers, and the outcome of the turn.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use moothall_engine::agent::Job;
use moothall_engine::registry::AgentSpec;
use moothall_kernel::event::{Fault, TurnReason};
use moothall_kernel::time::Millis;
use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::json;

use crate::common::{Notes, job, post, until};
use crate::llm::{PROVIDERS, answer, model, model_called};

/// Returns a refusal that asks for no wait, so that retries follow at once.
fn soon(status: u16) -> Reply {
    Reply::status(status).retry_after("0")
}

/// Runs one turn with a single reply. Returns the fault, the text streamed before it, and the
/// number of requests.
async fn fault(provider: &str, reply: Reply) -> (Fault, Vec<String>, usize) {
    let server = ModelServer::start().await.unwrap();
    server.always("m", reply);
    let notes = answer(&model(&server, provider, "")).await;
    let fault = notes.finished().unwrap().0.expect_err(provider);
    assert!(!format!("{fault:?}{:?}", notes.progress()).contains("CANARY"), "{provider}");
    (fault, notes.deltas(), server.requests().len())
}

/// Runs one turn with this time limit.
async fn within(spec: &AgentSpec, limit: Millis) -> Arc<Notes> {
    let notes = Arc::new(Notes::default());
    let job = Job { limit, ..job("ada", TurnReason::Forced, &[post(1, "user", "hello")]) };
    spec.agent.ensure(job, notes.clone());
    until("the turn is over", || notes.finished().is_some()).await;
    notes
}

#[tokio::test]
async fn a_refused_key_is_told_and_not_tried_again() {
    for provider in PROVIDERS {
        for status in [401, 403] {
            let (fault, _, asked) =
                fault(provider, Reply::refusal(status, "bad key CANARY-KEY")).await;
            assert_eq!((fault.code.as_str(), asked), ("provider_auth", 1), "{provider}");
            assert!(fault.message.contains("Check api_key"), "{}", fault.message);
        }
    }
}

#[tokio::test]
async fn a_refused_request_says_why_without_the_key() {
    for provider in PROVIDERS {
        let (fault, _, asked) =
            fault(provider, Reply::refusal(404, "no such model for CANARY-KEY")).await;
        assert_eq!((fault.code.as_str(), asked), ("provider_refused", 1), "{provider}");
        assert!(
            fault.message.ends_with("It said: no such model for [api_key hidden]"),
            "{provider}: {}",
            fault.message
        );
    }
}

#[tokio::test]
async fn a_storm_is_weathered_when_it_passes_in_time() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [soon(500), soon(429), soon(529), Reply::text("at last").usage(7, 3)]);
        let notes = answer(&model(&server, provider, "")).await;
        let (result, usage) = notes.finished().unwrap();
        assert_eq!(result.unwrap(), "at last", "{provider}");
        assert_eq!((usage.input_tokens, usage.output_tokens), (7, 3), "{provider}");
        assert_eq!(
            (server.requests().len(), notes.progress().len()),
            (4, 3),
            "{provider}: {:?}",
            notes.progress()
        );
    }
}

#[tokio::test]
async fn a_date_to_wait_for_is_kept_to_as_far_as_the_turn_has_time() {
    let date = |seconds| httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(seconds));
    let server = ModelServer::start().await.unwrap();
    server.script(
        "m",
        [Reply::status(429).retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Reply::text("at once")],
    );
    let notes = answer(&model(&server, "openai", "")).await;
    assert_eq!(notes.finished().unwrap().0.unwrap(), "at once");
    assert!(
        notes.progress()[0].ends_with("It asks to wait 0 s. Trying again in 0.0 s."),
        "{:?}",
        notes.progress()
    );

    server.script("m", [Reply::status(429).retry_after(&date(3600))]);
    let notes = answer(&model(&server, "anthropic", "")).await;
    let fault = notes.finished().unwrap().0.unwrap_err();
    assert_eq!(fault.code, "provider_rate_limited");
    let asked = fault.message.rsplit_once("It asks to wait ").unwrap().1;
    assert!(matches!(asked, "3600 s." | "3599 s." | "3598 s."), "{asked}");
    assert_eq!(server.requests().len(), 3);

    server.script("m", [Reply::status(503).retry_after(&date(2)), Reply::text("in a moment")]);
    let notes = answer(&model(&server, "openai", "")).await;
    assert_eq!(notes.finished().unwrap().0.unwrap(), "in a moment");
    assert!(
        ["Trying again in 2.0 s.", "Trying again in 1.0 s."]
            .iter()
            .any(|end| notes.progress()[0].ends_with(end))
    );
}

#[tokio::test]
async fn a_storm_that_does_not_pass_ends_the_turn() {
    for (status, code) in [(500, "provider_unavailable"), (429, "provider_rate_limited")] {
        let (fault, _, asked) = fault("openai", soon(status)).await;
        assert_eq!((fault.code.as_str(), asked), (code, 4));
    }
}

#[tokio::test]
async fn without_a_wish_of_the_provider_it_waits_a_moment() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::status(503), Reply::text("fine")]);
    let notes = answer(&model(&server, "gemini", "")).await;
    assert_eq!(notes.finished().unwrap().0.unwrap(), "fine");
    assert!(
        notes.progress()[0].starts_with("gemini is overloaded (503). Trying again in 0."),
        "{:?}",
        notes.progress()
    );
}

#[tokio::test]
async fn a_wait_that_outlasts_the_turn_ends_it_at_once() {
    let (fault, _, asked) = fault("anthropic", Reply::status(429).retry_after("999999")).await;
    assert_eq!((fault.code.as_str(), asked), ("provider_rate_limited", 1));
    assert!(fault.message.ends_with("It asks to wait 999999 s."), "{}", fault.message);
}

#[tokio::test]
async fn after_failures_in_a_row_the_provider_is_left_alone() {
    let server = ModelServer::start().await.unwrap();
    server.always("m", soon(500));
    let spec = model(&server, "openai", "");
    let code = async |spec: &AgentSpec| answer(spec).await.finished().unwrap().0.unwrap_err().code;
    for turn in 1..=5 {
        assert_eq!(code(&spec).await, "provider_unavailable", "turn {turn}");
        assert_eq!(
            server.requests().len(),
            4 * turn,
            "a turn asks as often as it may and counts once"
        );
    }
    assert_eq!(
        code(&model(&server, "openai", "")).await,
        "circuit_open",
        "agents that ask the same share it"
    );
    assert_eq!(server.requests().len(), 20);
    assert_eq!(code(&model(&server, "anthropic", "")).await, "provider_unavailable");
}

#[tokio::test]
async fn broken_models_leave_healthy_ones_at_the_same_address_alone() {
    let server = ModelServer::start().await.unwrap();
    server.always("m", soon(500));
    server.script("healthy", [Reply::text("fine")]);
    let broken = model(&server, "openai", "");
    for _ in 0..6 {
        answer(&broken).await;
    }
    assert_eq!(answer(&broken).await.finished().unwrap().0.unwrap_err().code, "circuit_open");
    let healthy = model_called(&server, "openai", "healthy", "");
    assert_eq!(answer(&healthy).await.finished().unwrap().0.unwrap(), "fine");
}

#[tokio::test]
async fn a_cut_answer_is_never_asked_again_once_a_word_was_shown() {
    for provider in PROVIDERS {
        for reply in [Reply::cut(["Hel", "lo"]), Reply::unfinished(["Hel", "lo"])] {
            let (fault, deltas, asked) = fault(provider, reply).await;
            assert_eq!(
                (fault.code.as_str(), asked),
                ("provider_cut", 1),
                "{provider}: {}",
                fault.message
            );
            assert_eq!(deltas.concat(), "Hello", "{provider}");
        }
    }
}

#[tokio::test]
async fn an_answer_cut_before_its_first_word_is_asked_again() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::cut([]), Reply::text("whole")]);
        assert_eq!(
            answer(&model(&server, provider, "")).await.finished().unwrap().0.unwrap(),
            "whole",
            "{provider}"
        );
    }
}

#[tokio::test]
async fn a_page_instead_of_an_answer_is_a_bad_response() {
    for provider in PROVIDERS {
        let (fault, deltas, asked) = fault(provider, Reply::html()).await;
        assert_eq!(
            (fault.code.as_str(), asked),
            ("provider_bad_response", 1),
            "{provider}: {}",
            fault.message
        );
        assert!(deltas.is_empty());
    }
}

#[tokio::test]
async fn a_tool_that_nobody_offered_is_a_bad_response() {
    for provider in PROVIDERS {
        let (fault, ..) = fault(provider, Reply::tool("weather", json!({"city": "Paris"}))).await;
        assert_eq!(fault.code, "provider_bad_response", "{provider}: {}", fault.message);
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::cut_in_tool_call(), Reply::text("whole")]);
        assert_eq!(
            answer(&model(&server, provider, "")).await.finished().unwrap().0.unwrap(),
            "whole",
            "{provider}"
        );
    }
}

#[tokio::test]
async fn an_answer_without_end_is_ended() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::endless(&"more ".repeat(200))]);
        let notes = answer(&model(&server, provider, "")).await;
        assert_eq!(notes.finished().unwrap().0.unwrap_err().code, "output_too_large", "{provider}");
        let shown: usize = notes.deltas().iter().map(String::len).sum();
        assert!(shown <= 256 * 1024, "{provider}: {shown}");
        server.idle().await;
    }
}

#[tokio::test]
async fn one_event_of_many_megabytes_ends_the_turn_cleanly() {
    for provider in PROVIDERS {
        let (fault, deltas, asked) = fault(provider, Reply::flood(50 * 1024 * 1024)).await;
        assert_eq!((fault.code.as_str(), asked), ("output_too_large", 1), "{provider}");
        assert!(deltas.is_empty());
    }
}

#[tokio::test]
async fn a_refusal_without_end_is_ended() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::endless_refusal()]);
    let fault = answer(&model(&server, "openai", "")).await.finished().unwrap().0.unwrap_err();
    assert_eq!((fault.code.as_str(), server.requests().len()), ("output_too_large", 1));
    server.idle().await;
}

#[tokio::test]
async fn an_error_inside_a_stream_is_told() {
    for (provider, kind) in [
        ("anthropic", "overloaded_error"),
        ("openai", "server_error"),
        ("openai_responses", "server_error"),
        ("gemini", "unavailable"),
    ] {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::failing([], kind, "busy"), Reply::text("fine")]);
        assert_eq!(
            answer(&model(&server, provider, "")).await.finished().unwrap().0.unwrap(),
            "fine",
            "{provider}"
        );
        let (fault, deltas, asked) = fault(provider, Reply::failing(["Hello"], kind, "busy")).await;
        assert_eq!(
            (fault.code.as_str(), asked, deltas.len()),
            ("provider_cut", 1, 1),
            "{provider}: {}",
            fault.message
        );
    }
}

#[tokio::test]
async fn silence_ends_a_turn_before_its_limit_does() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::hang(), Reply::stall(["one "])]);
        let spec = model(&server, provider, "");
        let notes = within(&spec, Millis(600)).await;
        assert_eq!(
            notes.finished().unwrap().0.unwrap_err().code,
            "provider_unavailable",
            "{provider}"
        );
        assert_eq!(server.requests().len(), 1, "{provider}");
        let notes = within(&spec, Millis(600)).await;
        assert_eq!(notes.finished().unwrap().0.unwrap_err().code, "provider_cut", "{provider}");
        server.idle().await;
    }
}

#[tokio::test]
async fn an_answer_that_only_drips_ends_with_its_time() {
    let server = ModelServer::start().await.unwrap();
    server.script(
        "m",
        [Reply::pieces(std::iter::repeat_n("x", 10_000)).every(Duration::from_millis(20))],
    );
    let notes = within(&model(&server, "openai", ""), Millis(400)).await;
    assert_eq!(notes.finished().unwrap().0.unwrap_err().code, "timeout");
    server.idle().await;
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
    let server = ModelServer::start().await.unwrap();
    let spec = model(&server, "openai", "");
    drop(server);
    let fault = within(&spec, Millis(900)).await.finished().unwrap().0.unwrap_err();
    assert_eq!(fault.code, "provider_unavailable");
    assert!(
        fault.message.starts_with("openai could not be reached: ")
            && !fault.message.contains("127.0.0.1"),
        "{}",
        fault.message
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (fault, _, asked) = fault("anthropic", Reply::status(307)).await;
    assert_eq!((fault.code.as_str(), asked), ("provider_bad_response", 1));
}
