//! The changes of one event as one JSON object, in the form in which events are written for
//! clients.

use serde_json::{Map, Value, json};

/// Merges entries into one object, in order. Lists of names under one key are joined. If each value
/// under a key concerns one participant, the key holds the first value, for clients that know only
/// that, and the key with an `s` holds all of them. In all other cases the last value wins.
pub fn together(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Map<String, Value> {
    let mut content = Map::new();
    for (key, mut value) in entries {
        let Some(before) = content.get_mut(key) else {
            content.insert(key.into(), value);
            continue;
        };
        if let (Some(all), Some(more)) = (names(before), names(&mut value)) {
            all.append(more);
        } else if is_of_one(key) {
            let first = before.clone();
            let all = content.entry(format!("{key}s")).or_insert_with(|| json!([first]));
            all.as_array_mut().into_iter().for_each(|all| all.push(value.clone()));
        } else {
            *before = value;
        }
    }
    content
}

/// Returns the list of names in a value, if it has one.
fn names(value: &mut Value) -> Option<&mut Vec<Value>> {
    if value.is_array() { value.as_array_mut() } else { value.get_mut("targets")?.as_array_mut() }
}

/// True if a value under this key concerns one participant, or one target outside the conversation.
fn is_of_one(key: &str) -> bool {
    matches!(key, "invite" | "uninvite" | "bind" | "unbind")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_where_a_key_comes_again() {
        let who = |id: &str| json!({"participant_id": id});
        let one = together([("invite", who("a")), ("bind", json!("link:0"))]);
        assert_eq!(Value::Object(one), json!({"invite": who("a"), "bind": "link:0"}));
        let three = together(["a", "b", "c"].map(|id| ("invite", who(id))));
        assert_eq!(
            Value::Object(three),
            json!({"invite": who("a"), "invites": [who("a"), who("b"), who("c")]})
        );
        let muted = together([
            ("mute", json!({"targets": ["a"], "mode": "hard"})),
            ("mute", json!({"targets": ["b"], "mode": "hard"})),
        ]);
        assert_eq!(Value::Object(muted), json!({"mute": {"targets": ["a", "b"], "mode": "hard"}}));
        let asked = together([
            ("prod", json!(["a"])),
            ("prod", json!(["b"])),
            ("pause", json!({"on": true})),
            ("pause", json!({"on": false})),
        ]);
        assert_eq!(Value::Object(asked), json!({"prod": ["a", "b"], "pause": {"on": false}}));
    }
}
