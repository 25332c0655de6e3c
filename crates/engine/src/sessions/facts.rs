//! What is known of sessions and links, and what can be asked about them.

use std::path::PathBuf;

use moothall_kernel::command::Actor;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::time::Timestamp;

use super::AdoptRequest;
use crate::access::reach::Reach;
use crate::answers::HallError;
use crate::ports::{Session, SessionId, Starter};

/// What a session is doing now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum Activity {
    /// Its program draws its first screen.
    Starting,
    /// It waits for work.
    Idle,
    /// A person's draft is in its composer, so that nothing is typed.
    Drafting,
    /// It works on a turn.
    Busy,
    /// It waits for a person's permission.
    Asking,
    /// Its program is gone, and it takes no more turns.
    Ended,
}

/// A session, and how it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What is kept about it.
    pub session: Session,
    /// What it is doing.
    pub doing: Activity,
    /// Turns that wait for it.
    pub waiting: usize,
}

/// A session that runs again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedSession {
    /// The session.
    pub status: Status,
    /// True if its program goes on with what it remembers; otherwise it began anew.
    pub remembers: bool,
    /// The links that carry its words again.
    pub links: Vec<StreamId>,
    /// Arguments of its first run that were left out, since they were a prompt or may have been
    /// one.
    pub left_out: Vec<String>,
}

/// A session to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The client of the registry that is to run.
    pub client: String,
    /// The folder it shall work in; the program's own when it is empty.
    pub cwd: PathBuf,
    /// More arguments for it.
    pub args: Vec<String>,
    /// What it shall be called; made from the client's name where unset.
    pub name: Option<String>,
    /// The caller, as the surface proved it or as the client said.
    pub by: Actor,
    /// The session whose program asks, where it is one.
    pub session: Option<SessionId>,
    /// Its seat, if it is started for a gathering.
    pub seat: Option<GatheringSeat>,
}

/// The seat in a gathering for which a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheringSeat {
    /// The name of the seat. The session has it, with the first number that is free.
    pub name: String,
    /// The gathering, once it has begun, if the program ends with it.
    pub until: Option<StreamId>,
}

impl NewSession {
    /// Who has it started.
    pub fn starter(&self) -> Starter {
        match &self.session {
            Some(session) => Starter::Session(session.clone()),
            None if self.by.human => Starter::Person(self.by.id.clone()),
            None => Starter::Agent(self.by.id.clone()),
        }
    }
}

/// A program that runs already, to become a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObserved {
    /// The terminal it runs in, and which program it is.
    pub adopt: AdoptRequest,
    /// What it shall be called; made from the client's name where unset.
    pub name: Option<String>,
    /// The caller, as the surface proved it or as the client said.
    pub by: Actor,
}

/// What is said to a program when it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstWords {
    /// The words, if there are any.
    pub text: Option<String>,
    /// They begin a link of the two.
    pub direct: bool,
}

/// What the operator grants to a client beyond what every session may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientRights {
    /// Its sessions reach all conversations, and all sessions.
    pub reaches_all: bool,
    /// Agents may start it without asking a person, without arguments, in the folders that the
    /// operator lists.
    pub startable_by_agents: bool,
}

/// Who asks for something: a person, or the program of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asker {
    /// Somebody at a surface.
    Actor(Actor),
    /// A session, known by the secret of its environment.
    Session(SessionId),
}

/// A message to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// A participant at a surface, or a session.
    pub from: Asker,
    /// The session that is to be told.
    pub to: SessionId,
    /// The words; may be empty when a link is only to be closed.
    pub text: String,
    /// Talk over a link of the two: what either says at the end of a turn reaches the other.
    pub direct: bool,
    /// End the link of the two instead, after the words, if there are any.
    pub close_link: bool,
}

/// What became of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum LinkState {
    /// There was none between them, and it was made.
    Created,
    /// There was one between just these members.
    Reused,
    /// It was there, and carries no more words.
    Closed,
    /// No link was made or closed: none was asked for, or there was none to close.
    None,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendResult {
    /// Where it was said.
    pub stream: StreamId,
    /// The event, when something was said.
    pub seq: Option<Seq>,
    /// The link, when there is one.
    pub link: Option<StreamId>,
    /// What became of the link.
    pub state: LinkState,
    /// The sessions it goes to.
    pub delivered_to: Vec<SessionId>,
    /// `held` or `stopped`, if a guard or a Stop holds it back.
    pub held: Option<&'static str>,
}

/// A member of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The session that is in the link.
    pub session: SessionId,
    /// The computer it is on; empty for this one.
    pub computer: String,
    /// Its name in the link; the session's own where unset.
    pub name: Option<String>,
    /// Its number in the link, which no other member has; a member may have none.
    pub number: Option<u32>,
    /// What it is there for.
    pub role: Option<String>,
}

/// The highest number of words that the members of a link may be given to exchange before a person
/// has to go on.
/// (Ruling 16.)
pub const LINK_EXCHANGES_MAX: u32 = 200;

/// A link to be made between sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLink {
    /// Its members, two or more.
    pub members: Vec<Member>,
    /// Its title; made from the members' names where unset.
    pub title: Option<String>,
    /// A participant at a surface, or a session, that makes the link.
    pub by: Asker,
    /// Words that its members may exchange before a person has to go on, from 1 to
    /// [`LINK_EXCHANGES_MAX`]; the usual number of conversations without it.
    pub exchanges_max: Option<u32>,
}

/// A conversation under `open` whose members are sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its id: that of its conversation.
    pub id: StreamId,
    /// The title of its conversation.
    pub title: String,
    /// Who is in it. Those of a closed link are those it had at last.
    pub members: Vec<Member>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether it still carries words.
    pub active: bool,
    /// Sessions that ended and keep it closed until they are resumed or ended.
    pub waits_for: Vec<SessionId>,
}

/// How much of what a session was asked and said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Only what came at or after this.
    pub since: Option<Timestamp>,
    /// Only what came at or before this.
    pub until: Option<Timestamp>,
    /// At most so many characters, the newest; 0 asks for the most there can be.
    pub tail_chars: Option<usize>,
}

/// Through whose eyes the words of a session are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReader {
    /// Who looks; nobody in particular where all is within reach.
    pub name: Option<ParticipantId>,
    /// The conversations whose words they are shown.
    pub reach: Reach,
}

/// Something a session was asked, or said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    /// When it was said.
    pub ts: Timestamp,
    /// The conversation in which it was said.
    pub stream: StreamId,
    /// The participant who said it.
    pub from: ParticipantId,
    /// The text, in UTF-8.
    pub text: String,
}

/// What a session was asked and said, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionData {
    /// The session, and how it is.
    pub status: Status,
    /// Each time it was asked or said something, oldest first.
    pub lines: Vec<SessionLine>,
    /// The same as text, cut to what was asked for.
    pub text: String,
    /// Whether something was cut off.
    pub truncated: bool,
    /// The cut that was made, in characters.
    pub tail_chars: usize,
}

/// Why something about sessions could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// This server has no terminals.
    #[error("there are no terminals here: {0}")]
    Unavailable(String),
    /// No session has this id, name or beginning of an id.
    #[error("there is no session {0}")]
    NotFound(String),
    /// The session has ended, and its program takes nothing more.
    #[error("session {name} has ended: {why}")]
    Ended {
        /// The name that the session had.
        name: ParticipantId,
        /// Why its program ended, for people.
        why: String,
    },
    /// No such link, or it is closed.
    #[error("there is no active link here")]
    NoLink,
    /// The pane does not exist, or another program has it.
    #[error("{0}")]
    NoPane(String),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// It cannot be done now; the text says what is in the way.
    #[error("{0}")]
    Conflict(String),
    /// The terminal could not do it.
    #[error("{0}")]
    Host(String),
    /// The conversation could not.
    #[error(transparent)]
    Hall(#[from] HallError),
}
