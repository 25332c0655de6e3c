//! The credentials in the OpenAPI description. They are made from [`ROUTES`], which the guard uses
//! too, so that generated clients send what is needed.

use std::collections::BTreeMap;

use moothall_engine::access::Scope;
use moothall_engine::door::Need;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Components, OpenApi};

use super::access::{ROUTES, Route};

const BEARER: &str = "bearer";
const COOKIE: &str = "cookie";
const OF_BEARER: &str = "A token or the start-up credential. Each operation lists the scopes that \
                         it needs; `server:admin` includes all of them.";
const OF_COOKIE: &str = "The cookie of a browser that signed in with `POST /session`. Its name \
                         contains the server's port. All requests except GET also need the \
                         headers `X-Moothall: 1` and `Origin`.";

/// Adds the kinds of credentials, and the needs of each operation.
pub(super) fn described(mut api: OpenApi, cookie: &str) -> OpenApi {
    let bearer =
        HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(OF_BEARER)).build();
    let page = ApiKey::Cookie(ApiKeyValue::with_description(cookie, OF_COOKIE));
    let components = api.components.get_or_insert_with(Components::default);
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    components.add_security_scheme(COOKIE, SecurityScheme::ApiKey(page));
    for route in ROUTES {
        if let Some(operation) = operation(&mut api.paths.paths, route) {
            operation.security = Some(requirements(route.action.need()));
        }
    }
    api
}

/// Returns the described operation of a route, or `None` if the description leaves the route out.
fn operation<'a>(
    paths: &'a mut BTreeMap<String, PathItem>,
    route: &Route,
) -> Option<&'a mut Operation> {
    let path = paths.get_mut(route.path)?;
    let operation = match route.method {
        "GET" => &mut path.get,
        "POST" => &mut path.post,
        "PUT" => &mut path.put,
        "DELETE" => &mut path.delete,
        _ => return None,
    };
    operation.as_mut()
}

/// Returns the alternative credentials, any one of which is enough. [`Need::Entry`] and
/// [`Need::Scope`] also have an empty alternative, because local mode lets callers converse without
/// a credential.
fn requirements(need: Need) -> Vec<SecurityRequirement> {
    match need {
        Need::Nothing => Vec::new(),
        Need::Entry => [vec![SecurityRequirement::default()], credential(None)].concat(),
        Need::Scope(scope) => {
            [vec![SecurityRequirement::default()], credential(Some(scope))].concat()
        }
        Need::Proof(scope) => credential(Some(scope)),
    }
}

fn credential(scope: Option<Scope>) -> Vec<SecurityRequirement> {
    [BEARER, COOKIE]
        .into_iter()
        .map(|scheme| SecurityRequirement::new(scheme, scope.map(<&str>::from)))
        .collect()
}
