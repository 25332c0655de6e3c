//! Checks the parameters of a query against the OpenAPI description. To ignore an unknown parameter
//! would mislead the client, so the description and the check share one list.

use std::collections::HashMap;

use axum::http::{Method, Uri};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use crate::error::{ApiError, ApiResult, Code};
use crate::request::pairs;

/// The parameters of each operation, by path and method.
#[derive(Default)]
pub(crate) struct KnownParameters(HashMap<String, Vec<(Method, Vec<String>)>>);

impl KnownParameters {
    /// Collects the parameters that the description names.
    pub(super) fn of(api: &OpenApi) -> Self {
        let operations = |item| {
            methods(item).map(|(method, operation)| (method, names(operation))).collect::<Vec<_>>()
        };
        Self(api.paths.paths.iter().map(|(path, item)| (path.clone(), operations(item))).collect())
    }

    /// Rejects a query with an unknown parameter. Routes outside of the description are not
    /// checked.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`], also if the query cannot be read.
    pub(super) fn check(&self, template: &str, method: &Method, uri: &Uri) -> ApiResult<()> {
        if uri.query().is_none() {
            return Ok(());
        }
        let asked = if method == Method::HEAD { &Method::GET } else { method };
        let mut operations = self.0.get(template).into_iter().flatten();
        let Some((_, known)) = operations.find(|(method, _)| method == asked) else {
            return Ok(());
        };
        match pairs(uri)?.iter().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(unknown(name, known)),
        }
    }
}

/// Returns the operations of a path with their methods.
fn methods(item: &PathItem) -> impl Iterator<Item = (Method, &Operation)> {
    let all = [
        (Method::GET, &item.get),
        (Method::PUT, &item.put),
        (Method::POST, &item.post),
        (Method::DELETE, &item.delete),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| operation.as_ref().map(|operation| (method, operation)))
}

/// Returns the names of an operation's query parameters.
fn names(operation: &Operation) -> Vec<String> {
    let parameters =
        operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        });
    parameters
        .filter(|parameter| parameter.parameter_in == ParameterIn::Query)
        .map(|parameter| parameter.name.clone())
        .collect()
}

/// Returns the error for an unknown parameter, with a list of the known ones.
fn unknown(name: &str, known: &[String]) -> ApiError {
    let shown: String = name.chars().take(40).collect();
    let there = if known.is_empty() {
        "this route takes none".to_owned()
    } else {
        format!("known are {}", known.join(", "))
    };
    ApiError::new(Code::InvalidParameter, format!("Unknown parameter {shown:?}; {there}."))
}
