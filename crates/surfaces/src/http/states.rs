//! The route that lists the states of participants.

use axum::Json;
use axum::extract::State;

use super::App;
use crate::error::ApiResult;
use crate::request::Params;
use crate::wire::{ErrorBody, OccupationEntry, StatesAnswer};

/// Lists the participants that do something now, or are about to, in all threads.
///
/// The stream `/events/stream` sends each change as a `states` signal, at most four times a second
/// for a participant. A participant that is not listed is ready, muted or away, or its session has
/// ended; `GET /threads/{id}/state` has the states of all participants of a thread.
#[utoipa::path(get, path = "/states", operation_id = "read_states", tag = "threads",
    responses((status = 200, body = StatesAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, params: Params) -> ApiResult<Json<StatesAnswer>> {
    let seen = params.door(&app.entrance).states().await?;
    Ok(Json(StatesAnswer { states: seen.iter().map(OccupationEntry::of).collect() }))
}
