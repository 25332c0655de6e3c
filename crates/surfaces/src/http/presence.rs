//! Routes that read and report presence.

use axum::Json;
use axum::extract::State;
use moothall_engine::presence::{PRESENCE_TTL, Presence};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};

use super::App;
use super::once::KeyedOutcome;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, ThreadId};
use crate::strict::Inbound;
use crate::wire::{
    ErrorBody, NewPresence, PresenceAccepted, PresenceEntry, PresenceList, PresenceUpdate,
};

/// Maximum length of a state, in characters.
const STATE_CHARS_MAX: usize = 64;
/// Maximum size of `details`, as JSON.
const DETAILS_BYTES_MAX: usize = 16 * 1024;

/// Returns the presence of each participant of a thread.
#[utoipa::path(get, path = "/threads/{id}/presence", operation_id = "read_presence", tag = "presence", params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = PresenceList), (status = "4XX", body = ErrorBody)))]
pub async fn read(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
) -> ApiResult<Json<PresenceList>> {
    let now = app.entrance.now();
    let presences = params.door(&app.entrance).presence(&stream).await?;
    let participants = presences.into_iter().map(|presence| entry(presence, now)).collect();
    Ok(Json(PresenceList {
        thread: stream.to_string(),
        ttl_seconds: PRESENCE_TTL.0 / 1000,
        participants,
    }))
}

/// Converts a presence to its wire type, which says if the presence is stale at `now`.
fn entry(presence: Presence, now: Timestamp) -> PresenceEntry {
    PresenceEntry {
        id: presence.participant.to_string(),
        stale: presence.is_stale(now),
        state: presence.state,
        updated_at: presence.updated_at.to_string(),
        details: presence.details,
    }
}

/// Reports a participant's presence. It counts for 120 seconds and is never logged. Idempotency
/// keys of these requests are lost when the server restarts.
#[utoipa::path(post, path = "/threads/{id}/presence", operation_id = "post_presence", tag = "presence", request_body = NewPresence,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
    ),
    responses((status = 200, body = PresenceAccepted), (status = "4XX", body = ErrorBody)))]
pub async fn post(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<PresenceAccepted>> {
    let NewPresence { from, state, details } = body.read()?;
    let by = body.speaker(from.as_deref())?;
    let (state, details) = (checked_state(state)?, checked_details(details)?);
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    let done = app.presences.once(key, async move {
        let presence = door.set_presence(&stream, by.id, state, details).await?;
        let answer = PresenceAccepted { received: true, presence: update(&stream, &presence) };
        Ok((answer.clone(), answer))
    });
    match done.await? {
        KeyedOutcome::Now(answer) | KeyedOutcome::Earlier(answer) => Ok(Json(answer)),
    }
}

impl Inbound for NewPresence {}

/// Returns the given state. Rejects an absent or empty state, one of more than 64 characters, and
/// control characters.
fn checked_state(state: Option<String>) -> ApiResult<String> {
    match state.filter(|state| !state.is_empty()) {
        None => Err(ApiError::new(
            Code::MissingState,
            "'state' is missing: the participant's state, such as \"listening\".",
        )),
        Some(state)
            if state.chars().count() <= STATE_CHARS_MAX && !state.chars().any(char::is_control) =>
        {
            Ok(state)
        }
        Some(_) => Err(ApiError::new(
            Code::InvalidField,
            "'state' takes at most 64 characters, without control characters.",
        )),
    }
}

/// Returns the given details, or `None` if they are absent. Rejects all but an object of at most
/// [`DETAILS_BYTES_MAX`].
fn checked_details(details: Option<Value>) -> ApiResult<Option<Map<String, Value>>> {
    let Some(details) = details else { return Ok(None) };
    let bytes = details.to_string().len();
    match details {
        Value::Object(details) if bytes <= DETAILS_BYTES_MAX => Ok(Some(details)),
        Value::Object(_) => {
            Err(ApiError::new(Code::InvalidField, "'details' takes at most 16 KiB of JSON."))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(ApiError::new(Code::InvalidField, "'details' must be an object."))
        }
    }
}

/// Converts a presence to its wire type.
pub(crate) fn update(stream: &StreamId, presence: &Presence) -> PresenceUpdate {
    PresenceUpdate {
        thread: stream.to_string(),
        participant: presence.participant.to_string(),
        state: presence.state.clone(),
        updated_at: presence.updated_at.to_string(),
        details: presence.details.clone(),
    }
}
