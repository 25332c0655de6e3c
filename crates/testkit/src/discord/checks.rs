//! Checks of what a message may have: lengths, mentions, buttons and names of webhooks.

use serde_json::{Map, Value};

use super::refusal::RestRefusal;

/// Longest content, in UTF-16 units: the strictest way to count.
const CONTENT_MAX: usize = 2000;
const NAME_MAX: usize = 80;
const NONCE_MAX: usize = 25;
const ROWS_MAX: usize = 5;
const BUTTONS_MAX: usize = 5;
const CUSTOM_ID_MAX: usize = 100;
const LABEL_MAX: usize = 80;
/// Words that a name of a webhook must not have.
const RESERVED: [&str; 2] = ["discord", "clyde"];
/// Kinds of mentions that may be allowed.
const KINDS: [&str; 3] = ["users", "roles", "everyone"];

/// A checked body.
pub(super) type Body = Map<String, Value>;

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns a text of a body; empty if there is none.
pub(super) fn text<'a>(body: &'a Body, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the content of a message. An edit may leave it out.
pub(super) fn content(body: &Body, is_new: bool) -> Result<Option<String>, RestRefusal> {
    let Some(content) = body.get("content").and_then(Value::as_str) else {
        return if is_new { Err(empty()) } else { Ok(None) };
    };
    if units(content) > CONTENT_MAX {
        let message = format!("Must be {CONTENT_MAX} or fewer in length.");
        return Err(RestRefusal::field("content", "BASE_TYPE_MAX_LENGTH", &message));
    }
    // The service cuts spaces off.
    let content = content.trim();
    if content.is_empty() { Err(empty()) } else { Ok(Some(content.to_owned())) }
}

fn empty() -> RestRefusal {
    RestRefusal::new(400, 50_006, "Cannot send an empty message")
}

/// Checks the mentions that a message may ping.
pub(super) fn mentions(body: &Body) -> Result<(), RestRefusal> {
    let given = body.get("allowed_mentions");
    let kinds = given.and_then(|given| given["parse"].as_array()).into_iter().flatten();
    for kind in kinds {
        if !KINDS.iter().any(|known| kind == known) {
            let message = "Value must be one of {'users', 'roles', 'everyone'}.";
            return Err(RestRefusal::field(
                "allowed_mentions.parse.0",
                "BASE_TYPE_CHOICES",
                message,
            ));
        }
        if given.is_some_and(|given| given[kind.as_str().unwrap_or_default()].is_array()) {
            let message = "parse and ids of the same kind are mutually exclusive.";
            return Err(RestRefusal::field(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS",
                message,
            ));
        }
    }
    Ok(())
}

/// Checks a nonce.
pub(super) fn nonce(body: &Body) -> Result<Value, RestRefusal> {
    let nonce = body.get("nonce").cloned().unwrap_or_default();
    match nonce.as_str() {
        Some(text) if units(text) > NONCE_MAX => Err(RestRefusal::length("nonce", NONCE_MAX)),
        _ => Ok(nonce),
    }
}

/// Checks rows of buttons, and returns them.
pub(super) fn components(body: &Body) -> Result<Option<Value>, RestRefusal> {
    let Some(rows) = body.get("components") else { return Ok(None) };
    let all = rows.as_array().map_or(&[][..], Vec::as_slice);
    if all.len() > ROWS_MAX {
        return Err(RestRefusal::length("components", ROWS_MAX));
    }
    let mut ids = Vec::new();
    for row in all {
        let buttons = row["components"].as_array().map_or(&[][..], Vec::as_slice);
        if row["type"] != 1 || buttons.is_empty() || buttons.len() > BUTTONS_MAX {
            return Err(RestRefusal::length("components.0.components", BUTTONS_MAX));
        }
        for button in buttons {
            check_button(button)?;
            ids.push(button["custom_id"].clone());
        }
    }
    let count = ids.len();
    ids.sort_by_key(Value::to_string);
    ids.dedup();
    if ids.len() < count {
        let message = "Component custom id cannot be duplicated";
        return Err(RestRefusal::field("components", "COMPONENT_CUSTOM_ID_DUPLICATED", message));
    }
    Ok(Some(rows.clone()))
}

fn check_button(button: &Value) -> Result<(), RestRefusal> {
    let path = "components.0.components.0";
    if button["type"] != 2 || !(1..=4).contains(&button["style"].as_i64().unwrap_or_default()) {
        let message = "The fake has buttons that are pressed only.";
        return Err(RestRefusal::field(path, "FAKE_UNKNOWN_COMPONENT", message));
    }
    let length = |name: &str| button[name].as_str().map(units).unwrap_or_default();
    if !(1..=CUSTOM_ID_MAX).contains(&length("custom_id")) {
        return Err(RestRefusal::length(&format!("{path}.custom_id"), CUSTOM_ID_MAX));
    }
    if !(1..=LABEL_MAX).contains(&length("label")) {
        return Err(RestRefusal::length(&format!("{path}.label"), LABEL_MAX));
    }
    Ok(())
}

/// Checks the name of a webhook or of its message.
pub(super) fn name(body: &Body, field: &str) -> Result<Option<String>, RestRefusal> {
    let Some(name) = body.get(field).and_then(Value::as_str) else { return Ok(None) };
    let name = name.trim();
    if !(1..=NAME_MAX).contains(&units(name)) {
        return Err(RestRefusal::length(field, NAME_MAX));
    }
    let lower = name.to_lowercase();
    match RESERVED.iter().find(|word| lower.contains(*word)) {
        Some(word) => {
            let message = format!("Username cannot contain \"{word}\"");
            Err(RestRefusal::field(field, "USERNAME_INVALID_CONTAINS", &message))
        }
        None => Ok(Some(name.to_owned())),
    }
}
