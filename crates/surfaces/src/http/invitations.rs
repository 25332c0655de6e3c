//! Routes for invitations: codes for people and agents without a token.

use axum::Json;
use axum::extract::State;
use moothall_engine::access::NewInvitation;
use moothall_kernel::ids::StreamId;

use super::App;
use super::tokens::{no_length, no_principal, principal_of, scopes_of, valid_for, wrong_words};
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Address, Body, ThreadId};
use crate::strict::Inbound;
use crate::wire::{
    ErrorBody, InvitationAccepted, InvitationCode, InvitationRequest, TokenCreated, TokenEntry,
};

/// Seconds of an hour.
const HOUR: u64 = 3600;
/// Maximum lifetime of an invitation, in hours.
const HOURS_MAX: u64 = 168;

/// Makes a code that can be exchanged once for a token for this thread only. A caller cannot grant
/// more rights than the caller has.
#[utoipa::path(post, path = "/threads/{id}/invitations", operation_id = "invite_by_code", tag = "access", request_body = InvitationRequest,
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = InvitationCode), (status = "4XX", body = ErrorBody)))]
pub async fn invite(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<InvitationCode>> {
    let request: InvitationRequest = body.read()?;
    let wanted = wanted(request, Some(stream.clone()))?;
    app.rates.invite(body.caller(), &stream, 1)?;
    make(&app, &body, wanted).await
}

/// Makes a code that can be exchanged once for a token for the whole hall: the person or agent gets
/// the same token as by `POST /tokens`, and the maker never sees it.
#[utoipa::path(post, path = "/invitations", operation_id = "invite_into_hall", tag = "access", request_body = InvitationRequest,
    responses((status = 200, body = InvitationCode), (status = "4XX", body = ErrorBody)))]
pub async fn invite_into_hall(
    State(app): State<App>,
    body: Body,
) -> ApiResult<Json<InvitationCode>> {
    let wanted = wanted(body.read()?, None)?;
    make(&app, &body, wanted).await
}

/// Checks the fields of a request for an invitation into a conversation, or into the hall.
fn wanted(request: InvitationRequest, stream: Option<StreamId>) -> ApiResult<NewInvitation> {
    let InvitationRequest { principal, kind, scopes, expires_in_hours } = request;
    Ok(NewInvitation {
        stream,
        principal: principal_of(&principal, kind.as_deref())?,
        scopes: scopes.map(|words| scopes_of(&words)).transpose()?,
        valid_for: expires_in_hours
            .map(|count| valid_for(count, "expires_in_hours", HOUR, HOURS_MAX))
            .transpose()?,
    })
}

/// Makes an invitation. Only this answer shows its code.
async fn make(app: &App, body: &Body, wanted: NewInvitation) -> ApiResult<Json<InvitationCode>> {
    let (secret, token) = app.access.invite(body.caller(), wanted).await?;
    Ok(Json(InvitationCode {
        code: secret.reveal().to_owned(),
        id: Some(token.id.to_string()),
        expires_at: Some(token.expires_at.to_string()),
    }))
}

/// Exchanges an invitation for a token. Only this answer shows it. Browsers can use the code with
/// `POST /session` instead.
#[utoipa::path(post, path = "/invitations/accept", operation_id = "accept_invitation", tag = "access", request_body = InvitationAccepted,
    responses((status = 200, body = TokenCreated), (status = "4XX", body = ErrorBody)))]
pub async fn accept(
    State(app): State<App>,
    address: Address,
    body: Body,
) -> ApiResult<Json<TokenCreated>> {
    let InvitationAccepted { code } = body.read()?;
    let accepted = app.access.accept(&code).await?;
    let (secret, token) = accepted.ok_or_else(|| app.rates.refuse_key(address.0))?;
    Ok(Json(TokenCreated { token: secret.reveal().to_owned(), entry: TokenEntry::of(&token) }))
}

impl Inbound for InvitationRequest {
    fn missing(_: &str) -> ApiError {
        no_principal()
    }

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        match field {
            "expires_in_hours" => no_length(field, HOURS_MAX),
            other => wrong_words(other, takes),
        }
    }
}

impl Inbound for InvitationAccepted {
    fn missing(_: &str) -> ApiError {
        let message = "'code' is missing: the code of the invitation, which begins with `inv_`.";
        ApiError::new(Code::InvalidField, message)
    }
}
