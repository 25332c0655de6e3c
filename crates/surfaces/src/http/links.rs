//! Routes that list, make and close links between sessions.

use axum::Json;
use axum::extract::State;
use moothall_engine::sessions::LinkState;
use moothall_kernel::ids::StreamId;

use super::App;
use super::once::once;
use crate::ask;
use crate::error::ApiResult;
use crate::request::{Body, LinkId, Params};
use crate::wire::{Actor, ErrorBody, LinkAnswer, LinkEntry, LinkList, NewLink};

/// Lists the open links, and those that wait.
#[utoipa::path(get, path = "/links", operation_id = "list_links", tag = "links",
    params(("session" = Option<String>, Query, description = "Only links of this session.")),
    responses((status = 200, body = LinkList), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<LinkList>> {
    Ok(Json(ask::links(&params.door(&app.entrance), params.get("session")).await?))
}

/// Links sessions: what one of them says at the end of a turn reaches the others. An existing link
/// between exactly these members is reused.
#[utoipa::path(post, path = "/links", operation_id = "make_link", tag = "links", request_body = NewLink,
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response.")),
    responses((status = 200, body = LinkAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn make(State(app): State<App>, body: Body) -> ApiResult<Json<LinkAnswer>> {
    let new: NewLink = body.read()?;
    let by = body.asker_named(new.from.as_deref())?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    let by = door.as_asker(by);
    once(&app, key.as_ref(), async {
        let (link, state) = door.make_link(ask::new_link(&door, by, new)?).await?;
        Ok(at_link(LinkAnswer::of(ask::entry(&door, &link), state)))
    })
    .await
}

/// Returns one link with its members.
#[utoipa::path(get, path = "/links/{id}", operation_id = "read_link", tag = "links", params(("id" = String, Path, description = "The link.")),
    responses((status = 200, body = LinkEntry), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn read(
    State(app): State<App>,
    LinkId(id): LinkId,
    params: Params,
) -> ApiResult<Json<LinkEntry>> {
    let door = params.door(&app.entrance);
    Ok(Json(ask::entry(&door, &door.link(&id).await?)))
}

/// Closes a link for all its members.
#[utoipa::path(post, path = "/links/{id}/close", operation_id = "close_link", tag = "links", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The link."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = LinkAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn close(
    State(app): State<App>,
    LinkId(id): LinkId,
    body: Body,
) -> ApiResult<Json<LinkAnswer>> {
    let by = body.asker()?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    let by = door.as_asker(by);
    once(&app, key.as_ref(), async {
        let link = door.close_link(&id, &by).await?;
        Ok(at_link(LinkAnswer::of(ask::entry(&door, &link), LinkState::Closed)))
    })
    .await
}

fn at_link(answer: LinkAnswer) -> (StreamId, LinkAnswer) {
    (StreamId::new(&answer.link.id), answer)
}
