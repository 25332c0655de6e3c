//! Which parameters a query may have: those of the description of the interface, and no others.
//! What is ignored in silence misleads whoever sent it, so there is one list, and both what is
//! written down and what is refused are made of it.

use std::collections::HashMap;

use axum::http::{Method, Uri};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use crate::error::{ApiError, ApiResult, Code};
use crate::request::pairs;

/// The parameters of each operation: by its path, then by its method.
#[derive(Default)]
pub(crate) struct KnownParameters(HashMap<String, Vec<(Method, Vec<String>)>>);

impl KnownParameters {
    /// Those that the description names.
    pub(super) fn of(api: &OpenApi) -> Self {
        let operations = |item| {
            methods(item).map(|(method, operation)| (method, names(operation))).collect::<Vec<_>>()
        };
        Self(api.paths.paths.iter().map(|(path, item)| (path.clone(), operations(item))).collect())
    }

    /// Refuses a query that says what nobody reads.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`], also when the query cannot be read.
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

fn unknown(name: &str, known: &[String]) -> ApiError {
    let shown: String = name.chars().take(40).collect();
    let there = if known.is_empty() {
        "it takes none".to_owned()
    } else {
        format!("known are {}", known.join(", "))
    };
    ApiError::new(Code::InvalidParameter, format!("There is no parameter {shown:?} here; {there}."))
}
