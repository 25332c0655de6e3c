//! Permissions that agents wait for, and people's answers.

use axum::Json;
use axum::extract::State;
use moothall_kernel::command::ClientCommand;

use super::App;
use crate::ask::required;
use crate::error::{ApiError, ApiResult};
use crate::request::{Body, PermissionRef, stream_id};
use crate::wire::{Envelope, ErrorBody, NewAnswer, PermissionAnswered};

/// Answers a permission with one of its options. The first answer counts. Only people may, and only with a credential.
#[utoipa::path(post, path = "/permissions/{id}/answer", operation_id = "answer_permission", tag = "permissions", request_body = NewAnswer,
    params(
        ("id" = String, Path, description = "The permission: `content.permission` of the event that asks."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own."),
    ),
    responses((status = 200, body = PermissionAnswered), (status = "4XX", body = ErrorBody)))]
pub async fn answer(State(app): State<App>, PermissionRef(permission): PermissionRef, body: Body) -> ApiResult<Json<PermissionAnswered>> {
    body.only(&["thread", "option", "from"])?;
    let (thread, option) = (required(&body.fields, "thread")?, required(&body.fields, "option")?);
    let stream = stream_id(thread).filter(|id| body.caller().reach.includes(id)).ok_or_else(|| ApiError::no_thread(thread))?;
    let by = body.asker()?;
    let of_hall = |error| ApiError::of_hall(error, Some(&stream));
    let idempotency = body.idempotency(&by);
    let command = ClientCommand::AnswerPermission { permission, option: option.into(), by };
    let command = app.hall.permit(body.caller(), &stream, command).await?;
    let answer = app.hall.submit(&stream, command, idempotency).await.map_err(of_hall)?;
    Ok(Json(PermissionAnswered { answered: true, event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)) }))
}
