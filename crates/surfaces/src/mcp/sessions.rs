//! Calls about sessions.

use moothall_engine::door::{Action, Door, ProgramStart};
use moothall_engine::sessions::{Asker, Excerpt, FirstWords, Message};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{threads, value};
use crate::error::{ApiError, ApiResult, Code};
use crate::rates::Rates;
use crate::request::not_a_person;
use crate::wire::{MessageSent, NewSession, SessionActed, SessionDataAnswer, SessionEntry, SessionList, StartAsked};
use crate::{ask, request, strict};

/// Who calls, under the name of its credential or the one it gives itself. It is never a person.
pub fn actor(door: &Door, asked: &Arguments) -> ApiResult<Actor> {
    let by = door.named(request::named(asked.text("from")?)?)?.ok_or_else(|| {
        let message = "Say who you are with 'from', e.g. \"planner\"; or send the token of a session, which speaks for itself.";
        ApiError::new(Code::MissingFrom, message)
    })?;
    if by.human || by.id.as_str() == ParticipantId::USER {
        return Err(not_a_person());
    }
    Ok(by)
}

/// The same, as sessions know it.
fn asker(door: &Door, asked: &Arguments) -> ApiResult<Asker> {
    Ok(door.as_asker(actor(door, asked)?))
}

/// Says something to a session, or in a thread.
pub async fn send(door: &Door, rates: &Rates, asked: &Arguments) -> ApiResult<MessageSent> {
    let (direct, close_link) = (asked.flag("direct")?, asked.flag("close_link")?);
    let text = asked.text("message")?.unwrap_or_default();
    match (asked.text("session_id")?, asked.text("thread")?) {
        (Some(word), None) => {
            let from = asker(door, asked)?;
            let to = door.session(Action::SendMessage, word).await?.session.id;
            ask::send(door, Message { from, to, text: text.to_owned(), direct, close_link }, None).await
        }
        (None, Some(_)) if direct || close_link => {
            let message = "'direct' and 'close_link' are about a link of two sessions: give 'session_id' with them, not 'thread'.";
            Err(ApiError::new(Code::InvalidField, message))
        }
        (None, Some(word)) => threads::say(door, rates, asked, word, text).await,
        (Some(_), Some(_)) | (None, None) => {
            Err(ApiError::new(Code::InvalidField, "Give 'session_id' for a session or 'thread' for a thread, one of them."))
        }
    }
}

/// What a session was asked and said.
pub async fn data(door: &Door, asked: &Arguments) -> ApiResult<SessionDataAnswer> {
    let tail_chars = asked.number("tail_chars")?.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let excerpt = Excerpt { since: asked.time("since")?, until: asked.time("until")?, tail_chars };
    Ok(door.session_data(asked.required("session_id")?, excerpt).await?.into())
}

/// The sessions there are.
pub fn list(door: &Door, asked: &Arguments) -> ApiResult<SessionList> {
    ask::list(door, asked.flag("ended")?)
}

/// Starts one, and says something to it.
pub async fn start(door: &Door, mut asked: Arguments) -> ApiResult<Value> {
    let from = asker(door, &asked)?;
    let (message, direct) = (asked.text("message")?.map(str::to_owned), asked.flag("direct")?);
    if direct && message.is_none() {
        return Err(ApiError::new(Code::MissingContent, "'direct' needs a 'message' to begin with."));
    }
    if direct && door.caller().session().is_none() {
        return Err(ApiError::plain(Code::SessionRequired));
    }
    if !asked.0.contains_key("cwd")
        && let Some(status) = door.own_session()?
    {
        asked.0.insert("cwd".into(), json!(status.session.cwd));
    }
    let first = FirstWords { text: message, direct };
    ["message", "direct"].iter().for_each(|of_words| drop(asked.0.remove(*of_words)));
    let wanted = ask::program(door, strict::read::<NewSession>(&asked.0)?, first).await?;
    let (status, message) = match door.start(wanted, None).await? {
        ProgramStart::Runs(status, first) => (status, first.text),
        ProgramStart::Asked(thread, permission) => return value(StartAsked::new(&thread, &permission)),
    };
    let mut answer = json!({ "session": SessionEntry::from(&*status) });
    if let Some(message) = message {
        // The session runs whatever becomes of the message, so its failure is told beside it.
        let message = Message { from, to: status.session.id.clone(), text: message, direct, close_link: false };
        match ask::send(door, message, None).await {
            Ok(sent) => answer["message"] = value(sent)?,
            Err(error) => answer["message_error"] = value(error.detail())?,
        }
    }
    Ok(answer)
}

/// Ends one.
pub async fn end(door: &Door, asked: &Arguments) -> ApiResult<SessionActed> {
    let by = actor(door, asked)?;
    let status = door.end_session(asked.required("session_id")?, &by).await?;
    Ok(SessionActed { done: true, session: (&status).into() })
}
