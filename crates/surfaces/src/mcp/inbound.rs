//! Reads what clients really send: what means one thing only is taken, however it is written.

use axum::http::HeaderMap;
use axum::http::HeaderValue;
use axum::http::header::ACCEPT;
use serde_json::{Map, Value, json};

use crate::wire::arguments::Argument;

/// The kinds that the library wants to be accepted.
const ACCEPTED: &str = "application/json, text/event-stream";
/// The newest revision of the protocol that every client knows which names none.
const VERSION: &str = "2025-06-18";

/// Lets a client that accepts JSON in some way pass for one that says so as the library wants it.
/// The answers are JSON.
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

/// Fills in what a message may leave out by its sense: no `params`, and of `initialize` the
/// client's name.
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

/// Adds what is missing or null in an object, and in the objects in it.
fn fill(object: &mut Value, whole: Value) {
    let (Value::Object(object), Value::Object(whole)) = (object, whole) else { return };
    for (key, value) in whole {
        match object.entry(key).or_insert(Value::Null) {
            missing @ Value::Null => *missing = value,
            there => fill(there, value),
        }
    }
}

/// Reads the texts that a model wrote for another kind of value: `"5"`, `"true"`, `"[\"a\"]"`.
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

fn is(kind: &str, value: &Value) -> bool {
    match value {
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "integer" && number.is_u64(),
        Value::Array(_) => kind == "array",
        Value::Null | Value::String(_) | Value::Object(_) => false,
    }
}
