//! Why something about a task was not done.

use moothall_kernel::command::Rejection;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Millis;

use crate::access::{AccessError, Denied};
use crate::answers::HallError;

/// Why something about a task was not done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaskError {
    /// The caller may not, or the rules or the log say no.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Nobody registered under this id.
    #[error("Agent {0} not found")]
    UnknownAgent(ParticipantId),
    /// The manager of the app did not want the task.
    #[error("Task request was rejected by the task manager")]
    NotWanted {
        /// The task, which failed.
        task: StreamId,
        /// Why, where that was said.
        reason: Option<String>,
    },
    /// The manager of the app forwarded a message to nobody.
    #[error("Hook blocked the dispatch")]
    Blocked {
        /// The id by which the manager was asked about it.
        draft: String,
        /// Why.
        reason: String,
    },
    /// The agent asks for too much.
    #[error("Too many requests: wait {} ms", .0.0)]
    TooMany(Millis),
    /// The agent has as many connections as it may have.
    #[error("This agent has too many connections")]
    TooManyLines,
    /// What is asked for makes no sense, in a sentence for whoever asked.
    #[error("{0}")]
    Invalid(String),
}

impl From<HallError> for TaskError {
    fn from(error: HallError) -> Self {
        TaskError::Access(AccessError::Hall(error))
    }
}

impl From<Denied> for TaskError {
    fn from(error: Denied) -> Self {
        TaskError::Access(AccessError::Denied(error))
    }
}

impl From<Rejection> for TaskError {
    fn from(rejection: Rejection) -> Self {
        HallError::Rejected(Box::new(rejection)).into()
    }
}
