//! Routes for sessions: programs in terminals.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::response::Response;
use moothall_engine::access::{AccessError, SessionRequestError};
use moothall_engine::door::{Action, NewWords, ProgramStart};
use moothall_engine::sessions::{Excerpt, FirstWords, SessionId, Status};

use super::App;
use super::once::{KeyedOutcome, once};
use crate::ask;
use crate::error::ApiResult;
use crate::request::{Body, Params, SessionWord};
use crate::sse;
use crate::strict::Inbound;
use crate::wire::{
    Actor, AttachAnswer, ErrorBody, FolderAnswer, KeysTyped, MessageSent, NewKeys, NewMessage,
    NewSession, ScreenAnswer, SendAnswer, SessionActed, SessionDataAnswer, SessionEntry,
    SessionList, SessionResumed, StartAnswer, StartAsked,
};

/// Lists the live sessions, and the programs that can be started.
#[utoipa::path(get, path = "/sessions", operation_id = "list_sessions", tag = "sessions",
    params(("ended" = Option<bool>, Query, description = "Include ended sessions of this computer."),
           ("computer" = Option<String>, Query, description = "List the sessions of this computer instead, or of `all`. Others are asked, and tell only what lives.")),
    responses((status = 200, body = SessionList), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<SessionList>> {
    let (door, computer) = (params.door(&app.entrance), params.get("computer"));
    let ended = params.flag("ended")?.unwrap_or_default();
    Ok(Json(ask::list(&door, ended, computer).await?))
}

/// Starts a program in its own terminal. With `adopt`, takes over a program that already runs in a
/// terminal.
///
/// If an agent may not start it by itself, a person is asked first. The answer is 202 then, and a
/// `permission` event in the thread tells the outcome.
#[utoipa::path(post, path = "/sessions", operation_id = "start_session", tag = "sessions", request_body = NewSession,
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response.")),
    responses((status = 200, body = SessionEntry), (status = 202, body = StartAsked), (status = "4XX", body = ErrorBody),
        (status = "5XX", body = ErrorBody)))]
pub async fn start(State(app): State<App>, body: Body) -> ApiResult<Response> {
    let new: NewSession = body.read()?;
    let key = body.idempotency(&body.asker_named(new.from.as_deref())?);
    let door = body.door(&app.entrance);
    let Json(answer) = once(&app, key.as_ref(), async {
        let wanted = ask::program(&door, new, FirstWords::default()).await?;
        // The engine gets the key too. So a repetition finds the session even if this answer was
        // not stored.
        Ok(match door.start(wanted, key.clone()).await? {
            ProgramStart::Runs(status, _) => {
                (status.session.id.clone(), StartAnswer::Started(Box::new((&*status).into())))
            }
            ProgramStart::Asked(thread, permission) => {
                let asked = StartAsked::new(&thread, &permission);
                (thread, StartAnswer::Asked(asked))
            }
        })
    })
    .await?;
    let status =
        if matches!(answer, StartAnswer::Asked(_)) { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(answer)).into_response())
}

/// Lists the folders in which a program could be started: those inside a folder, and those in which
/// sessions worked.
#[utoipa::path(get, path = "/folders", operation_id = "list_folders", tag = "sessions",
    params(("client" = String, Query, description = "Name of the program, as whose user the folder is read."),
        ("path" = Option<String>, Query, description = "Absolute path of a folder on the server's computer; by default the one in which the program would start.")),
    responses((status = 200, body = FolderAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn folders(State(app): State<App>, params: Params) -> ApiResult<Json<FolderAnswer>> {
    let text = |name: &str| params.get(name).map(str::to_owned);
    let door = params.door(&app.entrance);
    ask::folders(&door, text("client").unwrap_or_default(), text("path")).await.map(Json)
}

/// Returns one session, live or ended.
#[utoipa::path(get, path = "/sessions/{id}", operation_id = "read_session", tag = "sessions",
    params(("id" = String, Path, description = "The session: its id, the first six or more characters of its id, or its name.")),
    responses((status = 200, body = SessionEntry), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn read(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    params: Params,
) -> ApiResult<Json<SessionEntry>> {
    let door = params.door(&app.entrance);
    let status = door.session(Action::ReadSession, &word).await?;
    Ok(Json(ask::session(&door, &status).await?))
}

/// Returns the screen of a session's terminal.
#[utoipa::path(get, path = "/sessions/{id}/screen", operation_id = "read_screen", tag = "sessions",
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, body = ScreenAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn screen(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    params: Params,
) -> ApiResult<Json<ScreenAnswer>> {
    let (id, view) = params.door(&app.entrance).screen(&word).await?;
    Ok(Json(ScreenAnswer::of(&id, view)))
}

/// Streams the screen of a session's terminal: a `screen` event at once and after each change, at
/// most ten a second.
///
/// Each event has the whole screen. `ended` means that the program has exited, and `going-away`
/// that the server shuts down.
#[utoipa::path(get, path = "/sessions/{id}/screen/stream", operation_id = "stream_screen", tag = "sessions",
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn screens(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    params: Params,
) -> ApiResult<Response> {
    let watched = params.door(&app.entrance).watch(&word).await?;
    Ok(sse::answer(sse::screens(app, watched)))
}

/// Returns the input and answers of a session as text, cut to its end: by default the last 2,000
/// characters, at most 48,000.
#[utoipa::path(get, path = "/sessions/{id}/data", operation_id = "read_session_data", tag = "sessions",
    params(
        ("id" = String, Path, description = "The session."),
        ("tail_chars" = Option<u64>, Query, description = "Number of characters from the end; 0 for the maximum."),
        ("since" = Option<String>, Query, description = "Only entries from this time or later."),
        ("until" = Option<String>, Query, description = "Only entries from this time or earlier."),
    ),
    responses((status = 200, body = SessionDataAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn data(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    params: Params,
) -> ApiResult<Json<SessionDataAnswer>> {
    let tail_chars =
        params.number("tail_chars")?.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let excerpt = Excerpt { since: params.since()?, until: params.time("until")?, tail_chars };
    Ok(Json(params.door(&app.entrance).session_data(&word, excerpt).await?.into()))
}

impl Inbound for NewMessage {}

/// Sends a message to a session. With a session's token, `direct` sends it over a link of the two
/// sessions, and `close_link` closes that link.
#[utoipa::path(post, path = "/sessions/{id}/messages", operation_id = "send_message", tag = "sessions", request_body = NewMessage,
    params(
        ("id" = String, Path, description = "The session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = MessageSent), (status = 202, body = StartAsked), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn send(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    body: Body,
) -> ApiResult<Response> {
    let NewMessage { message, direct, close_link, from } = body.read()?;
    let by = body.asker_named(from.as_deref())?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    let from = door.as_asker(by);
    let text = message.unwrap_or_default();
    let Json(answer) = once(&app, key.as_ref(), async {
        let words = NewWords { from, to: word, text, direct, close_link };
        ask::send(&door, words, key.clone()).await
    })
    .await?;
    let status =
        if matches!(answer, SendAnswer::Asked(_)) { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(answer)).into_response())
}

impl Inbound for NewKeys {}

/// Types into a session's terminal, as the person at it.
///
/// The first request takes the terminal over: its room is told once, and the server types nothing
/// into it until `release`, or until two minutes have passed without a request. Only a person may,
/// with the right to attach. Without `keys`, the terminal is only taken over.
#[utoipa::path(post, path = "/sessions/{id}/keys", operation_id = "type_keys", tag = "sessions", request_body = NewKeys,
    params(
        ("id" = String, Path, description = "The session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response, while this server runs."),
    ),
    responses((status = 200, body = KeysTyped), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn keys(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    body: Body,
) -> ApiResult<Json<KeysTyped>> {
    let new: NewKeys = body.read()?;
    let by = body.asker_named(new.from.as_deref())?;
    let request = new.request().ok_or(AccessError::from(SessionRequestError::Keystrokes))?;
    let (door, key) = (body.door(&app.entrance), body.idempotency(&by));
    // The key is remembered in memory only: a stored hash of the request would tell which key was
    // pressed.
    let typed = app.keys_typed.once(key, async move {
        let (status, until) = door.type_keys(&word, &by, request).await?;
        let typed = KeysTyped::of(&status, until);
        Ok((typed.clone(), typed))
    });
    let (KeyedOutcome::Now(typed) | KeyedOutcome::Earlier(typed)) = typed.await?;
    Ok(Json(typed))
}

/// Interrupts the current work of a session.
#[utoipa::path(post, path = "/sessions/{id}/interrupt", operation_id = "interrupt_session", tag = "sessions", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = SessionActed), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn interrupt(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    body: Body,
) -> ApiResult<Json<SessionActed>> {
    let by = body.asker()?;
    once(&app, body.idempotency(&by).as_ref(), async {
        Ok(acted(&body.door(&app.entrance).interrupt(&word, &by).await?))
    })
    .await
}

/// Ends the program of a session.
#[utoipa::path(post, path = "/sessions/{id}/end", operation_id = "end_session", tag = "sessions", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = SessionActed), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn end(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    body: Body,
) -> ApiResult<Json<SessionActed>> {
    let by = body.asker()?;
    once(&app, body.idempotency(&by).as_ref(), async {
        Ok(acted(&body.door(&app.entrance).end_session(&word, &by).await?))
    })
    .await
}

/// Runs the program of an ended session again, under its name and in its home thread.
///
/// Links are restored if their other members are live. The program resumes its own conversation, if
/// it can.
#[utoipa::path(post, path = "/sessions/{id}/resume", operation_id = "resume_session", tag = "sessions", request_body = Option<Actor>,
    params(
        ("id" = String, Path, description = "The session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key has no further effect and returns the same response."),
    ),
    responses((status = 200, body = SessionResumed), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn resume(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    body: Body,
) -> ApiResult<Json<SessionResumed>> {
    let by = body.asker()?;
    once(&app, body.idempotency(&by).as_ref(), async {
        let door = body.door(&app.entrance);
        let resumed = door.resume_session(&word, &by).await?;
        let session = ask::session(&door, &resumed.status).await?;
        Ok((resumed.status.session.id.clone(), SessionResumed::of(&resumed, session)))
    })
    .await
}

fn acted(status: &Status) -> (SessionId, SessionActed) {
    (status.session.id.clone(), SessionActed { done: true, session: status.into() })
}

/// Returns the command with which a person on the server's computer attaches to a session's
/// terminal.
#[utoipa::path(get, path = "/sessions/{id}/attach", operation_id = "attach_session", tag = "sessions",
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, body = AttachAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn attach(
    State(app): State<App>,
    SessionWord(word): SessionWord,
    params: Params,
) -> ApiResult<Json<AttachAnswer>> {
    let (status, argv) = params.door(&app.entrance).attach(&word).await?;
    Ok(Json(AttachAnswer { session: (&status).into(), argv }))
}
