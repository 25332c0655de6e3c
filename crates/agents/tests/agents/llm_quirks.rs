//! Deviations of compatible servers: each row is a body that one of them sends, and the outcome of
//! the turn.

use std::sync::Arc;

use moothall_kernel::ending::Ending;
use moothall_kernel::event::TurnReason;
use moothall_kernel::pass::PASS;
use moothall_testkit::model_server::{ModelServer, Reply};

use crate::common::{Notes, job, post, until};
use crate::llm::{answer, model};

/// One body: its sender, the provider setting, its pieces, and the answer.
type Row = (&'static str, &'static str, &'static [&'static [u8]], &'static str);

const ANSWERED: &[Row] = &[
    (
        "vLLM, which sends the role alone and ends its usage with [DONE]",
        "openai",
        &[
            b"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
            b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"\"}]}\n\n",
            b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
        ],
        "hi",
    ),
    (
        "Azure, whose first event has results of a filter and no choice",
        "openai",
        &[
            b"data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}],\"error\":null}\n\n",
            b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":null,\"content_filter_results\":{}}]}\n\n",
            b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]",
        ],
        "hi",
    ),
    (
        "OpenRouter, which sends comments while it waits",
        "openai",
        &[
            b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
            b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\",\"reasoning\":null},\"finish_reason\":\"stop\",\"native_finish_reason\":\"completed\"}]}\n\n",
        ],
        "hi",
    ),
    (
        "LM Studio and others, which ignore `stream`",
        "openai",
        &[b"{\n  \"object\": \"chat.completion\",\n  \"choices\": [{\"message\": {\"content\": \"hi\"},\n   \"finish_reason\": \"stop\"}]\n}\n"],
        "hi",
    ),
    (
        "a whole answer in one event",
        "openai",
        &[b"data: {\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n"],
        "hi",
    ),
    (
        "half a character in each of two events",
        "openai",
        &[
            b"data: {\"choices\":[{\"delta\":{\"content\":\"hi \\ud83d\"}}]}\n\n",
            b"data: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"},\"finish_reason\":\"stop\"}]}\n\n",
        ],
        "hi \u{1f600}",
    ),
    (
        "llama.cpp, which cuts a character between two tokens",
        "openai",
        &[b"data: {\"choices\":[{\"delta\":{\"content\":\"hi \xe2\x82!\"},\"finish_reason\":\"stop\"}]}\n\n"],
        "hi \u{fffd}!",
    ),
    (
        "Mistral, whose words come in parts",
        "openai",
        &[b"data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"finish_reason\":\"stop\"}]}\n\n"],
        "hi",
    ),
    (
        "LiteLLM, which sends the Responses without pieces",
        "openai_responses",
        &[b"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}]}}\n\n"],
        "hi",
    ),
    (
        "Gemini without `alt=sse`, which sends one array",
        "gemini",
        &[
            b"[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"h\"}]}}]}\n,\r\n",
            b"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"i\"}]},\"finishReason\":\"STOP\"}]}]",
        ],
        "hi",
    ),
    (
        "a gateway to Anthropic that ignores `stream`",
        "anthropic",
        &[b"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"stop_reason\":\"end_turn\"}"],
        "hi",
    ),
    (
        "Ollama behind a proxy that makes events of its lines",
        "ollama",
        &[b"data: {\"message\":{\"content\":\"hi\"},\"done\":false}\n\ndata: {\"done\":true,\"done_reason\":\"stop\"}\n\n"],
        "hi",
    ),
    (
        "a byte order mark, CRLF, and no empty line at the end",
        "openai",
        &[b"\xef\xbb\xbfdata:{\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\r\n\r\ndata: [DONE]\r\n"],
        "hi",
    ),
];

#[tokio::test]
async fn what_servers_send_is_an_answer() {
    for (who, provider, pieces, text) in ANSWERED {
        let server = ModelServer::start().await.unwrap();
        server.always("m", Reply::raw("text/event-stream", pieces.iter().copied()));
        let notes = answer(&model(&server, provider, "")).await;
        let (result, _) = notes.finished().unwrap();
        assert_eq!(result.as_deref(), Ok(*text), "{who}");
        assert_eq!(notes.deltas().concat(), *text, "{who}");
        assert_eq!(server.requests().len(), 1, "{who}");
    }
}

#[tokio::test]
async fn a_finished_answer_is_one_whatever_the_connection_does_next() {
    let words = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":END}]}\n\n";
    for (end, whole) in [("\"stop\"", true), ("\"eos\"", true), ("\"\"", false), ("null", false)] {
        let server = ModelServer::start().await.unwrap();
        let body = words.replace("END", end);
        server.always("m", Reply::raw("text/event-stream", [body.as_bytes()]).breaking());
        let result = answer(&model(&server, "openai", "")).await.finished().unwrap().0;
        let code = result.map_err(|fault| fault.code);
        let cut = Err("provider_cut".to_owned());
        assert_eq!(code, if whole { Ok("hi".to_owned()) } else { cut }, "{end}");
        server.always("m", Reply::raw("text/event-stream", [body.as_bytes()]).holding());
        if whole {
            let result = answer(&model(&server, "openai", "")).await.finished().unwrap().0;
            assert_eq!(result.as_deref(), Ok("hi"), "{end}: the connection stays open");
        }
    }
}

/// A body of one provider, the ending that it reports, and the text or the fault's code.
type EndingRow = (&'static str, &'static str, Ending, Result<&'static str, &'static str>);

const ENDINGS: &[EndingRow] = &[
    (
        "openai",
        r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"length"}]}"#,
        Ending::Length,
        Ok("hi"),
    ),
    (
        "openai",
        r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"content_filter"}]}"#,
        Ending::Filter,
        Ok("hi"),
    ),
    (
        "openai",
        r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"error"}]}"#,
        Ending::Error,
        Ok("hi"),
    ),
    (
        "openai",
        r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"tool_calls"}]}"#,
        Ending::Tool,
        Ok("hi"),
    ),
    (
        "openai",
        r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
        Ending::Length,
        Err("out_of_tokens"),
    ),
    (
        "openai",
        r#"{"choices":[{"delta":{"content":""},"finish_reason":"content_filter"}]}"#,
        Ending::Filter,
        Err("answer_filtered"),
    ),
    (
        "openai",
        r#"{"choices":[{"delta":{"refusal":"I will not."},"finish_reason":"stop"}]}"#,
        Ending::Refusal,
        Err("answer_refused"),
    ),
    (
        "openai_responses",
        r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}"#,
        Ending::Length,
        Err("out_of_tokens"),
    ),
    (
        "openai_responses",
        r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I will not."}]}]}}"#,
        Ending::Refusal,
        Err("answer_refused"),
    ),
    (
        "anthropic",
        r#"{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"max_tokens"}"#,
        Ending::Length,
        Ok("hi"),
    ),
    (
        "anthropic",
        r#"{"type":"message","content":[],"stop_reason":"refusal"}"#,
        Ending::Refusal,
        Err("answer_refused"),
    ),
    (
        "gemini",
        r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"MAX_TOKENS"}]}"#,
        Ending::Length,
        Ok("hi"),
    ),
    (
        "gemini",
        r#"{"candidates":[{"finishReason":"SAFETY"}]}"#,
        Ending::Filter,
        Err("answer_filtered"),
    ),
    (
        "gemini",
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#,
        Ending::Filter,
        Err("answer_filtered"),
    ),
    (
        "ollama",
        r#"{"message":{"content":"hi"},"done":true,"done_reason":"length"}"#,
        Ending::Length,
        Ok("hi"),
    ),
];

#[tokio::test]
async fn the_ending_of_an_answer_is_told_and_no_words_have_a_reason() {
    for (provider, data, ended, expected) in ENDINGS {
        let server = ModelServer::start().await.unwrap();
        let body = format!("data: {data}\n\n");
        server.always("m", Reply::raw("text/event-stream", [body.as_bytes()]));
        let notes = answer(&model(&server, provider, "")).await;
        let result = notes.finished().unwrap().0;
        let brief = result.as_deref().map_err(|fault| fault.code.as_str());
        assert_eq!(brief, *expected, "{data}");
        assert_eq!(notes.ended(), Some(*ended), "{data}");
        if data.contains("I will not") {
            let message = result.unwrap_err().message;
            assert!(message.ends_with("It said: I will not."), "{message}");
        }
    }
}

#[tokio::test]
async fn a_model_that_thinks_and_says_nothing_is_told_of_unless_it_may_pass() {
    let server = ModelServer::start().await.unwrap();
    let choice = r#"{"delta":{"reasoning_content":"hm"},"finish_reason":"stop"}"#;
    let body = format!("data: {{\"choices\":[{choice}]}}\n\n");
    server.always("m", Reply::raw("text/event-stream", [body.as_bytes()]));
    let spec = model(&server, "openai", "");
    let fault = answer(&spec).await.finished().unwrap().0.unwrap_err();
    assert_eq!(fault.code, "only_thoughts");
    let notes = Arc::new(Notes::default());
    spec.agent.ensure(job("ada", TurnReason::Polled, &[post(1, "user", "hello")]), notes.clone());
    until("the turn is over", || notes.finished().is_some()).await;
    assert_eq!(notes.finished().unwrap().0.as_deref(), Ok(""));
}

#[tokio::test]
async fn an_answer_that_breaks_off_says_so() {
    let server = ModelServer::start().await.unwrap();
    server.script("m", [Reply::cut(["Hel", "lo"]), Reply::text("fine")]);
    let spec = model(&server, "openai", "");
    assert_eq!(answer(&spec).await.ended(), Some(Ending::Cut));
    assert_eq!(answer(&spec).await.ended(), Some(Ending::Stop));
}

/// A reply in one piece, its words, its thoughts, and true if the thoughts become the answer.
const THOUGHTS: &[(&str, &str, &str, bool)] = &[
    ("<think>not for them</think>\n\n[PASS]", "[PASS]", "not for them", false),
    ("<think>hm</think>[ada] I agree", "I agree", "hm", false),
    ("[ada] I agree", "I agree", "", false),
    ("[bob] I agree", "[bob] I agree", "", false),
    ("<think>I will say nothing</think>", "I will say nothing", "I will say nothing", true),
    ("<think>and so on", "and so on", "and so on", true),
    ("Use `<think>` so: <think>", "Use `<think>` so: <think>", "", false),
];

#[tokio::test]
async fn what_is_thought_is_not_what_is_said() {
    for provider in ["openai", "anthropic", "ollama"] {
        for (said, words, thoughts, only) in THOUGHTS {
            let server = ModelServer::start().await.unwrap();
            let pieces: Vec<String> = said.chars().map(String::from).collect();
            server.always("m", Reply::pieces(pieces.iter().map(String::as_str)));
            let notes = answer(&model(&server, provider, "")).await;
            assert_eq!(notes.finished().unwrap().0.as_deref(), Ok(*words), "{said}");
            assert_eq!((notes.thoughts().as_str(), notes.only_thought()), (*thoughts, *only));
            let streamed = if *only { "" } else { words };
            assert_eq!(notes.deltas().concat(), streamed, "{said}");
        }
    }
}

/// Ruling 11: an agent that may pass and says nothing has passed, whatever its thoughts.
#[tokio::test]
async fn thoughts_alone_are_a_pass_of_a_model_that_may_pass() {
    for thought in ["<think>I will say nothing</think>", "<think>and so on"] {
        let server = ModelServer::start().await.unwrap();
        server.always("m", Reply::pieces([thought]));
        let notes = Arc::new(Notes::default());
        let polled = job("ada", TurnReason::Polled, &[post(1, "user", "hello")]);
        let spec = model(&server, "openai", "");
        spec.agent.ensure(polled, notes.clone());
        until("the turn is over", || notes.finished().is_some()).await;
        // In most policies an empty answer is a failure, so the runtime says that it passes.
        assert_eq!(notes.finished().unwrap().0.as_deref(), Ok(PASS), "{thought}");
        assert!(!notes.only_thought() && notes.deltas().is_empty());
        assert!(
            thought.contains(&notes.thoughts()) && !notes.thoughts().is_empty(),
            "for the trace"
        );
    }
}

#[tokio::test]
async fn thoughts_without_a_beginning_are_known_of_models_that_are_marked_so() {
    let server = ModelServer::start().await.unwrap();
    server.always("m", Reply::pieces(["hm, ", "well</th", "ink>\n\nYes."]));
    let notes = answer(&model(&server, "openai", "thinks_first = true")).await;
    assert_eq!(notes.finished().unwrap().0.as_deref(), Ok("Yes."));
    assert_eq!(notes.thoughts(), "hm, well");
    let notes = answer(&model(&server, "openai", "")).await;
    assert_eq!(notes.finished().unwrap().0.as_deref(), Ok("hm, well</think>\n\nYes."));
}

#[tokio::test]
async fn thoughts_in_a_field_of_their_own_are_kept_too() {
    let server = ModelServer::start().await.unwrap();
    let body = br#"data: {"choices":[{"delta":{"reasoning_content":"hm","content":"so"},"finish_reason":"stop"}]}"#;
    server.always("m", Reply::raw("text/event-stream", [&body[..], b"\n\n"]));
    let notes = answer(&model(&server, "openai", "")).await;
    assert_eq!((notes.thoughts().as_str(), notes.only_thought()), ("hm", false));
    assert_eq!(notes.finished().unwrap().0.as_deref(), Ok("so"));
}

#[tokio::test]
async fn an_error_before_a_word_is_tried_again_and_asks_for_its_wait() {
    for body in [
        r#"{"error":{"code":502,"message":"Provider returned error"}}"#,
        r#"{"error":{"metadata":{"error_type":"provider_unavailable"},"message":"busy"}}"#,
        r#"{"error":{"code":429,"message":"Please try again in 1ms."}}"#,
        r#"{"error":{"code":503,"details":[{"retryDelay":"0.001s"}]}}"#,
    ] {
        for form in [format!("data: {body}\n\n"), body.to_owned(), format!("error: {body}\n\n")] {
            let server = ModelServer::start().await.unwrap();
            server.script(
                "m",
                [Reply::raw("text/event-stream", [form.as_bytes()]), Reply::text("fine")],
            );
            let notes = answer(&model(&server, "openai", "")).await;
            assert_eq!(notes.finished().unwrap().0.as_deref(), Ok("fine"), "{form}");
        }
    }
}

#[tokio::test]
async fn an_error_with_status_200_says_what_it_is() {
    let server = ModelServer::start().await.unwrap();
    let body = br#"{"error":{"message":"model m does not exist","code":"model_not_found"}}"#;
    server.always("m", Reply::raw("application/json", [&body[..]]));
    for provider in ["openai", "openai_responses", "anthropic", "gemini", "ollama"] {
        let fault = answer(&model(&server, provider, "")).await.finished().unwrap().0.unwrap_err();
        let message = fault.message;
        assert!(message.ends_with("It said: model m does not exist"), "{provider}: {message}");
    }
}

#[tokio::test]
async fn a_pasted_endpoint_is_asked_like_its_base() {
    let server = ModelServer::start().await.unwrap();
    for (provider, pasted) in [
        ("openai", "/v1/chat/completions"),
        ("openai_responses", "/v1/responses"),
        ("anthropic", "/v1/messages/"),
        ("gemini", "/v1beta/models/m:streamGenerateContent"),
        ("ollama", "/api/chat"),
    ] {
        let url = format!("{}{pasted}", server.url());
        let section = format!("provider = {provider:?}\nmodel = \"m\"\nbase_url = {url:?}");
        let config: moothall_agents::AgentConfig = toml::from_str(&section).unwrap();
        let spec = config.spec("ada", "").map_err(|fault| fault.to_string()).unwrap();
        assert!(answer(&spec).await.finished().unwrap().0.is_ok(), "{provider}");
    }
}

#[tokio::test]
async fn ollama_is_told_of_the_window() {
    let server = ModelServer::start().await.unwrap();
    answer(&model(&server, "ollama", "context_tokens = 9000\nmax_tokens = 500")).await;
    assert_eq!(server.requests()[0].body["options"]["num_ctx"], 9_500);
}

#[tokio::test]
async fn an_answer_that_breaks_off_costs_what_was_heard_of_it() {
    for provider in crate::llm::PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.always("m", Reply::cut(["one two three four"]).without_usage());
        let (result, usage) =
            answer(&model(&server, provider, "price_output = 1000000")).await.finished().unwrap();
        assert_eq!(result.unwrap_err().code, "provider_cut", "{provider}");
        assert_eq!((usage.output_tokens, usage.cost_micros), (5, 5_000_000), "{provider}");
        assert!(usage.input_tokens > 0, "{provider}");
    }
}
