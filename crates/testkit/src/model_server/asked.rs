//! Reading requests, tolerantly: whatever is missing or of another form counts as empty.

use axum::http::HeaderMap;
use serde_json::Value;

use super::wire::Wire;

/// What a request asks.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedRequest {
    /// The model that it names.
    pub(super) model: String,
    /// The key that it brings.
    pub(super) key: String,
    /// Whether it wants a stream.
    pub(super) stream: bool,
    /// What the newest person's message says, all its parts together.
    pub(super) newest: String,
    /// How long all of it is.
    pub(super) chars: usize,
    /// What the answer must look like, where it has to be an object.
    pub(super) schema: Option<Value>,
}

impl ParsedRequest {
    /// Reads a body. Gemini names model and streaming in the path.
    pub(super) fn read(wire: Wire, headers: &HeaderMap, body: &Value) -> Self {
        Self {
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            key: key(headers),
            // Ollama streams unless told otherwise.
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

/// The text of a message: a string, or parts that hold text.
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
