//! Who is here right now.

use axum::Json;
use axum::extract::State;
use moothall_engine::presence::{PRESENCE_TTL, Presence};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, ThreadId};
use crate::wire::{ErrorBody, NewPresence, PresenceAccepted, PresenceEntry, PresenceList, PresenceUpdate};

/// Longest word for a state, in characters.
const STATE_CHARS_MAX: usize = 64;
/// Largest `details`, as JSON.
const DETAILS_BYTES_MAX: usize = 16 * 1024;

/// How everybody is.
#[utoipa::path(get, path = "/threads/{id}/presence", tag = "presence", params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = PresenceList), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, ThreadId(stream): ThreadId) -> ApiResult<Json<PresenceList>> {
    let now = app.hall.now();
    let presences = app.hall.presence(&stream).await?;
    let participants = presences.into_iter().map(|presence| entry(presence, now)).collect();
    Ok(Json(PresenceList { thread: stream.to_string(), ttl_seconds: PRESENCE_TTL.0 / 1000, participants }))
}

fn entry(presence: Presence, now: Timestamp) -> PresenceEntry {
    PresenceEntry {
        id: presence.participant.to_string(),
        stale: presence.is_stale(now),
        state: presence.state,
        updated_at: presence.updated_at.to_string(),
        details: presence.details,
    }
}

/// Says how somebody is. It counts for 120 seconds and is never logged, so a repeated request simply says it again.
#[utoipa::path(post, path = "/threads/{id}/presence", tag = "presence", request_body = NewPresence,
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = PresenceAccepted), (status = "4XX", body = ErrorBody)))]
pub async fn post(State(app): State<App>, ThreadId(stream): ThreadId, body: Body) -> ApiResult<Json<PresenceAccepted>> {
    body.only(&["from", "state", "details"])?;
    let by = body.speaker()?;
    let state = state(&body)?;
    let details = details(&body)?;
    let presence = app.hall.set_presence(&stream, by.id, state, details).await?;
    Ok(Json(PresenceAccepted { received: true, presence: update(&stream, &presence) }))
}

fn state(body: &Body) -> ApiResult<String> {
    match body.text("state")? {
        None | Some("") => Err(ApiError::new(Code::MissingState, "Missing 'state': say how you are, e.g. \"listening\".")),
        Some(state) if state.chars().count() <= STATE_CHARS_MAX && !state.chars().any(char::is_control) => Ok(state.into()),
        Some(_) => Err(ApiError::new(Code::InvalidField, "'state' takes at most 64 characters, without controls.")),
    }
}

fn details(body: &Body) -> ApiResult<Option<Map<String, Value>>> {
    match body.fields.get("details") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(details)) if Value::Object(details.clone()).to_string().len() <= DETAILS_BYTES_MAX => Ok(Some(details.clone())),
        Some(Value::Object(_)) => Err(ApiError::new(Code::InvalidField, "'details' takes at most 16 KiB of JSON.")),
        Some(_) => Err(ApiError::new(Code::InvalidField, "'details' must be an object.")),
    }
}

/// A presence as posts and streams tell it.
pub(crate) fn update(stream: &StreamId, presence: &Presence) -> PresenceUpdate {
    PresenceUpdate {
        thread: stream.to_string(),
        participant: presence.participant.to_string(),
        state: presence.state.clone(),
        updated_at: presence.updated_at.to_string(),
        details: presence.details.clone(),
    }
}
