//! The port to sessions, past and present, and the conversations they are in.

use std::path::PathBuf;

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::LogError;

/// The id of a session, which is also the id of its home.
pub type SessionId = StreamId;

/// The terminal pane of a session's program. All fields together identify one run of one program: a
/// pane that was reused has another `pid`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pane {
    /// The multiplexer's name for its socket; empty for this server's private one.
    pub socket: String,
    /// Id of the pane in the multiplexer, e.g. `%7`.
    pub id: String,
    /// Id of the process with which the pane was started.
    pub pid: u32,
    /// Id of the multiplexer's server that started it, if known. Another id shows that the
    /// multiplexer or the computer was restarted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server: String,
}

/// A user of this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnixUser {
    /// The user's name.
    pub name: String,
    /// The user's numeric id, which the system goes by.
    pub uid: u32,
}

/// The way in which a session's program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Origin {
    /// Started by this server, with its hooks.
    Started,
    /// Started outside the server. Such a program has no hooks, and its output is only read from
    /// its screen.
    Observed,
}

/// The principal that had a session started. A program may steer the sessions that it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starter {
    /// A person, or the server on behalf of a participant that a person invited.
    Person(ParticipantId),
    /// An agent with a token of its own.
    Agent(ParticipantId),
    /// The program of another session.
    Session(SessionId),
}

/// A session, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Id of the session and of its home.
    pub id: SessionId,
    /// Name of the session; unique among those that live, and valid as a participant's id.
    pub name: ParticipantId,
    /// The client of the registry that it runs.
    pub client: String,
    /// The computer that it runs on; empty for this one.
    pub computer: String,
    /// The working directory.
    pub cwd: PathBuf,
    /// The terminal of its program; `None` before the program has one.
    pub pane: Option<Pane>,
    /// The program's own id for the session; `None` before it is known.
    pub native: Option<String>,
    /// The way in which its program was started.
    pub origin: Origin,
    /// Hash of the secret in its environment, in hexadecimal.
    pub token_hash: String,
    /// Time at which the session began.
    pub started_at: Timestamp,
    /// Time at which it ended, and the reason in one sentence.
    pub ended: Option<(Timestamp, String)>,
    /// The principal that had it started; `None` for sessions older than this field.
    #[serde(default)]
    pub started_by: Option<Starter>,
    /// The user of this computer that its program runs as, if it is not the server's own.
    #[serde(default)]
    pub run_as: Option<UnixUser>,
    /// The gathering with which it ends, if it was started for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<StreamId>,
    /// Additional arguments with which its program was started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The program's own id of the conversation that it resumes, which is the last one in which it
    /// took a prompt. Before a prompt, programs store nothing under an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// True if it ended because its terminal was lost with the computer or the multiplexer.
    #[serde(default)]
    pub lost: bool,
    /// The links that it left when it ended and has not entered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftLink>,
}

/// The place of a session in a link that it left because its program ended. The place is stored
/// until the session is in the link again, or the link is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftLink {
    /// The link.
    pub link: StreamId,
    /// The name that the other members read.
    pub name: Option<String>,
    /// Number of the session in the link.
    pub number: Option<u32>,
    /// Role of the session in the link.
    pub role: Option<String>,
}

/// The sessions, past and present, and the subscriptions to the end of their turns.
#[async_trait]
pub trait SessionBook: Send + Sync + 'static {
    /// Stores a session in place of the earlier row. It survives a power cut when this returns.
    async fn keep(&self, session: &Session) -> Result<(), LogError>;
    /// Returns all sessions, in the order of their ids.
    async fn all(&self) -> Result<Vec<Session>, LogError>;
    /// Subscribes one session to the end of another's turn.
    async fn listen(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError>;
    /// Returns the subscribers of a session.
    async fn listeners(&self, target: &SessionId) -> Result<Vec<SessionId>, LogError>;
    /// Removes a subscription.
    async fn unlisten(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError>;
    /// Notes that a session entered a conversation.
    async fn enter(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError>;
    /// Notes that a session left a conversation.
    async fn leave(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError>;
    /// Returns the conversations that a session is in, in the order of their ids.
    async fn rooms(&self, session: &SessionId) -> Result<Vec<StreamId>, LogError>;
}
