//! Ollama's own protocol: the body of a request and the parts of each line.

use serde_json::{Map, Value};

use super::{Part, PartCollector, Request, Settings, failure, messages_with_system, set};

/// Returns the body of a request.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let mut body = Map::new();
    set(&mut body, "model", Some(settings.model));
    set(&mut body, "stream", Some(true));
    let mut options = Map::new();
    set(&mut options, "temperature", settings.temperature);
    set(&mut options, "num_predict", settings.max_tokens);
    // Ollama's default window is small, and it silently drops the oldest words of a longer request.
    set(&mut options, "num_ctx", Some(settings.window));
    set(&mut body, "options", (!options.is_empty()).then_some(options));
    set(&mut body, "messages", Some(messages_with_system(request)));
    Value::Object(body)
}

/// Returns the parts of a line. The answer ends with the line that is `done`.
pub(super) fn read(value: &Value) -> Vec<Part> {
    let mut parts = PartCollector::default();
    parts.model(value.get("model"));
    if let Some(message) = value.get("message").filter(|message| message.is_object()) {
        parts.words(message.get("thinking"), Part::Thoughts);
        parts.words(message.get("content"), Part::Words);
        if let Some(call) = message.pointer("/tool_calls/0") {
            parts.tool(call.pointer("/function/name"));
        }
    }
    parts.tokens(Some(value), &["prompt_eval_count"], &["eval_count"]);
    parts.0.extend(failure(value));
    if value.get("done").is_some_and(|done| done == true) {
        parts.end(value.get("done_reason"));
        parts.whole();
    }
    parts.0
}
