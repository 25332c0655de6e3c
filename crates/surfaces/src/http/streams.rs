//! Streams of server-sent events.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use moothall_engine::door::{Action, EventFilter};
use moothall_kernel::ids::{Seq, StreamId};

use super::App;
use super::events::start;
use super::needs::reader;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, ThreadId, digits, path_segment, stream_id};
use crate::sse::{self, FollowList, Follows, SCREENS_MAX, THREADS_MAX};
use crate::strict::Inbound;
use crate::wire::{ErrorBody, EventTypes, FollowsChanged, NewFollow, NewFollows};

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
///
/// With `follow` or `screens`, the same stream also brings what the streams of these threads and
/// terminals bring, so that a client needs one connection. Its first event is `open`, with the
/// id that `PUT /events/stream/{id}` takes to change the list. `following`, `refused` and `left`
/// tell of each source that it was opened, could not be opened, or has ended. The events of threads
/// are envelopes with `id: <seq>`, and their signals name the turn or the thread.
#[utoipa::path(get, path = "/events/stream", operation_id = "stream_hall", tag = "events",
    params(
        ("as" = Option<String>, Query, description = "The reader of `needs`; by default the caller, or `user` without a credential."),
        ("follow" = Option<String>, Query, description = "Threads to follow, separated by commas, at most 16: each an id, or `id:position` to begin after that position. May be empty, for a stream that follows threads later."),
        ("screens" = Option<String>, Query, description = "Sessions whose screens to show, separated by commas, at most 4."),
        ("types" = Option<String>, Query, description = "Only events of these types of the followed threads, separated by commas, as in the stream of a thread."),
        ("moothall-log" = Option<String>, Header, description = "Id of the log of the positions: the header `moothall-log` of every response. If it is another log, for example after a restore, the response is 416. The parameter `log` means the same."),
        ("log" = Option<String>, Query, description = "Same as the header `moothall-log`, for clients that cannot send headers."),
    ),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = "4XX", body = ErrorBody)))]
pub async fn hall(State(app): State<App>, params: Params) -> ApiResult<Response> {
    let (list, types, viewer) = (follow_list(&params)?, params.types()?, params.viewer()?);
    let door = params.door(&app.entrance);
    let reader = reader(&door, params.viewing_as()?);
    let changes = door.changes()?;
    let follows = list.map(|list| Follows::new(&app, door, viewer, types, list));
    Ok(sse::answer(sse::changes(app, changes, reader, follows)))
}

/// Returns the sources in the query. Each list can be empty. Returns `None` if the query has
/// neither `follow` nor `screens`.
fn follow_list(params: &Params) -> ApiResult<Option<FollowList>> {
    let (threads, screens) = (params.get("follow"), params.get("screens"));
    if threads.is_none() && screens.is_none() {
        return Ok(None);
    }
    let words = |list: Option<&str>| -> Vec<String> {
        let words = list.unwrap_or_default().split(',').filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let threads: Option<Vec<_>> = words(threads).iter().map(|word| followed(word)).collect();
    let threads = threads.ok_or_else(|| {
        let message = "'follow' takes threads, separated by commas: each an id, or an id with ':' \
             and a position.";
        ApiError::new(Code::InvalidParameter, message)
    })?;
    bounded(FollowList { threads, screens: words(screens) }, Code::InvalidParameter).map(Some)
}

/// Rejects a list with too many sources.
fn bounded(list: FollowList, code: Code) -> ApiResult<FollowList> {
    if list.threads.len() <= THREADS_MAX && list.screens.len() <= SCREENS_MAX {
        return Ok(list);
    }
    let message = format!(
        "A stream follows at most {THREADS_MAX} threads and {SCREENS_MAX} screens; open another \
         stream for more."
    );
    Err(ApiError::new(code, message))
}

/// Reads a thread, with a position or without.
fn followed(word: &str) -> Option<(StreamId, Option<Seq>)> {
    match word.split_once(':') {
        None => Some((stream_id(word)?, None)),
        Some((id, after)) => Some((stream_id(id)?, Some(Seq(digits(after)?)))),
    }
}

/// The open event stream in the path.
pub struct StreamWord(pub String);

impl<S: Send + Sync> FromRequestParts<S> for StreamWord {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let word = path_segment(parts, state).await;
        word.map(Self).ok_or_else(|| ApiError::plain(Code::UnknownStream))
    }
}

/// Changes the threads and terminals that an open stream of `GET /events/stream` follows. The
/// new list replaces the old one.
///
/// A thread that the stream follows already continues, unless its entry has `after`: then its
/// events are sent again from there. The outcome for each new entry comes in the stream.
#[utoipa::path(put, path = "/events/stream/{id}", operation_id = "change_stream", tag = "events", request_body = NewFollows,
    params(("id" = String, Path, description = "The stream: the id in its event `open`.")),
    responses((status = 200, body = FollowsChanged), (status = "4XX", body = ErrorBody)))]
pub async fn change(
    State(app): State<App>,
    StreamWord(id): StreamWord,
    body: Body,
) -> ApiResult<Json<FollowsChanged>> {
    let NewFollows { threads, screens } = body.read()?;
    let entry = |NewFollow { thread, after }: NewFollow| {
        let stream = stream_id(&thread).ok_or_else(|| ApiError::no_thread(&thread))?;
        Ok((stream, after.map(Seq)))
    };
    let threads = threads.into_iter().map(entry).collect::<ApiResult<Vec<_>>>()?;
    let changed = FollowsChanged {
        stream: id.clone(),
        threads: threads.iter().map(|(stream, _)| stream.to_string()).collect(),
        screens: screens.clone(),
    };
    let list = bounded(FollowList { threads, screens }, Code::InvalidField)?;
    app.following.change(&id, &body.door(&app.entrance), list)?;
    Ok(Json(changed))
}

impl Inbound for NewFollows {}
