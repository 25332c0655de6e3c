//! The Messages API of Anthropic.

use serde_json::{Map, Value, json};

use super::{Part, PartCollector, Request, Settings, failure, messages, set};
use crate::llm::names::{self, ThinkingSetting};

pub(super) const VERSION: &str = "2023-06-01";

/// Returns the body of a request.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let mut body = Map::new();
    set(&mut body, "model", Some(settings.model));
    set(&mut body, "stream", Some(true));
    set(&mut body, "system", Some(request.system.as_str()).filter(|system| !system.is_empty()));
    set(&mut body, "messages", Some(messages(request)));
    set(&mut body, "temperature", settings.temperature);
    // Anthropic rejects a request without a limit.
    let most = settings.max_tokens.unwrap_or_else(|| names::anthropic_tokens(settings.model));
    set(&mut body, "max_tokens", Some(most));
    match settings.effort.map(|effort| names::anthropic_thinking(settings.model, effort)) {
        None | Some(ThinkingSetting::Default) => {}
        Some(ThinkingSetting::Off) => set(&mut body, "thinking", Some(json!({"type": "disabled"}))),
        Some(ThinkingSetting::Effort { effort, adaptive }) => {
            set(&mut body, "output_config", Some(json!({"effort": effort})));
            set(&mut body, "thinking", adaptive.then(|| json!({"type": "adaptive"})));
        }
        Some(ThinkingSetting::Budget(tokens)) => {
            let thinking = json!({"type": "enabled", "budget_tokens": tokens});
            set(&mut body, "thinking", Some(thinking));
        }
    }
    Value::Object(body)
}

/// Returns the parts of a streamed event, or of a whole message. `name` is the event's name, for a
/// value that does not repeat it as its `type`.
pub(super) fn read(name: Option<&str>, value: &Value) -> Vec<Part> {
    let mut parts = PartCollector::default();
    match value.get("type").and_then(Value::as_str).or(name).unwrap_or_default() {
        "message_start" => {
            let message = value.get("message");
            parts.model(message.and_then(|message| message.get("model")));
            tokens(message, &mut parts);
        }
        "content_block_start" => {
            if let Some(block) = value.get("content_block") {
                read_block(block, &mut parts);
            }
        }
        "content_block_delta" => {
            if let Some(delta) = value.get("delta") {
                parts.words(delta.get("thinking"), Part::Thoughts);
                parts.words(delta.get("text"), Part::Words);
            }
        }
        "message_delta" => {
            tokens(Some(value), &mut parts);
            parts.end(value.pointer("/delta/stop_reason"));
        }
        "message_stop" => parts.whole(),
        "message" => {
            parts.model(value.get("model"));
            tokens(Some(value), &mut parts);
            for block in value.get("content").and_then(Value::as_array).into_iter().flatten() {
                read_block(block, &mut parts);
            }
            parts.end(value.get("stop_reason"));
            parts.whole();
        }
        "error" => parts.0.push(Part::Failure(value.clone())),
        _ => parts.0.extend(failure(value)),
    }
    parts.0
}

fn read_block(block: &Value, parts: &mut PartCollector) {
    parts.words(block.get("thinking"), Part::Thoughts);
    parts.words(block.get("text"), Part::Words);
    if block.get("type").is_some_and(|kind| kind == "tool_use") {
        parts.tool(block.get("name"));
    }
}

fn tokens(of: Option<&Value>, parts: &mut PartCollector) {
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    parts.tokens(of.and_then(|of| of.get("usage")), &input, &["output_tokens"]);
}
