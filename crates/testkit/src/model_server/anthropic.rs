//! The fake provider's Anthropic Messages: reads a request, streams an answer.

use serde_json::{Value, json};

use super::wire::{Speech, event};

fn message(speech: &Speech, content: Value, stop: Value) -> Value {
    json!({
        "id": "msg_fake", "type": "message", "role": "assistant", "model": speech.model, "content": content,
        "stop_reason": stop, "stop_sequence": null,
    })
}

fn stop_reason(speech: &Speech) -> &'static str {
    if speech.call.is_some() { "tool_use" } else { "end_turn" }
}

pub(super) fn whole(speech: &Speech) -> Value {
    let mut content = vec![json!({"type": "text", "text": speech.text})];
    if let Some((name, arguments)) = &speech.call {
        content =
            vec![json!({"type": "tool_use", "id": "toolu_fake", "name": name, "input": arguments})];
    }
    let mut message = message(speech, json!(content), json!(stop_reason(speech)));
    if let Some(tokens) = speech.tokens {
        message["usage"] = json!({"input_tokens": tokens.input, "output_tokens": tokens.output});
    }
    message
}

pub(super) fn opening(speech: &Speech) -> String {
    let mut message = message(speech, json!([]), Value::Null);
    if let Some(tokens) = speech.tokens {
        message["usage"] = json!({"input_tokens": tokens.input, "output_tokens": 1});
    }
    let start = event("message_start", &json!({"type": "message_start", "message": message}));
    let ping = event("ping", &json!({"type": "ping"}));
    if speech.call.is_some() {
        return start + &ping;
    }
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    start + &event("content_block_start", &block) + &ping
}

pub(super) fn piece(text: &str) -> String {
    delta(&json!({"type": "text_delta", "text": text}))
}

fn delta(delta: &Value) -> String {
    event(
        "content_block_delta",
        &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
    )
}

pub(super) fn call(name: &str, arguments: &Value) -> String {
    let block = json!({"type": "tool_use", "id": "toolu_fake", "name": name, "input": {}});
    event(
        "content_block_start",
        &json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ) + &delta(&json!({"type": "input_json_delta", "partial_json": arguments.to_string()}))
}

pub(super) fn closing(speech: &Speech) -> String {
    let mut ended = json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(speech), "stop_sequence": null}});
    if let Some(tokens) = speech.tokens {
        ended["usage"] = json!({"output_tokens": tokens.output});
    }
    event("content_block_stop", &json!({"type": "content_block_stop", "index": 0}))
        + &event("message_delta", &ended)
        + &event("message_stop", &json!({"type": "message_stop"}))
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
