//! Errors of requests about tasks.

use moothall_kernel::command::Rejection;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Millis;

use crate::access::{AccessDenial, AccessError};
use crate::answers::HallError;

/// The reason why a request about a task failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaskError {
    /// The caller may not do this, or the rules or the log reject it.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// No agent is registered under this id.
    #[error("Agent {0} not found")]
    UnknownAgent(ParticipantId),
    /// The manager of the app rejected the task.
    #[error("Task request was rejected by the task manager")]
    NotWanted {
        /// The task, now failed.
        task: StreamId,
        /// The manager's reason, if it gave one.
        reason: Option<String>,
    },
    /// The manager of the app rejected a message.
    #[error("Hook blocked the dispatch")]
    Blocked {
        /// The id under which the manager was asked about the message.
        draft: String,
        /// The manager's reason.
        reason: String,
    },
    /// The agent sends too many requests; the time to wait.
    #[error("Too many requests: wait {} ms", .0.0)]
    TooMany(Millis),
    /// The agent has the maximum number of connections.
    #[error("This agent has too many connections")]
    TooManyLines,
    /// The request is invalid; a sentence for the client.
    #[error("{0}")]
    Invalid(String),
}

impl From<HallError> for TaskError {
    fn from(error: HallError) -> Self {
        TaskError::Access(AccessError::Hall(error))
    }
}

impl From<AccessDenial> for TaskError {
    fn from(error: AccessDenial) -> Self {
        TaskError::Access(AccessError::Denied(error))
    }
}

impl From<Rejection> for TaskError {
    fn from(rejection: Rejection) -> Self {
        HallError::Rejected(Box::new(rejection)).into()
    }
}
