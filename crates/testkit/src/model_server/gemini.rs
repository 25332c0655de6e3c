//! Gemini: `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::wire::{Speech, data};

fn chunk(speech: &Speech, parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({"candidates": [candidate], "modelVersion": speech.model, "responseId": "fake"})
}

fn with_usage(mut chunk: Value, speech: &Speech) -> Value {
    if let Some(tokens) = speech.tokens {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": tokens.input, "candidatesTokenCount": tokens.output,
            "totalTokenCount": tokens.input.saturating_add(tokens.output),
        });
    }
    chunk
}

fn function(speech: &Speech, name: &str, arguments: &Value) -> Value {
    let words = Some(json!({"text": speech.text})).filter(|_| !speech.text.is_empty());
    let call = json!({"functionCall": {"name": name, "args": arguments}});
    words.into_iter().chain([call]).collect()
}

pub(super) fn whole(speech: &Speech) -> Value {
    let parts = match &speech.call {
        Some((name, arguments)) => function(speech, name, arguments),
        None => json!([{"text": speech.text}]),
    };
    with_usage(chunk(speech, &parts, Some("STOP")), speech)
}

pub(super) fn piece(speech: &Speech, text: &str) -> String {
    data(&chunk(speech, &json!([{"text": text}]), None))
}

pub(super) fn call(speech: &Speech, name: &str, arguments: &Value) -> String {
    data(&chunk(speech, &function(speech, name, arguments), None))
}

pub(super) fn closing(speech: &Speech) -> String {
    data(&with_usage(chunk(speech, &json!([{"text": ""}]), Some("STOP")), speech))
}

pub(super) fn error(status: u16, kind: &str, message: &str) -> Value {
    json!({"error": {"code": status, "message": message, "status": kind.to_ascii_uppercase()}})
}
