//! Routes that sign a browser in and out, and that identify the caller.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use moothall_engine::access::Caller;

use super::App;
use super::access::CredentialSource;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Address, Body};
use crate::strict::Inbound;
use crate::wire::{ErrorBody, SignIn, SignedOut, WhoAmI};

/// Lifetime of the cookie in the browser, in seconds. The server decides how long it stays valid.
const COOKIE_SECONDS: u64 = 30 * 86_400;

/// Signs a browser in: exchanges the start-up credential or a token for a cookie that scripts
/// cannot read.
#[utoipa::path(post, path = "/session", operation_id = "sign_in", tag = "access", request_body = SignIn,
    responses((status = 200, body = WhoAmI), (status = "4XX", body = ErrorBody)))]
pub async fn begin(
    State(app): State<App>,
    address: Address,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Response> {
    let SignIn { key } = body.read()?;
    let (secret, caller) =
        app.access.sign_in(&key).await?.ok_or_else(|| app.rates.refuse_key(address.0))?;
    let cookie = cookie(&app.cookie, secret.reveal(), COOKIE_SECONDS, &headers)?;
    Ok(([(header::SET_COOKIE, cookie)], Json(WhoAmI::of(app.access.mode(), &caller)))
        .into_response())
}

impl Inbound for SignIn {
    fn missing(_: &str) -> ApiError {
        let message = "'key' is missing: a token, or the key that `moothall page` shows.";
        ApiError::new(Code::InvalidField, message)
    }
}

/// Signs a browser out. The cookie is invalid from then on, even if a copy was kept.
#[utoipa::path(post, path = "/session/end", operation_id = "sign_out", tag = "access",
    responses((status = 200, body = SignedOut), (status = "4XX", body = ErrorBody)))]
pub async fn end(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(via): Extension<CredentialSource>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let ended = via == CredentialSource::Cookie;
    if ended {
        app.access.sign_out(&caller).await?;
    }
    let cookie = cookie(&app.cookie, "", 0, &headers)?;
    Ok(([(header::SET_COOKIE, cookie)], Json(SignedOut { ended })).into_response())
}

/// Returns who the caller is, and what the caller may do.
#[utoipa::path(get, path = "/session", operation_id = "who_am_i", tag = "access",
    responses((status = 200, body = WhoAmI), (status = "4XX", body = ErrorBody)))]
pub async fn who(State(app): State<App>, Extension(caller): Extension<Caller>) -> Json<WhoAmI> {
    Json(WhoAmI::of(app.access.mode(), &caller))
}

/// Returns the cookie as a header. It is limited to TLS if the page was loaded over TLS. With 0
/// seconds, the browser forgets it.
fn cookie(name: &str, value: &str, seconds: u64, headers: &HeaderMap) -> ApiResult<HeaderValue> {
    // `Origin` also shows TLS that ends at a proxy, which this connection does not show.
    let tls = headers
        .get(header::ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if tls { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).map_err(|_| ApiError::plain(Code::Internal))
}
