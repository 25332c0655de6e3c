//! Routes that preview a draft, run slash commands, and publish words from the trace.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::{Action, SlashOutcome};
use moothall_kernel::Conversation;
use moothall_kernel::slash::COMMANDS;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::explain::of_draft;
use crate::held_answers;
use crate::next_steps::Reader;
use crate::parse_event;
use crate::request::{Body, KeptRef, ThreadId, addressee};
use crate::strict::Inbound;
use crate::wire::{
    CommandList, CommandRan, CommandUsage, Draft, Envelope, ErrorBody, NewCommand, Preview,
    Published,
};

/// Returns the agents that would answer a draft, with the reasons. Changes nothing.
#[utoipa::path(post, path = "/threads/{id}/preview", operation_id = "preview_message", tag = "turns", request_body = Draft,
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = Preview), (status = "4XX", body = ErrorBody)))]
pub async fn preview(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<Preview>> {
    let Draft { from, to, content, reply_to } = body.read()?;
    let by = body.asker_named(from.as_deref())?;
    let door = body.door(&app.entrance);
    let to = addressee(&door, Action::Preview, &stream, to.as_deref()).await?;
    let reply_to = parse_event::cause(&door, &stream, reply_to.as_deref()).await?;
    let unproven = !by.proven;
    let draft = moothall_kernel::preview::Draft { to, body: content, reply_to, unproven };
    let preview = door
        .preview(&stream, by.id, draft.clone())
        .await
        .map_err(|error| ApiError::at_door(error, &stream))?;
    let reader = Reader::over_http(door.caller());
    let describe = move |state: &Conversation| of_draft(state, &preview, &draft.body, reader);
    Ok(Json(door.view(Action::Preview, &stream, describe).await?))
}

impl Inbound for Draft {
    fn missing(_: &str) -> ApiError {
        ApiError::new(
            Code::MissingContent,
            "'content' is missing: the text of the draft, which may be empty.",
        )
    }
}

impl Inbound for NewCommand {
    const EMPTY: &'static [&'static str] = &["text"];
}

/// Lists the slash commands.
#[utoipa::path(get, path = "/commands", operation_id = "list_commands", tag = "threads", responses((status = 200, body = CommandList)))]
pub async fn list() -> Json<CommandList> {
    let usage = |usage: &moothall_kernel::slash::CommandHelp| CommandUsage {
        name: usage.name.into(),
        arguments: usage.arguments.into(),
        does: usage.does.into(),
        example: usage.example.into(),
    };
    Json(CommandList { commands: COMMANDS.iter().map(usage).collect() })
}

/// Runs a slash command. Messages are never read as commands.
#[utoipa::path(post, path = "/threads/{id}/commands", operation_id = "run_command", tag = "threads", request_body = NewCommand,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
    ),
    responses((status = 200, body = CommandRan), (status = "4XX", body = ErrorBody)))]
pub async fn run(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<CommandRan>> {
    let NewCommand { from, text } = body.read()?;
    let by = body.asker_named(from.as_deref())?;
    let (door, idempotency) = (body.door(&app.entrance), body.idempotency(&by));
    let ordered =
        door.order(&stream, by, &text).await.map_err(|error| ApiError::at_door(error, &stream))?;
    let reader = Reader::over_http(door.caller());
    Ok(Json(match ordered {
        SlashOutcome::Tell(text) => CommandRan { text, event: None },
        SlashOutcome::Why => {
            let viewer = body.caller().viewer(None)?;
            let text = door.why(&stream, &viewer, |text| reader.reword(text)).await?;
            CommandRan { text, event: None }
        }
        SlashOutcome::Do(permitted, text) => {
            body.rates().command(body.caller(), &permitted)?;
            let answer = door.submit(*permitted, idempotency).await;
            let said = held_answers::post_outcome(answer, body.caller(), &stream)?;
            let own = match &said.event {
                Some(recorded) => door.warnings_of(&stream, recorded).await,
                None => Vec::new(),
            };
            let warnings =
                own.into_iter().chain(said.warnings).map(|warning| reader.reword(&warning));
            let text = std::iter::once(text).chain(warnings).collect::<Vec<_>>().join(" ");
            CommandRan { text, event: said.event.map(|recorded| Envelope::of(&stream, &recorded)) }
        }
    }))
}

/// Publishes text that was kept in the trace.
#[utoipa::path(post, path = "/threads/{id}/kept/{seq}/publish", operation_id = "publish_kept", tag = "turns", request_body = Option<crate::wire::Actor>,
    params(
        ("id" = String, Path, description = "The thread."),
        ("seq" = u64, Path, description = "Position of the event that keeps the text."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
    ),
    responses((status = 200, body = Published), (status = "4XX", body = ErrorBody)))]
pub async fn publish(
    State(app): State<App>,
    KeptRef { stream, seq }: KeptRef,
    body: Body,
) -> ApiResult<Json<Published>> {
    let (door, by) = (body.door(&app.entrance), body.asker()?);
    door.find(Action::Publish, &stream).await?;
    let idempotency = body.idempotency(&by);
    let answer = door
        .publish(&stream, seq, by, idempotency)
        .await
        .map_err(|error| ApiError::at_door(error, &stream))?;
    let event = answer.event.ok_or_else(|| ApiError::plain(Code::Internal))?;
    Ok(Json(Published { event: Envelope::of(&stream, &event) }))
}
