//! Routes that begin, list and end gatherings, and pass the talking piece.

use axum::Json;
use axum::extract::State;
use moothall_kernel::ids::StreamId;

use super::App;
use super::once::once;
use crate::error::ApiResult;
use crate::gather::begin;
use crate::request::{Body, Params, ThreadId, named};
use crate::wire::{Actor, ErrorBody, GatheringAnswer, GatheringList, NewGathering, NewPiecePass};

/// Lists gatherings, open and closed.
#[utoipa::path(get, path = "/gatherings", operation_id = "list_gatherings", tag = "gatherings",
    responses((status = 200, body = GatheringList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<GatheringList>> {
    let entries = params.door(&app.entrance).gatherings().await?;
    Ok(Json(GatheringList { gatherings: entries.iter().map(GatheringAnswer::from).collect() }))
}

/// Begins a gathering: a new thread in which a talking piece goes round.
///
/// Either all members join, including agents that must be started first, or the gathering does not
/// begin.
#[utoipa::path(post, path = "/gatherings", operation_id = "begin_gathering", tag = "gatherings", request_body = NewGathering,
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response.")),
    responses((status = 200, body = GatheringAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn open(State(app): State<App>, body: Body) -> ApiResult<Json<GatheringAnswer>> {
    let new: NewGathering = body.read()?;
    let by = body.asker_named(new.from.as_deref())?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    once(&app, key.as_ref(), async {
        let answer = begin(&door, by, new).await?;
        Ok((StreamId::new(&answer.id), answer))
    })
    .await
}

/// Returns one gathering: its progress, the holder of the talking piece, and the harvest.
#[utoipa::path(get, path = "/gatherings/{id}", operation_id = "read_gathering", tag = "gatherings",
    params(
        ("id" = String, Path, description = "The gathering."),
        ("participant" = Option<String>, Query, description = "The participant whose seed message and pulse are returned: the caller's own; operators may name any. Default: the participant of the credential."),
    ),
    responses((status = 200, body = GatheringAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn read(
    State(app): State<App>,
    ThreadId(id): ThreadId,
    params: Params,
) -> ApiResult<Json<GatheringAnswer>> {
    let you = named(params.get("participant"))?;
    let entry = params.door(&app.entrance).gathering(&id, you).await?;
    Ok(Json(GatheringAnswer::from(&entry)))
}

/// Passes the talking piece to a speaker by name, id or number, or to the next in order. Only its
/// holder can.
#[utoipa::path(post, path = "/gatherings/{id}/pass", operation_id = "pass_piece", tag = "gatherings", request_body = NewPiecePass,
    params(
        ("id" = String, Path, description = "The gathering."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = GatheringAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn pass(
    State(app): State<App>,
    ThreadId(id): ThreadId,
    body: Body,
) -> ApiResult<Json<GatheringAnswer>> {
    let NewPiecePass { from, to } = body.read()?;
    let by = body.asker_named(from.as_deref())?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    once(&app, key.as_ref(), async {
        let entry = door.pass_piece(&id, by, to.filter(|to| !to.is_empty())).await?;
        Ok((id.clone(), GatheringAnswer::from(&entry)))
    })
    .await
}

/// Ends a gathering: speaking stops, and the harvest is requested. A second request while the
/// harvest is written closes the gathering without one.
#[utoipa::path(post, path = "/gatherings/{id}/end", operation_id = "end_gathering", tag = "gatherings", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The gathering."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = GatheringAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn end(
    State(app): State<App>,
    ThreadId(id): ThreadId,
    body: Body,
) -> ApiResult<Json<GatheringAnswer>> {
    let by = body.asker()?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    once(&app, key.as_ref(), async {
        let entry = door.end_gathering(&id, by).await?;
        Ok((id.clone(), GatheringAnswer::from(&entry)))
    })
    .await
}
