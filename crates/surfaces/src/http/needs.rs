//! The route that lists what waits for a reader.

use axum::Json;
use axum::extract::State;

use moothall_engine::door::Door;
use moothall_kernel::ids::ParticipantId;

use super::App;
use crate::error::{ApiError, ApiResult};
use crate::request::{Params, stream_id};
use crate::wire::{ErrorBody, NeedEntry, NeedsAnswer};

/// Lists what waits for a reader, oldest first: agents' questions, guards that hold a floor, the
/// talking piece, and unseen failures, mentions and questions that ended without an answer.
///
/// Only what the caller may answer is listed; an agent gets an empty list. Questions and guards
/// wait until they are answered. Failures, mentions and missed questions wait until `PUT
/// /threads/{id}/read` passes them; they are searched among the newest 600 events of the 100
/// threads with the newest unread events. `/events/stream` sends each change as a `needs` signal.
#[utoipa::path(get, path = "/needs", operation_id = "read_needs", tag = "threads",
    params(
        ("thread" = Option<String>, Query, description = "Only what waits in this thread."),
        ("as" = Option<String>, Query, description = "The reader; by default the caller, or `user` without a credential."),
    ),
    responses((status = 200, body = NeedsAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, params: Params) -> ApiResult<Json<NeedsAnswer>> {
    let door = params.door(&app.entrance);
    let reader = reader(&door, params.viewing_as()?);
    let thread = params.get("thread");
    let stream = thread.map(|id| stream_id(id).ok_or_else(|| ApiError::no_thread(id)));
    let needs = match stream.transpose()? {
        Some(stream) => door.needs_in(&stream, &reader).await?,
        None => door.needs(&reader).await?,
    };
    Ok(Json(NeedsAnswer { needs: needs.iter().map(NeedEntry::of).collect() }))
}

/// Returns the reader that a request names, or else the caller; without a credential the person at
/// this computer.
pub(super) fn reader(door: &Door, named: Option<ParticipantId>) -> ParticipantId {
    let own = || door.caller().principal().map(|principal| principal.id.clone());
    named.or_else(own).unwrap_or_else(|| ParticipantId::new(ParticipantId::USER))
}
