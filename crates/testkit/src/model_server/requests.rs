//! Reads requests tolerantly: a missing or malformed part counts as empty.

use axum::http::HeaderMap;
use serde_json::Value;

use super::wire::Wire;

/// The parts of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedRequest {
    /// Name of the model.
    pub(super) model: String,
    /// The key.
    pub(super) key: String,
    /// True if the request asks for a stream.
    pub(super) stream: bool,
    /// Text of the newest person's message, all parts joined.
    pub(super) newest: String,
    /// Length of the whole body, in characters.
    pub(super) chars: usize,
    /// Schema of the answer, if it must be an object.
    pub(super) schema: Option<Value>,
}

impl ParsedRequest {
    /// Reads a body. Gemini names model and streaming in the path.
    pub(super) fn read(wire: Wire, headers: &HeaderMap, body: &Value) -> Self {
        Self {
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            key: key(headers),
            // Ollama streams by default.
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(wire == Wire::Ollama),
            newest: newest(wire, body),
            chars: body.to_string().chars().count(),
            schema: body.pointer("/generationConfig/responseJsonSchema").cloned(),
        }
    }
}

fn key(headers: &HeaderMap) -> String {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let key = header("x-api-key").or(header("x-goog-api-key")).or(bearer);
    key.unwrap_or_default().to_owned()
}

fn newest(wire: Wire, body: &Value) -> String {
    let list = match wire {
        Wire::Anthropic | Wire::Chat | Wire::Ollama => body.get("messages"),
        Wire::Responses => body.get("input"),
        Wire::Gemini => body.get("contents"),
    };
    if let Some(Value::String(text)) = list {
        return text.clone();
    }
    let messages = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let person = |message: &&Value| {
        message.get("role").and_then(Value::as_str).is_none_or(|role| role == "user")
    };
    messages.iter().rev().find(person).map(text_of).unwrap_or_default()
}

/// Returns the text of a message: a string, or the text parts.
fn text_of(message: &Value) -> String {
    match message.get("content").or(message.get("parts")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
