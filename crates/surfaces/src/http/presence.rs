//! Who is here right now.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::extract::State;
use moothall_engine::hall::Idempotency;
use moothall_engine::presence::{PRESENCE_TTL, Presence};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, ThreadId};
use crate::wire::{ErrorBody, NewPresence, PresenceAccepted, PresenceEntry, PresenceList, PresenceUpdate};

/// Longest word for a state, in characters.
const STATE_CHARS_MAX: usize = 64;
/// Largest `details`, as JSON.
const DETAILS_BYTES_MAX: usize = 16 * 1024;

/// How everybody is.
#[utoipa::path(get, path = "/threads/{id}/presence", operation_id = "read_presence", tag = "presence", params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = PresenceList), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, ThreadId(stream): ThreadId, params: Params) -> ApiResult<Json<PresenceList>> {
    let now = app.hall.now();
    let presences = params.door(&app.hall).presence(&stream).await?;
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

/// Says how somebody is. It counts for 120 seconds and is never logged; the keys of such requests are forgotten with the process too.
#[utoipa::path(post, path = "/threads/{id}/presence", operation_id = "post_presence", tag = "presence", request_body = NewPresence,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own."),
    ),
    responses((status = 200, body = PresenceAccepted), (status = "4XX", body = ErrorBody)))]
pub async fn post(State(app): State<App>, ThreadId(stream): ThreadId, body: Body) -> ApiResult<Json<PresenceAccepted>> {
    body.only(&["from", "state", "details"])?;
    let by = body.speaker()?;
    let state = state(&body)?;
    let details = details(&body)?;
    let idempotency = body.idempotency(&by);
    if let Some(earlier) = idempotency.as_ref().and_then(|key| app.presences.earlier(key)) {
        return earlier.map(Json);
    }
    let presence = body.door(&app.hall).set_presence(&stream, by.id, state, details).await?;
    let answer = PresenceAccepted { received: true, presence: update(&stream, &presence) };
    if let Some(key) = idempotency {
        app.presences.keep(key, answer.clone());
    }
    Ok(Json(answer))
}

/// Requests whose answers are kept for their keys.
const KEYS_MAX: usize = 1024;

/// The latest keyed requests and their answers. As ephemeral as what they said.
pub struct Keyed<T>(Mutex<VecDeque<(Idempotency, T)>>);

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Keyed<T> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Idempotency, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to an earlier request with this key.
    pub(crate) fn earlier(&self, given: &Idempotency) -> Option<ApiResult<T>> {
        let kept = self.lock();
        let (key, answer) = kept.iter().find(|(key, _)| key.principal == given.principal && key.key == given.key)?;
        let same = key.fingerprint == given.fingerprint;
        Some(if same { Ok(answer.clone()) } else { Err(ApiError::plain(Code::KeyReused)) })
    }

    /// Keeps an answer for its key.
    pub(crate) fn keep(&self, key: Idempotency, answer: T) {
        let mut kept = self.lock();
        if kept.len() == KEYS_MAX {
            kept.pop_front();
        }
        kept.push_back((key, answer));
    }
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
