//! Other computers as far as sessions know them: their names, their sessions, and their refusals.

use moothall_kernel::ids::ComputerId;
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A computer that is paired with this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairedComputer {
    /// The computer's id, which never changes.
    pub id: ComputerId,
    /// The name that this computer has for it.
    pub name: String,
}

/// A session of another computer, without its folder and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteSession {
    /// The session's id.
    pub id: String,
    /// The session's name.
    pub name: String,
    /// The program that runs in it.
    pub client: String,
    /// The session's activity.
    pub state: String,
    /// Number of turns that wait for it.
    pub waiting: usize,
    /// `started` or `observed`.
    pub origin: String,
    /// Time at which it began.
    pub started_at: Timestamp,
}

/// The reason why a request about computers failed, as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComputerError {
    /// The server has no computers at all.
    #[error("This server cannot be paired with other computers: it runs without a data folder.")]
    Absent,
    /// A field of the request is wrong, or one is missing.
    #[error("{0}")]
    Invalid(String),
    /// The line is not an invitation or an answer that can be used.
    #[error("{0}")]
    BadLine(String),
    /// The computers are paired already, or a name is taken.
    #[error("{0}")]
    Taken(String),
    /// The computer is not connected, or does not answer.
    #[error("{name} is away{}", since.map(|at| format!(" since {at}")).unwrap_or_default())]
    Away {
        /// The name that this computer has for it.
        name: String,
        /// Time at which it was last seen, since this server started.
        since: Option<Timestamp>,
    },
    /// This computer exchanges nothing with others, because its log was restored.
    #[error(
        "The computers are off: this log was restored from a backup, and does not know what was \
         sent after it. To put them on: `moothall computers resume`."
    )]
    Off,
    /// The computer refuses the request.
    #[error("{name}: {}", refusal.message)]
    Refused {
        /// The name that this computer has for it.
        name: String,
        /// The reason of the computer.
        refusal: RemoteRefusal,
    },
    /// The file of computers cannot be read or written.
    #[error("The computers cannot be kept: {0}")]
    NotKept(String),
}

/// The reason why a computer refuses the request of another.
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
    /// No session of the computer has that name or id.
    SessionNotFound,
    /// The session has ended.
    SessionEnded,
    /// The request is not possible.
    Invalid,
    /// A kind that only a newer program knows, or a fault of the computer.
    #[serde(other)]
    Other,
}
