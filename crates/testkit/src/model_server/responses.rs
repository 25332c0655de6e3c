//! The fake provider's OpenAI Responses: reads a request, streams an answer.

use serde_json::{Value, json};

use super::wire::{Speech, event};

fn send(kind: &str, mut value: Value) -> String {
    value["type"] = json!(kind);
    event(kind, &value)
}

fn message(text: &str, status: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"id": "msg_fake", "type": "message", "role": "assistant", "status": status, "content": content})
}

fn function(name: &str, arguments: &str, status: &str) -> Value {
    let mut call = json!({
        "id": "fc_fake", "type": "function_call", "call_id": "call_fake", "name": name, "arguments": arguments, "status": status,
    });
    if let Some((server, tool)) = of_server(name) {
        (call["namespace"], call["name"]) = (json!(server), json!(tool));
    }
    call
}

/// Splits the name of a tool of a tool server, such as `mcp__moothall__send_message`. In this
/// protocol a server is a namespace.
pub(super) fn of_server(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.find("__").map(|at| (&name[..at + 5], &name[at + 7..]))
}

pub(super) fn whole(speech: &Speech, status: &str) -> Value {
    let output = match &speech.call {
        _ if status == "in_progress" => json!([]),
        Some((name, arguments)) => {
            let words = Some(message(&speech.text, "completed")).filter(|_| says_first(speech));
            let call = function(name, &arguments.to_string(), "completed");
            words.into_iter().chain([call]).collect()
        }
        None => json!([message(&speech.text, "completed")]),
    };
    let mut response = json!({
        "id": "resp_fake", "object": "response", "created_at": 0, "status": status, "model": speech.model, "output": output,
        "error": null, "incomplete_details": null, "usage": null,
    });
    if let Some(tokens) = speech.tokens.filter(|_| status == "completed") {
        response["usage"] = json!({
            "input_tokens": tokens.input, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens.input.saturating_add(tokens.output),
        });
    }
    response
}

pub(super) fn opening(speech: &Speech) -> String {
    let created = send("response.created", json!({"response": whole(speech, "in_progress")}));
    if speech.call.is_some() { created } else { created + &begin_words() }
}

/// True if the answer has words and a tool call.
fn says_first(speech: &Speech) -> bool {
    speech.call.is_some() && !speech.text.is_empty()
}

fn begin_words() -> String {
    let part = json!({"type": "output_text", "text": "", "annotations": []});
    let mut item = message("", "in_progress");
    item["content"] = json!([]);
    send("response.output_item.added", json!({"output_index": 0, "item": item}))
        + &send(
            "response.content_part.added",
            json!({"item_id": "msg_fake", "output_index": 0, "content_index": 0, "part": part}),
        )
}

fn end_words(text: &str) -> String {
    let item = message(text, "completed");
    send(
        "response.output_text.done",
        json!({"item_id": "msg_fake", "output_index": 0, "content_index": 0, "text": text}),
    ) + &send("response.output_item.done", json!({"output_index": 0, "item": item}))
}

pub(super) fn piece(text: &str) -> String {
    send(
        "response.output_text.delta",
        json!({"item_id": "msg_fake", "output_index": 0, "content_index": 0, "delta": text}),
    )
}

pub(super) fn call(speech: &Speech, name: &str, arguments: &Value) -> String {
    let words = match says_first(speech) {
        true => begin_words() + &piece(&speech.text) + &end_words(&speech.text),
        false => String::new(),
    };
    let (index, arguments) = (u8::from(says_first(speech)), arguments.to_string());
    words
        + &send(
            "response.output_item.added",
            json!({"output_index": index, "item": function(name, "", "in_progress")}),
        )
        + &send(
            "response.function_call_arguments.delta",
            json!({"item_id": "fc_fake", "output_index": index, "delta": arguments}),
        )
}

pub(super) fn closing(speech: &Speech) -> String {
    let done = match &speech.call {
        Some((name, arguments)) => {
            let item = function(name, &arguments.to_string(), "completed");
            let index = u8::from(says_first(speech));
            send("response.output_item.done", json!({"output_index": index, "item": item}))
        }
        None => end_words(&speech.text),
    };
    done + &send("response.completed", json!({"response": whole(speech, "completed")}))
}

pub(super) fn failure(kind: &str, message: &str) -> String {
    let response = json!({"id": "resp_fake", "object": "response", "status": "failed", "error": {"code": kind, "message": message}});
    send("response.failed", json!({"response": response}))
}
