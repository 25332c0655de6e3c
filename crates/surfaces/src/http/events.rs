//! Routes that read and post the events of a thread.

use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use moothall_engine::access::{AccessError, Mode};
use moothall_engine::door::{Action, Door, EventFilter, Pages};
use moothall_kernel::event::{Change, Event, Posted, RecordedEvent};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::participant::{Answers, Kind};
use moothall_kernel::time::Timestamp;

use super::App;
use crate::error::{ApiError, ApiResult};
use crate::held_answers;
use crate::next_steps::Reader;
use crate::parse_event;
use crate::request::{Body, Params, ThreadId};
use crate::wire::{Accepted, Envelope, ErrorBody, EventPage, JoinPrompt, NewEvent};

/// Returns the events of a thread.
#[utoipa::path(get, path = "/threads/{id}/events", operation_id = "read_events", tag = "events",
    params(
        ("id" = String, Path, description = "The thread."),
        ("after" = Option<u64>, Query, description = "Only events after this position."),
        ("before" = Option<u64>, Query, description = "Only events before this position; with `limit`, the newest of them, oldest first."),
        ("since" = Option<String>, Query, description = "Only events later than this time."),
        ("limit" = Option<u64>, Query, description = "Maximum number of events (1–1000; default: all)."),
        ("moothall-log" = Option<String>, Header, description = "Id of the log of the position: the header `moothall-log` of every response. If it is another log, for example after a restore, the response is 416. The parameter `log` means the same."),
        ("log" = Option<String>, Query, description = "Same as the header `moothall-log`, for clients that cannot send headers."),
        ("types" = Option<String>, Query, description = "Only events of these types, separated by commas: the types of an envelope, and `other` for all types that clients define. Default: all types except `turn`. Positions may skip numbers."),
        ("as" = Option<String>, Query, description = "Only what this participant may see."),
    ),
    responses((status = 200, body = EventPage), (status = "4XX", body = ErrorBody)))]
pub async fn read(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
) -> ApiResult<Response> {
    let (limit, types, viewer) =
        (params.limit()?.unwrap_or(usize::MAX), params.types()?, params.viewer()?);
    let filter = EventFilter::new(viewer, move |event| types.has(event));
    let (given_after, since) = (params.number("after")?.map(Seq), params.since()?);
    let door = params.door(&app.entrance);
    let head = door.find(Action::ReadThread, &stream).await?.head;
    if given_after.is_some_and(|after| after > head) {
        return Err(ApiError::no_position(head).in_thread(&stream));
    }
    let mut after = start(&door, &stream, head, given_after, since).await?.unwrap_or(Seq(0));
    let mut until = head;
    // With `before`, the newest events are wanted. The search for their beginning goes backwards.
    if let Some(before) = params.number("before")? {
        until = Seq(before.saturating_sub(1)).min(head);
        after = door.newest(Action::ReadThread, &stream, &filter, after..until, limit).await?;
    }
    let pages = door.pages(Action::ReadThread, &stream, filter, after..until);
    let mut writer = PageWriter::new(pages, stream, head, limit);
    // The first piece is read before the answer begins, so that its error gets a status.
    let first = writer.next().await.map_err(ApiError::from)?;
    let rest = stream::unfold(writer, |mut writer| async move {
        if writer.done {
            return None;
        }
        // The answer has begun, so an error can only be shown by breaking it off.
        let chunk = writer.next().await.map_err(std::io::Error::other);
        writer.done |= chunk.is_err();
        Some((chunk, writer))
    });
    let chunks = futures_util::StreamExt::chain(stream::iter([Ok(first)]), rest);
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], HttpBody::from_stream(chunks)).into_response())
}

/// Returns the later of the positions given by `after` and `since`, or `None` without both.
pub(crate) async fn start(
    door: &Door,
    stream: &StreamId,
    head: Seq,
    after: Option<Seq>,
    since: Option<Timestamp>,
) -> ApiResult<Option<Seq>> {
    let at = match since {
        Some(since) => Some(door.position_at(stream, head, since).await?),
        None => None,
    };
    Ok(after.max(at))
}

/// Writes events in pieces, so that a long log is never in memory as a whole.
struct PageWriter {
    pages: Pages,
    stream: StreamId,
    head: Seq,
    through: Seq,
    left: usize,
    count: usize,
    begun: bool,
    done: bool,
}

impl PageWriter {
    /// Creates a writer for these pages of the log, which stops after `limit` events.
    fn new(pages: Pages, stream: StreamId, head: Seq, limit: usize) -> Self {
        Self {
            through: pages.through(),
            pages,
            stream,
            head,
            left: limit,
            count: 0,
            begun: false,
            done: false,
        }
    }

    /// Returns the next piece. The last one closes the JSON object.
    async fn next(&mut self) -> Result<Bytes, AccessError> {
        let mut text = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            text.extend_from_slice(b"{\"events\":[");
        }
        let mut more = true;
        while more && text.len() < 64 * 1024 {
            more = self.write_some(&mut text).await?;
        }
        if !more {
            let tail = format!(
                "],\"count\":{},\"through\":{},\"head\":{}}}",
                self.count, self.through, self.head
            );
            text.extend_from_slice(tail.as_bytes());
            self.done = true;
        }
        Ok(text.into())
    }

    /// Writes a page of the log. Returns true if there may be more.
    async fn write_some(&mut self, text: &mut Vec<u8>) -> Result<bool, AccessError> {
        if self.left == 0 {
            return Ok(false);
        }
        let Some(events) = self.pages.next().await? else { return Ok(false) };
        for recorded in &events {
            if self.left == 0 {
                return Ok(false);
            }
            if self.count > 0 {
                text.push(b',');
            }
            write_envelope(text, &self.stream, recorded);
            self.through = recorded.seq;
            self.count += 1;
            self.left -= 1;
        }
        // The page may end with hidden events. The next request need not read them again.
        self.through = self.pages.through();
        Ok(true)
    }
}

/// Appends an event as JSON. An envelope holds only text, numbers and JSON, so writing it to memory
/// cannot fail.
pub(crate) fn write_envelope(text: &mut Vec<u8>, stream: &StreamId, recorded: &RecordedEvent) {
    if let Err(error) = serde_json::to_writer(text, &Envelope::of(stream, recorded)) {
        tracing::error!(%error, seq = recorded.seq.0, "an event could not be written as JSON");
    }
}

/// Posts an event: a message, a control, a new name, a pass, or an event of the client's own type.
///
/// A success means that the event is committed and synced.
#[utoipa::path(post, path = "/threads/{id}/events", operation_id = "post_event", tag = "events", request_body = NewEvent,
    params(
        ("id" = String, Path, description = "The thread."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect."),
    ),
    responses((status = 200, body = Accepted), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn post(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<Accepted>> {
    let door = body.door(&app.entrance);
    let parsed = parse_event::read(&door, &stream, &body).await?;
    let permitted = door
        .permit(&stream, parsed.command)
        .await
        .map_err(|error| ApiError::from(error).in_thread(&stream))?;
    body.rates().command(body.caller(), &permitted)?;
    let answer = door.submit(permitted, body.idempotency(&parsed.by)).await;
    let said = held_answers::post_outcome(answer, body.caller(), &stream)?;
    let event = said.event.as_ref();
    let mut warnings = parsed.warnings;
    warnings.extend(said.warnings);
    if let Some(recorded) = event {
        warnings.extend(door.warnings_of(&stream, recorded).await);
        warnings.extend(unknown_speaker(&door, &stream, recorded).await);
    }
    let reader = Reader::over_http(door.caller());
    warnings.iter_mut().for_each(|warning| *warning = reader.reword(warning));
    Ok(Json(Accepted {
        received: true,
        event: event.map(|recorded| Envelope::of(&stream, recorded)),
        warnings,
        join: event.and_then(|recorded| join(&app, &stream, recorded)),
    }))
}

/// Returns a warning if the sender's name is unknown in the thread and the caller is not an agent.
/// The sender's words then count as an agent's, which a person perhaps does not expect.
async fn unknown_speaker(
    door: &Door,
    stream: &StreamId,
    recorded: &RecordedEvent,
) -> Option<String> {
    let Event::Posted(Posted { from, kind: Kind::Agent, turn: None, .. }) = &recorded.event else {
        return None;
    };
    if door.caller().is_agent() {
        return None;
    }
    let speaker = from.clone();
    let known =
        door.view(Action::Post, stream, move |state| state.participant(&speaker).is_some()).await;
    known.is_ok_and(|known| !known).then(|| {
        format!(
            "{from} is not known as a person here, so this message counts as an agent's, and few \
             agents are asked to answer it. To speak as a person, leave `from` out or invite \
             {from} with the client \"human\"."
        )
    })
}

/// Returns the instructions for the first invited agent that connects by itself; `None` if the
/// event invites no such agent.
fn join(app: &App, stream: &StreamId, recorded: &RecordedEvent) -> Option<JoinPrompt> {
    let Event::Controlled { changes, .. } = &recorded.event else { return None };
    let participant = changes.iter().find_map(|change| match change {
        Change::Invited { participant, kind: Kind::Agent, facts, .. }
            if facts.abilities.answers == Answers::ByPosting =>
        {
            Some(participant.to_string())
        }
        _ => None,
    })?;
    let events = format!("{}/threads/{stream}/events", app.base);
    let needs_token = app.access.mode() == Mode::Token;
    Some(JoinPrompt {
        prompt: join_prompt(&events, &participant, needs_token),
        command: join_command(&events, &participant, needs_token),
        participant,
    })
}

fn join_prompt(events: &str, participant: &str, needs_token: bool) -> String {
    let token =
        if needs_token { "\nSend \"Authorization: Bearer <your token>\" with both." } else { "" };
    format!(
        "You are invited to a conversation on a Moothall server as the participant \"{participant}\".\n\
         Listen with GET {events}/stream?as={participant}&turns=1 (server-sent events). An event named \"turn\" is your turn: \
         its \"system\" and \"text\" are what you are to read.\n\
         Answer with POST {events} and the JSON body {{\"from\": \"{participant}\", \"content\": \"<your words>\"}}, \
         or pass with {{\"from\": \"{participant}\", \"type\": \"turn\", \"content\": {{\"pass\": true}}}}.{token}"
    )
}

/// Returns a `curl` command. Ids contain no characters special to a shell, so quotes are enough.
fn join_command(events: &str, participant: &str, needs_token: bool) -> String {
    let token = if needs_token { "-H \"Authorization: Bearer $MOOTHALL_TOKEN\" " } else { "" };
    format!("curl -sN {token}'{events}/stream?as={participant}&turns=1'")
}
