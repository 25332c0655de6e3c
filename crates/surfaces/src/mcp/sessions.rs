//! The MCP tools for sessions: their arguments and their answers.

use moothall_engine::door::{Door, NewWords, ProgramStart};
use moothall_engine::sessions::{Asker, Excerpt, FirstWords};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};

use super::{detail, links, threads, value};
use crate::ask::{non_empty, required};
use crate::error::{ApiError, ApiResult, Code};
use crate::rates::Rates;
use crate::request::not_a_person;
use crate::wire::arguments::{EndSession, GetSessionData, ListSessions, SendMessage, StartSession};
use crate::wire::{
    MessageSent, NewSession, SendAnswer, SessionActed, SessionDataAnswer, SessionEntry,
    SessionList, SessionStarted, StartAsked,
};
use crate::{ask, request, strict};

/// Returns the actor of a call, under the name of the caller's credential or the name in `from`.
/// Returns an error for a caller without a name, and for a person.
pub fn actor(door: &Door, from: Option<&str>) -> ApiResult<Actor> {
    let by = door.named_actor(request::named(from)?)?.ok_or_else(|| {
        let message = "Give your name as 'from', e.g. \"planner\", or send a session's token, \
            which names you.";
        ApiError::new(Code::MissingFrom, message)
    })?;
    if by.human || by.id.as_str() == ParticipantId::USER {
        return Err(not_a_person());
    }
    Ok(by)
}

/// Returns the caller as sessions identify it.
fn asker(door: &Door, from: Option<&str>) -> ApiResult<Asker> {
    Ok(door.as_asker(actor(door, from)?))
}

/// Sends a message to a session or a thread. With `leave_link`, the calling session then leaves the
/// link that `thread` names, and the message may be empty.
pub async fn send(
    door: &Door,
    rates: &Rates,
    arguments: &Map<String, Value>,
) -> ApiResult<SendAnswer> {
    let asked: SendMessage = strict::read(arguments)?;
    let SendMessage { session_id, thread, message, direct, close_link, leave_link, from, key } =
        asked;
    let key = |by: &Actor| request::key_of_tool(by, key.as_deref(), "send_message", arguments);
    let (direct, close_link) = (direct.unwrap_or_default(), close_link.unwrap_or_default());
    let (text, leaves) = (message.unwrap_or_default(), leave_link.unwrap_or_default());
    match (non_empty(session_id), non_empty(thread)) {
        (Some(_), None) if leaves => {
            let message = "'leave_link' is for the link that 'thread' names; 'close_link' ends \
                the link with a session for all.";
            Err(ApiError::new(Code::InvalidField, message))
        }
        (Some(word), None) => {
            let by = actor(door, from.as_deref())?;
            let key = key(&by)?;
            let from = door.as_asker(by);
            let words = NewWords { from, to: word, text, direct, close_link };
            Ok(ask::send(door, words, key).await?.1)
        }
        (None, Some(_)) if direct || close_link => {
            let message = "'direct' and 'close_link' are for a link of two sessions: give \
                'session_id' with them, not 'thread'.";
            Err(ApiError::new(Code::InvalidField, message))
        }
        (None, Some(word)) => {
            let said = if leaves && text.is_empty() {
                None
            } else {
                Some(threads::say(door, rates, from.as_deref(), &word, &text, &key).await?)
            };
            let left = if leaves { Some(links::leave(door, rates, &word).await?) } else { None };
            let sent = match (said, left) {
                (Some(said), Some(MessageSent { link_id, link_state, .. })) => {
                    Some(MessageSent { link_id, link_state, ..said })
                }
                (said, left) => said.or(left),
            };
            sent.map(SendAnswer::Sent).ok_or_else(|| ApiError::plain(Code::Internal))
        }
        (Some(_), Some(_)) | (None, None) => Err(ApiError::new(
            Code::InvalidField,
            "Give either 'session_id' for a session or 'thread' for a thread.",
        )),
    }
}

/// Returns the input and answers of a session as text.
pub async fn data(door: &Door, asked: GetSessionData) -> ApiResult<SessionDataAnswer> {
    let GetSessionData { session_id, tail_chars, since, until } = asked;
    let tail_chars = tail_chars.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let excerpt =
        Excerpt { since: time("since", since)?, until: time("until", until)?, tail_chars };
    Ok(door.session_data(&required("session_id", session_id)?, excerpt).await?.into())
}

/// Reads a time. Returns `None` for a missing or an empty text.
fn time(field: &str, given: Option<String>) -> ApiResult<Option<Timestamp>> {
    let refused = || {
        ApiError::new(
            Code::InvalidField,
            format!("'{field}' must be a time such as 2026-01-21T01:30:49.826Z."),
        )
    };
    non_empty(given).map(|text| text.parse().map_err(|_| refused())).transpose()
}

/// Returns the sessions.
pub async fn list(door: &Door, asked: ListSessions) -> ApiResult<SessionList> {
    let computer = non_empty(asked.computer);
    ask::list(door, asked.ended.unwrap_or_default(), computer.as_deref()).await
}

/// Starts a session, and sends it the first message if there is one. If a person is asked first,
/// returns the permission instead, and nothing runs yet.
pub async fn start(door: &Door, asked: StartSession) -> ApiResult<Value> {
    let StartSession { client, cwd, thread, args, name, message, direct, from } = asked;
    let asker = asker(door, from.as_deref())?;
    let (message, direct) = (non_empty(message), direct.unwrap_or_default());
    if direct && message.is_none() {
        return Err(ApiError::new(Code::MissingContent, "'direct' needs a first 'message'."));
    }
    if direct && door.caller().session().is_none() {
        return Err(ApiError::plain(Code::SessionRequired));
    }
    let cwd = match cwd {
        Some(cwd) => Some(cwd),
        None => door.own_session()?.map(|status| status.session.cwd.to_string_lossy().into_owned()),
    };
    let wanted =
        NewSession { client, cwd, args: args.unwrap_or_default(), name, adopt: None, thread, from };
    let wanted = ask::program(door, wanted, FirstWords { text: message, direct }).await?;
    let (status, message) = match door.start(wanted, None).await? {
        ProgramStart::Runs(status, first) => (status, first.text),
        ProgramStart::Asked(thread, permission) => {
            return value(StartAsked::new(&thread, &permission));
        }
    };
    let session = SessionEntry::from(&*status);
    let mut answer = SessionStarted { session, message: None, message_error: None };
    if let Some(message) = message {
        // The session runs even if the message fails, so that error is returned beside the session.
        let to = status.session.id.to_string();
        let words = NewWords { from: asker, to, text: message, direct, close_link: false };
        match ask::send(door, words, None).await {
            Ok((_, sent)) => answer.message = Some(sent),
            Err(error) => answer.message_error = Some(detail(&error)),
        }
    }
    value(answer)
}

/// Ends the program of a session.
pub async fn end(door: &Door, asked: EndSession) -> ApiResult<SessionActed> {
    let by = actor(door, asked.from.as_deref())?;
    let status = door.end_session(&required("session_id", asked.session_id)?, &by).await?;
    Ok(SessionActed { done: true, session: (&status).into() })
}
