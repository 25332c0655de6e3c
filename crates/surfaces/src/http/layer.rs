//! What stands before every route: who may ask from where, what every answer carries, and what
//! happens when a handler panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use moothall_engine::access::Mode;

use super::access::{self, bearer};
use super::observe::{ObservedRequest, method_word};
use super::{App, HttpOptions};
use crate::error::{ApiError, ApiResult, Code};
use crate::gate::Surface;
use crate::peer::Peer;
use crate::request::pairs;
use crate::tls::Tls;

/// What a browser may do with an answer of the API: nothing.
const CSP_API: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The API browser is vendored: its scripts come from here and nowhere else; it sets styles on
/// elements.
const CSP_DOCS: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
                        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Says of which log an answer is, and of which log the position of a request is.
const LOG: HeaderName = HeaderName::from_static("moothall-log");

/// What every user of this computer may ask, also where it matters who they are.
const FOR_EVERY_USER: [&str; 3] = ["/ping", "/healthz", "/health"];

/// Headers that proxies add to what they pass on, beside all that begin with `x-forwarded-`.
const FORWARDED: [&str; 3] = ["forwarded", "via", "x-real-ip"];

/// The values of `Host` and `Origin` that are ours.
pub struct TrustedValues {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl TrustedValues {
    /// Loopback by its names, the address itself, what the certificate names, and what the operator
    /// adds: each a host, and the origin of a page. Over `https` those that TLS reaches: all
    /// with a certificate, and the operator's, before which a proxy may stand.
    pub fn of(options: &HttpOptions) -> Self {
        let port = options.bound.port();
        let names = ["127.0.0.1".to_owned(), "localhost".into(), "[::1]".into()];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if !options.bound.ip().is_unspecified() {
            hosts.push(options.bound.to_string());
        }
        if port == 80 {
            hosts.extend(names);
        }
        let certified = options.tls.as_ref().map(Tls::names).unwrap_or_default();
        hosts.extend(certified.iter().map(|name| format!("{name}:{port}")));
        if port == 443 {
            hosts.extend(certified);
        }
        let own = hosts.len();
        hosts.extend(options.hosts.iter().cloned());
        let behind_tls = if options.tls.is_some() { 0 } else { own };
        let secure = hosts.iter().skip(behind_tls).map(|host| format!("https://{host}"));
        let mut origins: Vec<String> =
            hosts.iter().map(|host| format!("http://{host}")).chain(secure).collect();
        origins.extend(options.origins.iter().cloned());
        Self { hosts, origins }
    }

    /// What `Host` may say: names with their ports.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// What `Origin` may say: a scheme, a name and its port.
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Refuses requests for another server, and from pages of another server. Both are compared
    /// whole.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> ApiResult<()> {
        let host = single(headers, header::HOST).map_err(|_| ApiError::plain(Code::BadHost))?;
        let host = host.ok_or_else(|| ApiError::plain(Code::BadHost))?;
        let asked = [Some(host), uri.authority().map(|authority| authority.as_str())];
        if let Some(other) =
            asked.into_iter().flatten().find(|host| !self.hosts.iter().any(|own| own == host))
        {
            return Err(ApiError::new(Code::WrongHost, wrong_host(other)));
        }
        match single(headers, header::ORIGIN) {
            Ok(None) if is_part_of_a_foreign_page(headers) => {
                Err(ApiError::plain(Code::WrongOrigin))
            }
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.origins.iter().any(|own| own == origin) => Ok(()),
            _ => Err(ApiError::plain(Code::WrongOrigin)),
        }
    }
}

/// Most characters of a host that are repeated.
const HOST_CHARS_SHOWN: usize = 80;

fn wrong_host(asked: &str) -> String {
    let asked: String = asked.chars().take(HOST_CHARS_SHOWN).collect();
    format!(
        "The Host header names another server: `{asked}`. If this one is meant to be reached so, its operator writes `allowed_hosts = \
         [\"{asked}\"]` below [server] and has the configuration read again (SIGHUP); on its own computer, 127.0.0.1 and localhost with its port always do."
    )
}

/// The value of a header that may come once.
fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

/// Browsers send no `Origin` with images, scripts and frames of a page, but they say where the page
/// is from. Following a link is fine.
fn is_part_of_a_foreign_page(headers: &HeaderMap) -> bool {
    let says = |name: &'static str| headers.get(name).map(HeaderValue::as_bytes);
    let link =
        says("sec-fetch-mode") == Some(b"navigate") && says("sec-fetch-dest") == Some(b"document");
    matches!(says("sec-fetch-site"), Some(b"cross-site" | b"same-site")) && !link
}

/// Refuses what another user of this computer asks, but for whether the server is there, and for
/// what the program of a living session asks that runs as this very user, with the token of this
/// session.
fn check_user(gate: &Surface, request: &Request) -> ApiResult<()> {
    let Some(Peer::Other(uid)) = request.extensions().get() else { return Ok(()) };
    let own = || {
        bearer(request.headers())
            .ok()
            .flatten()
            .and_then(|token| gate.access().user_of_session(token))
    };
    let let_in = FOR_EVERY_USER.contains(&request.uri().path()) || own() == Some(*uid);
    if let_in { Ok(()) } else { Err(ApiError::plain(Code::OtherUser)) }
}

/// Refuses in local mode what a proxy passes on: its owner may be the server's own user, and the
/// words are not.
fn check_sender(gate: &Surface, request: &Request) -> ApiResult<()> {
    let for_every_user = FOR_EVERY_USER.contains(&request.uri().path());
    if gate.options().mode == Mode::Token || for_every_user {
        return Ok(());
    }
    let passed_on = request.headers().keys().any(|name| {
        let name = name.as_str();
        FORWARDED.contains(&name) || name.starts_with("x-forwarded-")
    });
    if passed_on { Err(ApiError::plain(Code::Forwarded)) } else { Ok(()) }
}

/// Puts the guards before a router: all of them in one step, because every layer of a router is
/// copied for every request.
pub fn stand_before(router: Router, gate: Surface, app: App) -> Router {
    router.layer(middleware::from_fn_with_state((gate, app), enter))
}

async fn enter(
    State((gate, app)): State<(Surface, App)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (observed, csp) = (ObservedRequest::of(&request), csp(request.uri().path()));
    let checked = check(&gate, &request)
        .and_then(|()| check_log(app.entrance.log_id(), &request).map_err(|error| (error, None)));
    let log = HeaderValue::from_str(app.entrance.log_id());
    let response = match checked {
        Ok(()) => {
            request.extensions_mut().insert(gate.clone());
            let answered =
                AssertUnwindSafe(access::guard(&app, request, next)).catch_unwind().await;
            errors_as_json(answered.unwrap_or_else(answer_panic))
        }
        Err((error, deed)) => {
            if let Some(deed) = deed {
                gate.access().refused(&gate.access().anonymous().unseen(), deed).await;
            }
            error.into_response()
        }
    };
    let mut response = hardened(response, csp);
    if let Ok(log) = log {
        response.headers_mut().insert(LOG, log);
    }
    observed.answered(gate.meters(), &response);
    response
}

/// Refuses what may not be asked from there; with what is to be put on record, where it is worth
/// that.
fn check(gate: &Surface, request: &Request) -> Result<(), (ApiError, Option<String>)> {
    check_user(gate, request).map_err(|error| {
        let route =
            request.extensions().get::<MatchedPath>().map_or("no route", MatchedPath::as_str);
        (
            error,
            Some(format!(
                "{} {route}: by another user of this computer",
                method_word(request.method())
            )),
        )
    })?;
    check_sender(gate, request).map_err(|error| (error, None))?;
    let trusted = gate.said().trusted.check(request.uri(), request.headers());
    trusted.and_then(|()| check_conditions(request)).map_err(|error| (error, None))
}

/// Refuses to change something under a condition, since ignoring the condition would be worse.
fn check_conditions(request: &Request) -> ApiResult<()> {
    let conditions = [header::IF_MATCH, header::IF_UNMODIFIED_SINCE];
    let conditional = conditions.iter().any(|name| request.headers().contains_key(name));
    if conditional && !request.method().is_safe() {
        return Err(ApiError::plain(Code::PreconditionFailed));
    }
    Ok(())
}

/// Refuses a position of another log. Of a client that does not say of which log its position is,
/// nothing can be known.
fn check_log(own: &str, request: &Request) -> ApiResult<()> {
    // The route itself refuses a query that cannot be read, if it reads one.
    let query = pairs(request.uri()).unwrap_or_default();
    let parameter = |name: &str| query.iter().find(|(given, _)| given == name);
    let has_position = request.headers().contains_key("last-event-id")
        || parameter("after").or_else(|| parameter("before")).is_some();
    let header = single(request.headers(), LOG).map_err(|()| ApiError::of_another_log())?;
    let given = header.or_else(|| parameter("log").map(|(_, id)| id.as_str()));
    match given {
        Some(given) if has_position && given != own => Err(ApiError::of_another_log()),
        Some(_) | None => Ok(()),
    }
}

fn answer_panic(reason: Box<dyn Any + Send>) -> Response {
    let text = reason
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| reason.downcast_ref::<String>().map(String::as_str));
    tracing::error!(reason = text.unwrap_or("unknown"), "a handler panicked");
    ApiError::plain(Code::Internal).into_response()
}

/// Gives errors that libraries made the one shape of errors.
fn errors_as_json(response: Response) -> Response {
    let json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value == "application/json");
    if json || !(response.status().is_client_error() || response.status().is_server_error()) {
        return response;
    }
    let code = match response.status() {
        StatusCode::NOT_FOUND => Code::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => Code::MethodNotAllowed,
        status if status.is_client_error() => Code::InvalidParameter,
        _ => Code::Internal,
    };
    ApiError::plain(code).into_response()
}

/// What a browser may do with an answer from here.
fn csp(path: &str) -> &'static str {
    if path == "/docs" || path.starts_with("/docs/") { CSP_DOCS } else { CSP_API }
}

/// With the headers that every answer carries.
fn hardened(mut response: Response, csp: &'static str) -> Response {
    let headers = response.headers_mut();
    // The page and its files say both for themselves.
    for (name, value) in
        [(header::CONTENT_SECURITY_POLICY, csp), (header::CACHE_CONTROL, "no-store")]
    {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let mut set = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value))
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use axum::body::Body;
    use axum::routing::get;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use tokio::sync::watch;

    use crate::http::query::KnownParameters;

    async fn broken() -> Response {
        panic!("a mistake")
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_as_an_error_of_the_server() {
        let options = HttpOptions::new("127.0.0.1:5111".parse().unwrap());
        let gate = Surface::new(crate::gate::tests::hall().await, options);
        let app = App::of(&gate, KnownParameters::default(), watch::channel(false).1);
        let router = stand_before(Router::new().route("/", get(broken)), gate, app);
        let request = Request::builder()
            .uri("/")
            .header("host", "127.0.0.1:5111")
            .body(Body::empty())
            .unwrap();
        let response = TowerToHyperService::new(router).call(request).await.unwrap();
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        let body = axum::body::to_bytes(response.into_body(), 4096).await.unwrap();
        assert!(body.starts_with(b"{\"error\":{\"code\":\"internal\""));
    }

    #[test]
    fn hosts_and_origins_that_the_operator_adds_are_compared_whole() {
        let bound = "127.0.0.1:80".parse().unwrap();
        let options = HttpOptions {
            hosts: vec!["hall.lan".into()],
            origins: vec!["https://hall.lan".into()],
            ..HttpOptions::new(bound)
        };
        let trusted = TrustedValues::of(&options);
        let asked = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            trusted.check(&Uri::from_static("/threads"), &headers).is_ok()
        };
        for (host, origin) in [
            ("hall.lan", None),
            ("hall.lan", Some("https://hall.lan")),
            ("localhost", Some("http://localhost")),
            ("localhost:80", None),
        ] {
            assert!(asked(host, origin), "{host} {origin:?}");
        }
        for (host, origin) in [
            ("hall.lan:80", None),
            ("hall.lan.", None),
            ("hall.lan", Some("https://hall.lan.evil")),
            ("hall.lan", Some("https://hall")),
        ] {
            assert!(!asked(host, origin), "{host} {origin:?}");
        }
    }
}
