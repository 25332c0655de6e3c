//! Strict reading of requests about sessions and links, and their answers as wire types, for all
//! surfaces.

use std::path::{Path, PathBuf};

use moothall_engine::access::{AccessError, SessionRequestError};
use moothall_engine::door::{
    Action, ComputerSessions, Door, NewProgram, NewWords, ProgramFrom, SendOutcome,
};
use moothall_engine::hall::{HallError, Idempotency};
use moothall_engine::sessions::{
    AdoptRequest, Asker, FirstWords, FolderQuery, LINK_EXCHANGES_MAX, LastWords, Link, Member,
    NewLink, Status,
};
use moothall_kernel::decide;
use moothall_kernel::ids::StreamId;

use crate::error::{ApiError, ApiResult, Code};
use crate::request::{self, stream_id};
use crate::strict::Inbound;
use crate::wire::{
    self, Adoption, FolderAnswer, LinkEntry, LinkList, MessageSent, NewLinkMember, NewSession,
    OccupationEntry, ProgramEntry, SendAnswer, SessionEntry, SessionList, SilentComputer,
    StartAsked,
};

/// Maximum number of members in one request.
const MEMBERS_MAX: usize = 200;
fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}

/// Returns a text that must not be blank.
pub fn required(field: &str, text: String) -> ApiResult<String> {
    if text.trim().is_empty() { Err(invalid(format!("'{field}' is missing."))) } else { Ok(text) }
}

/// Returns a text, unless it is empty.
pub fn non_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// Returns the sessions of this computer, of the named one, or of `all` computers. Adds the
/// programs that can be started here, and the computers that did not send their sessions, with the
/// reason.
pub async fn list(door: &Door, ended: bool, computer: Option<&str>) -> ApiResult<SessionList> {
    let programs = door.programs()?.into_iter().map(ProgramEntry::from);
    let listed = door.sessions_on(computer, ended).await?;
    let (mut sessions, mut silent) = (Vec::new(), Vec::new());
    let states = door.states().await?;
    for status in &listed.here {
        let own = states.iter().find(|one| one.shown.session.as_ref() == Some(&status.session.id));
        let doing = own.map(OccupationEntry::of);
        sessions.push(SessionEntry { doing, ..session(door, status).await? });
    }
    for ComputerSessions { computer, sessions: told } in listed.elsewhere {
        let entry = |one| SessionEntry::elsewhere(one, &computer);
        match told {
            Ok(told) => sessions.extend(told.into_iter().map(entry)),
            Err(error) => {
                let reason = ApiError::from(AccessError::from(error)).detail().message.clone();
                silent.push(SilentComputer { name: computer, reason });
            }
        }
    }
    Ok(SessionList { sessions, programs: programs.collect(), silent })
}

/// Returns the folders inside a folder, and those in which sessions worked, so that a person can
/// choose the folder of a new program.
pub async fn folders(door: &Door, client: String, path: Option<String>) -> ApiResult<FolderAnswer> {
    let folder = PathBuf::from(non_empty(path).unwrap_or_default());
    if client.is_empty() {
        let message = "'client' is missing: one of `programs` in `GET /sessions`.";
        return Err(ApiError::new(Code::InvalidParameter, message));
    }
    let query = FolderQuery { client, folder };
    let (list, recent) = door.folders(query).await?;
    Ok(FolderAnswer::new(&list, &recent))
}

/// Returns a session as a wire type, with the sessions that its links wait for. The last lines of
/// an ended program's screen are only for callers who may read the screen.
pub async fn session(door: &Door, status: &Status) -> ApiResult<SessionEntry> {
    let id = &status.session.id;
    let waits_for = door.waits_for(id).await?.into_iter().collect();
    let mut entry = SessionEntry { waits_for, ..status.into() };
    if let Some(end) = &mut entry.ended
        && door.session(Action::ReadScreen, id.as_str()).await.is_err()
    {
        end.why = LastWords::without_lines(&end.why).to_owned();
    }
    Ok(entry)
}

/// Reads the request for a session: a program to start, or with `adopt` one that already runs.
pub async fn program(door: &Door, new: NewSession, first: FirstWords) -> ApiResult<NewProgram> {
    let NewSession { client, cwd, args, name, adopt, thread, from } = new;
    let by = door.asker(request::named(from.as_deref())?)?;
    let client = required("client", client)?;
    let named = |word: String| stream_id(&word).ok_or_else(|| ApiError::no_thread(&word));
    let thread = thread.map(named).transpose()?;
    let from = match adopt {
        Some(_) if cwd.is_some() || !args.is_empty() => {
            return Err(invalid(
                "A running program already has its folder and arguments: leave 'cwd' and 'args' \
                 out with 'adopt'.",
            ));
        }
        Some(Adoption { socket, pane }) => {
            let (socket, target) = (required("socket", socket)?, required("pane", pane)?);
            ProgramFrom::Running(AdoptRequest { socket, target, client })
        }
        None => ProgramFrom::Start { client, cwd: folder(cwd.as_deref()).await?, args },
    };
    Ok(NewProgram { by, name: non_empty(name), from, thread, first })
}

impl Inbound for NewSession {
    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        match field {
            "args" | "args[]" => SessionRequestError::Arguments.into(),
            "adopt" => invalid("'adopt' takes an object with 'socket' and 'pane'."),
            other => invalid(format!("'{other}' {takes}.")),
        }
    }
}

/// Reads a working folder: the absolute path of an existing folder. Without one, returns an empty
/// path, which stands for the program's default.
pub async fn folder(given: Option<&str>) -> ApiResult<PathBuf> {
    let Some(text) = given.filter(|text| !text.is_empty()) else { return Ok(PathBuf::new()) };
    let path = Path::new(text);
    let there =
        path.is_absolute() && tokio::fs::metadata(path).await.is_ok_and(|found| found.is_dir());
    there.then(|| path.to_owned()).ok_or_else(|| {
        invalid("'cwd' must be the absolute path of a folder on the server's computer.")
    })
}

/// Sends a message to a session. A repetition with the same key has no further effect. Returns the
/// conversation, and in it either the message, or the permission for which a person was asked
/// first.
pub async fn send(
    door: &Door,
    words: NewWords,
    key: Option<Idempotency>,
) -> ApiResult<(StreamId, SendAnswer)> {
    let sent = match door.send(words, key).await? {
        SendOutcome::Said(sent) => sent,
        SendOutcome::Asked(thread, permission) => {
            let asked = StartAsked::to_talk(&thread, &permission);
            return Ok((thread, SendAnswer::Asked(asked)));
        }
        SendOutcome::Posted(posted) => {
            let sent = MessageSent::elsewhere(&posted);
            return Ok((posted.stream, SendAnswer::Sent(sent)));
        }
    };
    let event = match sent.seq {
        Some(seq) => door.event_at(&sent.stream, seq).await?,
        None => None,
    };
    Ok((sent.stream.clone(), SendAnswer::Sent(MessageSent::of(&sent, event))))
}

/// Converts a link to its wire type.
pub fn entry(door: &Door, link: &Link) -> LinkEntry {
    let name_of = |member: &Member| door.name_of(&member.session);
    let entry = LinkEntry::of(link, name_of, |id| door.computer_name(id));
    LinkEntry { waits_for: link.waits_for.iter().map(|id| door.name_of(id)).collect(), ..entry }
}

/// Returns the open links and the waiting ones, of all sessions or of one.
pub async fn links(door: &Door, word: Option<&str>) -> ApiResult<LinkList> {
    let (links, waiting) = (door.links(word).await?, door.waiting_links(word).await?);
    let entries = |links: &[Link]| links.iter().map(|link| entry(door, link)).collect();
    Ok(LinkList { links: entries(&links), waiting: entries(&waiting) })
}

/// Reads the request for a new link.
pub fn new_link(door: &Door, by: Asker, new: wire::NewLink) -> ApiResult<NewLink> {
    if !(2..=MEMBERS_MAX).contains(&new.members.len()) {
        return Err(no_members());
    }
    let exchanges_max = new.max_exchanges_without_human;
    if exchanges_max.is_some_and(|most| !(1..=LINK_EXCHANGES_MAX).contains(&most)) {
        return Err(no_exchanges());
    }
    let members =
        new.members.into_iter().map(|given| member(door, given)).collect::<ApiResult<Vec<_>>>()?;
    let title = non_empty(new.title);
    // An existing link is reused with its own title. The engine would not check this one then.
    let checked = title.as_deref().map(decide::title).transpose();
    checked.map_err(|why| HallError::Rejected(Box::new(why)))?;
    Ok(NewLink { members, elsewhere: Vec::new(), title, by, exchanges_max })
}

fn no_members() -> ApiError {
    invalid("'members' must be a list of two or more, each such as {\"session\": \"claude-1\"}.")
}

fn no_exchanges() -> ApiError {
    invalid(format!(
        "'max_exchanges_without_human' of a link must be a whole number from 1 to \
         {LINK_EXCHANGES_MAX}."
    ))
}

fn no_number() -> ApiError {
    invalid("'number' of a member must be a whole number from 1.")
}

impl Inbound for wire::NewLink {
    fn missing(field: &str) -> ApiError {
        if field == "members" { no_members() } else { invalid(format!("'{field}' is missing.")) }
    }

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        match field {
            "members" => no_members(),
            "members[]" => {
                invalid("A member must be an object such as {\"session\": \"claude-1\"}.")
            }
            "number" => no_number(),
            "max_exchanges_without_human" => no_exchanges(),
            other => invalid(format!("'{other}' {takes}.")),
        }
    }
}

/// Converts a member of a new link. Rejects a session that does not exist for the caller, and the
/// number 0.
fn member(door: &Door, given: NewLinkMember) -> ApiResult<Member> {
    let NewLinkMember { session, name, number, role } = given;
    let (session, computer) = door.member(&required("session", session)?)?;
    if number == Some(0) {
        return Err(no_number());
    }
    Ok(Member { session, computer, name: non_empty(name), number, role: non_empty(role) })
}
