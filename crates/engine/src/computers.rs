//! Other computers as surfaces see them: their pairs with this one, and their states.

mod remote;
mod turns;

use async_trait::async_trait;
use moothall_kernel::ids::ComputerId;
use moothall_kernel::time::{Millis, Timestamp};

pub use remote::{
    ProposedLink, ProposedMember, RemoteAnswer, RemoteMessage, RemoteQuestion, RemoteRead,
    RemoteSpeaker, RemoteWait, RemoteWords,
};
pub use turns::{
    HostedState, RefusedRow, RemoteEnd, RemoteOffer, RemotePermission, RemotePlace, RemoteTurn,
};

pub use crate::paired::{
    ComputerError, PairedComputer, RemoteRefusal, RemoteRefusalKind, RemoteSession,
};
pub use crate::sessions::RemoteMember;

/// The state of a computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum ComputerState {
    /// The computer is connected, and both have introduced themselves.
    Up,
    /// The computer is not connected, or the post cannot be reached.
    Away,
    /// The computer is connected, but does not answer this one, or speaks a newer version.
    Refused,
    /// This computer exchanges nothing with others until a person resumes the exchange.
    Off,
}

/// A computer: this one, or one that is paired with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputerStatus {
    /// The name by which this computer calls it.
    pub name: String,
    /// The computer's id, which never changes.
    pub id: String,
    /// True for this computer itself.
    pub is_this: bool,
    /// The computer's state.
    pub state: ComputerState,
    /// The version of its program; `None` before it has introduced itself.
    pub version: Option<String>,
    /// Time at which it was last seen, since this server started.
    pub seen_at: Option<Timestamp>,
    /// The number of milliseconds by which its clock is ahead of this computer's clock; `None`
    /// before it has introduced itself. The number is only shown.
    pub clock_ahead: Option<i64>,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
    /// Number of rows for it that it has not confirmed.
    pub owed_to: u64,
    /// Number of its rows for this computer that have not arrived, as far as it has reported since
    /// this server started.
    pub owed_by: Option<u64>,
    /// Number of its living sessions, if it reports it.
    pub sessions: Option<usize>,
}

/// The way in which a Redis saves its memory for a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum PostPersistence {
    /// The Redis writes every command into a file.
    Commands,
    /// The Redis saves its memory from time to time.
    Snapshots,
    /// The Redis saves nothing.
    Nothing,
}

/// The post by which the computers reach each other.
#[derive(Clone, Debug, PartialEq)]
pub struct PostStatus {
    /// The address of the Redis, without a password.
    pub address: String,
    /// The reason for which it cannot be reached; `None` if it can.
    pub fault: Option<String>,
    /// Time of one round trip.
    pub round_trip: Option<Millis>,
    /// The policy by which the Redis drops rows if its memory is full, if it reports the policy.
    pub eviction: Option<String>,
    /// The way in which the Redis saves its memory for a restart, if it reports the way.
    pub persistence: Option<PostPersistence>,
    /// The next step for people, if there is one.
    pub cure: Option<String>,
}

/// All computers, as far as this one knows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComputersStatus {
    /// This computer first, then the others in the order of their names. Empty until the first
    /// invitation is made or accepted.
    pub computers: Vec<ComputerStatus>,
    /// The post; `None` before the first invitation.
    pub post: Option<PostStatus>,
}

/// The facts that a person gives a computer when it makes or accepts its first invitation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewComputer {
    /// The computer's name; that of the machine if unset.
    pub name: Option<String>,
    /// The address of the Redis that all computers reach.
    pub redis: Option<String>,
    /// The share of time in which it is up: 1 for always, 9 for rarely.
    pub up: Option<u8>,
}

/// The outcome of joining with a line of another computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinOutcome {
    /// The line was an invitation, and this computer knows the inviter now. The inviter has to join
    /// the answer.
    Accepted {
        /// The name that this computer has for the inviter.
        computer: String,
        /// The line for the inviter.
        answer: String,
    },
    /// The line was an answer, so both know each other.
    Paired {
        /// The name that this computer has for the other one.
        computer: String,
    },
}

impl ComputerError {
    /// Returns the error for an answer that does not fit the question. Logs it.
    pub fn unfit(computer: &PairedComputer, answer: &RemoteAnswer) -> Self {
        tracing::warn!(computer = computer.name, ?answer, "an answer does not fit its question");
        let message = "it answered another question than it was asked".to_owned();
        let refusal = RemoteRefusal { kind: RemoteRefusalKind::Other, message };
        Self::Refused { name: computer.name.clone(), refusal }
    }
}

/// The computer that a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComputerPlace {
    /// This computer.
    Here,
    /// A computer that is paired with this one.
    Elsewhere(PairedComputer),
}

/// A word for a session: of this computer, or of another one.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionWord<'w> {
    /// A session of this computer.
    Here(&'w str),
    /// A session of another computer.
    There {
        /// The computer.
        computer: PairedComputer,
        /// The session's name or id on that computer.
        name: &'w str,
    },
}

/// The computers of a server, as surfaces ask for them.
#[async_trait]
pub trait ComputerDirectory: Send + Sync {
    /// Returns the computer that a name means; `None` if this computer knows no computer of that
    /// name.
    fn place_of(&self, name: &str) -> Option<ComputerPlace>;
    /// Returns this computer; `None` if it has no id yet.
    fn own(&self) -> Option<PairedComputer>;
    /// Returns the computer with an id; `None` if it is not paired with this one.
    fn with_id(&self, id: &ComputerId) -> Option<PairedComputer>;
    /// Returns the computers that are paired with this one, in the order of their names.
    fn paired(&self) -> Vec<PairedComputer>;
    /// Returns the state of a computer, and the time at which it was last seen.
    fn presence(&self, computer: &PairedComputer) -> (ComputerState, Option<Timestamp>);
    /// Returns this computer and those that are paired with it.
    async fn computers(&self) -> ComputersStatus;
    /// Makes an invitation for another computer: one line, which can be used once within ten
    /// minutes. If this computer has no id yet, it gets one first.
    ///
    /// # Errors
    /// [`ComputerError`]; no invitation is open then.
    async fn invite(&self, new: NewComputer) -> Result<String, ComputerError>;
    /// Returns the name that the computer of a line has for itself. The line takes no effect.
    ///
    /// # Errors
    /// [`ComputerError::BadLine`].
    fn name_in(&self, line: &str) -> Result<String, ComputerError>;
    /// Joins with a line that another computer printed. A line that was given before has the same
    /// outcome again, as long as its pair lasts.
    ///
    /// # Errors
    /// [`ComputerError`]. The pair may be stored nevertheless if only the start of the exchange
    /// failed; the same line, given again, then starts it.
    async fn join(&self, line: &str, new: NewComputer) -> Result<JoinOutcome, ComputerError>;
    /// Checks that this computer exchanges rows and questions with others.
    ///
    /// # Errors
    /// [`ComputerError::Off`].
    fn must_be_on(&self) -> Result<(), ComputerError>;
    /// Puts this computer on after its log was restored, so that it exchanges rows and questions
    /// again. Returns false if it is on already.
    ///
    /// # Errors
    /// [`ComputerError`]; the computer is still off then.
    async fn resume(&self) -> Result<bool, ComputerError>;
    /// Asks a computer, and waits some seconds for its answer.
    ///
    /// # Errors
    /// [`ComputerError::Away`], [`ComputerError::Off`] or [`ComputerError::Refused`].
    async fn ask(
        &self,
        computer: &PairedComputer,
        question: RemoteQuestion,
    ) -> Result<RemoteAnswer, ComputerError>;
    /// Ends the pair with a computer, and deletes its key. Returns false if the two are not paired.
    ///
    /// # Errors
    /// [`ComputerError`]. The pair has ended nevertheless if only a step after the deletion of the
    /// key failed, such as deleting the rows for that computer.
    async fn forget(&self, name: &str) -> Result<bool, ComputerError>;
}

impl dyn ComputerDirectory {
    /// Asks a computer which of its sessions a word means, to bring that session into a
    /// conversation of this computer. `link` is true if the conversation is a link.
    ///
    /// # Errors
    /// [`ComputerError::Away`], [`ComputerError::Off`] or [`ComputerError::Refused`].
    pub async fn find(
        &self,
        computer: &PairedComputer,
        word: &str,
        link: bool,
    ) -> Result<RemoteSession, ComputerError> {
        let question = RemoteQuestion::Find { session: word.to_owned(), link };
        match self.ask(computer, question).await? {
            RemoteAnswer::Sessions(mut found) if found.len() == 1 => Ok(found.remove(0)),
            other => Err(ComputerError::unfit(computer, &other)),
        }
    }
}
