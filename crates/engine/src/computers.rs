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
    /// The computer is there, and both have introduced themselves.
    Up,
    /// The computer is not there, or the post cannot be reached.
    Away,
    /// The computer is there, and does not answer this one, or speaks a newer version.
    Refused,
    /// This computer exchanges nothing with others, until a person resumes that.
    Off,
}

/// A computer: this one, or one that is paired with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputerStatus {
    /// The name by which this computer calls it.
    pub name: String,
    /// Its id, for good.
    pub id: String,
    /// True for this computer itself.
    pub is_this: bool,
    /// Its state.
    pub state: ComputerState,
    /// The version of its program, once it has introduced itself.
    pub version: Option<String>,
    /// Time at which it was last seen, since this server started.
    pub seen_at: Option<Timestamp>,
    /// The difference of its clock to the one here, if it has introduced itself. It is shown, and
    /// nothing is judged by it.
    pub clock_ahead: Option<i64>,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
    /// Number of rows that this computer owes it.
    pub owed_to: u64,
    /// Number of rows that it owes this computer, as far as it has said since this server started.
    pub owed_by: Option<u64>,
    /// Number of living sessions there, if it tells.
    pub sessions: Option<usize>,
}

/// The way in which a Redis keeps its memory over a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum PostPersistence {
    /// It writes every command into a file.
    Commands,
    /// It saves its memory from time to time.
    Snapshots,
    /// It keeps nothing.
    Nothing,
}

/// The post by which the computers reach each other.
#[derive(Clone, Debug, PartialEq)]
pub struct PostStatus {
    /// Its address, without a password.
    pub address: String,
    /// The reason for which it cannot be reached; `None` if it can.
    pub fault: Option<String>,
    /// Time of one round trip.
    pub round_trip: Option<Millis>,
    /// The policy by which it drops what does not fit its memory, if it tells it.
    pub eviction: Option<String>,
    /// The way in which it keeps its memory over a restart, if it tells it.
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
    /// The post; `None` until then.
    pub post: Option<PostStatus>,
}

/// The facts that a computer is given when it makes or accepts its first invitation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewComputer {
    /// Its name; that of the machine if unset.
    pub name: Option<String>,
    /// The address of the Redis that all computers reach.
    pub redis: Option<String>,
    /// The share of time in which it is up: 1 for always, 9 for rarely.
    pub up: Option<u8>,
}

/// The outcome of a line that was joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinOutcome {
    /// The line was an invitation, and this computer knows the inviter now. The inviter has to join
    /// the answer.
    Accepted {
        /// The name of the inviter here.
        computer: String,
        /// The line for the inviter.
        answer: String,
    },
    /// The line was an answer, so both know each other.
    Paired {
        /// The name of the other computer here.
        computer: String,
    },
}

impl ComputerError {
    /// Returns the error for an answer to another question.
    pub fn unfit(computer: &PairedComputer, answer: &RemoteAnswer) -> Self {
        tracing::warn!(computer = computer.name, ?answer, "an answer does not fit its question");
        let message = "it answered another question than it was asked".to_owned();
        let refusal = RemoteRefusal { kind: RemoteRefusalKind::Other, message };
        Self::Refused { name: computer.name.clone(), refusal }
    }
}

/// The place that the name of a computer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComputerPlace {
    /// This computer.
    Here,
    /// A computer that is paired with this one.
    Elsewhere(PairedComputer),
}

/// A word for a session, with the computer on which the session runs.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionWord<'w> {
    /// A session of this computer.
    Here(&'w str),
    /// A session of another computer.
    There {
        /// The computer.
        computer: PairedComputer,
        /// The session's name or id there.
        name: &'w str,
    },
}

/// The computers of a server, as surfaces ask for them.
#[async_trait]
pub trait ComputerDirectory: Send + Sync {
    /// Returns the place that a name means; `None` if no computer has it here.
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
    /// Makes an invitation for another computer: one line, worth one use for ten minutes. Gives
    /// this computer its id first, if it has none.
    ///
    /// # Errors
    /// [`ComputerError`]; no invitation is open then.
    async fn invite(&self, new: NewComputer) -> Result<String, ComputerError>;
    /// Joins a line that another computer printed.
    ///
    /// # Errors
    /// [`ComputerError`]; the computers are not paired then.
    async fn join(&self, line: &str, new: NewComputer) -> Result<JoinOutcome, ComputerError>;
    /// Checks that this computer exchanges rows and questions with others.
    ///
    /// # Errors
    /// [`ComputerError::Off`].
    fn must_be_on(&self) -> Result<(), ComputerError>;
    /// Lets this computer exchange rows and questions again, after its log was restored. Returns
    /// false if it does so already.
    ///
    /// # Errors
    /// [`ComputerError::NotKept`]; the computers stay off then.
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
    /// Ends the pair with a computer: its key is deleted. Returns false if there is none.
    ///
    /// # Errors
    /// [`ComputerError::NotKept`]; the pair is kept then.
    async fn forget(&self, name: &str) -> Result<bool, ComputerError>;
}

impl dyn ComputerDirectory {
    /// Asks a computer for the session that a word means there, to bring it into a conversation of
    /// this one: a link, or another.
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
