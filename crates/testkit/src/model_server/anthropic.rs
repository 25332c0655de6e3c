//! The fake provider's Anthropic Messages: reads a request, streams an answer.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::wire::{Speech, event};

/// Returns an id of its own for each message, as programs tell messages apart by their ids.
fn message_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("msg_fake{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn message(speech: &Speech, content: Value, stop: Value) -> Value {
    json!({
        "id": message_id(), "type": "message", "role": "assistant", "model": speech.model, "content": content,
        "stop_reason": stop, "stop_sequence": null,
    })
}

fn stop_reason(speech: &Speech) -> &'static str {
    if speech.call.is_some() { "tool_use" } else { "end_turn" }
}

pub(super) fn whole(speech: &Speech) -> Value {
    let mut content = vec![json!({"type": "text", "text": speech.text})];
    if let Some((name, arguments)) = &speech.call {
        content.retain(|_| !speech.text.is_empty());
        content.push(
            json!({"type": "tool_use", "id": "toolu_fake", "name": name, "input": arguments}),
        );
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
    start + &begin(0, &json!({"type": "text", "text": ""})) + &ping
}

pub(super) fn piece(text: &str) -> String {
    delta(0, &json!({"type": "text_delta", "text": text}))
}

fn begin(index: u8, block: &Value) -> String {
    event(
        "content_block_start",
        &json!({"type": "content_block_start", "index": index, "content_block": block}),
    )
}

fn delta(index: u8, delta: &Value) -> String {
    event(
        "content_block_delta",
        &json!({"type": "content_block_delta", "index": index, "delta": delta}),
    )
}

fn stop(index: u8) -> String {
    event("content_block_stop", &json!({"type": "content_block_stop", "index": index}))
}

/// Returns the index of the tool's block. Words before the call have a block of their own.
fn place_of_call(speech: &Speech) -> u8 {
    u8::from(speech.call.is_some() && !speech.text.is_empty())
}

pub(super) fn call(speech: &Speech, name: &str, arguments: &Value) -> String {
    let index = place_of_call(speech);
    let words = match index {
        0 => String::new(),
        _ => begin(0, &json!({"type": "text", "text": ""})) + &piece(&speech.text) + &stop(0),
    };
    let block = json!({"type": "tool_use", "id": "toolu_fake", "name": name, "input": {}});
    let input = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
    words + &begin(index, &block) + &delta(index, &input)
}

pub(super) fn closing(speech: &Speech) -> String {
    let mut ended = json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(speech), "stop_sequence": null}});
    if let Some(tokens) = speech.tokens {
        ended["usage"] = json!({"output_tokens": tokens.output});
    }
    stop(place_of_call(speech))
        + &event("message_delta", &ended)
        + &event("message_stop", &json!({"type": "message_stop"}))
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
