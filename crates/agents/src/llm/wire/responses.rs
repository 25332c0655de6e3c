//! The body of a request to OpenAI's Responses API, and the parts of its events.

use moothall_kernel::ending::Ending;
use serde_json::{Map, Value, json};

use super::{Part, PartCollector, Request, Settings, failure, messages, set};
use crate::llm::names;

/// Returns the body of a request, which the provider must not store.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let mut body = Map::new();
    set(&mut body, "store", Some(false));
    set(&mut body, "model", Some(settings.model));
    set(&mut body, "stream", Some(true));
    let system = Some(request.system.as_str()).filter(|system| !system.is_empty());
    set(&mut body, "instructions", system);
    let effort = settings.effort.map(|effort| json!({"effort": <&str>::from(effort)}));
    set(&mut body, "reasoning", effort);
    set(&mut body, "input", Some(messages(request)));
    set(&mut body, "temperature", settings.temperature);
    set(&mut body, "max_output_tokens", settings.max_tokens);
    set(&mut body, "prompt_cache_options", names::cache_options(settings.model));
    Value::Object(body)
}

/// Returns the parts of an event, or of a whole response. `name` is the event's name, for a value
/// that does not repeat it as its `type`.
pub(super) fn read(name: Option<&str>, value: &Value) -> Vec<Part> {
    let mut parts = PartCollector::default();
    let delta = value.get("delta");
    match value.get("type").and_then(Value::as_str).or(name).unwrap_or_default() {
        "response.output_text.delta" => parts.words(delta, Part::Words),
        "response.refusal.delta" => parts.words(delta, Part::Refusal),
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            parts.words(delta, Part::Thoughts)
        }
        "response.output_item.added" => read_call(value.get("item"), &mut parts),
        "error" => parts.0.push(Part::Failure(value.clone())),
        // Events that carry the response, and the bare response of a server that does not stream.
        _ => match value.get("response").or_else(|| value.get("output").map(|_| value)) {
            Some(response) => read_response(response, &mut parts),
            None => parts.0.extend(failure(value)),
        },
    }
    parts.0
}

fn read_call(item: Option<&Value>, parts: &mut PartCollector) {
    if let Some(item) = item.filter(|item| kind(item) == "function_call") {
        parts.tool(item.get("name"));
    }
}

/// Adds the parts of a response. A response that has not ended gives only its model and tokens, and
/// a failed one gives its error too. Any other ended response repeats all words, which count if
/// none was streamed ([`Part::AllWords`]).
fn read_response(response: &Value, parts: &mut PartCollector) {
    parts.model(response.get("model"));
    parts.tokens(response.get("usage"), &["input_tokens"], &["output_tokens"]);
    let ended = match response.get("status").and_then(Value::as_str).unwrap_or("completed") {
        "completed" => Ending::Stop,
        "incomplete" => {
            let why = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
            why.and_then(super::ending).unwrap_or(Ending::Length)
        }
        "failed" => return parts.0.push(failure(response).unwrap_or(Part::End(Ending::Error))),
        "cancelled" => Ending::Error,
        _ => return,
    };
    let output = response.get("output").and_then(Value::as_array);
    for item in output.into_iter().flatten() {
        read_call(Some(item), parts);
    }
    let of_kind = |wanted: &'static str, name: &'static str| -> String {
        let pieces =
            output.into_iter().flatten().filter_map(|item| item.get("content")?.as_array());
        let pieces = pieces.flatten().filter(|piece| kind(piece) == wanted);
        pieces.filter_map(|piece| piece.get(name)?.as_str()).collect()
    };
    parts.words(Some(&of_kind("output_text", "text").into()), Part::AllWords);
    let refusal = of_kind("refusal", "refusal");
    let refused = ended == Ending::Stop && !refusal.is_empty();
    parts.words(Some(&refusal.into()), Part::Refusal);
    parts.0.extend([Part::End(if refused { Ending::Refusal } else { ended }), Part::Over]);
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}
