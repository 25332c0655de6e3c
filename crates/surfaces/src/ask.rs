//! What can be asked of sessions and links, for every surface: strict reading of what is asked, and the answer as it travels.

use std::path::{Path, PathBuf};

use moothall_engine::access::{Caller, Denied, Over};
use moothall_engine::hall::{Hall, Idempotency};
use moothall_engine::sessions::{
    self, Adopt, Asker, Excerpt, Eyes, FirstWords, Link, LinkState, Member, Message, NewObserved, Sessions, Status,
};
use moothall_kernel::ids::{ParticipantId, PermissionId, StreamId};
use serde_json::{Map, Value};

use crate::caller;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, stream_id, text_of};
use crate::wire::{LinkAnswer, LinkEntry, LinkList, MessageSent, ProgramEntry, SessionDataAnswer, SessionEntry, SessionList, session_at};

/// Most arguments of a program, and the longest of them in bytes.
const ARGS_MAX: usize = 64;
const ARG_BYTES_MAX: usize = 8 * 1024;
/// Most members that are asked for at once.
const MEMBERS_MAX: usize = 200;
/// Longest message, in bytes: as much as an agent may say at once.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}

/// A text that has to be there.
pub fn required<'a>(fields: &'a Map<String, Value>, key: &str) -> ApiResult<&'a str> {
    let text = text_of(fields, key)?.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| invalid(format!("'{key}' is missing.")))
}

/// A truth value; false where it is missing.
pub fn flag(fields: &Map<String, Value>, key: &str) -> ApiResult<bool> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(invalid(format!("'{key}' is true or false."))),
    }
}

fn owned(fields: &Map<String, Value>, key: &str) -> ApiResult<Option<String>> {
    Ok(text_of(fields, key)?.filter(|text| !text.is_empty()).map(Into::into))
}

/// The session that a word means.
pub fn session(hall: &Hall, word: &str) -> ApiResult<Status> {
    Ok(hall.sessions()?.find(word)?)
}

/// Sessions, and what can be started.
pub fn list(hall: &Hall, asks: &Caller, ended: bool) -> ApiResult<SessionList> {
    let sessions = hall.sessions()?;
    let programs = sessions.programs().into_iter().map(|(client, summary)| ProgramEntry { client, summary });
    let all = sessions.list(ended);
    let seen = all.iter().filter(|status| hall.sees(asks, status));
    Ok(SessionList { sessions: seen.map(SessionEntry::from).collect(), programs: programs.collect() })
}

/// What came of asking for a program to be started.
pub enum Start {
    /// It runs, and what was to be said to it is still to be said.
    Runs(Box<Status>, FirstWords),
    /// A person is asked first, here and under this permission, about all of it.
    Asked(StreamId, PermissionId),
}

/// Starts a program, or takes over one that runs; asks a person first where an agent may not by itself.
pub async fn start(
    hall: &Hall,
    asks: &Caller,
    fields: &Map<String, Value>,
    first: FirstWords,
    key: Option<Idempotency>,
) -> ApiResult<Start> {
    let by = caller::actor(asks, text_of(fields, "from")?)?;
    let client = required(fields, "client")?.to_owned();
    let name = owned(fields, "name")?;
    let sessions = hall.sessions()?;
    if fields.get("adopt").is_some_and(|adopt| !adopt.is_null()) && asks.is_agent() {
        return Err(Denied::Person("take over a program that runs already").into());
    }
    if let Some(adopt) = fields.get("adopt").filter(|adopt| !adopt.is_null()) {
        if ["cwd", "args"].iter().any(|key| fields.get(*key).is_some_and(|value| !value.is_null())) {
            return Err(invalid("A program that runs already has its folder and arguments: leave 'cwd' and 'args' out with 'adopt'."));
        }
        let adopted = sessions.observe_once(NewObserved { adopt: adoption(adopt, client)?, name, by }, key).await?;
        return Ok(Start::Runs(Box::new(adopted), first));
    }
    let (cwd, args) = (folder(text_of(fields, "cwd")?).await?, arguments(fields.get("args"))?);
    let mut new = sessions::NewSession { client, cwd, args, name, by, session: asks.session().cloned() };
    if asks.is_agent() {
        match sessions.starts_alone(&new) {
            Some(folder) => new.cwd = folder,
            None => return ask_for(hall, asks, fields, &new, first).await,
        }
    }
    Ok(Start::Runs(Box::new(sessions.start_once(new, key).await?), first))
}

/// Asks people whether an agent's program may be started.
async fn ask_for(
    hall: &Hall,
    asks: &Caller,
    fields: &Map<String, Value>,
    new: &sessions::NewSession,
    first: FirstWords,
) -> ApiResult<Start> {
    if first.text.as_ref().is_some_and(|text| text.len() > MESSAGE_BYTES_MAX) {
        return Err(ApiError::new(Code::TooLarge, "The message is too long to be shown to a person. Put it into a file and say where."));
    }
    let unknown = || ApiError::plain(Code::NotFound);
    let thread = match text_of(fields, "thread")? {
        Some(word) => Some(stream_id(word).filter(|thread| asks.reach.includes(thread)).ok_or_else(unknown)?),
        None => None,
    };
    let (room, permission) = hall.sessions()?.ask_start(thread.as_ref(), new, first).await?;
    Ok(Start::Asked(room, permission))
}

fn adoption(given: &Value, client: String) -> ApiResult<Adopt> {
    let fields = given.as_object().ok_or_else(|| invalid("'adopt' takes an object with 'socket' and 'pane'."))?;
    Body::only_in(fields, &["socket", "pane"])?;
    Ok(Adopt { socket: required(fields, "socket")?.into(), target: required(fields, "pane")?.into(), client })
}

/// The folder to work in: a whole path of one that is there. The program's own where nothing is said.
async fn folder(given: Option<&str>) -> ApiResult<PathBuf> {
    let Some(text) = given.filter(|text| !text.is_empty()) else { return Ok(PathBuf::new()) };
    let path = Path::new(text);
    let there = path.is_absolute() && tokio::fs::metadata(path).await.is_ok_and(|found| found.is_dir());
    there.then(|| path.to_owned()).ok_or_else(|| invalid("'cwd' is the whole path of a folder on the server's computer."))
}

fn arguments(given: Option<&Value>) -> ApiResult<Vec<String>> {
    let refused = || invalid(format!("'args' is a list of at most {ARGS_MAX} texts, each without NUL and up to {ARG_BYTES_MAX} bytes."));
    let items = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= ARGS_MAX => items,
        Some(_) => return Err(refused()),
    };
    let argument = |item: &Value| item.as_str().filter(|text| text.len() <= ARG_BYTES_MAX && !text.contains('\0')).map(Into::into);
    items.iter().map(|item| argument(item).ok_or_else(refused)).collect()
}

/// Says something to a session, once for a key.
pub async fn send(hall: &Hall, message: Message, key: Option<Idempotency>) -> ApiResult<MessageSent> {
    let Message { from, text, direct, close_link, .. } = &message;
    let (direct, close_link) = (*direct, *close_link);
    if (direct || close_link) && !matches!(from, Asker::Session(_)) {
        let message = "Only a session can talk over a link of its own: send the token of its environment, leave 'direct' and 'close_link' \
                       out, or link two sessions with POST /links (`moothall link A B`) and close that link by its id.";
        return Err(ApiError::new(Code::SessionRequired, message));
    }
    if direct && close_link {
        return Err(invalid("'direct' opens a link and 'close_link' ends it: give one of them."));
    }
    if text.len() > MESSAGE_BYTES_MAX {
        let message =
            format!("The message has {} bytes; at most {MESSAGE_BYTES_MAX} are taken. Put it into a file and say where.", text.len());
        return Err(ApiError::new(Code::TooLarge, message));
    }
    if text.trim().is_empty() && !close_link {
        return Err(ApiError::new(Code::MissingContent, "Missing 'message': say something, or close a link with 'close_link'."));
    }
    let sent = hall.sessions()?.send_once(message, key).await?;
    let event = match sent.seq {
        Some(seq) => {
            let page = hall.read(&sent.stream, moothall_kernel::ids::Seq(seq.0.saturating_sub(1)), Some(1)).await;
            page.ok().and_then(|page| page.events.first().map(|recorded| recorded.id(&sent.stream)))
        }
        None => None,
    };
    Ok(MessageSent::of(&sent, event))
}

/// What a session was asked and said.
pub async fn data(hall: &Hall, asks: &Caller, word: &str, excerpt: Excerpt) -> ApiResult<SessionDataAnswer> {
    let id = session(hall, word)?.session.id;
    let eyes = Eyes { name: asks.principal().map(|principal| principal.id.clone()), reach: asks.reach.clone() };
    Ok(hall.sessions()?.data(&id, excerpt, &eyes).await?.into())
}

fn entry(sessions: &Sessions, link: &Link) -> LinkEntry {
    let name = |member: &Member| {
        sessions.find(member.session.as_str()).map_or_else(|_| member.session.to_string(), |found| found.session.name.to_string())
    };
    LinkEntry::of(link, name)
}

/// Links, all or those of one session.
pub async fn links(hall: &Hall, asks: &Caller, word: Option<&str>) -> ApiResult<LinkList> {
    let sessions = hall.sessions()?;
    let of = match word {
        Some(word) => Some(hall.permit_over(asks, Over::Seeing, word).await?),
        None => None,
    };
    let mut links = sessions.links(of.as_ref().map(|status| &status.session.id)).await?;
    links.retain(|link| asks.reach.includes(&link.id));
    Ok(LinkList { links: links.iter().map(|link| entry(sessions, link)).collect() })
}

/// One link.
pub async fn link(hall: &Hall, id: &StreamId) -> ApiResult<LinkEntry> {
    let sessions = hall.sessions()?;
    Ok(entry(sessions, &sessions.link_of(id).await?))
}

/// Makes a link, or finds the one between just these members.
pub async fn make_link(hall: &Hall, asks: &Caller, by: Asker, fields: &Map<String, Value>) -> ApiResult<LinkAnswer> {
    let sessions = hall.sessions()?;
    let given = fields.get("members").and_then(Value::as_array).filter(|items| (2..=MEMBERS_MAX).contains(&items.len()));
    let given = given.ok_or_else(|| invalid("'members' is a list of two or more, each such as {\"session\": \"claude-1\"}."))?;
    let members = given.iter().map(|item| member(sessions, item)).collect::<ApiResult<Vec<_>>>()?;
    may_link(hall, asks, &members).await?;
    let title = owned(fields, "title")?;
    let (link, state) = sessions.link(sessions::NewLink { members, title, by }).await?;
    Ok(LinkAnswer::of(entry(sessions, &link), state))
}

/// An agent links itself with those to whom it may talk, and others where it started them all.
async fn may_link(hall: &Hall, asks: &Caller, members: &[Member]) -> ApiResult<()> {
    let itself = members.iter().any(|member| Some(&member.session) == asks.session());
    let over = if itself { Over::Telling } else { Over::Steering };
    for member in members {
        hall.permit_over(asks, over, member.session.as_str()).await?;
    }
    Ok(())
}

fn member(sessions: &Sessions, given: &Value) -> ApiResult<Member> {
    let fields = given.as_object().ok_or_else(|| invalid("A member is an object such as {\"session\": \"claude-1\"}."))?;
    Body::only_in(fields, &["session", "name", "number", "role"])?;
    let status = sessions.find(required(fields, "session")?)?;
    let number = match fields.get("number") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
            Some(number.ok_or_else(|| invalid("'number' of a member is a whole number from 1."))?)
        }
    };
    Ok(Member {
        session: status.session.id,
        computer: status.session.computer,
        name: owned(fields, "name")?,
        number,
        role: owned(fields, "role")?,
    })
}

/// Ends a link.
pub async fn close_link(hall: &Hall, asks: &Caller, id: &StreamId, by: &Asker) -> ApiResult<LinkAnswer> {
    let sessions = hall.sessions()?;
    if asks.is_agent() && asks.session().is_none() {
        return Err(Denied::Person("close a link that they are not in").into());
    }
    let link = sessions.close_link(id, by).await?;
    Ok(LinkAnswer::of(entry(sessions, &link), LinkState::Closed))
}

/// The participant whose words a session says in a thread: the one it was invited as, otherwise its own name.
pub async fn speaker_in(hall: &Hall, stream: &StreamId, status: &Status) -> ApiResult<ParticipantId> {
    let (id, own) = (status.session.id.to_string(), status.session.name.clone());
    let invited = hall.view(stream, move |state| {
        let here = state.participants().iter().find(|one| session_at(one.address.as_ref()) == Some(id.as_str()));
        here.map(|one| one.id.clone())
    });
    Ok(invited.await.map_err(|error| ApiError::of_hall(error, Some(stream)))?.unwrap_or(own))
}
