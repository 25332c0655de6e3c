//! The route that starts a page: the caller, the threads with their newest messages, the sessions
//! and their links, in one answer.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::Door;
use moothall_engine::ports::ListFilter;
use moothall_kernel::ids::ParticipantId;

use super::threads::{ThreadDetail, threads_of};
use super::{App, needs};
use crate::ask;
use crate::error::{ApiError, ApiResult};
use crate::next_steps::Reader;
use crate::request::Params;
use crate::wire::{
    ErrorBody, HallSessions, HallStart, NeedEntry, OccupationEntry, SessionList, WhoAmI,
};

/// Maximum number of threads in the answer. The rest comes with `GET /threads`.
const THREADS_MAX: usize = 1000;

/// Returns what a client shows first, in one answer: who the caller is, the threads with their
/// newest messages, the sessions with their links, the states of participants, and what waits for
/// the reader.
///
/// Open `GET /events/stream` before, so that no change between the two is missed.
#[utoipa::path(get, path = "/start", operation_id = "read_start", tag = "threads",
    responses((status = 200, body = HallStart), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, params: Params) -> ApiResult<Json<HallStart>> {
    let (door, reader) = (params.door(&app.entrance), params.viewing_as()?);
    let needs_of = needs::reader(&door, reader.clone());
    let detail = ThreadDetail {
        reader: Some(reader.unwrap_or_else(ParticipantId::user)),
        viewer: params.viewer()?,
        lines: true,
    };
    let filter =
        ListFilter { limit: Some(THREADS_MAX), after: Some(0), ..ListFilter::of_conversations() };
    let page = door.threads(filter).await?;
    let next = page.next;
    let threads = threads_of(&door, page, &detail).await?;
    let (sessions, no_sessions) = match sessions(&door).await {
        Ok(sessions) => (Some(sessions), None),
        Err(error) => {
            let mut fault = error.detail().clone();
            fault.message = Reader::over_http(door.caller()).reword(&fault.message);
            (None, Some(fault))
        }
    };
    let session = WhoAmI::of(app.access.mode(), params.caller());
    let states = door.states().await?.iter().map(OccupationEntry::of).collect();
    let needs = door.needs(&needs_of).await?.iter().map(NeedEntry::of).collect();
    Ok(Json(HallStart { session, threads, next, sessions, no_sessions, states, needs }))
}

/// Returns the live sessions, the ids of those that have ended, the programs that can be started,
/// and the links. The page needs the ids because the homes of ended sessions are still listed.
async fn sessions(door: &Door) -> Result<HallSessions, ApiError> {
    let SessionList { sessions, programs, .. } = ask::list(door, true, None).await?;
    let links = ask::links(door, None).await?;
    let (ended, live): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|session| session.ended.is_some());
    let ended = ended.into_iter().map(|session| session.id).collect();
    Ok(HallSessions { live, ended, programs, links: links.links, waiting: links.waiting })
}
