//! Streams of server-sent events.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use moothall_engine::door::{Action, EventFilter};

use super::App;
use super::events::start;
use super::needs::reader;
use crate::error::ApiResult;
use crate::request::{Params, ThreadId};
use crate::sse;
use crate::wire::{ErrorBody, EventTypes};

/// Streams the events of a thread: unnamed events with `id: <seq>` and an envelope as data.
///
/// Signals have a name and no id: `presence`, `delta`, `progress`, and `turn` with the input of a
/// turn, for a participant that connects by itself. `resync` means that the client was too slow:
/// connect again after its position. `going-away` means that the server shuts down. Without a
/// position, the stream begins with new events. A comment with the head is sent after 15 seconds of
/// silence.
#[utoipa::path(get, path = "/threads/{id}/events/stream", operation_id = "stream_thread", tag = "events",
    params(
        ("id" = String, Path, description = "The thread."),
        ("Last-Event-ID" = Option<u64>, Header, description = "Resume after this position; overrides `after`."),
        ("moothall-log" = Option<String>, Header, description = "Id of the log of the position: the header `moothall-log` of every response. If it is another log, for example after a restore, the response is 416. The parameter `log` means the same."),
        ("log" = Option<String>, Query, description = "Same as the header `moothall-log`, for clients that cannot send headers."),
        ("after" = Option<u64>, Query, description = "Begin after this position; 0 is the beginning."),
        ("since" = Option<String>, Query, description = "Begin with events later than this time."),
        ("types" = Option<String>, Query, description = "Only events of these types, separated by commas: the types of an envelope, and `other` for all types that clients define. Default: all types except `turn`. Positions may skip numbers."),
        ("turns" = Option<u8>, Query, description = "`1`: the participant takes turns, and gets the `turn` events. Without it, the participant gets no turns until it has answered one."),
        ("as" = Option<String>, Query, description = "Only what this participant may see. The participant counts as connected while the stream is open."),
    ),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = "4XX", body = ErrorBody)))]
pub async fn thread(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (viewer, since) = (params.viewer()?, params.since()?);
    let StreamRequest { types, turns } = StreamRequest::of(&params)?;
    let types = if turns { types.and_turns() } else { types };
    let door = params.door(&app.entrance);
    let head = door.find(Action::ReadThread, &stream).await?.head;
    let resumed = params.resume_after(&headers, head)?;
    let after = start(&door, &stream, head, resumed, since).await?.unwrap_or(head);
    let filter = EventFilter::new(viewer, move |event| types.has(event)).taking_turns(turns);
    let reader = door.follow(&stream, filter, after).await?;
    Ok(sse::answer(sse::events(app, reader, head)))
}

/// The options of a client's stream.
struct StreamRequest {
    types: EventTypes,
    /// True if the client takes turns.
    turns: bool,
}

impl StreamRequest {
    fn of(params: &Params) -> ApiResult<Self> {
        Ok(Self { types: params.types()?, turns: params.switch("turns")? })
    }
}

/// Streams notifications of all threads: unnamed events with a thread and its new head.
///
/// Signals have a name: `presence`; `states` with changed states of participants; `needs` with all
/// that waits for the reader in a thread, if something of it may have changed; and `sessions` when
/// a session began, ended or changed its activity, or a link changed. List threads and sessions
/// after opening the stream. `resync` means that the client was too slow and has to list them
/// again.
#[utoipa::path(get, path = "/events/stream", operation_id = "stream_hall", tag = "events",
    params(
        ("as" = Option<String>, Query, description = "The reader of `needs`; by default the caller, or `user` without a credential."),
    ),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = "4XX", body = ErrorBody)))]
pub async fn hall(State(app): State<App>, params: Params) -> ApiResult<Response> {
    let door = params.door(&app.entrance);
    let reader = reader(&door, params.viewing_as()?);
    let changes = door.changes()?;
    Ok(sse::answer(sse::changes(app, changes, reader)))
}
