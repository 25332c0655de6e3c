//! Tokens: making, listing and revoking them; and the record of what was done with them.

use std::collections::BTreeSet;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use moothall_engine::access::{Caller, NewToken, Principal, Scope, Scopes, TOKEN_THREADS_MAX, TokenId};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Millis;
use serde_json::Value;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, participant, stream_id};
use crate::wire::{AuditPage, AuditRow, ErrorBody, TokenCreated, TokenEntry, TokenList, TokenRequest, TokenRevoked};

/// Rows of a page of the record where nothing is said.
const AUDIT_ROWS: usize = 100;
/// Longest label, in characters.
const LABEL_CHARS_MAX: usize = 100;
/// Seconds of a day.
const DAY: u64 = 86_400;
/// The longest that a token is worth something.
const DAYS_MAX: u64 = 3650;

/// Makes a token. It is shown in this answer and never again.
#[utoipa::path(post, path = "/tokens", operation_id = "create_token", tag = "access", request_body = TokenRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "A repeat of the request makes no second token, and does not show the first again.")),
    responses((status = 200, body = TokenCreated), (status = "4XX", body = ErrorBody)))]
pub async fn create(State(app): State<App>, body: Body) -> ApiResult<Json<TokenCreated>> {
    body.only(&["principal", "kind", "scopes", "threads", "label", "expires_in_days"])?;
    let idempotency = body.idempotency(&body.asker()?);
    if let Some(earlier) = idempotency.as_ref().and_then(|key| app.tokens_made.earlier(key)) {
        return Err(earlier.map_or_else(|error| error, |_| ApiError::plain(Code::TokenShown)));
    }
    let (secret, token) = app.access.create(body.caller(), wanted(&body)?).await?;
    if let Some(key) = idempotency {
        app.tokens_made.keep(key, ());
    }
    Ok(Json(TokenCreated { token: secret.reveal().to_owned(), entry: TokenEntry::of(&token) }))
}

fn wanted(body: &Body) -> ApiResult<NewToken> {
    Ok(NewToken {
        principal: principal(body)?,
        scopes: scopes(body)?,
        threads: words(body, "threads")?.map(|words| threads(&words)).transpose()?,
        label: label(body)?,
        valid_for: valid_for(body, "expires_in_days", DAY, DAYS_MAX)?,
    })
}

/// Whom it is for.
pub(super) fn principal(body: &Body) -> ApiResult<Principal> {
    let id = body.text("principal")?.ok_or_else(|| invalid("'principal' is missing: the id of the person or agent that it is for."))?;
    Ok(Principal { id: participant(id, "principal")?, kind: kind(body)? })
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}

fn kind(body: &Body) -> ApiResult<Kind> {
    match body.text("kind")? {
        Some("agent") => Ok(Kind::Agent),
        Some("human") | None => Ok(Kind::Human),
        Some(_) => Err(invalid("'kind' is \"human\" or \"agent\".")),
    }
}

/// A list of words, if it is there.
fn words(body: &Body, key: &str) -> ApiResult<Option<Vec<String>>> {
    let refused = || invalid(format!("'{key}' must be a list of words."));
    let items = match body.fields.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(refused()),
    };
    items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(refused)).collect::<ApiResult<_>>().map(Some)
}

/// The scopes that are asked for.
pub(super) fn scopes(body: &Body) -> ApiResult<Option<Scopes>> {
    let Some(words) = words(body, "scopes")? else { return Ok(None) };
    let known = || Scope::ALL.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(", ");
    let scope = |word: &String| {
        let shown: String = word.chars().take(40).collect();
        Scope::parse(word).ok_or_else(|| invalid(format!("There is no scope {shown:?}; there are {}.", known())))
    };
    words.iter().map(scope).collect::<ApiResult<_>>().map(Some)
}

fn threads(ids: &[String]) -> ApiResult<BTreeSet<StreamId>> {
    if ids.is_empty() || ids.len() > TOKEN_THREADS_MAX {
        return Err(invalid(format!("'threads' takes 1 to {TOKEN_THREADS_MAX} ids; leave it out for all conversations.")));
    }
    ids.iter().map(|id| stream_id(id).ok_or_else(|| ApiError::no_thread(id))).collect()
}

fn label(body: &Body) -> ApiResult<String> {
    let label = body.text("label")?.unwrap_or_default();
    if label.chars().count() > LABEL_CHARS_MAX || label.chars().any(char::is_control) {
        return Err(invalid(format!("'label' takes at most {LABEL_CHARS_MAX} characters, without controls.")));
    }
    Ok(label.to_owned())
}

/// A length of time, in units of so many seconds.
pub(super) fn valid_for(body: &Body, key: &str, unit: u64, most: u64) -> ApiResult<Option<Millis>> {
    match body.fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(count) => {
            let count = count.as_u64().filter(|count| (1..=most).contains(count));
            let count = count.ok_or_else(|| invalid(format!("'{key}' takes a whole number from 1 to {most}.")))?;
            Ok(Some(Millis::from_secs(count * unit)))
        }
    }
}

/// Lists all tokens, without what they are: browsers that are signed in too.
#[utoipa::path(get, path = "/tokens", operation_id = "list_tokens", tag = "access",
    responses((status = 200, body = TokenList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>) -> ApiResult<Json<TokenList>> {
    Ok(Json(TokenList { tokens: app.access.tokens().await?.iter().map(TokenEntry::of).collect() }))
}

/// Revokes a token, and every browser that signed in with it. What they have open is closed within a second.
#[utoipa::path(post, path = "/tokens/{id}/revoke", operation_id = "revoke_token", tag = "access",
    params(("id" = String, Path, description = "The token's id, not the token.")),
    responses((status = 200, body = TokenRevoked), (status = "4XX", body = ErrorBody)))]
pub async fn revoke(State(app): State<App>, Extension(caller): Extension<Caller>, Path(id): Path<String>) -> ApiResult<Json<TokenRevoked>> {
    let changed = app.access.revoke(&caller, &TokenId::new(id)).await?;
    Ok(Json(TokenRevoked { revoked: true, changed }))
}

/// Reads the record of credentials and refusals, the newest first.
#[utoipa::path(get, path = "/audit", operation_id = "read_audit", tag = "access",
    params(
        ("before" = Option<u64>, Query, description = "Only rows before this number."),
        ("limit" = Option<u64>, Query, description = "1 to 1000; 100 where it is missing."),
    ),
    responses((status = 200, body = AuditPage), (status = "4XX", body = ErrorBody)))]
pub async fn audit(State(app): State<App>, params: Params) -> ApiResult<Json<AuditPage>> {
    let limit = params.limit()?.unwrap_or(AUDIT_ROWS);
    let rows = app.access.audit(params.number("before")?, limit).await?;
    let next = rows.last().map(|row| row.number).filter(|number| rows.len() == limit && *number > 1);
    Ok(Json(AuditPage { rows: rows.iter().map(AuditRow::of).collect(), next }))
}
