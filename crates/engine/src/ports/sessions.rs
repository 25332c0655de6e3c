//! The sessions that ever were, and where they are.

use std::path::PathBuf;

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::LogError;

/// Names a session: the id of its home.
pub type SessionId = StreamId;

/// Where a session's program lives. All of it together names one run of one program: a pane that
/// was given another one has another `pid`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pane {
    /// The multiplexer's own name for its socket; empty for the private one of this server.
    pub socket: String,
    /// The pane there, e.g. `%7`.
    pub id: String,
    /// The process the pane was started with.
    pub pid: u32,
    /// The multiplexer's server in which it was started, if that is known: another one shows that
    /// the multiplexer, or the computer, was restarted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server: String,
}

/// A user of this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnixUser {
    /// What they are called.
    pub name: String,
    /// Their number, which is what the system goes by.
    pub uid: u32,
}

/// Who started a session's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Origin {
    /// This server, with hooks of its own.
    Started,
    /// Somebody else; it has no hooks, and only its screen tells what it says.
    Observed,
}

/// Who had a session started. What it starts may be steered by a program that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starter {
    /// A person, or the server for somebody whom a person invited.
    Person(ParticipantId),
    /// An agent with a token of its own.
    Agent(ParticipantId),
    /// The program of another session.
    Session(SessionId),
}

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id, and its home's.
    pub id: SessionId,
    /// What it is called everywhere; unique among those that live. Good as a participant's id.
    pub name: ParticipantId,
    /// The client of the registry that it runs.
    pub client: String,
    /// The computer it is on; empty for this one.
    pub computer: String,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// Its terminal, once it has one.
    pub pane: Option<Pane>,
    /// The program's own id for it, once it is known.
    pub native: Option<String>,
    /// Whether this server started its program, or somebody else did.
    pub origin: Origin,
    /// Hash of the secret that its environment holds, in hexadecimal.
    pub token_hash: String,
    /// When the session began.
    pub started_at: Timestamp,
    /// When it ended, and why in one sentence.
    pub ended: Option<(Timestamp, String)>,
    /// Who had it started; of those that began before this was kept nobody is known.
    #[serde(default)]
    pub started_by: Option<Starter>,
    /// The user of this computer that its program runs as, where it is not the server's own.
    #[serde(default)]
    pub run_as: Option<UnixUser>,
    /// The gathering with which it ends, if it was started for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<StreamId>,
    /// More arguments that its program was started with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The program's own id of the conversation that it resumes: the last in which it took a
    /// prompt. Programs keep nothing under an id before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// True if it ended because its terminal went with the computer or the multiplexer.
    #[serde(default)]
    pub lost: bool,
    /// The links that it left with its end and is not back in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftLink>,
}

/// The place of a session in a link that it left because its program ended. It is kept until the
/// session is in the link again, or the link is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftLink {
    /// The link.
    pub link: StreamId,
    /// The name that the others read.
    pub name: Option<String>,
    /// Its number there.
    pub number: Option<u32>,
    /// Its role there.
    pub role: Option<String>,
}

/// The sessions that ever were, and who wants to know when one finishes its turn.
#[async_trait]
pub trait SessionBook: Send + Sync + 'static {
    /// Keeps a session, in place of what was kept of it before. It survives a power cut when this
    /// returns.
    async fn keep(&self, session: &Session) -> Result<(), LogError>;
    /// All sessions, in the order of their ids.
    async fn all(&self) -> Result<Vec<Session>, LogError>;
    /// Notes that one session wants to know when another finishes its turn.
    async fn listen(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError>;
    /// Who wants to know.
    async fn listeners(&self, target: &SessionId) -> Result<Vec<SessionId>, LogError>;
    /// Forgets that one wants to know.
    async fn unlisten(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError>;
    /// Notes that a session came into a conversation.
    async fn enter(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError>;
    /// Notes that it left.
    async fn leave(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError>;
    /// Where a session is, as far as it was noted, in the order of the ids.
    async fn rooms(&self, session: &SessionId) -> Result<Vec<StreamId>, LogError>;
}
