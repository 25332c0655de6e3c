//! The offers of Claude Code not to ask again, which stand in its report of a permission.

use serde_json::Value;

/// Returns the offers of a report that this server understands whole, each with its number there
/// and the words for what it covers. An offer of another shape is not shown, because its effect is
/// unknown.
pub(super) fn offers(payload: &Value) -> Vec<(usize, String)> {
    let all = suggestions(payload).iter().enumerate();
    all.filter_map(|(number, offer)| Some((number, label(offer)?))).collect()
}

/// Returns the changes that take this offer. Empty for an offer that was not made, or that this
/// server does not understand whole.
pub(super) fn taken(payload: &Value, number: usize) -> Vec<Value> {
    suggestions(payload)
        .get(number)
        .filter(|offer| label(offer).is_some())
        .cloned()
        .into_iter()
        .collect()
}

fn suggestions(payload: &Value) -> &[Value] {
    payload.get("permission_suggestions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the words for what an offer covers; `None` if this server does not understand it whole.
fn label(offer: &Value) -> Option<String> {
    let word = |name: &str| offer.get(name).and_then(Value::as_str);
    let until = match word("destination")? {
        "session" => "until this session ends",
        "localSettings" => "in this project",
        "projectSettings" => "in this project, for everyone who works on it",
        "userSettings" => "in all projects",
        _ => return None,
    };
    match (word("type")?, word("behavior")) {
        ("addRules", Some("allow")) => {
            Some(format!("Always allow {}, {until}", listed(offer, "rules", rule)?))
        }
        ("addDirectories", None) => {
            let folder = |folder: &Value| folder.as_str().map(str::to_owned);
            Some(format!("Allow work in {}, {until}", listed(offer, "directories", folder)?))
        }
        ("setMode", None) if word("mode")? == "acceptEdits" => {
            Some(format!("Allow all edits, {until}"))
        }
        _ => None,
    }
}

/// Returns a list in words; `None` if a part of it is not understood.
fn listed(offer: &Value, name: &str, words: fn(&Value) -> Option<String>) -> Option<String> {
    let list = offer.get(name)?.as_array().filter(|list| !list.is_empty())?;
    let words: Option<Vec<String>> = list.iter().map(words).collect();
    words.map(|words| words.join(", "))
}

/// Returns a rule as Claude Code writes it in its settings.
fn rule(rule: &Value) -> Option<String> {
    let tool = rule.get("toolName")?.as_str()?;
    match rule.get("ruleContent") {
        None => Some(tool.to_owned()),
        Some(content) => Some(format!("{tool}({})", content.as_str()?)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn offers_say_what_they_cover_and_unknown_ones_are_left_out() {
        let rules = |content: Value| {
            json!({"type": "addRules", "behavior": "allow",
            "destination": "localSettings", "rules": [content]})
        };
        let payload = json!({"permission_suggestions": [
            rules(json!({"toolName": "Bash", "ruleContent": "cargo test:*"})),
            {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            rules(json!({"toolName": "Bash", "ruleContent": 7})),
            {"type": "addDirectories", "directories": ["/srv"], "destination": "session"},
            {"type": "addRules", "behavior": "deny", "destination": "session", "rules": []},
        ]});
        let expected = [
            (0, "Always allow Bash(cargo test:*), in this project"),
            (2, "Allow all edits, until this session ends"),
            (4, "Allow work in /srv, until this session ends"),
        ];
        assert_eq!(offers(&payload), expected.map(|(number, words)| (number, words.to_owned())));
        assert_eq!(taken(&payload, 0).len(), 1);
        assert_eq!(taken(&payload, 1), Vec::<Value>::new(), "it was not offered");
        assert_eq!(taken(&payload, 9), Vec::<Value>::new());
    }
}
