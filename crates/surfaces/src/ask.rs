//! What can be asked of sessions and links, for every surface: strict reading of what is asked, and the answer as it travels.

use std::path::{Path, PathBuf};

use moothall_engine::access::Unfit;
use moothall_engine::door::{Door, NewProgram, ProgramFrom};
use moothall_engine::hall::Idempotency;
use moothall_engine::sessions::{Adopt, Asker, FirstWords, Link, Member, Message, NewLink};
use moothall_kernel::ids::ParticipantId;
use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult, Code};
use crate::request::{self, Body, stream_id, text_of};
use crate::wire::{LinkEntry, LinkList, MessageSent, ProgramEntry, SessionEntry, SessionList};

/// Most members that are asked for at once.
const MEMBERS_MAX: usize = 200;
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

/// Sessions, and what can be started.
pub fn list(door: &Door, ended: bool) -> ApiResult<SessionList> {
    let programs = door.programs()?.into_iter().map(|(client, summary)| ProgramEntry { client, summary });
    let sessions = door.sessions(ended)?;
    Ok(SessionList { sessions: sessions.iter().map(SessionEntry::from).collect(), programs: programs.collect() })
}

/// Reads what program somebody wants.
pub async fn program(door: &Door, fields: &Map<String, Value>, first: FirstWords) -> ApiResult<NewProgram> {
    let by = door.asker(named(fields)?)?;
    let client = required(fields, "client")?.to_owned();
    let name = owned(fields, "name")?;
    let unknown = || ApiError::plain(Code::NotFound);
    let thread = text_of(fields, "thread")?.map(|word| stream_id(word).ok_or_else(unknown)).transpose()?;
    let from = match fields.get("adopt").filter(|adopt| !adopt.is_null()) {
        Some(adopt) => running(fields, adopt, client)?,
        None => {
            let (cwd, args) = (folder(text_of(fields, "cwd")?).await?, arguments(fields.get("args"))?);
            ProgramFrom::Start { client, cwd, args }
        }
    };
    Ok(NewProgram { by, name, from, thread, first })
}

/// Who is named as the one who asks.
fn named(fields: &Map<String, Value>) -> ApiResult<Option<ParticipantId>> {
    request::named(text_of(fields, "from")?)
}

fn running(fields: &Map<String, Value>, adopt: &Value, client: String) -> ApiResult<ProgramFrom> {
    if ["cwd", "args"].iter().any(|key| fields.get(*key).is_some_and(|value| !value.is_null())) {
        return Err(invalid("A program that runs already has its folder and arguments: leave 'cwd' and 'args' out with 'adopt'."));
    }
    Ok(ProgramFrom::Running(adoption(adopt, client)?))
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
    let items = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(Unfit::Arguments.into()),
    };
    items.iter().map(|item| item.as_str().map(Into::into).ok_or_else(|| Unfit::Arguments.into())).collect()
}

/// Says something to a session, once for a key.
pub async fn send(door: &Door, message: Message, key: Option<Idempotency>) -> ApiResult<MessageSent> {
    let sent = door.send(message, key).await?;
    let event = match sent.seq {
        Some(seq) => door.event_at(&sent.stream, seq).await?,
        None => None,
    };
    Ok(MessageSent::of(&sent, event))
}

/// A link as it travels.
pub fn entry(door: &Door, link: &Link) -> LinkEntry {
    LinkEntry::of(link, |member: &Member| door.name_of(&member.session))
}

/// Links, all or those of one session.
pub async fn links(door: &Door, word: Option<&str>) -> ApiResult<LinkList> {
    let links = door.links(word).await?;
    Ok(LinkList { links: links.iter().map(|link| entry(door, link)).collect() })
}

/// Reads what link somebody wants.
pub fn new_link(door: &Door, by: Asker, fields: &Map<String, Value>) -> ApiResult<NewLink> {
    let given = fields.get("members").and_then(Value::as_array).filter(|items| (2..=MEMBERS_MAX).contains(&items.len()));
    let given = given.ok_or_else(|| invalid("'members' is a list of two or more, each such as {\"session\": \"claude-1\"}."))?;
    let members = given.iter().map(|item| member(door, item)).collect::<ApiResult<Vec<_>>>()?;
    Ok(NewLink { members, title: owned(fields, "title")?, by })
}

fn member(door: &Door, given: &Value) -> ApiResult<Member> {
    let fields = given.as_object().ok_or_else(|| invalid("A member is an object such as {\"session\": \"claude-1\"}."))?;
    Body::only_in(fields, &["session", "name", "number", "role"])?;
    let status = door.meant(required(fields, "session")?)?;
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
