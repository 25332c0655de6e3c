//! Ollama: `/api/chat`, one JSON document a line.

use serde_json::{Value, json};

use super::wire::{Speech, line};

fn chunk(speech: &Speech, message: &Value, done: bool) -> Value {
    json!({"model": speech.model, "created_at": "1970-01-01T00:00:00Z", "message": message, "done": done})
}

fn message(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn function(speech: &Speech, name: &str, arguments: &Value) -> Value {
    json!({"role": "assistant", "content": speech.text, "tool_calls": [{"function": {"name": name, "arguments": arguments}}]})
}

fn done(speech: &Speech, message: &Value) -> Value {
    let mut done = chunk(speech, message, true);
    done["done_reason"] = json!("stop");
    if let Some(tokens) = speech.tokens {
        done["prompt_eval_count"] = json!(tokens.input);
        done["eval_count"] = json!(tokens.output);
    }
    done
}

pub(super) fn whole(speech: &Speech) -> Value {
    match &speech.call {
        Some((name, arguments)) => done(speech, &function(speech, name, arguments)),
        None => done(speech, &message(&speech.text)),
    }
}

pub(super) fn piece(speech: &Speech, text: &str) -> String {
    line(&chunk(speech, &message(text), false))
}

pub(super) fn call(speech: &Speech, name: &str, arguments: &Value) -> String {
    line(&chunk(speech, &function(speech, name, arguments), false))
}

pub(super) fn closing(speech: &Speech) -> String {
    line(&done(speech, &message("")))
}

pub(super) fn error(message: &str) -> Value {
    json!({"error": message})
}
