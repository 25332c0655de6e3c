//! Tolerant reading of MCP messages: accepts unambiguous deviations that clients really send.

use axum::http::HeaderMap;
use axum::http::HeaderValue;
use axum::http::header::ACCEPT;
use serde_json::{Map, Value, json};

use crate::wire::arguments::Argument;

/// The media types that the library requires in `Accept`.
const ACCEPTED: &str = "application/json, text/event-stream";
/// The protocol revision for a client that names none.
const VERSION: &str = "2025-06-18";

/// Sets the `Accept` header to the exact value that the library requires, if it is missing or
/// allows JSON. Answers are always JSON.
pub(super) fn accept(headers: &mut HeaderMap) {
    let said: Vec<_> = headers.get_all(ACCEPT).iter().map(|value| value.to_str()).collect();
    let takes_json = |range: &str| {
        let kind = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        matches!(kind.as_str(), "*/*" | "application/*" | "application/json")
    };
    if said.is_empty() || said.iter().flatten().any(|all| all.split(',').any(takes_json)) {
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    }
}

/// Removes a `params` that is null. Adds to an `initialize` message all that a client may omit:
/// `params`, the version of the protocol, the capabilities, and the client's name.
pub(super) fn complete(message: &mut Value) {
    let opens = message["method"] == "initialize";
    let Value::Object(message) = message else { return };
    if message.get("params").is_some_and(Value::is_null) {
        message.remove("params");
    }
    if !opens {
        return;
    }
    let params = message.entry("params").or_insert_with(|| json!({}));
    let client = json!({"name": "unknown", "version": "unknown"});
    let whole = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
    fill(params, whole);
}

/// Adds missing or null fields to an object, and to the objects in it.
fn fill(object: &mut Value, whole: Value) {
    let (Value::Object(object), Value::Object(whole)) = (object, whole) else { return };
    for (key, value) in whole {
        match object.entry(key).or_insert(Value::Null) {
            missing @ Value::Null => *missing = value,
            there => fill(there, value),
        }
    }
}

/// Converts arguments that a model wrote as text, such as `"5"`, `"true"` or `"[\"a\"]"`. A text
/// that is not JSON of the type that the argument takes stays a text.
pub(super) fn forgive(takes: &[Argument], arguments: &mut Map<String, Value>) {
    for Argument { name, kind, .. } in takes {
        let Some(value) = arguments.get_mut(*name) else { continue };
        let Some(text) = value.as_str().map(str::trim) else { continue };
        let read = match *kind {
            "integer" | "boolean" | "array" => crate::json::read(text.as_bytes()).ok(),
            _ => None,
        };
        if let Some(read) = read.filter(|read| is(kind, read)) {
            *value = read;
        }
    }
}

/// True if a value has the type that `kind` names: `integer`, `boolean` or `array`. False for any
/// other type.
fn is(kind: &str, value: &Value) -> bool {
    match value {
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "integer" && number.is_u64(),
        Value::Array(_) => kind == "array",
        Value::Null | Value::String(_) | Value::Object(_) => false,
    }
}
