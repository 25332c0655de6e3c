//! Routes for other computers: their list, and the lines that pair them.

use axum::Json;
use axum::extract::{Path, State};

use super::App;
use crate::error::ApiResult;
use crate::request::{Body, Params};
use crate::strict::Inbound;
use crate::wire::{
    ComputerForgotten, ComputerInvitation, ComputerInvited, ComputerJoin, ComputerJoined,
    ComputerList, ComputersResumed, ErrorBody,
};

/// Lists this computer and those that are paired with it. Those that are there are asked for the
/// number of their sessions, for a second at most.
#[utoipa::path(get, path = "/computers", operation_id = "list_computers", tag = "computers",
    responses((status = 200, body = ComputerList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<ComputerList>> {
    let status = params.door(&app.entrance).computers().await?;
    Ok(Json(ComputerList::from(&status)))
}

/// Makes an invitation for another computer: one line, worth one use for ten minutes. The first
/// request gives this computer its id.
#[utoipa::path(post, path = "/computers/invitations", operation_id = "invite_computer", tag = "computers", request_body = Option<ComputerInvitation>,
    responses((status = 200, body = ComputerInvited), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn invite(State(app): State<App>, body: Body) -> ApiResult<Json<ComputerInvited>> {
    let given: ComputerInvitation = body.read()?;
    let line = body.door(&app.entrance).invite_computer(given.into()).await?;
    Ok(Json(ComputerInvited { line }))
}

/// Joins a line that another computer printed. An invitation has an answer, which is joined on the
/// inviter.
#[utoipa::path(post, path = "/computers/join", operation_id = "join_computer", tag = "computers", request_body = ComputerJoin,
    responses((status = 200, body = ComputerJoined), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn join(State(app): State<App>, body: Body) -> ApiResult<Json<ComputerJoined>> {
    let (line, new) = body.read::<ComputerJoin>()?.into_parts();
    Ok(Json(body.door(&app.entrance).join_computer(&line, new).await?.into()))
}

/// Puts the computers on again: after a restore from a backup they stay off, because the log does
/// not know what was sent after it.
#[utoipa::path(post, path = "/computers/resume", operation_id = "resume_computers", tag = "computers",
    responses((status = 200, body = ComputersResumed), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn resume(State(app): State<App>, body: Body) -> ApiResult<Json<ComputersResumed>> {
    let resumed = body.door(&app.entrance).resume_computers().await?;
    Ok(Json(ComputersResumed { resumed }))
}

/// Ends the pair with a computer: its key is deleted on this side, and the other side is told if it
/// is there.
#[utoipa::path(delete, path = "/computers/{name}", operation_id = "forget_computer", tag = "computers",
    params(("name" = String, Path, description = "Name of the computer here.")),
    responses((status = 200, body = ComputerForgotten), (status = "4XX", body = ErrorBody)))]
pub async fn forget(
    State(app): State<App>,
    Path(name): Path<String>,
    params: Params,
) -> ApiResult<Json<ComputerForgotten>> {
    let forgotten = params.door(&app.entrance).forget_computer(&name).await?;
    Ok(Json(ComputerForgotten { forgotten }))
}

impl Inbound for ComputerInvitation {}
impl Inbound for ComputerJoin {}
