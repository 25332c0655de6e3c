//! OpenAI chat completions, and compatible providers.

use serde_json::{Value, json};

use super::wire::{Speech, data};

fn usage(speech: &Speech) -> Option<Value> {
    let tokens = speech.tokens?;
    let total = tokens.input.saturating_add(tokens.output);
    Some(
        json!({"prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": total}),
    )
}

fn finish_reason(speech: &Speech) -> &'static str {
    if speech.call.is_some() { "tool_calls" } else { "stop" }
}

fn function(name: &str, arguments: &Value) -> Value {
    json!({"index": 0, "id": "call_fake", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

pub(super) fn whole(speech: &Speech) -> Value {
    let mut message = json!({"role": "assistant", "content": speech.text});
    if let Some((name, arguments)) = &speech.call {
        let words = Some(&speech.text).filter(|text| !text.is_empty());
        message = json!({"role": "assistant", "content": words, "tool_calls": [function(name, arguments)]});
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(speech)});
    let mut answer = json!({"id": "chatcmpl-fake", "object": "chat.completion", "created": 0, "model": speech.model, "choices": [choice]});
    if let Some(usage) = usage(speech) {
        answer["usage"] = usage;
    }
    answer
}

fn chunk(speech: &Speech, choices: &Value) -> Value {
    json!({"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 0, "model": speech.model, "choices": choices})
}

fn delta(speech: &Speech, delta: &Value, finish: Option<&str>) -> String {
    data(&chunk(speech, &json!([{"index": 0, "delta": delta, "finish_reason": finish}])))
}

pub(super) fn opening(speech: &Speech) -> String {
    delta(speech, &json!({"role": "assistant", "content": ""}), None)
}

pub(super) fn piece(speech: &Speech, text: &str) -> String {
    delta(speech, &json!({"content": text}), None)
}

pub(super) fn call(speech: &Speech, name: &str, arguments: &Value) -> String {
    let words = match speech.text.as_str() {
        "" => String::new(),
        text => piece(speech, text),
    };
    words + &delta(speech, &json!({"tool_calls": [function(name, arguments)]}), None)
}

pub(super) fn closing(speech: &Speech) -> String {
    let mut closing = delta(speech, &json!({}), Some(finish_reason(speech)));
    if let Some(usage) = usage(speech) {
        let mut tail = chunk(speech, &json!([]));
        tail["usage"] = usage;
        closing += &data(&tail);
    }
    closing + "data: [DONE]\n\n"
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
}
