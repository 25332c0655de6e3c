//! The OpenRPC document of the JSON-RPC surface, made from the table of methods and the wire types.
//!
//! Each method lists its parameters one by one, with their names, as OpenRPC requires. `x-params`
//! has the closed object that the parameters form, with which a client can check them. `x-sender`
//! is the side that sends the message, client or server. A method without a result is a
//! notification.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::code::RpcCode;
use super::methods::{ERRORS_OF_ALL, Row, Sender, rows};

/// The version of OpenRPC.
const OPENRPC: &str = "1.3.2";

/// Returns the document: every method and notification, with their schemas.
pub fn openrpc() -> Value {
    let schemas = schemas();
    let methods: Vec<Value> = rows().map(|row| method(&row, &schemas)).collect();
    let errors: Map<String, Value> = RpcCode::VARIANTS
        .iter()
        .map(|code| {
            (code.tag().to_owned(), json!({"code": code.number(), "message": code.message()}))
        })
        .collect();
    json!({
        "openrpc": OPENRPC,
        "info": {
            "title": "Moothall",
            "description": "Tasks and conversations of AI agents, as JSON-RPC 2.0.",
            "license": {"name": "Apache-2.0"},
            "version": env!("CARGO_PKG_VERSION"),
        },
        "methods": methods,
        "components": {"schemas": schemas, "errors": errors},
    })
}

/// Returns the schemas of all types, by name.
fn schemas() -> BTreeMap<String, Value> {
    let mut found = Vec::new();
    for shape in rows().flat_map(|row| [Some(row.params), row.result]).flatten() {
        (shape.collect)(&mut found);
    }
    let written = |schema| {
        let mut value = serde_json::to_value(schema).unwrap_or_default();
        narrow(&mut value);
        value
    };
    found.into_iter().map(|(name, schema)| (name, written(schema))).collect()
}

/// Returns the description of a method. The errors that all calls have are listed only for methods
/// that the client sends.
fn method(row: &Row, schemas: &BTreeMap<String, Value>) -> Value {
    let mut method = json!({
        "name": row.name,
        "summary": row.summary,
        "paramStructure": "by-name",
        "params": params(&(row.params.name)(), schemas),
        "x-params": reference(&(row.params.name)()),
        "x-sender": <&str>::from(row.sender),
    });
    if let Some(result) = row.result {
        let name = (result.name)();
        method["result"] = json!({"name": name, "schema": reference(&name)});
    }
    let of_all = ERRORS_OF_ALL.iter().filter(|_| row.sender == Sender::Client);
    let errors: Vec<Value> = of_all
        .chain(row.errors)
        .map(|code| json!({"$ref": format!("#/components/errors/{}", code.tag())}))
        .collect();
    if !errors.is_empty() {
        method["errors"] = json!(errors);
    }
    method
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns the parameters of the type with this name. If the type is a choice of several objects, a
/// parameter is required if all of them require it.
fn params(name: &str, schemas: &BTreeMap<String, Value>) -> Vec<Value> {
    let objects = objects(name, schemas);
    let mut found: Vec<Value> = Vec::new();
    for (name, schema) in
        objects.iter().filter_map(|object| object["properties"].as_object()).flatten()
    {
        if found.iter().all(|param| param["name"] != json!(name)) {
            let required = objects.iter().all(|object| is_required(object, name));
            found.push(json!({"name": name, "required": required, "schema": schema}));
        }
    }
    found
}

/// Returns the schema of this name, or its alternatives if it is a choice of several.
fn objects<'a>(name: &str, schemas: &'a BTreeMap<String, Value>) -> Vec<&'a Value> {
    let Some(schema) = schemas.get(name) else { return Vec::new() };
    let Some(either) = schema["oneOf"].as_array() else { return vec![schema] };
    let names = either.iter().filter_map(|one| one["$ref"].as_str()?.rsplit('/').next());
    names.filter_map(|name| schemas.get(name)).collect()
}

fn is_required(object: &Value, name: &str) -> bool {
    object["required"].as_array().is_some_and(|required| required.contains(&json!(name)))
}

/// Adds rules that the types cannot express: an optional member is never null, and tagged objects
/// are closed like all others.
fn narrow(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let whole = Value::Object(members.clone());
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                for (name, property) in properties.iter_mut() {
                    if !is_required(&whole, name) {
                        without_null(property);
                    }
                }
                members.entry("additionalProperties").or_insert(json!(false));
            }
            members.values_mut().for_each(narrow);
        }
        Value::Array(items) => items.iter_mut().for_each(narrow),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes null from the schema of a value.
fn without_null(property: &mut Value) {
    let null = json!({"type": "null"});
    if let Some(types) = property["type"].as_array() {
        let kept: Vec<Value> =
            types.iter().filter(|kind| **kind != json!("null")).cloned().collect();
        property["type"] = if let [one] = &kept[..] { one.clone() } else { json!(kept) };
    }
    if let Some(either) = property["oneOf"].as_array()
        && let [one] = &either.iter().filter(|one| **one != null).collect::<Vec<_>>()[..]
    {
        *property = (*one).clone();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    /// Collects every schema in a value, including the value itself.
    fn every<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
        found.push(value);
        match value {
            Value::Object(members) => members.values().for_each(|value| every(value, found)),
            Value::Array(items) => items.iter().for_each(|value| every(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_object_is_closed_or_a_map_of_one_type() {
        let document = openrpc();
        let mut found = Vec::new();
        every(&document["components"]["schemas"], &mut found);
        let objects: Vec<_> = found.iter().filter(|schema| schema["type"] == "object").collect();
        assert!(objects.len() > 40, "{} objects", objects.len());
        for object in objects {
            let more = &object["additionalProperties"];
            let is_map = more.is_object() && object.get("properties").is_none();
            assert!(is_map || *more == json!(false), "{object:#}");
        }
    }

    #[test]
    fn null_stands_only_where_it_always_stands() {
        let schemas = schemas();
        let mut nullable = BTreeSet::new();
        for (name, schema) in &schemas {
            for (field, property) in schema["properties"].as_object().into_iter().flatten() {
                if property.to_string().contains("\"null\"") {
                    assert!(is_required(schema, field), "{name}.{field}");
                    nullable.insert(format!("{name}.{field}"));
                }
            }
        }
        let wanted = [
            "Task.startedAt",
            "Task.endedAt",
            "TaskParticipant.admittedAt",
            "TaskRequested.conversation",
        ];
        assert_eq!(nullable, wanted.map(str::to_owned).into());
    }

    #[test]
    fn fields_are_named_in_camel_case_but_for_hooks() {
        let schemas = schemas();
        let mut found = Vec::new();
        for (_, schema) in schemas.iter().filter(|(name, _)| *name != "Hooks") {
            every(schema, &mut found);
        }
        let objects = found.iter().filter_map(|schema| schema["properties"].as_object());
        let wrong: Vec<_> = objects.flat_map(Map::keys).filter(|name| name.contains('_')).collect();
        assert!(wrong.is_empty(), "{wrong:?} are not what is read and written");
        assert!(schemas["Part"].to_string().contains("\"altText\""));
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_name_stands_once() {
        let document = openrpc();
        let mut found = Vec::new();
        every(&document, &mut found);
        for place in found.iter().filter_map(|value| value["$ref"].as_str()) {
            assert!(document.pointer(place.trim_start_matches('#')).is_some(), "{place}");
        }
        let names: Vec<_> = rows().map(|row| row.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn formats_and_bounds_are_described() {
        let schemas = openrpc()["components"]["schemas"].clone();
        assert_eq!(schemas["Uuid"]["format"], "uuid");
        assert_eq!(schemas["DateTime"]["format"], "date-time");
        assert_eq!(
            (&schemas["Uri"]["format"], &schemas["Uri"]["maxLength"]),
            (&json!("uri"), &json!(2048))
        );
        let text = &schemas["MessageText"];
        assert_eq!((&text["minLength"], &text["maxLength"]), (&json!(1), &json!(32_768)));
        let parts = &schemas["Parts"];
        assert_eq!((&parts["minItems"], &parts["maxItems"]), (&json!(1), &json!(10)));
        let limit = &schemas["Limit"];
        assert_eq!((&limit["minimum"], &limit["maximum"]), (&json!(1), &json!(200)));
    }

    #[test]
    fn a_connection_takes_one_of_two_credentials() {
        let params = params("NetworkConnect", &schemas());
        let said: Vec<_> = params
            .iter()
            .map(|param| (param["name"].as_str().unwrap(), param["required"] == json!(true)))
            .collect();
        let wanted = [
            ("agentKey", false),
            ("minProtocol", true),
            ("maxProtocol", true),
            ("sessionToken", false),
        ];
        assert_eq!(said.iter().collect::<BTreeSet<_>>(), wanted.iter().collect());
    }
}
