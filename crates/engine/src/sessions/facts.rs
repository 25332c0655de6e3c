//! Facts about sessions and links, and requests to them.

use std::path::{Path, PathBuf};

use moothall_kernel::command::Actor;
use moothall_kernel::ids::{ComputerId, ParticipantId, Seq, StreamId};
use moothall_kernel::occupation::ToolUse;
use moothall_kernel::time::Timestamp;

use super::{AdoptRequest, FolderEntry};
use crate::access::reach::Reach;
use crate::answers::HallError;
use crate::paired::{ComputerError, PairedComputer, RemoteSession};
use crate::ports::{Session, SessionId, Starter};

/// The activity of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum Activity {
    /// The program draws its first screen.
    Starting,
    /// The session waits for work.
    Idle,
    /// The composer holds a person's draft, so nothing is typed.
    Drafting,
    /// The session works on a turn.
    Busy,
    /// The program waits for a person's permission.
    Asking,
    /// The program has exited, and the session takes no more turns.
    Ended,
}

/// A session and its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The stored facts of the session.
    pub session: Session,
    /// The activity of the session.
    pub doing: Activity,
    /// Number of turns that wait for the session.
    pub waiting: usize,
    /// The person who types in its terminal through the server.
    pub typist: Option<ParticipantId>,
    /// The tool that its program uses, if the program reports it.
    pub tool: Option<ToolUse>,
}

/// A session whose program runs again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedSession {
    /// The session and its current state.
    pub status: Status,
    /// True if the program resumed its own conversation; otherwise it began a new one.
    pub remembers: bool,
    /// The links that carry the session's words again.
    pub links: Vec<StreamId>,
    /// Arguments of the first run that were left out, because they were a prompt or may have been
    /// one.
    pub left_out: Vec<String>,
}

/// A session to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The client of the registry that runs.
    pub client: String,
    /// The working folder; the program's default if empty.
    pub cwd: PathBuf,
    /// Additional arguments of the program.
    pub args: Vec<String>,
    /// The name of the session; made from the client's name if unset.
    pub name: Option<String>,
    /// The caller, under the name that the surface proved or the client gave.
    pub by: Actor,
    /// The session whose program asks, if the caller is one.
    pub session: Option<SessionId>,
    /// The place in a gathering, if the session is started for one.
    pub place: Option<GatheringPlace>,
}

/// A request for the folders in which a program could be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderQuery {
    /// The client of the registry whose user reads the folder.
    pub client: String,
    /// The folder; the program's default if empty.
    pub folder: PathBuf,
}

/// The folders inside a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderList {
    /// The absolute path of the folder itself.
    pub folder: PathBuf,
    /// The folders in it.
    pub folders: Vec<FolderEntry>,
}

/// The place in a gathering for which a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheringPlace {
    /// The name of the member. The session gets this name, with the first number that is free.
    pub name: String,
    /// The gathering with whose end the program ends; `None` before the gathering has begun, and if
    /// the program outlives it.
    pub until: Option<StreamId>,
}

impl NewSession {
    /// Returns the person, agent or session that starts this one.
    pub fn starter(&self) -> Starter {
        match &self.session {
            Some(session) => Starter::Session(session.clone()),
            None if self.by.human => Starter::Person(self.by.id.clone()),
            None => Starter::Agent(self.by.id.clone()),
        }
    }
}

/// A running program that becomes a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObserved {
    /// The terminal and the program in it.
    pub adopt: AdoptRequest,
    /// The name of the session; made from the client's name if unset.
    pub name: Option<String>,
    /// The caller, under the name that the surface proved or the client gave.
    pub by: Actor,
}

/// The first words to a program. They are sent when it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstWords {
    /// The text, if any.
    pub text: Option<String>,
    /// True if the words begin a link of the sender and the program's session.
    pub direct: bool,
}

/// Rights that the operator grants to a client, beyond those of every session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientRights {
    /// True if the client's sessions reach all conversations and all sessions.
    pub reaches_all: bool,
    /// True if agents may start the client without asking a person: without arguments, in the
    /// folders that the operator lists.
    pub startable_by_agents: bool,
}

/// The party that asks for something: a participant at a surface, or the program of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A participant at a surface.
    Actor(Actor),
    /// A session, identified by the secret of its environment.
    Session(SessionId),
}

/// A message to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender.
    pub from: Asker,
    /// The session that receives the message.
    pub to: SessionId,
    /// The text; may be empty if a link is only closed.
    pub text: String,
    /// True to talk over a link of sender and receiver. The last words of each turn of one reach
    /// the other.
    pub direct: bool,
    /// True to close the link of sender and receiver. The text, if any, is said before.
    pub close_link: bool,
}

/// The effect of a request on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum LinkState {
    /// A new link was made.
    Created,
    /// The link between exactly these members existed already.
    Reused,
    /// The link was closed.
    Closed,
    /// No link was made or closed, because the request did not ask for it, or there was none to
    /// close.
    None,
}

/// The outcome of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendResult {
    /// The conversation in which the message was said.
    pub stream: StreamId,
    /// The position of the message, if there was text.
    pub seq: Option<Seq>,
    /// The link, if there is one.
    pub link: Option<StreamId>,
    /// The effect on the link.
    pub state: LinkState,
    /// The sessions that the message goes to.
    pub delivered_to: Vec<SessionId>,
    /// `held` or `stopped`, if a guard or a Stop holds the message back.
    pub held: Option<&'static str>,
}

/// A member of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The member's session.
    pub session: SessionId,
    /// The computer of the session; empty for this one.
    pub computer: String,
    /// The member's name in the link; the session's own if unset.
    pub name: Option<String>,
    /// The member's number in the link, unique among the members; may be unset.
    pub number: Option<u32>,
    /// The member's role.
    pub role: Option<String>,
}

/// Maximum for the number of messages that the members of a link may exchange before a person has
/// to continue. (Ruling 16.)
pub const LINK_EXCHANGES_MAX: u32 = 200;

/// A member of a new link that is a session of another computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteMember {
    /// The computer.
    pub computer: PairedComputer,
    /// The session.
    pub session: RemoteSession,
    /// The session's name, number and role in the link.
    pub member: Member,
}

/// Words of a session to a session of another computer, over a link of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageElsewhere {
    /// The session that sends the words.
    pub from: SessionId,
    /// The computer of the other session.
    pub computer: PairedComputer,
    /// The id or name that the other session has on its computer.
    pub word: String,
    /// The words; may be empty if the link is closed.
    pub text: String,
    /// True if the smallest link with that session ends after the words.
    pub close_link: bool,
}

/// A link to make between sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLink {
    /// The members on this computer.
    pub members: Vec<Member>,
    /// The members on other computers.
    pub elsewhere: Vec<RemoteMember>,
    /// The title; made from the members' names if unset.
    pub title: Option<String>,
    /// The participant or session that makes the link.
    pub by: Asker,
    /// The number of messages that the members may exchange before a person has to continue, from 1
    /// to [`LINK_EXCHANGES_MAX`]. The default of conversations applies if unset.
    pub exchanges_max: Option<u32>,
}

/// A conversation under `open` whose members are sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The id of the link, which is that of its conversation.
    pub id: StreamId,
    /// The title of its conversation.
    pub title: String,
    /// The members; for a closed link, its last members.
    pub members: Vec<Member>,
    /// When the link was made.
    pub created_at: Timestamp,
    /// True if the link still carries words.
    pub active: bool,
    /// The ended sessions that have to be resumed or ended before the link opens again.
    pub waits_for: Vec<SessionId>,
}

/// A selection of the words to and from a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Earliest time, inclusive.
    pub since: Option<Timestamp>,
    /// Latest time, inclusive.
    pub until: Option<Timestamp>,
    /// Maximum number of characters, the newest; 0 for the most possible.
    pub tail_chars: Option<usize>,
}

/// The reader of a session's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReader {
    /// The participant who reads; `None` for a reader who reaches everything.
    pub name: Option<ParticipantId>,
    /// The computer of that participant, if it is not this one. A participant of this computer may
    /// have the same name.
    pub computer: Option<ComputerId>,
    /// The conversations whose words the reader may see.
    pub reach: Reach,
}

/// A message to or from a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    /// When the message was sent.
    pub ts: Timestamp,
    /// The conversation of the message.
    pub stream: StreamId,
    /// The participant who sent the message.
    pub from: ParticipantId,
    /// The text, in UTF-8.
    pub text: String,
}

/// The messages to and from a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionData {
    /// The session and its current state.
    pub status: Status,
    /// The messages, oldest first.
    pub lines: Vec<SessionLine>,
    /// The messages as text, cut to the requested length.
    pub text: String,
    /// True if some text was cut off.
    pub truncated: bool,
    /// The maximum length that was applied, in characters.
    pub tail_chars: usize,
}

/// The reason why a request about sessions failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// This server has no terminals.
    #[error("terminals are not available here: {0}")]
    Unavailable(String),
    /// No session has this id, name or prefix of an id.
    #[error("session {0} was not found")]
    NotFound(String),
    /// The session runs on another computer.
    #[error("{name} runs on {computer}, and this cannot be done from here")]
    Elsewhere {
        /// The name of the session, as the caller wrote it.
        name: String,
        /// The name that this computer has for it.
        computer: String,
    },
    /// Another computer is away, or refuses.
    #[error(transparent)]
    Computer(#[from] ComputerError),
    /// The session has ended, so its program takes no more input.
    #[error("session {name} has ended: {why}")]
    Ended {
        /// The name of the session.
        name: ParticipantId,
        /// Reason for the end of the program, for people.
        why: String,
    },
    /// The link does not exist, or is closed.
    #[error("an active link was not found here")]
    NoLink,
    /// The pane does not exist, or belongs to another program.
    #[error("{0}")]
    NoPane(String),
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The request conflicts with the current state; the text says why.
    #[error("{0}")]
    Conflict(String),
    /// The terminal failed.
    #[error("{0}")]
    Host(String),
    /// The hall failed.
    #[error(transparent)]
    Hall(#[from] HallError),
}

/// Checks that a program can work in a folder: an absolute path of one on this computer.
///
/// # Errors
/// [`SessionError::Invalid`], which names the folder.
pub fn check_working_folder(folder: &Path) -> Result<(), SessionError> {
    if folder.is_absolute() && folder.is_dir() {
        return Ok(());
    }
    Err(SessionError::Invalid(format!(
        "{} is not a folder on this computer; give the absolute path of a folder.",
        folder.display()
    )))
}

impl SessionError {
    /// Returns the error for a name that this computer has for no computer.
    pub fn no_computer(name: &str) -> Self {
        Self::Invalid(format!(
            "No computer is called {name} here. `GET /computers` lists the computers."
        ))
    }
}
