//! Descriptions of control events.

use moothall_kernel::state::LINK_KEY;
use serde_json::{Map, Value};

/// Describes each change of a control event. Unknown content is shown as it is.
pub fn control(content: &Value) -> String {
    match content.as_object() {
        Some(changes) if !changes.is_empty() => {
            each(changes).map(|(key, value)| change(key, value)).collect::<Vec<_>>().join("; ")
        }
        _ => content.to_string(),
    }
}

/// Returns the changes of a control one by one. If there is a list such as `invites`, the single
/// `invite` only repeats its first element.
pub fn each(changes: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    changes.iter().flat_map(|(key, value)| {
        let one = ["invite", "uninvite", "bind", "unbind"]
            .into_iter()
            .find(|one| key.strip_suffix('s') == Some(one));
        match (one, value.as_array()) {
            (Some(one), Some(all)) => all.iter().map(|value| (one, value)).collect(),
            _ if changes.contains_key(&format!("{key}s")) => Vec::new(),
            _ => vec![(key.as_str(), value)],
        }
    })
}

/// Describes the target of a binding. The key of a link is not shown, since it means nothing to
/// people.
pub fn bound(value: &Value) -> String {
    match value.as_str() {
        Some(target) if target.starts_with(LINK_KEY) => "a link of its sessions".into(),
        Some(target) => target.into(),
        None => value.to_string(),
    }
}

/// Describes one change of a control event. An unknown change is shown as it is.
fn change(key: &str, value: &Value) -> String {
    match key {
        "invite" => invite(value),
        "uninvite" => format!("{} was removed", participant(value)),
        "mute" => format!("{} muted", targets(value)),
        "unmute" => format!("{} may speak again", targets(value)),
        "pause" => {
            if is_on(value) { "the conversation is paused" } else { "the pause ended" }.to_owned()
        }
        "discussion" => format!("discussion among agents is {}", switched(value)),
        "invited_auto" => format!("asking all invited agents is {}", switched(value)),
        "prod" => format!("{} asked to say something", names(value)),
        "resume" => "a guard was lifted".to_owned(),
        "config" => format!("rules changed: {}", settings(value)),
        "bind" => format!("the conversation is now {}", bound(value)),
        "unbind" => format!("the conversation is not {} any more", bound(value)),
        "policy" => format!("the rules are now {}", settings(value)),
        other => format!("{other} {value}"),
    }
}

/// Describes an invitation: the participant, its nickname, its session or client, and its model.
fn invite(value: &Value) -> String {
    let profile = value.get("profile").and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |key: &str| profile.get(key).and_then(Value::as_str).map(str::to_owned);
    let known = text("nickname")
        .filter(|name| !name.is_empty())
        .map(|name| format!(" as {name}"))
        .unwrap_or_default();
    let model = text("model").map(|model| format!(", {model}")).unwrap_or_default();
    let behind =
        text("session").map(|session| format!("session {session}")).or_else(|| text("client"));
    format!(
        "{} was invited{known} ({}{model})",
        participant(value),
        behind.unwrap_or_else(|| "as before".into())
    )
}

fn participant(value: &Value) -> &str {
    value.get("participant_id").and_then(Value::as_str).unwrap_or("a participant")
}

fn targets(value: &Value) -> String {
    names(value.get("targets").unwrap_or(value))
}

fn names(value: &Value) -> String {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::String(name) => name.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn is_on(value: &Value) -> bool {
    value.get("on").and_then(Value::as_bool).unwrap_or(false)
}

fn switched(value: &Value) -> &'static str {
    if is_on(value) { "on" } else { "off" }
}

/// Lists the keys and values of an object. Anything else is shown as names.
fn settings(value: &Value) -> String {
    let rows = |map: &Map<String, Value>| {
        map.iter()
            .map(|(key, value)| format!("{key} {}", names(value)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    value.as_object().map_or_else(|| names(value), rows)
}

#[cfg(test)]
mod tests {
    use super::control;
    use serde_json::json;

    #[test]
    fn controls_are_read_as_sentences() {
        let profile = json!({"client": "critic", "model": "demo", "nickname": "Crit"});
        let rows = [
            (
                json!({"invite": {"participant_id": "critic", "profile": profile}}),
                "critic was invited as Crit (critic, demo)",
            ),
            (
                json!({"invite": {"participant_id": "p", "profile": {"session": "s1"}}}),
                "p was invited (session s1)",
            ),
            (json!({"uninvite": {"participant_id": "critic"}}), "critic was removed"),
            (json!({"mute": {"targets": ["a", "b"], "mode": "hard"}}), "a, b muted"),
            (json!({"pause": {"on": true}}), "the conversation is paused"),
            (
                json!({"config": {"max_depth": 3}, "resume": {}}),
                "rules changed: max_depth 3; a guard was lifted",
            ),
            (
                json!({"unbind": "link:1", "bind": "link:2"}),
                "the conversation is not a link of its sessions any more; the conversation is now \
                 a link of its sessions",
            ),
            (json!({"bind": "chat:telegram:1"}), "the conversation is now chat:telegram:1"),
            (json!({"prod": ["a"]}), "a asked to say something"),
            (
                json!({"invite": {"participant_id": "a"}, "invites": [{"participant_id": "a"}, {"participant_id": "b"}]}),
                "a was invited (as before); b was invited (as before)",
            ),
            (json!({"bind": "link:0c5f"}), "the conversation is now a link of its sessions"),
            (json!({"new": {"x": 1}}), "new {\"x\":1}"),
            (json!("words"), "\"words\""),
        ];
        for (content, words) in rows {
            assert_eq!(control(&content), words);
        }
    }
}
