//! Routes that list turns with their reasons, and that cancel turns.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::{Action, Explanation};
use moothall_engine::registry::Registry;
use moothall_kernel::command::ClientCommand;
use moothall_kernel::ids::{EventId, StreamId};
use moothall_kernel::turns::TurnRecord;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::explain::{explain, no_event};
use crate::next_steps::Reader;
use crate::request::{Body, Params, ThreadId, TurnRef};
use crate::submit::submit;
use crate::wire::{
    Actor, Cancelled, Envelope, ErrorBody, PendingAnswers, StopAccepted, TurnContext, TurnEntry,
    TurnList, UnaskedMessage,
};

/// Lists turns and refusals with their reasons, in order.
#[utoipa::path(get, path = "/threads/{id}/turns", operation_id = "list_turns", tag = "turns",
    params(
        ("id" = String, Path, description = "The thread."),
        ("message" = Option<String>, Query, description = "Only turns and refusals that this human message caused."),
        ("limit" = Option<u64>, Query, description = "Maximum number of results, the newest (1–1000; default: all)."),
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
    let reader = Reader::over_http(door.caller());
    let explained = explain(&door, Action::ListTurns, &stream, &viewer, message, reader).await?;
    let Explanation { mut turns, mut unasked, head, pending } = explained;
    newest(&mut turns, limit);
    newest(&mut unasked, limit);
    let registry = door.registry();
    turns.iter_mut().for_each(|record| say_that_it_waits(&registry, &stream, record));
    Ok(Json(TurnList {
        turns: turns.into_iter().map(|record| TurnEntry::of(&stream, record)).collect(),
        head: head.0,
        whole: true,
        unasked: unasked.into_iter().map(UnaskedMessage::from).collect(),
        pending: pending.map(PendingAnswers::from),
    }))
}

/// Removes all but the newest entries of a list, if there is a limit.
fn newest<T>(list: &mut Vec<T>, limit: Option<usize>) {
    let surplus = limit.map_or(0, |limit| list.len().saturating_sub(limit));
    list.drain(..surplus);
}

/// Adds a detail to a turn that waits for another program to end. The log has no event for the
/// wait, because it is temporary.
fn say_that_it_waits(registry: &Registry, stream: &StreamId, record: &mut TurnRecord) {
    let (Some(places), Some(turn), None, None) =
        (registry.places(), record.turn, record.outcome, record.started_at)
    else {
        return;
    };
    if places.is_waiting(stream, turn) {
        record.detail = Some(places.wait_reason());
    }
}

/// Returns the input of a turn: the text that its participant reads before it answers.
///
/// A participant that streams events gets it there as a `turn` event. With `past=1` also that of a
/// turn that has ended, composed from the log as it was at the turn's start; words that were erased
/// since are not in it.
#[utoipa::path(get, path = "/turns/{id}/context", operation_id = "read_turn_context", tag = "turns",
    params(
        ("id" = String, Path, description = "The turn: `<thread>.<number>`."),
        ("as" = Option<String>, Query, description = "Only if the turn belongs to this participant."),
        ("past" = Option<u8>, Query, description = "`1`: also if the turn has ended."),
    ),
    responses((status = 200, body = TurnContext), (status = "4XX", body = ErrorBody)))]
pub async fn context(
    State(app): State<App>,
    TurnRef { stream, turn }: TurnRef,
    params: Params,
) -> ApiResult<Json<TurnContext>> {
    let viewer = params.viewer()?;
    let door = params.door(&app.entrance);
    let context = match params.switch("past")? {
        true => door.past_context(&stream, turn, &viewer).await?,
        false => door.context(&stream, turn, &viewer).await?,
    };
    let context = context.ok_or_else(|| {
        ApiError::new(Code::UnknownTurn, "You have no open turn with this id.").in_thread(&stream)
    })?;
    Ok(Json(TurnContext::of(&stream, &context)))
}

/// Cancels every open turn and every waiting message.
#[utoipa::path(post, path = "/threads/{id}/stop", operation_id = "stop_thread", tag = "turns", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
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
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
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
