//! The route that lists guards and limits.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::GuardQuery;
use moothall_kernel::ids::StreamId;

use super::App;
use crate::error::{ApiError, ApiResult};
use crate::request::{Params, stream_id};
use crate::wire::{ErrorBody, GuardEntry, GuardsAnswer};

/// Default number of threads per page.
const THREADS: usize = 200;

/// Lists active guards, refusals, and limits of which three quarters are used, with the way to lift
/// each.
///
/// Covers threads in memory, and threads in which a turn runs or waits for a person. Any other
/// thread shows its guards if `thread` names it. Only operators see server-wide budgets. An agent
/// sees only the holds, pauses and mutes of its own threads.
#[utoipa::path(get, path = "/guards", operation_id = "read_guards", tag = "turns",
    params(
        ("thread" = Option<String>, Query, description = "Only the guards of this thread."),
        ("cursor" = Option<String>, Query, description = "`next` of the previous page."),
        ("limit" = Option<u64>, Query, description = "Maximum number of threads to check (1–1000; default 200)."),
    ),
    responses((status = 200, body = GuardsAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, params: Params) -> ApiResult<Json<GuardsAnswer>> {
    let door = params.door(&app.entrance);
    let thread = params.get("thread");
    let stream = thread.map(|id| stream_id(id).ok_or_else(|| ApiError::no_thread(id)));
    let wanted = GuardQuery {
        stream: stream.transpose()?,
        after: params.get("cursor").map(StreamId::new),
        limit: params.limit()?.unwrap_or(THREADS),
    };
    let page = door.guards(wanted).await?;
    let is_for_people = !door.caller().is_agent();
    Ok(Json(GuardsAnswer {
        currency: door.currency(),
        guards: page.items.iter().map(|item| GuardEntry::of(item, is_for_people)).collect(),
        next: page.next.map(|stream| stream.to_string()),
    }))
}
