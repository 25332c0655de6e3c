//! Links between sessions.

use axum::Json;
use axum::extract::State;
use moothall_kernel::ids::StreamId;

use super::App;
use super::once::once;
use crate::ask;
use crate::caller::asker;
use crate::error::ApiResult;
use crate::request::{Body, LinkId, Params};
use crate::wire::{Actor, ErrorBody, LinkAnswer, LinkEntry, LinkList, NewLink};

/// Lists the links that carry words.
#[utoipa::path(get, path = "/links", operation_id = "list_links", tag = "links",
    params(("session" = Option<String>, Query, description = "Only those that this session is in.")),
    responses((status = 200, body = LinkList), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<LinkList>> {
    Ok(Json(ask::links(&app.hall, params.caller(), params.get("session")).await?))
}

/// Links sessions: what one of them says at the end of a turn reaches the others. A link between just these members is used again.
#[utoipa::path(post, path = "/links", operation_id = "make_link", tag = "links", request_body = NewLink,
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own, and get the same answer.")),
    responses((status = 200, body = LinkAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn make(State(app): State<App>, body: Body) -> ApiResult<Json<LinkAnswer>> {
    body.only(&["members", "title", "from"])?;
    let by = body.asker()?;
    let key = body.idempotency(&by);
    let by = asker(body.caller(), by);
    once(&app, key.as_ref(), async { Ok(at_link(ask::make_link(&app.hall, body.caller(), by, &body.fields).await?)) }).await
}

/// One link and its members.
#[utoipa::path(get, path = "/links/{id}", operation_id = "read_link", tag = "links", params(("id" = String, Path, description = "The link.")),
    responses((status = 200, body = LinkEntry), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, LinkId(id): LinkId) -> ApiResult<Json<LinkEntry>> {
    Ok(Json(ask::link(&app.hall, &id).await?))
}

/// Ends a link for all its members.
#[utoipa::path(post, path = "/links/{id}/close", operation_id = "close_link", tag = "links", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The link."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own, and get the same answer."),
    ),
    responses((status = 200, body = LinkAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn close(State(app): State<App>, LinkId(id): LinkId, body: Body) -> ApiResult<Json<LinkAnswer>> {
    body.only(&["from"])?;
    let by = body.asker()?;
    let key = body.idempotency(&by);
    let by = asker(body.caller(), by);
    once(&app, key.as_ref(), async { Ok(at_link(ask::close_link(&app.hall, body.caller(), &id, &by).await?)) }).await
}

fn at_link(answer: LinkAnswer) -> (StreamId, LinkAnswer) {
    (StreamId::new(&answer.link.id), answer)
}
