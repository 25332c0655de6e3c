//! Which parameters a query may have: those of the description of the interface, and no others.
//! What is ignored in silence misleads whoever sent it, so there is one list, and both what is
//! written down and what is refused are made of it.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use crate::error::{ApiError, ApiResult, Code};
use crate::request::pairs;

/// The parameters of each operation, by its path and method.
pub(super) struct Known(HashMap<(String, Method), Vec<String>>);

impl Known {
    /// Those that the description names.
    pub(super) fn of(api: &OpenApi) -> Arc<Self> {
        let operations = api.paths.paths.iter().flat_map(|(path, item)| {
            methods(item).map(move |(method, operation)| (path, method, operation))
        });
        Arc::new(Self(
            operations
                .map(|(path, method, operation)| ((path.clone(), method), names(operation)))
                .collect(),
        ))
    }

    fn check(&self, request: &Request) -> ApiResult<()> {
        let Some(template) = request.extensions().get::<MatchedPath>() else { return Ok(()) };
        let method =
            if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
        let Some(known) = self.0.get(&(template.as_str().to_owned(), method)) else {
            return Ok(());
        };
        let given = pairs(request.uri())?;
        match given.iter().find(|(name, _)| !known.contains(name)) {
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

/// Refuses a request whose query says what nobody reads.
pub(super) async fn check(
    State(known): State<Arc<Known>>,
    request: Request,
    next: Next,
) -> Response {
    match known.check(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}
