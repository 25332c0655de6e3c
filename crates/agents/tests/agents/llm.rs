//! Runtime `llm` against fakes of all providers: requests, answers, costs.

use std::sync::Arc;

use moothall_agents::AgentConfig;
use moothall_engine::agent::{Probe, Report};
use moothall_engine::registry::AgentSpec;
use moothall_kernel::compose::TranscriptLine;
use moothall_kernel::event::{TurnReason, Usage};
use moothall_testkit::model_server::{Gate, ModelServer, Reply};
use serde_json::Value;

use crate::common::{Notes, job, post, until};

/// All protocols, by their names in the configuration.
pub const PROVIDERS: [&str; 5] = ["anthropic", "openai", "openai_responses", "gemini", "ollama"];

/// Returns a model at the fake server.
pub fn model(server: &ModelServer, provider: &str, more: &str) -> AgentSpec {
    model_called(server, provider, "m", more)
}

/// Returns a model of this name at the fake server.
pub fn model_called(server: &ModelServer, provider: &str, name: &str, more: &str) -> AgentSpec {
    let url = server.url();
    let section = format!(
        "provider = \"{provider}\"\nmodel = \"{name}\"\nbase_url = \"{url}\"\napi_key = \"CANARY-KEY\"\n{more}"
    );
    let config: AgentConfig = toml::from_str(&section).unwrap();
    config.spec("ada", "").map_err(|fault| fault.to_string()).unwrap()
}

/// Gives the agent a turn and waits until it has finished.
pub async fn answer(spec: &AgentSpec) -> Arc<Notes> {
    let notes = Arc::new(Notes::default());
    spec.agent.ensure(job("ada", TurnReason::Forced, &[post(1, "user", "hello")]), notes.clone());
    until("the turn is over", || notes.finished().is_some()).await;
    notes
}

#[tokio::test]
async fn every_provider_streams_in_order_and_says_what_it_used() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::pieces(["Hel", "lo ", "wörld ", "👋"]).usage(1_000, 20)]);
        let notes = answer(&model(&server, provider, "price_input = 3\nprice_output = 15.5")).await;
        assert_eq!(notes.deltas(), ["Hel", "lo ", "wörld ", "👋"], "{provider}");
        let (result, usage) = notes.finished().unwrap();
        assert_eq!(result.unwrap(), "Hello wörld 👋", "{provider}");
        let expected =
            Usage { ms: usage.ms, input_tokens: 1_000, output_tokens: 20, cost_micros: 3_310 };
        assert_eq!(usage, expected, "{provider}");
        assert_eq!(notes.progress(), Vec::<String>::new(), "{provider}");
        let requests = server.requests();
        assert!(requests.len() == 1 && requests[0].stream, "{provider}");
        // Ollama has no keys.
        assert_eq!(requests[0].key == "CANARY-KEY", provider != "ollama", "{provider}");
    }
}

#[tokio::test]
async fn a_piece_is_told_as_soon_as_it_comes() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        let gate = Gate::default();
        server.script("m", [Reply::pieces(["one ", "two ", "three"]).gated(&gate)]);
        let (spec, notes) = (model(&server, provider, ""), Arc::new(Notes::default()));
        spec.agent
            .ensure(job("ada", TurnReason::Forced, &[post(1, "user", "hello")]), notes.clone());
        for said in 1..=3 {
            gate.open(1);
            until("the piece is there", || notes.deltas().len() == said).await;
            assert!(said == 3 || notes.finished().is_none(), "{provider}");
        }
        until("the turn is over", || notes.finished().is_some()).await;
    }
}

/// Returns role and text of each message, in any protocol.
fn messages(body: &Value) -> Vec<(String, String)> {
    let list =
        ["messages", "input", "contents"].iter().find_map(|key| body.get(key)?.as_array()).unwrap();
    let text = |message: &Value| match message.get("content").or(message.get("parts")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect()
        }
        _ => String::new(),
    };
    list.iter()
        .map(|message| (message["role"].as_str().unwrap_or("user").to_owned(), text(message)))
        .collect()
}

#[tokio::test]
async fn every_provider_gets_the_history_in_roles() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        let spec = model(
            &server,
            provider,
            "system = \"Answer in French.\"\nmax_tokens = 77\ntemperature = 0.5",
        );
        let mut job = job("ada", TurnReason::Forced, &[post(3, "user", "and now?")]);
        job.prompt.history = vec![
            TranscriptLine::new("User", "hello", false),
            TranscriptLine::new("ada", "bonjour", true),
            TranscriptLine::new("User", "and now?", false),
        ];
        job.prompt.request = "## Your Turn\nThe user's latest message: \"and now?\"\n".into();
        let notes = Arc::new(Notes::default());
        spec.agent.ensure(job, notes.clone());
        until("the turn is over", || notes.finished().is_some()).await;
        let body = &server.requests()[0].body;
        let said = messages(body);
        let said: Vec<(&str, &str)> = said
            .iter()
            .map(|(role, text)| (role.as_str(), text.as_str()))
            .filter(|(role, _)| *role != "system")
            .collect();
        let own = if provider == "gemini" { "model" } else { "assistant" };
        assert_eq!(
            said,
            [
                ("user", "[User] hello\n"),
                (own, "bonjour"),
                (
                    "user",
                    "[User] and now?\n## Your Turn\nThe user's latest message: \"and now?\"\n"
                )
            ],
            "{provider}"
        );
        let body = body.to_string();
        for part in ["You are here.", "Answer in French.", "77", "0.5"] {
            assert!(body.contains(part), "{provider}: {part} in {body}");
        }
        assert!(!body.contains("CANARY"), "{provider}");
    }
}

#[tokio::test]
async fn a_cancelled_turn_closes_its_connection() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::stall(["one "])]);
    let (spec, notes) = (model(&server, "anthropic", ""), Arc::new(Notes::default()));
    let job = job("ada", TurnReason::Forced, &[post(1, "user", "hello")]);
    spec.agent.ensure(job.clone(), notes.clone());
    until("it speaks", || !notes.deltas().is_empty()).await;
    spec.agent.cancel(&job.key);
    server.idle().await;
    assert_eq!(spec.agent.probe(&job.key).await, Probe::Unknown);
    assert_eq!(notes.finished(), None);
}

#[tokio::test]
async fn a_pass_comes_as_it_is() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::pieces(["[PA", "SS]\n"])]);
    let notes = answer(&model(&server, "openai", "")).await;
    assert_eq!(notes.finished().unwrap().0.unwrap().trim(), "[PASS]");
}

#[tokio::test]
async fn hidden_and_control_characters_are_left_out() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::pieces(["a\u{1b}[31mb", "\u{e0041}", "c\u{0}\u{9b}"])]);
    let notes = answer(&model(&server, "openai", "")).await;
    assert_eq!(notes.finished().unwrap().0.unwrap(), "abc");
    assert_eq!(notes.deltas(), ["ab", "c"], "what is streamed is what is said in the end");
}

#[tokio::test]
async fn a_server_without_keys_gets_none_of_ours() {
    let server = ModelServer::start().await.unwrap();
    let section = format!("provider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"", server.url());
    let config: AgentConfig = toml::from_str(&section).unwrap();
    let spec = config.spec("ada", "").map_err(|fault| fault.to_string()).unwrap();
    assert!(answer(&spec).await.finished().unwrap().0.is_ok());
    assert_eq!(server.requests()[0].key, "none");
}

#[tokio::test]
async fn what_a_provider_says_about_itself_is_checked() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script(
            "m",
            [Reply::text("fine").usage(-5, 1_000_000_000_000).claiming("gpt-evil\u{1b}[2J")],
        );
        let notes = answer(&model(
            &server,
            provider,
            "price_input = 1\nprice_output = 1\nmax_tokens = 500",
        ))
        .await;
        let (result, usage) = notes.finished().unwrap();
        assert_eq!(result.unwrap(), "fine", "{provider}");
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cost_micros),
            (0, 500, 500),
            "{provider}"
        );
        let progress = notes.progress();
        assert!(
            progress.iter().any(|word| word.contains("number of tokens that cannot be")),
            "{provider}: {progress:?}"
        );
        assert!(
            progress.iter().any(|word| word.ends_with("says that the model gpt-evil answered.")),
            "{provider}: {progress:?}"
        );
    }
}

#[tokio::test]
async fn counts_at_the_edge_of_the_librarys_numbers_end_nothing_else() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::text("fine").usage(i64::from(i32::MAX), i64::from(i32::MAX))]);
        let (result, usage) =
            answer(&model(&server, provider, "max_tokens = 10")).await.finished().unwrap();
        assert!(result.is_ok_and(|text| text == "fine"), "{provider}");
        assert_eq!(usage.output_tokens, 10, "{provider}");
    }
}

#[tokio::test]
async fn without_a_word_about_tokens_nothing_is_charged() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [Reply::text("fine").without_usage()]);
        let (result, usage) =
            answer(&model(&server, provider, "price_input = 1")).await.finished().unwrap();
        assert!(result.is_ok(), "{provider}");
        assert_eq!((usage.input_tokens, usage.cost_micros), (0, 0), "{provider}");
    }
}

#[tokio::test]
async fn nothing_is_asked_before_a_turn() {
    let server = ModelServer::start().await.unwrap();
    let spec = model(&server, "openai", "");
    assert_eq!(
        spec.agent.probe(&job("ada", TurnReason::Forced, &[post(1, "user", "hello")]).key).await,
        Probe::Unknown
    );
    assert_eq!(server.requests(), []);
    assert!(
        answer(&spec)
            .await
            .0
            .lock()
            .unwrap()
            .first()
            .is_some_and(|report| matches!(report, Report::Started { .. }))
    );
}
