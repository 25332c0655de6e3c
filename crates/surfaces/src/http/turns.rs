//! Turns: why each agent spoke or did not, and how a person takes a turn away.

use axum::Json;
use axum::extract::State;
use moothall_kernel::command::Command;
use moothall_kernel::ids::{EventId, Seq};
use moothall_kernel::view::visible;

use super::App;
use super::events::PAGE;
use crate::error::{ApiError, ApiResult, Code};
use crate::explain::Explained;
use crate::request::{Body, Params, ThreadId, TurnRef};
use crate::wire::{Actor, Cancelled, Envelope, ErrorBody, StopAccepted, TurnList};

/// Lists turns and refusals with their reasons, in the order in which they happened.
#[utoipa::path(get, path = "/threads/{id}/turns", operation_id = "list_turns", tag = "turns",
    params(
        ("id" = String, Path, description = "The thread."),
        ("message" = Option<String>, Query, description = "Only what goes back to this human message."),
        ("limit" = Option<u64>, Query, description = "1 to 1000: only the newest; all where it is missing."),
        ("as" = Option<String>, Query, description = "Only what this participant may see."),
    ),
    responses((status = 200, body = TurnList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, ThreadId(stream): ThreadId, params: Params) -> ApiResult<Json<TurnList>> {
    let (limit, viewer) = (params.limit()?, params.viewer()?);
    let message = params.get("message").map(|text| text.parse::<EventId>().map_err(|()| no_event())).transpose()?;
    let head = app.hall.find(&stream).await?.head;
    let mut after = message.map_or(Seq(0), |id| Seq(id.seq().0.saturating_sub(1)));
    let mut explained = Explained::new(stream.clone());
    let mut wanted = message;
    while after < head {
        let page = app.hall.read(&stream, after, Some(PAGE)).await?;
        if let Some(id) = wanted.take()
            && page.events.first().is_none_or(|first| first.id(&stream) != id)
        {
            return Err(no_event().in_thread(&stream));
        }
        page.events.iter().filter(|recorded| visible(&recorded.event, &viewer)).for_each(|recorded| explained.observe(recorded));
        if page.through <= after {
            break;
        }
        after = page.through;
    }
    if wanted.is_some() {
        return Err(no_event().in_thread(&stream));
    }
    Ok(Json(TurnList { turns: explained.list(message, limit), head: head.0 }))
}

fn no_event() -> ApiError {
    ApiError::plain(Code::UnknownEvent)
}

/// Cancels every open turn and every waiting message.
#[utoipa::path(post, path = "/threads/{id}/stop", operation_id = "stop_thread", tag = "turns", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own."),
    ),
    responses((status = 200, body = StopAccepted), (status = "4XX", body = ErrorBody)))]
pub async fn stop(State(app): State<App>, ThreadId(stream): ThreadId, body: Body) -> ApiResult<Json<StopAccepted>> {
    body.only(&["from"])?;
    let by = body.asker()?;
    let idempotency = body.idempotency(&by);
    let answer = app.hall.submit(&stream, Command::Stop { by }, idempotency).await;
    let answer = answer.map_err(|error| ApiError::of_hall(error, Some(&stream)))?;
    Ok(Json(StopAccepted { stopped: true, event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)) }))
}

/// Cancels one turn.
#[utoipa::path(post, path = "/turns/{id}/cancel", operation_id = "cancel_turn", tag = "turns", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The turn: `<thread>.<number>`."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own."),
    ),
    responses((status = 200, body = Cancelled), (status = "4XX", body = ErrorBody)))]
pub async fn cancel(State(app): State<App>, TurnRef { stream, turn }: TurnRef, body: Body) -> ApiResult<Json<Cancelled>> {
    body.only(&["from"])?;
    let by = body.asker()?;
    let idempotency = body.idempotency(&by);
    let answer = app.hall.submit(&stream, Command::Cancel { turn, by }, idempotency).await;
    let answer = answer.map_err(|error| ApiError::of_hall(error, Some(&stream)))?;
    Ok(Json(Cancelled { cancelled: true, event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)) }))
}
