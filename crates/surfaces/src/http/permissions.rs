//! The route with which people answer permissions.

use axum::Json;
use axum::extract::State;
use moothall_kernel::command::ClientCommand;

use super::App;
use crate::ask::required;
use crate::error::{ApiError, ApiResult};
use crate::request::{Body, PermissionRef, stream_id};
use crate::strict::Inbound;
use crate::submit::submit;
use crate::wire::{Envelope, ErrorBody, NewAnswer, PermissionAnswered};

/// Answers a permission with one of its options, or with text if an option takes text. The first
/// answer counts. Only people with a credential may.
#[utoipa::path(post, path = "/permissions/{id}/answer", operation_id = "answer_permission", tag = "permissions", request_body = NewAnswer,
    params(
        ("id" = String, Path, description = "The permission: `content.permission` of the event that asks."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
    ),
    responses((status = 200, body = PermissionAnswered), (status = "4XX", body = ErrorBody)))]
pub async fn answer(
    State(app): State<App>,
    PermissionRef(permission): PermissionRef,
    body: Body,
) -> ApiResult<Json<PermissionAnswered>> {
    let NewAnswer { thread, option, text, from } = body.read()?;
    let thread = required("thread", thread)?;
    // A text selects the option that takes one, so `option` may be left out.
    let option = if text.is_some() { option } else { required("option", option)? };
    let stream = stream_id(&thread).ok_or_else(|| ApiError::no_thread(&thread))?;
    let by = body.asker_named(from.as_deref())?;
    let idempotency = body.idempotency(&by);
    let command = ClientCommand::AnswerPermission { permission, option, text, by };
    let answer =
        submit(&body.door(&app.entrance), body.rates(), &stream, command, idempotency).await?;
    Ok(Json(PermissionAnswered {
        answered: true,
        event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)),
    }))
}

impl Inbound for NewAnswer {}
