//! The questions that one computer asks another, and the answers.

use moothall_kernel::command::Invite;
use moothall_kernel::ids::{ComputerId, StreamId};
use moothall_kernel::participant::{Address, AgentFacts, OnLost, Profile, Runtime};
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::{names, text};
use serde::{Deserialize, Serialize};

use crate::paired::{PairedComputer, RemoteRefusal, RemoteRefusalKind, RemoteSession};
use crate::sessions::{ADDRESS, Excerpt, SessionError, SessionId, Status};

/// A question to another computer. Question and answer are not stored. If either is lost, the asker
/// gets the error that the computer is away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "question", rename_all = "snake_case")]
pub enum RemoteQuestion {
    /// Asks for the living sessions of the asked computer.
    List,
    /// Asks for the words between a session of the asked computer and a participant of the asker's.
    Read(RemoteRead),
    /// Asks for the session that a word means on the asked computer, if the asker may bring it into
    /// a conversation of its own.
    Find {
        /// Name or id of the session.
        session: String,
        /// True if the conversation is a link.
        link: bool,
    },
    /// Asks for a link. The asked computer makes it, because it is the home of a link with these
    /// members.
    Propose(ProposedLink),
}

/// A link that one computer asks another to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedLink {
    /// The title; made from the members' names if unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The number of messages that the members may exchange before a person has to continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges_max: Option<u32>,
    /// The members.
    pub members: Vec<ProposedMember>,
}

/// A member of a link that one computer asks another to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedMember {
    /// The id of its computer, which is never empty.
    pub computer: String,
    /// The session.
    pub session: RemoteSession,
    /// The session's name in the link; its own name if unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session's number in the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The session's role in the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
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
    /// Returns the selection of the words.
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
    /// The link that was made, or that existed already.
    Linked {
        /// The conversation of the link.
        stream: StreamId,
        /// True if it was made now.
        created: bool,
    },
}

/// Time for which a turn waits for the computer of its participant.
const WAITS: Millis = Millis::from_secs(36 * 3600);

impl RemoteSession {
    /// Returns the invitation with which a conversation of this computer invites the session.
    /// `computer` is the session's computer.
    pub fn invitation(&self, computer: &PairedComputer) -> Invite {
        let client = Some(self.client.clone());
        let profile = Profile { client: client.clone(), model: client, ..Profile::default() };
        let facts = AgentFacts {
            on_lost: OnLost::Fail,
            waits: Some(WAITS),
            ..AgentFacts::of_runtime(Runtime::TERMINAL)
        };
        let address = Address {
            computer: computer.id.to_string(),
            kind: ADDRESS.to_owned(),
            local_id: self.id.clone(),
        };
        Invite {
            address: Some(address),
            full_name: Some(format!("{}@{}", self.name, computer.name)),
            ..Invite::new(names::id_at(&self.name, &computer.name), profile, facts)
        }
    }
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

/// A message of a participant of one computer to a session of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteMessage {
    /// Name or id of the session, as the sender wrote it.
    pub to: String,
    /// The sender.
    pub from: RemoteSpeaker,
    /// The words.
    pub text: String,
}

/// A participant of another computer who sends a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteSpeaker {
    /// The participant's id on its own computer.
    pub name: String,
    /// The session, if the participant is a session. It waits for the end of the turn that
    /// answers the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

/// The wait of a session for the end of a turn of a session of another computer. Both computers
/// make their names of the wait from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteWait {
    /// The session that waits, on its own computer.
    pub waiter: SessionId,
    /// The word by which the waiting session named the other one.
    pub word: String,
}

impl RemoteMessage {
    /// Returns the wait of the sender, if it is a session.
    pub fn wait(&self) -> Option<RemoteWait> {
        let waiter = self.from.session.clone()?;
        Some(RemoteWait { waiter, word: self.to.clone() })
    }
}

impl RemoteWait {
    /// Returns the name of the awaited session at the computer of the waiter. `computer` is the
    /// computer of the awaited session.
    pub fn target(&self, computer: &ComputerId) -> SessionId {
        SessionId::new(format!("{}@{computer}", self.word))
    }

    /// Returns the name of the waiter at the computer of the awaited session. `computer` is the
    /// computer of the waiter.
    pub fn listener(&self, computer: &ComputerId) -> SessionId {
        SessionId::new(format!("{}@{computer}/{}", self.waiter, self.word))
    }

    /// Parses a name that [`RemoteWait::listener`] made. Returns `None` for a session of this
    /// computer.
    pub fn of_listener(listener: &SessionId) -> Option<(ComputerId, Self)> {
        let (waiter, rest) = listener.as_str().split_once('@')?;
        let (computer, word) = rest.split_once('/')?;
        let wait = Self { waiter: SessionId::new(waiter), word: word.to_owned() };
        Some((ComputerId::new(computer), wait))
    }
}

/// Longest word of another computer about a session, in bytes.
const WORD_BYTES_MAX: usize = 256;
/// Longest text of another computer in an answer, in bytes: 48,000 characters fit.
const TEXT_BYTES_MAX: usize = 4 * 48_000;

impl RemoteAnswer {
    /// Returns the answer with clean words of bounded length, because another computer wrote them.
    pub fn cleaned(self) -> Self {
        match self {
            Self::Sessions(sessions) => {
                Self::Sessions(sessions.into_iter().map(RemoteSession::cleaned).collect())
            }
            linked @ Self::Linked { .. } => linked,
            Self::Words(words) => Self::Words(RemoteWords {
                session: words.session.cleaned(),
                text: bounded(&words.text, TEXT_BYTES_MAX),
                ..words
            }),
        }
    }
}

impl RemoteSession {
    /// Returns the session with clean words of bounded length, each on one line, because another
    /// computer wrote them.
    pub(crate) fn cleaned(self) -> Self {
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

impl RemoteRefusalKind {
    /// Returns the code of this kind in the error that the asking computer gives its caller.
    pub fn code(self) -> &'static str {
        match self {
            RemoteRefusalKind::NotAllowed => "computer_refused",
            RemoteRefusalKind::SessionNotFound => "session_not_found",
            RemoteRefusalKind::SessionEnded => "session_ended",
            RemoteRefusalKind::Invalid => "invalid_session",
            RemoteRefusalKind::Other => "session_conflict",
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_of_another_computer_is_read_as_it_was_written() {
        let wait = RemoteWait { waiter: SessionId::new("ses_1"), word: "builder".into() };
        let computer = ComputerId::new("2abc");
        let listener = wait.listener(&computer);
        assert_eq!(RemoteWait::of_listener(&listener), Some((computer, wait)));
        assert_eq!(RemoteWait::of_listener(&SessionId::new("ses_1")), None);
    }

    #[test]
    fn words_of_another_computer_are_cleaned_and_cut() {
        let long = format!("a\x1b[2J{}", "ä".repeat(100_000));
        let session = RemoteSession {
            id: long.clone(),
            name: "a\nb".into(),
            client: long.clone(),
            state: "idle".into(),
            waiting: 0,
            origin: String::new(),
            started_at: Timestamp::default(),
        };
        let words = RemoteWords { session, text: long, truncated: false, tail_chars: 0 };
        let RemoteAnswer::Words(words) = RemoteAnswer::Words(words).cleaned() else { panic!() };
        assert!(words.text.len() <= TEXT_BYTES_MAX && !words.text.contains('\x1b'));
        assert!(words.session.id.len() <= WORD_BYTES_MAX);
        assert_eq!(words.session.name, "a b");
    }
}
