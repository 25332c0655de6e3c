//! The layer before every route: checks of the user, proxies, host, origin, conditions and log,
//! headers of all answers, and errors for panicking handlers.

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
use crate::peer::Peer;
use crate::request::pairs;
use crate::surface::Surface;
use crate::tls::Tls;

/// Content security policy of API answers: a browser may load nothing.
const CSP_API: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Content security policy of the API browser: scripts come only from this server, and inline
/// styles are allowed.
const CSP_DOCS: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
                        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The header with the id of the log. An answer names its own log, and a request the log of its
/// position.
const LOG: HeaderName = HeaderName::from_static("moothall-log");

/// Routes for every user of this computer, even if users are distinguished.
const FOR_EVERY_USER: [&str; 3] = ["/ping", "/healthz", "/health"];

/// Headers that proxies add, beside all that begin with `x-forwarded-`.
const FORWARDED: [&str; 3] = ["forwarded", "via", "x-real-ip"];

/// The accepted values of `Host` and `Origin`.
pub struct TrustedValues {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl TrustedValues {
    /// Collects the hosts: loopback names, the bound address, names in the certificate, and those
    /// that the operator adds. Each host is also accepted as an origin with `http`. With a
    /// certificate, each is accepted with `https` too. Without a certificate, only the operator's
    /// hosts are, because a TLS proxy may stand before them. The operator's origins are added.
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

    /// Returns the accepted values of `Host`: names with their ports.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the accepted values of `Origin`: a scheme, a name and its port.
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Rejects requests for another server and from pages of another server. Values are compared
    /// whole.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> ApiResult<()> {
        let host = single(headers, header::HOST).map_err(|_| ApiError::plain(Code::BadHost))?;
        let host = host.ok_or_else(|| ApiError::plain(Code::BadHost))?;
        // An absolute address in the request line takes the place of `Host`, so both are compared.
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

/// Maximum number of characters of a host in the error.
const HOST_CHARS_SHOWN: usize = 80;

fn wrong_host(asked: &str) -> String {
    let asked: String = asked.chars().take(HOST_CHARS_SHOWN).collect();
    format!(
        "The Host header names another server: `{asked}`. To allow this name, the operator writes \
         `allowed_hosts = [\"{asked}\"]` below [server] and reloads the configuration (SIGHUP). \
         On the server's own computer, 127.0.0.1 and localhost with its port always work."
    )
}

/// Returns the value of a header that may occur at most once.
fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

/// True if a foreign page loads this as an image, script or frame. Browsers send no `Origin` then,
/// but `Sec-Fetch-Site`. Following a link is allowed.
fn is_part_of_a_foreign_page(headers: &HeaderMap) -> bool {
    let says = |name: &'static str| headers.get(name).map(HeaderValue::as_bytes);
    let link =
        says("sec-fetch-mode") == Some(b"navigate") && says("sec-fetch-dest") == Some(b"document");
    matches!(says("sec-fetch-site"), Some(b"cross-site" | b"same-site")) && !link
}

/// Rejects requests of other users of this computer. Exceptions are health checks, and requests of
/// a live session's program that runs as that user and sends the session's token.
fn check_user(surface: &Surface, request: &Request) -> ApiResult<()> {
    let Some(Peer::Other(uid)) = request.extensions().get() else { return Ok(()) };
    let own = || {
        bearer(request.headers())
            .ok()
            .flatten()
            .and_then(|token| surface.access().user_of_session(token))
    };
    let let_in = FOR_EVERY_USER.contains(&request.uri().path()) || own() == Some(*uid);
    if let_in { Ok(()) } else { Err(ApiError::plain(Code::OtherUser)) }
}

/// Rejects requests through a proxy in local mode, except health checks. The server sees only the
/// proxy's user, which can be its own, while the proxy's client can belong to another user.
fn check_sender(surface: &Surface, request: &Request) -> ApiResult<()> {
    let for_every_user = FOR_EVERY_USER.contains(&request.uri().path());
    if surface.options().mode == Mode::Token || for_every_user {
        return Ok(());
    }
    let passed_on = request.headers().keys().any(|name| {
        let name = name.as_str();
        FORWARDED.contains(&name) || name.starts_with("x-forwarded-")
    });
    if passed_on { Err(ApiError::plain(Code::Forwarded)) } else { Ok(()) }
}

/// Puts the guards before a router. They are a single layer, because every layer is cloned for
/// every request.
pub fn stand_before(router: Router, surface: Surface, app: App) -> Router {
    router.layer(middleware::from_fn_with_state((surface, app), enter))
}

/// Answers a request: checks it, passes it on to [`access::guard`], and adds the headers that every
/// answer carries. Counts and logs the answer. A handler that panics is answered with an error.
async fn enter(
    State((surface, app)): State<(Surface, App)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (observed, csp) = (ObservedRequest::of(&request), csp(request.uri().path()));
    let checked = check(&surface, &request)
        .and_then(|()| check_log(app.entrance.log_id(), &request).map_err(|error| (error, None)));
    let log = HeaderValue::from_str(app.entrance.log_id());
    let response = match checked {
        Ok(()) => {
            request.extensions_mut().insert(surface.clone());
            let answered =
                AssertUnwindSafe(access::guard(&app, request, next)).catch_unwind().await;
            errors_as_json(answered.unwrap_or_else(answer_panic))
        }
        Err((error, action)) => {
            if let Some(action) = action {
                surface
                    .access()
                    .record_refusal(&surface.access().anonymous().unseen(), action)
                    .await;
            }
            error.into_response()
        }
    };
    let mut response = hardened(response, csp);
    if let Ok(log) = log {
        response.headers_mut().insert(LOG, log);
    }
    observed.answered(surface.meters(), &response);
    response
}

/// Checks the user, the sender, the host and the conditions of a request. An error comes with a
/// text for the audit record, if it should be recorded.
fn check(surface: &Surface, request: &Request) -> Result<(), (ApiError, Option<String>)> {
    check_user(surface, request).map_err(|error| {
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
    check_sender(surface, request).map_err(|error| (error, None))?;
    let trusted = surface.reloadable().trusted.check(request.uri(), request.headers());
    trusted.and_then(|()| check_conditions(request)).map_err(|error| (error, None))
}

/// Rejects conditional writes, because the server cannot check their conditions.
fn check_conditions(request: &Request) -> ApiResult<()> {
    let conditions = [header::IF_MATCH, header::IF_UNMODIFIED_SINCE];
    let conditional = conditions.iter().any(|name| request.headers().contains_key(name));
    if conditional && !request.method().is_safe() {
        return Err(ApiError::plain(Code::PreconditionFailed));
    }
    Ok(())
}

/// Rejects a position of another log, if the request names the log of its position. Rejects a
/// `moothall-log` header that occurs twice or cannot be read.
fn check_log(own: &str, request: &Request) -> ApiResult<()> {
    // A query that cannot be read is rejected by the route itself, if it reads one.
    let query = pairs(request.uri()).unwrap_or_default();
    let parameter = |name: &str| query.iter().find(|(given, _)| given == name);
    let has_position = request.headers().contains_key("last-event-id")
        || ["after", "before", "follow"].into_iter().any(|name| parameter(name).is_some());
    let header = single(request.headers(), LOG).map_err(|()| ApiError::of_another_log())?;
    let given = header.or_else(|| parameter("log").map(|(_, id)| id.as_str()));
    match given {
        Some(given) if has_position && given != own => Err(ApiError::of_another_log()),
        Some(_) | None => Ok(()),
    }
}

/// Logs the reason of a panic, which the client does not see, and returns the error for the client.
fn answer_panic(reason: Box<dyn Any + Send>) -> Response {
    let text = reason
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| reason.downcast_ref::<String>().map(String::as_str));
    tracing::error!(reason = text.unwrap_or("unknown"), "a handler panicked");
    ApiError::plain(Code::Internal).into_response()
}

/// Converts errors that libraries made to the common form of errors.
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

/// Returns the content security policy for a path.
fn csp(path: &str) -> &'static str {
    if path == "/docs" || path.starts_with("/docs/") { CSP_DOCS } else { CSP_API }
}

/// Adds the headers that every answer carries.
fn hardened(mut response: Response, csp: &'static str) -> Response {
    let headers = response.headers_mut();
    // The page and its files have set these two headers already.
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
        let surface = Surface::new(crate::surface::tests::hall().await, options);
        let app = App::of(&surface, KnownParameters::default(), watch::channel(false).1);
        let router = stand_before(Router::new().route("/", get(broken)), surface, app);
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
