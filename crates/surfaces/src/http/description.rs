//! Completes the OpenAPI description with what all operations share: ranges of parameters, and
//! descriptions of answers.

use moothall_engine::access::Scope;
use serde_json::json;
use strum::VariantArray;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayItems, KnownFormat, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{ContentBuilder, Object, OpenApi, PathItem, Ref, RefOr, Response, Schema};

use crate::json::SAFE_INTEGER;
use crate::request::LIMIT_MAX;
use crate::wire::ID_PATTERN;

/// The pattern of an `Idempotency-Key`: 1 to 255 visible ASCII characters.
const KEY_PATTERN: &str = "^[!-~]{1,255}$";
const REFUSED: &str = "Rejected. `error.code` names the reason; `error.message` says what to do.";
const FAILED: &str = "Failed. `error.code` names the reason.";
const DONE: &str = "Done.";

/// Adds the ranges, errors and descriptions that the operations leave out, so that the description
/// is as strict as the server.
pub(super) fn completed(mut api: OpenApi) -> OpenApi {
    for operation in api.paths.paths.values_mut().flat_map(operations) {
        for parameter in operation.parameters.iter_mut().flatten() {
            if let RefOr::T(parameter) = parameter {
                narrow(parameter);
            }
        }
        add_errors(operation);
    }
    close_bodies(&mut api);
    name_scopes(&mut api);
    describe_answers(&mut api);
    api
}

pub(super) fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut path.get, &mut path.put, &mut path.post, &mut path.delete]
        .into_iter()
        .filter_map(Option::as_mut)
}

/// Gives a parameter the range that `crate::request` accepts, and removes null from its type.
fn narrow(parameter: &mut Parameter) {
    let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema else { return };
    if let SchemaType::Array(types) = &object.schema_type
        && let Some(kind) = types.iter().find(|kind| **kind != Type::Null)
    {
        // An optional parameter is left out, and cannot be null.
        object.schema_type = SchemaType::Type(kind.clone());
    }
    match (&parameter.parameter_in, parameter.name.as_str()) {
        (ParameterIn::Query, "limit") => {
            object.minimum = Some(utoipa::Number::UInt(1));
            object.maximum.get_or_insert(utoipa::Number::UInt(LIMIT_MAX));
        }
        (ParameterIn::Query, "as") => object.pattern = Some(ID_PATTERN.into()),
        (ParameterIn::Query, "since" | "until") => {
            object.format = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))
        }
        (ParameterIn::Header, "Idempotency-Key") => object.pattern = Some(KEY_PATTERN.into()),
        _ if object.schema_type == SchemaType::Type(Type::Integer) => {
            object.maximum.get_or_insert(utoipa::Number::UInt(SAFE_INTEGER as usize));
        }
        _ => {}
    }
}

/// Adds the error responses that every operation can return.
fn add_errors(operation: &mut Operation) {
    for status in ["4XX", "5XX"] {
        operation.responses.responses.entry(status.into()).or_insert_with(|| {
            let content =
                ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
            let mut response = Response::new("");
            response.content.insert("application/json".into(), RefOr::T(content));
            RefOr::T(response)
        });
    }
}

/// Bodies that accept unknown fields: those of an event are named in a warning, and the protocol of
/// `/mcp` has its own rules.
const OPEN: [&str; 2] = ["NewEvent", "McpMessage"];

/// Forbids unknown fields in the schemas of bodies.
fn close_bodies(api: &mut OpenApi) {
    let bodies: Vec<String> = api
        .paths
        .paths
        .values_mut()
        .flat_map(operations)
        .filter_map(|operation| body_name(operation))
        .collect();
    let schemas = api.components.iter_mut().flat_map(|components| &mut components.schemas);
    for (_, schema) in
        schemas.filter(|(name, _)| bodies.contains(name) && !OPEN.contains(&name.as_str()))
    {
        if let RefOr::T(Schema::Object(object)) = schema {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
}

/// Returns the name of the type of an operation's body. An optional body has a schema of this type
/// or null.
fn body_name(operation: &Operation) -> Option<String> {
    let RefOr::T(body) = operation.request_body.as_ref()? else { return None };
    let RefOr::T(content) = body.content.values().next()? else { return None };
    let place = match content.schema.as_ref()? {
        RefOr::Ref(place) => place,
        RefOr::T(Schema::OneOf(either)) => either.items.iter().find_map(|item| match item {
            RefOr::Ref(place) => Some(place),
            RefOr::T(_) => None,
        })?,
        RefOr::T(_) => return None,
    };
    place.ref_location.rsplit('/').next().map(str::to_owned)
}

/// Adds the list of all scopes to the bodies of tokens and of invitations.
fn name_scopes(api: &mut OpenApi) {
    let words = || Some(Scope::VARIANTS.iter().map(|scope| json!(scope.to_string())).collect());
    let schemas = api.components.iter_mut().flat_map(|components| &mut components.schemas);
    for (_, schema) in
        schemas.filter(|(name, _)| matches!(name.as_str(), "TokenRequest" | "InvitationRequest"))
    {
        let RefOr::T(Schema::Object(object)) = schema else { continue };
        if let Some(RefOr::T(Schema::Array(scopes))) = object.properties.get_mut("scopes")
            && let ArrayItems::RefOrSchema(items) = &mut scopes.items
            && let RefOr::T(Schema::Object(item)) = items.as_mut()
        {
            item.enum_values = words();
        }
    }
}

/// Adds a description to every answer that has none, because OpenAPI requires one: that of the type
/// of its body, or that of an error.
fn describe_answers(api: &mut OpenApi) {
    let described = |object: &Object| object.description.clone();
    let schemas = api.components.iter().flat_map(|components| &components.schemas);
    let of_schemas: Vec<(String, String)> = schemas
        .filter_map(|(name, schema)| match schema {
            RefOr::T(Schema::Object(object)) => {
                Some((format!("#/components/schemas/{name}"), described(object)?))
            }
            _ => None,
        })
        .collect();
    for operation in api.paths.paths.values_mut().flat_map(operations) {
        for (status, response) in &mut operation.responses.responses {
            let RefOr::T(response) = response else { continue };
            if response.description.is_empty() {
                response.description = match status.as_str() {
                    "4XX" => REFUSED.into(),
                    "5XX" => FAILED.into(),
                    _ => body_of(response, &of_schemas).unwrap_or(DONE).into(),
                };
            }
        }
    }
}

/// Returns the description of the type in an answer's body.
fn body_of<'a>(response: &Response, of_schemas: &'a [(String, String)]) -> Option<&'a str> {
    let RefOr::T(content) = response.content.values().next()? else { return None };
    let Some(RefOr::Ref(place)) = &content.schema else { return None };
    of_schemas.iter().find(|(name, _)| *name == place.ref_location).map(|(_, text)| text.as_str())
}
