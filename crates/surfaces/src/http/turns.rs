//! Turns: why each agent spoke or did not, and how a person takes a turn away.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::{Action, Door};
use moothall_engine::registry::Registry;
use moothall_kernel::command::ClientCommand;
use moothall_kernel::ids::{EventId, Seq, StreamId, TurnNo};
use moothall_kernel::view::Viewer;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::explain::Explained;
use crate::request::{Body, Params, ThreadId, TurnRef};
use crate::submit::submit;
use crate::wire::{
    Actor, Cancelled, Envelope, ErrorBody, StopAccepted, TurnContext, TurnEntry, TurnList,
};

/// Lists turns and refusals with their reasons, in the order in which they happened.
#[utoipa::path(get, path = "/threads/{id}/turns", operation_id = "list_turns", tag = "turns",
    params(
        ("id" = String, Path, description = "The thread."),
        ("message" = Option<String>, Query, description = "Only what goes back to this human message."),
        ("limit" = Option<u64>, Query, description = "1 to 1000: only the newest; all where it is missing."),
        ("as" = Option<String>, Query, description = "Only what this participant may see."),
    ),
    responses((status = 200, body = TurnList), (status = "4XX", body = ErrorBody)))]
pub async fn list(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
) -> ApiResult<Json<TurnList>> {
    let (limit, viewer) = (params.limit()?, params.viewer()?);
    let message = params
        .get("message")
        .map(|text| text.parse::<EventId>().map_err(|()| no_event()))
        .transpose()?;
    let door = params.door(&app.entrance);
    let head = door.find(Action::ListTurns, &stream).await?.head;
    let whole = viewer == Viewer::Operator;
    let explained = explain(&door, &stream, &viewer, message, head).await?;
    let unasked = if whole { explained.forgotten(message) } else { Vec::new() };
    let mut turns = explained.list(message, limit);
    let registry = door.registry();
    turns.iter_mut().for_each(|entry| say_that_it_waits(&registry, &stream, entry));
    Ok(Json(TurnList { turns, head: head.0, whole, unasked }))
}

/// How far back the first look for a turn goes that was granted before the message; each further
/// look goes four times as far.
const EARLIER_SEQS: u64 = 256;

/// The turns of a conversation; those about one message where one is asked for. A turn that was
/// granted before it may be about it too.
async fn explain(
    door: &Door,
    stream: &StreamId,
    viewer: &Viewer,
    message: Option<EventId>,
    head: Seq,
) -> ApiResult<Explained> {
    let wanted = message.map_or(Seq(0), |id| id.seq());
    let mut earlier = 1;
    loop {
        let after = Seq(wanted.0.saturating_sub(earlier));
        let mut pages = door.pages(Action::ListTurns, stream, viewer.clone(), after..head);
        let (mut explained, mut found) = (Explained::new(stream.clone()), message.is_none());
        while let Some(events) = pages.next().await? {
            found |= events.iter().any(|recorded| Some(recorded.id(stream)) == message);
            if !found && pages.through() >= wanted {
                return Err(no_event().in_thread(stream));
            }
            events.iter().for_each(|recorded| explained.observe(recorded));
        }
        if !found {
            return Err(no_event().in_thread(stream));
        }
        if after == Seq(0) || explained.knows_what_was_widened() {
            return Ok(explained);
        }
        earlier = (earlier * 4).max(EARLIER_SEQS);
    }
}

/// A turn that waits for a place is told of as such. No event says so: it is over with the moment.
fn say_that_it_waits(registry: &Registry, stream: &StreamId, entry: &mut TurnEntry) {
    let (Some(places), Some(id), None, None) =
        (registry.places(), &entry.id, &entry.outcome, &entry.started_at)
    else {
        return;
    };
    let turn = id.rsplit('.').next().and_then(|number| number.parse().ok()).map(TurnNo);
    if turn.is_some_and(|turn| places.is_waiting(stream, turn)) {
        entry.detail = Some(places.why());
    }
}

fn no_event() -> ApiError {
    ApiError::plain(Code::UnknownEvent)
}

/// What the participant of an open turn is to read before it answers. A participant that reads its
/// stream gets it there by itself.
#[utoipa::path(get, path = "/turns/{id}/context", operation_id = "read_turn_context", tag = "turns",
    params(
        ("id" = String, Path, description = "The turn: `<thread>.<number>`."),
        ("as" = Option<String>, Query, description = "Only if it is this participant's."),
    ),
    responses((status = 200, body = TurnContext), (status = "4XX", body = ErrorBody)))]
pub async fn context(
    State(app): State<App>,
    TurnRef { stream, turn }: TurnRef,
    params: Params,
) -> ApiResult<Json<TurnContext>> {
    let viewer = params.viewer()?;
    let context = params.door(&app.entrance).context(&stream, turn, &viewer).await?;
    let context = context.ok_or_else(|| {
        ApiError::new(Code::UnknownTurn, "No turn with this id is open for you.").in_thread(&stream)
    })?;
    Ok(Json(TurnContext::of(&stream, &context)))
}

/// Cancels every open turn and every waiting message.
#[utoipa::path(post, path = "/threads/{id}/stop", operation_id = "stop_thread", tag = "turns", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own."),
    ),
    responses((status = 200, body = StopAccepted), (status = "4XX", body = ErrorBody)))]
pub async fn stop(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<StopAccepted>> {
    let by = body.asker()?;
    let idempotency = body.idempotency(&by);
    let answer = submit(
        &body.door(&app.entrance),
        body.rates(),
        &stream,
        ClientCommand::Stop { by },
        idempotency,
    )
    .await?;
    Ok(Json(StopAccepted {
        stopped: true,
        event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)),
    }))
}

/// Cancels one turn.
#[utoipa::path(post, path = "/turns/{id}/cancel", operation_id = "cancel_turn", tag = "turns", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The turn: `<thread>.<number>`."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeats of the request have no effect of their own."),
    ),
    responses((status = 200, body = Cancelled), (status = "4XX", body = ErrorBody)))]
pub async fn cancel(
    State(app): State<App>,
    TurnRef { stream, turn }: TurnRef,
    body: Body,
) -> ApiResult<Json<Cancelled>> {
    let by = body.asker()?;
    let idempotency = body.idempotency(&by);
    let answer = submit(
        &body.door(&app.entrance),
        body.rates(),
        &stream,
        ClientCommand::Cancel { turn, by },
        idempotency,
    )
    .await?;
    Ok(Json(Cancelled {
        cancelled: true,
        event: answer.event.map(|recorded| Envelope::of(&stream, &recorded)),
    }))
}
