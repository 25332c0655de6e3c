//! Codex CLI's `notify`: one report at the end of a turn, none when a person interrupts it.

use moothall_engine::sessions::HookNews;
use serde_json::Value;

use super::vendor::text;

/// How the prompt of its own background turn begins, in which it makes a title and quotes what the person wrote.
const TITLE_PROMPT: &str = "Generate a concise, single-line task title";

/// Where it says what the agent said at last.
const LAST_WORDS: &str = "last-assistant-message";

/// Whether a report says what the agent said.
pub fn has_words(payload: &Value) -> bool {
    text(payload, LAST_WORDS).is_some()
}

/// What a report means.
pub fn news(payload: &Value) -> Option<HookNews> {
    if payload.get("type").and_then(Value::as_str) != Some("agent-turn-complete") {
        return None;
    }
    let inputs: Vec<String> = inputs(payload).filter_map(Value::as_str).map(str::to_owned).collect();
    if inputs.first().is_some_and(|input| input.trim_start().starts_with(TITLE_PROMPT)) {
        return None;
    }
    Some(HookNews::Stopped { text: text(payload, LAST_WORDS), inputs: Some(inputs), interrupted: true })
}

fn inputs(payload: &Value) -> impl Iterator<Item = &Value> {
    payload.get("input-messages").and_then(Value::as_array).into_iter().flatten()
}
