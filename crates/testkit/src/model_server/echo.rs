//! Replies of a model without a script: it repeats the request, or passes if that is offered and
//! asked for.

use serde_json::{Value, json};

const PASS: &str = "[PASS]";
const QUOTE_CHARS_MAX: usize = 200;

/// Returns an answer to the newest message of a request.
pub(super) fn answer(model: &str, newest: &str) -> String {
    let latest = latest(newest);
    if newest.contains(PASS) && words(latest).any(|word| word.eq_ignore_ascii_case("pass")) {
        return PASS.to_owned();
    }
    if latest.is_empty() {
        return format!("This is {model}, a fake model. Nothing was asked.");
    }
    let quote: String = latest.chars().take(QUOTE_CHARS_MAX).collect();
    let more = if quote.len() < latest.len() { "…" } else { "" };
    format!(
        "This is {model}, a fake model. I read {} words, and the message was: “{quote}{more}”",
        words(latest).count()
    )
}

/// Returns the simplest value that a schema allows. Programs use such requests for decisions of
/// their own, and repeat them if the answer has another form.
pub(super) fn fitting(schema: &Value) -> Value {
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    match schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "object" => {
            let properties =
                schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            properties
                .map(|(name, schema)| (name.clone(), fitting(schema)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        "array" => json!([]),
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        _ => json!("fake"),
    }
}

/// Returns the last message. If the prompt of a conversation repeats it in quotes, returns the
/// quoted part, else the whole text.
fn latest(newest: &str) -> &str {
    let quoted = newest.rsplit_once("latest message: \"").map(|(_, rest)| rest);
    quoted.and_then(|rest| rest.rsplit_once('"')).map_or(newest, |(message, _)| message).trim()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_repeats_the_latest_message_of_a_conversation() {
        let prompt = "## Your Turn\nYou are here.\nThe user's latest message: \"How are you?\"\n";
        assert_eq!(
            answer("m", prompt),
            "This is m, a fake model. I read 3 words, and the message was: “How are you?”"
        );
    }

    #[test]
    fn an_object_that_is_asked_for_has_its_form() {
        let schema = json!({"type": "OBJECT", "properties": {
            "score": {"type": "INTEGER"}, "why": {"type": "STRING"}, "kind": {"type": "STRING", "enum": ["flash", "pro"]},
        }});
        assert_eq!(fitting(&schema), json!({"score": 1, "why": "fake", "kind": "flash"}));
    }

    #[test]
    fn it_passes_only_where_that_is_offered() {
        let offered = "answer with exactly [PASS]\nThe user's latest message: \"please pass\"";
        assert_eq!(answer("m", offered), PASS);
        assert_ne!(answer("m", "The user's latest message: \"please pass\""), PASS);
        assert_ne!(
            answer("m", "answer with exactly [PASS]\nThe user's latest message: \"the passport\""),
            PASS
        );
    }
}
