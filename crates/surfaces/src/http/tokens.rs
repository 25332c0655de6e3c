//! Routes that make, list and revoke tokens, and that read the audit record.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::{Path, State};
use moothall_engine::access::{
    NewToken, Principal, RevocationScope, Scope, Scopes, TOKEN_THREADS_MAX, Token, TokenId,
    TokenPlace,
};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::{Millis, Timestamp};
use strum::VariantArray;

use super::App;
use super::once::KeyedOutcome;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, participant, stream_id};
use crate::strict::Inbound;
use crate::wire::{
    AuditPage, AuditRow, ErrorBody, RevokeRequest, TokenCreated, TokenEntry, TokenList,
    TokenRequest, TokenRevoked,
};

/// Default number of tokens per page.
const TOKEN_ROWS: usize = 200;
/// Default number of rows per page of the audit record.
const AUDIT_ROWS: usize = 100;
/// Maximum length of a label, in characters.
const LABEL_CHARS_MAX: usize = 100;
/// Seconds of a day.
const DAY: u64 = 86_400;
/// Maximum lifetime of a token, in days.
const DAYS_MAX: u64 = 3650;

/// Makes a token. Only this answer shows it.
#[utoipa::path(post, path = "/tokens", operation_id = "create_token", tag = "access", request_body = TokenRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key makes no second token. It does not show the first one again.")),
    responses((status = 200, body = TokenCreated), (status = "4XX", body = ErrorBody)))]
pub async fn create(State(app): State<App>, body: Body) -> ApiResult<Json<TokenCreated>> {
    let request: TokenRequest = body.read()?;
    let key = body.idempotency(&body.asker_named(None)?);
    let (access, caller) = (app.access.clone(), body.caller().clone());
    let done = app.tokens_made.once(key, async move {
        let (secret, token) = access.create(&caller, wanted(request)?).await?;
        let entry = TokenEntry::of(&token);
        // The secret is not remembered: a repetition of the request is answered with `token_shown`.
        Ok((TokenCreated { token: secret.reveal().to_owned(), entry }, ()))
    });
    match done.await? {
        KeyedOutcome::Now(created) => Ok(Json(created)),
        KeyedOutcome::Earlier(()) => Err(ApiError::plain(Code::TokenShown)),
    }
}

/// Checks the fields of a request and returns the token to make, or the error of the first wrong
/// field.
fn wanted(request: TokenRequest) -> ApiResult<NewToken> {
    let TokenRequest { principal, kind, scopes, threads, label, expires_in_days } = request;
    Ok(NewToken {
        principal: principal_of(&principal, kind.as_deref())?,
        scopes: scopes.map(|words| scopes_of(&words)).transpose()?,
        threads: threads.map(|words| threads_of(&words)).transpose()?,
        label: label_of(label.unwrap_or_default())?,
        valid_for: expires_in_days
            .map(|count| valid_for(count, "expires_in_days", DAY, DAYS_MAX))
            .transpose()?,
    })
}

impl Inbound for TokenRequest {
    fn missing(_: &str) -> ApiError {
        no_principal()
    }

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        match field {
            "expires_in_days" => no_length(field, DAYS_MAX),
            other => wrong_words(other, takes),
        }
    }
}

/// Returns the error for a credential without a principal.
pub(super) fn no_principal() -> ApiError {
    invalid("'principal' is missing: the id of the person or agent that the credential is for.")
}

/// Returns the error for a value of the wrong type. An item of a list is named `list[]`, and its
/// error names the list.
pub(super) fn wrong_words(field: &str, takes: &str) -> ApiError {
    match field.trim_end_matches("[]") {
        list @ ("scopes" | "threads") => invalid(format!("'{list}' must be a list of strings.")),
        other => invalid(format!("'{other}' {takes}.")),
    }
}

/// Returns the error for a duration outside its range.
pub(super) fn no_length(field: &str, most: u64) -> ApiError {
    invalid(format!("'{field}' takes a whole number from 1 to {most}."))
}

/// Reads the principal of a credential. Without a kind it is a person.
pub(super) fn principal_of(id: &str, kind: Option<&str>) -> ApiResult<Principal> {
    Ok(Principal { id: participant(id, "principal")?, kind: kind_of(kind)? })
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}

fn kind_of(kind: Option<&str>) -> ApiResult<Kind> {
    let refused = |_| invalid("'kind' must be \"human\" or \"agent\".");
    kind.map_or(Ok(Kind::Human), |kind| kind.parse().map_err(refused))
}

/// Reads the requested scopes.
pub(super) fn scopes_of(words: &[String]) -> ApiResult<Scopes> {
    let known = || Scope::VARIANTS.iter().map(<&str>::from).collect::<Vec<_>>().join(", ");
    let scope = |word: &String| {
        let shown: String = word.chars().take(40).collect();
        word.parse::<Scope>()
            .map_err(|_| invalid(format!("Unknown scope {shown:?}; the scopes are {}.", known())))
    };
    words.iter().map(scope).collect()
}

/// Reads the conversations to which a token is bound. Rejects an empty list, a list that is too
/// long, and a malformed id.
fn threads_of(ids: &[String]) -> ApiResult<BTreeSet<StreamId>> {
    if ids.is_empty() || ids.len() > TOKEN_THREADS_MAX {
        return Err(invalid(format!(
            "'threads' takes 1 to {TOKEN_THREADS_MAX} ids; leave it out for all conversations."
        )));
    }
    ids.iter().map(|id| stream_id(id).ok_or_else(|| ApiError::no_thread(id))).collect()
}

fn label_of(label: String) -> ApiResult<String> {
    if label.chars().count() > LABEL_CHARS_MAX || label.chars().any(char::is_control) {
        return Err(invalid(format!(
            "'label' takes at most {LABEL_CHARS_MAX} characters, without control characters."
        )));
    }
    Ok(label)
}

/// Returns a duration of `count` units, each of `unit` seconds. Rejects a count outside of 1 to
/// `most`.
pub(super) fn valid_for(count: u64, field: &str, unit: u64, most: u64) -> ApiResult<Millis> {
    if (1..=most).contains(&count) {
        Ok(Millis::from_secs(count * unit))
    } else {
        Err(no_length(field, most))
    }
}

/// Lists tokens, oldest first, including those of signed-in browsers. The secrets are not shown.
#[utoipa::path(get, path = "/tokens", operation_id = "list_tokens", tag = "access",
    params(
        ("cursor" = Option<String>, Query, description = "`next` of the previous page."),
        ("limit" = Option<u64>, Query, description = "Maximum number of results (1–1000; default 200)."),
    ),
    responses((status = 200, body = TokenList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<TokenList>> {
    let limit = params.limit()?.unwrap_or(TOKEN_ROWS);
    let after = params.get("cursor").map(place_of).transpose()?;
    let tokens = app.access.tokens(after.as_ref(), limit).await?;
    let next = tokens.last().filter(|_| tokens.len() == limit).map(cursor_of);
    Ok(Json(TokenList { tokens: tokens.iter().map(TokenEntry::of).collect(), next }))
}

/// Returns the cursor of the page after this token, which [`place_of`] reads.
fn cursor_of(token: &Token) -> String {
    format!("{}_{}", token.created_at.millis(), token.id)
}

/// Reads a cursor: the time at which the last token of the earlier page was made, and its id. Any
/// other text is an error.
fn place_of(cursor: &str) -> ApiResult<TokenPlace> {
    let read = || {
        let (millis, id) = cursor.split_once('_')?;
        let created_at = Timestamp::from_millis(millis.parse().ok()?);
        Some(TokenPlace { created_at, id: TokenId::new(id) })
    };
    let invalid = || {
        ApiError::new(
            Code::InvalidParameter,
            "'cursor' takes the value of 'next' from an earlier page.",
        )
    };
    read().ok_or_else(invalid)
}

impl Inbound for RevokeRequest {}

/// Revokes a token, the browsers that signed in with it, and its invitations that were not accepted
/// yet.
///
/// `with_children` also revokes the tokens made from its accepted invitations. Their open streams
/// and connections close within a second.
#[utoipa::path(post, path = "/tokens/{id}/revoke", operation_id = "revoke_token", tag = "access", request_body = Option<RevokeRequest>,
    params(("id" = String, Path, description = "The token's id, not the token.")),
    responses((status = 200, body = TokenRevoked), (status = "4XX", body = ErrorBody)))]
pub async fn revoke(
    State(app): State<App>,
    Path(id): Path<String>,
    body: Body,
) -> ApiResult<Json<TokenRevoked>> {
    let RevokeRequest { with_children } = body.read()?;
    let descent =
        if with_children == Some(true) { RevocationScope::All } else { RevocationScope::Own };
    let revocation = app.access.revoke(body.caller(), &TokenId::new(id), descent).await?;
    Ok(Json(TokenRevoked::of(&revocation)))
}

/// Reads the audit record of credentials and refusals, newest first.
#[utoipa::path(get, path = "/audit", operation_id = "read_audit", tag = "access",
    params(
        ("before" = Option<u64>, Query, description = "Only rows before this number."),
        ("limit" = Option<u64>, Query, description = "Maximum number of rows (1–1000; default 100)."),
    ),
    responses((status = 200, body = AuditPage), (status = "4XX", body = ErrorBody)))]
pub async fn audit(State(app): State<App>, params: Params) -> ApiResult<Json<AuditPage>> {
    let limit = params.limit()?.unwrap_or(AUDIT_ROWS);
    let rows = app.access.audit(params.number("before")?, limit).await?;
    let next =
        rows.last().map(|row| row.number).filter(|number| rows.len() == limit && *number > 1);
    Ok(Json(AuditPage { rows: rows.iter().map(AuditRow::of).collect(), next }))
}
