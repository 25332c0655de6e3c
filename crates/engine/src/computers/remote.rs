//! The questions that one computer asks another, and the answers.

use moothall_kernel::text;
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::sessions::{Excerpt, SessionError, Status};

/// A question to another computer. Question and answer are not kept: if either is lost, the asker
/// learns that the computer is away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "question", rename_all = "snake_case")]
pub enum RemoteQuestion {
    /// The living sessions there.
    List,
    /// The words between a session there and a participant here.
    Read(RemoteRead),
}

/// The words of a session that a participant of another computer wants to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteRead {
    /// Name or id of the session.
    pub session: String,
    /// Id of the reader on its own computer.
    pub reader: String,
    /// Earliest time, in milliseconds since 1970, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Latest time, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Maximum number of characters, the newest; 0 for the most possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_chars: Option<usize>,
}

impl RemoteRead {
    /// Returns the part of the words that is wanted.
    pub fn excerpt(&self) -> Excerpt {
        Excerpt { since: self.since, until: self.until, tail_chars: self.tail_chars }
    }
}

/// The answer of another computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "of", rename_all = "snake_case")]
pub enum RemoteAnswer {
    /// The living sessions.
    Sessions(Vec<RemoteSession>),
    /// The words.
    Words(RemoteWords),
}

/// A session of another computer, without its folder and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteSession {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The program that runs in it.
    pub client: String,
    /// Its activity.
    pub state: String,
    /// Number of turns that wait for it.
    pub waiting: usize,
    /// `started` or `observed`.
    pub origin: String,
    /// Time at which it began.
    pub started_at: Timestamp,
}

impl From<&Status> for RemoteSession {
    fn from(status: &Status) -> Self {
        let session = &status.session;
        Self {
            id: session.id.to_string(),
            name: session.name.to_string(),
            client: session.client.clone(),
            state: status.doing.to_string(),
            waiting: status.waiting,
            origin: session.origin.to_string(),
            started_at: session.started_at,
        }
    }
}

/// The words between a session of another computer and their reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteWords {
    /// The session as it is now.
    pub session: RemoteSession,
    /// The words, oldest first.
    pub text: String,
    /// True if the beginning was cut off.
    pub truncated: bool,
    /// The maximum length that was applied, in characters.
    pub tail_chars: usize,
}

/// Longest word of another computer about a session, in bytes.
const WORD_BYTES_MAX: usize = 256;
/// Longest text of another computer in an answer, in bytes: 48,000 characters fit.
const TEXT_BYTES_MAX: usize = 4 * 48_000;

impl RemoteAnswer {
    /// Returns the answer with clean words of bounded length: another computer wrote them.
    pub fn cleaned(self) -> Self {
        match self {
            Self::Sessions(sessions) => {
                Self::Sessions(sessions.into_iter().map(RemoteSession::cleaned).collect())
            }
            Self::Words(words) => Self::Words(RemoteWords {
                session: words.session.cleaned(),
                text: bounded(&words.text, TEXT_BYTES_MAX),
                ..words
            }),
        }
    }
}

impl RemoteSession {
    fn cleaned(self) -> Self {
        let word = |text: &str| bounded(text, WORD_BYTES_MAX).replace('\n', " ");
        Self {
            id: word(&self.id),
            name: word(&self.name),
            client: word(&self.client),
            state: word(&self.state),
            origin: word(&self.origin),
            ..self
        }
    }
}

fn bounded(text: &str, bytes_max: usize) -> String {
    text::cut(&text::clean(text), bytes_max).to_owned()
}

/// The reason for which a computer refuses what another asks of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteRefusal {
    /// The kind of the reason.
    pub kind: RemoteRefusalKind,
    /// The reason, for people.
    pub message: String,
}

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteRefusalKind {
    /// The computer does not give that right.
    NotAllowed,
    /// No session there has that name or id.
    SessionNotFound,
    /// The session has ended.
    SessionEnded,
    /// The request is not possible.
    Invalid,
    /// A kind of a newer program, or a fault there.
    #[serde(other)]
    Other,
}

impl RemoteRefusal {
    /// Returns the refusal with clean words of bounded length.
    pub fn cleaned(self) -> Self {
        Self { message: bounded(&self.message, WORD_BYTES_MAX), ..self }
    }
}

impl From<SessionError> for RemoteRefusal {
    fn from(error: SessionError) -> Self {
        let kind = match &error {
            SessionError::NotFound(_) => RemoteRefusalKind::SessionNotFound,
            SessionError::Ended { .. } => RemoteRefusalKind::SessionEnded,
            SessionError::Invalid(_) => RemoteRefusalKind::Invalid,
            _ => RemoteRefusalKind::Other,
        };
        Self { kind, message: error.to_string() }
    }
}
