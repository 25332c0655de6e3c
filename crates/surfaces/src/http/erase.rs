//! The route that erases the content of an event.

use axum::Json;
use axum::extract::State;

use super::App;
use crate::error::{ApiError, ApiResult};
use crate::request::{Body, EventRef};
use crate::wire::{Actor, Envelope, ErrorBody, Redacted};

/// Erases the content of an event for good: from the log, the search index, and every later reading
/// and prompt. Only people may.
///
/// The event keeps its position, with empty content and `meta.redacted`. Repeating the request
/// changes nothing.
#[utoipa::path(post, path = "/threads/{id}/events/{event}/redact", operation_id = "redact_event", tag = "events", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The thread."),
        ("event" = String, Path, description = "The event's id."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
    ),
    responses((status = 200, body = Redacted), (status = "4XX", body = ErrorBody)))]
pub async fn redact(
    State(app): State<App>,
    EventRef { stream, event }: EventRef,
    body: Body,
) -> ApiResult<Json<Redacted>> {
    let by = body.asker()?;
    let idempotency = body.idempotency(&by);
    let answer = body.door(&app.entrance).erase(&stream, event, by, idempotency).await;
    let answer = answer.map_err(|error| ApiError::at_door(error, &stream))?;
    Ok(Json(Redacted {
        redacted: true,
        event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)),
    }))
}
