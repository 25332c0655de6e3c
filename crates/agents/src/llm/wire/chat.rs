//! Chat completions: OpenAI's, and those of every server that is compatible with them.

use serde_json::{Map, Value, json};

use super::{Part, PartCollector, Request, Settings, failure, messages_with_system, set};
use crate::llm::names;

/// Returns the body of a request. The limit of tokens has another name for models that think by
/// themselves.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let mut body = Map::new();
    set(&mut body, "model", Some(settings.model));
    set(&mut body, "stream", Some(true));
    set(&mut body, "reasoning_effort", settings.effort.map(<&str>::from));
    set(&mut body, "messages", Some(messages_with_system(request)));
    set(&mut body, "temperature", settings.temperature);
    let most = if names::thinks_by_itself(settings.model) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    set(&mut body, most, settings.max_tokens);
    // Tokens of a stream are reported only if asked for.
    set(&mut body, "stream_options", Some(json!({"include_usage": true})));
    set(&mut body, "prompt_cache_options", names::cache_options(settings.model));
    Value::Object(body)
}

/// Returns the parts of a streamed piece (`delta`), or of a whole answer (`message`).
pub(super) fn read(value: &Value) -> Vec<Part> {
    let mut parts = PartCollector::default();
    parts.model(value.get("model"));
    let choice = value.pointer("/choices/0");
    let delta = choice.and_then(|choice| choice.get("delta").filter(|delta| delta.is_object()));
    let message = choice.and_then(|choice| choice.get("message"));
    if let Some(said) = delta.or(message) {
        read_message(said, &mut parts);
    }
    parts.words(choice.and_then(|choice| choice.get("text")), Part::Words);
    let usage = value.get("usage").or_else(|| value.pointer("/x_groq/usage"));
    parts.tokens(usage, &["prompt_tokens"], &["completion_tokens"]);
    let error = failure(value).or_else(|| choice.and_then(failure));
    let failed = error.is_some();
    parts.0.extend(error);
    parts.end(choice.and_then(|choice| choice.get("finish_reason")));
    if delta.is_none() && message.is_some() && !failed {
        parts.whole();
    }
    parts.0
}

/// Adds the words, thoughts, refusal and tool calls of a piece or a message. Servers send thoughts
/// under different names.
fn read_message(said: &Value, parts: &mut PartCollector) {
    let thoughts = ["reasoning_content", "reasoning", "thinking"];
    let thoughts = thoughts.iter().find_map(|name| said.get(name).filter(|text| !text.is_null()));
    parts.words(thoughts, Part::Thoughts);
    match said.get("content") {
        Some(Value::Array(pieces)) => {
            for piece in pieces {
                // Mistral sends its thoughts in the content, in parts of their own.
                parts.words(piece.get("thinking"), Part::Thoughts);
                parts.words(piece.get("text"), Part::Words);
            }
        }
        content => parts.words(content, Part::Words),
    }
    parts.words(said.get("refusal"), Part::Refusal);
    if let Some(call) = said.pointer("/tool_calls/0") {
        parts.tool(call.pointer("/function/name"));
    }
    if let Some(call) = said.get("function_call").filter(|call| call.is_object()) {
        parts.tool(call.get("name"));
    }
}
