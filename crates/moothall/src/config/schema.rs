//! JSON Schema of the configuration, generated from the table of the example file.

use serde_json::{Value, json};

use super::example::{Section, sections};

/// Parts of section titles that stand for any name that the user chooses.
const STAND_INS: [&str; 3] = ["analyst", "codex", "workstation"];

/// Place in the schema of the section that may also be a list of tables.
const TABLE_OR_LIST: &str = "/properties/channels/properties/telegram/properties/bots";

/// Returns the schema of a configuration file.
pub fn schema() -> Value {
    let mut whole = table();
    for section in sections() {
        let place = section.title.split('.').fold(&mut whole, inside);
        place["description"] = json!(section.about);
        for key in &section.keys {
            place["properties"][*key] = described(&section, key);
        }
    }
    if let Some(place) = whole.pointer_mut(TABLE_OR_LIST) {
        place["type"] = json!(["object", "array"]);
    }
    whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    whole["title"] = json!("moothall.toml");
    whole
}

/// Returns the schema of a table without keys.
fn table() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// Returns the schema of an inner table, and creates it if it is missing. A part in [`STAND_INS`]
/// gives the schema for tables of any name.
fn inside<'a>(place: &'a mut Value, part: &str) -> &'a mut Value {
    let inner = if STAND_INS.contains(&part) {
        &mut place["additionalProperties"]
    } else {
        &mut place["properties"][part]
    };
    if !inner.is_object() {
        *inner = table();
    }
    inner
}

/// Returns the schema of a key: its description, and the type of its example.
fn described(section: &Section, key: &str) -> Value {
    let entry = section.entries.iter().find(|(name, ..)| *name == key);
    let Some((_, example, about)) = entry else { return json!({}) };
    let example = toml::from_str::<Value>(&format!("value = {example}"));
    let mut schema = example.map_or_else(|_| json!({}), |example| typed(&example["value"]));
    schema["description"] = json!(about);
    schema
}

/// Returns the schema of the values that have the type of an example.
fn typed(example: &Value) -> Value {
    match example {
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            json!({"type": "array", "items": items.first().map_or_else(|| json!({}), typed)})
        }
        Value::Object(_) => json!({"type": "object"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the place of the first value that does not match a schema. Knows the words that the
    /// generated schema uses.
    fn fault(schema: &Value, value: &Value, at: &str) -> Option<String> {
        let is_typed = match schema["type"].as_str() {
            None => true,
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some(other) => panic!("the schema has the type {other}"),
        };
        if !is_typed {
            return Some(at.to_owned());
        }
        let items = value.as_array().into_iter().flatten();
        let keys = value.as_object().into_iter().flatten();
        items
            .map(|item| fault(&schema["items"], item, &format!("{at}[]")))
            .chain(keys.map(|(key, inner)| {
                let at = format!("{at}.{key}");
                match (schema["properties"].get(key), &schema["additionalProperties"]) {
                    (Some(known), _) => fault(known, inner, &at),
                    (None, Value::Bool(false)) => Some(at),
                    (None, other) => fault(other, inner, &at),
                }
            }))
            .find_map(|found| found)
    }

    fn check(text: &str) -> Option<String> {
        fault(&schema(), &toml::from_str(text).unwrap(), "")
    }

    #[test]
    fn the_example_is_valid_with_every_key() {
        let mut text = String::new();
        for section in sections() {
            text.push_str(&format!("[{}]\n", section.title));
            for (key, value, _) in section.entries {
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
        assert_eq!(check(&text), None, "{text}");
        let list = "[[channels.telegram.bots]]\nagent = \"ada\"\nbot_token = \"1:x\"\n";
        assert_eq!(
            (
                check(list),
                schema()["properties"]["channels"]["properties"]["telegram"]["properties"]["bots"]
                    ["type"][1]
                    .as_str()
            ),
            (None, Some("array"))
        );
        let file = std::fs::read_to_string("../../moothall.example.toml").unwrap();
        assert_eq!(check(&file), None);
    }

    #[test]
    fn a_broken_configuration_is_invalid_for_the_schema_as_for_the_server() {
        for (text, at) in [
            ("[servr]\n", ".servr"),
            ("[server]\nbnd = \"127.0.0.1:0\"\n", ".server.bnd"),
            ("[server]\nother_users = \"yes\"\n", ".server.other_users"),
            ("[limits]\nsessions = 1.5\n", ".limits.sessions"),
            ("[agents.ada]\ncommand = \"codex exec -\"\n", ".agents.ada.command"),
            ("[agents.ada]\ncommand = [\"true\"]\ncolour = \"red\"\n", ".agents.ada.colour"),
            ("[computers.desk]\nallow = [1]\n", ".computers.desk.allow[]"),
        ] {
            assert_eq!(check(text).as_deref(), Some(at), "{text}");
            assert!(super::super::tests::parse(text).is_err(), "{text}");
        }
    }
}
