//! Routes that list, begin and delete threads, and show the state of one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use moothall_engine::access::AccessError;
use moothall_engine::door::{Action, Door};
use moothall_engine::hall::{ConversationDraft, HallError};
use moothall_engine::ports::{ListFilter, ListPage, ListedStream};
use moothall_kernel::Conversation;
use moothall_kernel::chat::{Chat, NotAChat};
use moothall_kernel::event::Event;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::mentions::is_to;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::view::Viewer;
use serde_json::Value;

use super::App;
use crate::control::policy_refused;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, ThreadId};
use crate::strict::Inbound;
use crate::wire::{
    Envelope, ErrorBody, LastMessage, NewThread, OccupationEntry, ThreadCreated, ThreadDeleted,
    ThreadEntry, ThreadList, ThreadStateAnswer,
};

/// Maximum number of threads to which a list adds the newest message.
const LINES_MAX: usize = 60;
/// Number of a thread's newest messages that are searched for an unread one to the reader.
const LOOKED_AT: usize = 40;

/// Lists threads in the order in which they were created.
#[utoipa::path(get, path = "/threads", operation_id = "list_threads", tag = "threads",
    params(
        ("archived" = Option<bool>, Query, description = "Only archived threads, or only threads that are not archived."),
        ("after" = Option<u64>, Query, description = "`next` of the previous page."),
        ("limit" = Option<u64>, Query, description = "Maximum number of results (1–1000; default: all)."),
        ("chat" = Option<String>, Query, description = "Only the thread that is bound to this chat, such as `telegram:-100123`."),
        ("as" = Option<String>, Query, description = "Adds how far this participant has read each thread."),
        ("lines" = Option<u8>, Query, description = "`1`: adds the newest message, and the names of participants, to the 60 threads with the newest events."),
    ),
    responses((status = 200, body = ThreadList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<ThreadList>> {
    let filter = ListFilter {
        archived: params.flag("archived")?,
        after: params.number("after")?,
        limit: params.limit()?,
        ..ListFilter::of_conversations()
    };
    let detail = ThreadDetail {
        reader: params.viewing_as()?,
        viewer: params.viewer()?,
        lines: params.switch("lines")?,
    };
    let door = params.door(&app.entrance);
    let page = match params.get("chat") {
        Some(chat) => door.thread_of_chat(&bound_chat(chat)?, filter.archived).await?,
        None => door.threads(filter).await?,
    };
    let next = page.next;
    Ok(Json(ThreadList { threads: threads_of(&door, page, &detail).await?, next }))
}

/// The details that a list of threads adds.
pub(super) struct ThreadDetail {
    /// The participant whose unread messages are counted.
    pub reader: Option<ParticipantId>,
    /// The viewer of the newest messages.
    pub viewer: Viewer,
    /// True if the newest messages are added.
    pub lines: bool,
}

/// Returns the entries of listed threads.
pub(super) async fn threads_of(
    door: &Door,
    page: ListPage,
    detail: &ThreadDetail,
) -> ApiResult<Vec<ThreadEntry>> {
    let mut threads: Vec<ThreadEntry> = page.streams.iter().map(entry).collect();
    if let Some(reader) = &detail.reader {
        let streams: Vec<_> = page.streams.iter().map(|listed| listed.stream.clone()).collect();
        for (thread, unread) in threads.iter_mut().zip(door.unread(reader, &streams).await?) {
            thread.read = Some(unread.read.0);
            thread.unread = Some(unread.messages as u64);
        }
    }
    if detail.lines {
        add_lines(door, &page.streams, &mut threads, detail).await?;
    }
    Ok(threads)
}

/// Adds details to the [`LINES_MAX`] threads with the newest events: the newest message, the names
/// of participants, and a flag for unread messages to the reader. The entry of a thread that was
/// deleted meanwhile stays as it is.
async fn add_lines(
    door: &Door,
    listed: &[ListedStream],
    threads: &mut [ThreadEntry],
    detail: &ThreadDetail,
) -> ApiResult<()> {
    let mut order: Vec<usize> = (0..listed.len()).collect();
    order.sort_by_key(|at| Reverse(listed[*at].last_ts));
    for at in order.into_iter().take(LINES_MAX) {
        match newest(door, &listed[at], threads[at].read, detail).await {
            Ok((last, direct, names)) => {
                let thread = &mut threads[at];
                (thread.last, thread.direct, thread.names) = (last, Some(direct), names);
            }
            Err(AccessError::Hall(HallError::Deleted(_) | HallError::NotFound(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns three facts about a thread: its newest message, true if one of its last [`LOOKED_AT`]
/// messages is unread and is for the reader, and the names of participants that differ from their
/// ids.
async fn newest(
    door: &Door,
    listed: &ListedStream,
    read: Option<u64>,
    detail: &ThreadDetail,
) -> Result<(Option<LastMessage>, bool, BTreeMap<String, String>), AccessError> {
    let mut messages =
        door.messages(Action::ReadThread, &listed.stream, &detail.viewer, listed.head.next());
    let found = messages.next(LOOKED_AT).await?.unwrap_or_default();
    let direct = found.iter().any(|recorded| {
        recorded.seq.0 > read.unwrap_or_default() && is_for(&recorded.event, &detail.reader)
    });
    let names = door.view(Action::ReadThread, &listed.stream, names_of).await?;
    Ok((found.first().and_then(LastMessage::of), direct, names))
}

/// True if a message is addressed to the reader, or names the reader.
fn is_for(event: &Event, reader: &Option<ParticipantId>) -> bool {
    let (Event::Posted(posted), Some(reader)) = (event, reader) else { return false };
    is_to(posted, reader)
}

fn names_of(state: &Conversation) -> BTreeMap<String, String> {
    let named = state.participants().iter().filter(|one| one.name() != one.id.as_str());
    named.map(|one| (one.id.to_string(), one.name().to_owned())).collect()
}

fn bound_chat(given: &str) -> ApiResult<Chat> {
    given.parse().map_err(|error: NotAChat| {
        ApiError::new(Code::InvalidParameter, format!("'chat' is not a chat. {error}"))
    })
}

/// Converts a listed thread to its wire type. [`threads_of`] adds the rest.
fn entry(listed: &ListedStream) -> ThreadEntry {
    ThreadEntry {
        id: listed.stream.to_string(),
        name: listed.catalog.title.clone(),
        created_at: listed.catalog.created_at.to_string(),
        updated_at: listed.last_ts.to_string(),
        head: listed.head.0,
        archived: listed.catalog.archived,
        policy: listed.catalog.policy.clone(),
        waits_for_people: listed.catalog.waits_for_people.map(u64::from),
        read: None,
        unread: None,
        last: None,
        direct: None,
        names: BTreeMap::new(),
    }
}

/// Begins a thread.
#[utoipa::path(post, path = "/threads", operation_id = "create_thread", tag = "threads", request_body = NewThread,
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect.")),
    responses((status = 200, body = ThreadCreated), (status = "4XX", body = ErrorBody)))]
pub async fn create(State(app): State<App>, body: Body) -> ApiResult<Json<ThreadCreated>> {
    let NewThread { name, from, policy, folder } = body.read()?;
    let (door, by) = (body.door(&app.entrance), body.asker_named(from.as_deref())?);
    let policy = policy_of(policy.as_ref(), &door.defaults())?;
    let idempotency = body.idempotency(&by);
    let new = ConversationDraft { name: name.unwrap_or_default(), policy, folder };
    let answer = door.begin(new, by, idempotency).await?;
    let created = answer.event.ok_or_else(|| ApiError::plain(Code::Internal))?;
    let Event::Created { name, policy, .. } = &created.event else {
        return Err(ApiError::plain(Code::IdempotencyKeyReused));
    };
    Ok(Json(ThreadCreated {
        id: answer.stream.to_string(),
        name: name.clone(),
        created_at: created.ts.to_string(),
        head: created.seq.0,
        policy: policy.to_json(),
        event: Envelope::of(&answer.stream, &created),
    }))
}

impl Inbound for NewThread {}

/// Reads a policy: its name, or an object with its settings. Without one, returns the plain policy,
/// in which only addressed agents answer, with the server's settings.
pub(crate) fn policy_of(given: Option<&Value>, defaults: &Policy) -> ApiResult<Policy> {
    match given {
        None => Ok(Policy { name: PolicyName::PLAIN, ..defaults.clone() }),
        Some(value) => Policy::from_json(value, defaults).map_err(|fault| policy_refused(&fault)),
    }
}

/// Deletes a thread for good, with its whole content: from the log, the search index, and every
/// later reading. Only people may.
///
/// Running turns are cancelled first. A record stays: the thread's id, and when and by whom it was
/// deleted. All other requests for the thread are answered with 410. Repeating the request erases
/// what was left, if `erased` was false. The home of a live session and an open link are refused:
/// end the session, or close the link, first.
#[utoipa::path(delete, path = "/threads/{id}", operation_id = "delete_thread", tag = "threads",
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = ThreadDeleted), (status = "4XX", body = ErrorBody)))]
pub async fn delete(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
) -> ApiResult<Json<ThreadDeleted>> {
    let door = params.door(&app.entrance);
    let by = door.asker(None).map_err(ApiError::from)?;
    let erased =
        door.delete(&stream, by).await.map_err(|error| ApiError::at_door(error, &stream))?;
    Ok(Json(ThreadDeleted { deleted: true, erased, backups: ThreadDeleted::BACKUPS.to_owned() }))
}

/// Returns the current state of a thread.
#[utoipa::path(get, path = "/threads/{id}/state", operation_id = "read_state", tag = "threads", params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = ThreadStateAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn state(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
) -> ApiResult<Json<ThreadStateAnswer>> {
    let door = params.door(&app.entrance);
    let answer = door.view(Action::ReadThread, &stream, ThreadStateAnswer::of).await?;
    let states: Vec<_> = door.states_in(&stream).await?.iter().map(OccupationEntry::of).collect();
    Ok(Json(answer.with_states(&states)))
}
