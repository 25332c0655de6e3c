//! Conversion of engine errors to JSON-RPC errors.

use moothall_engine::access::{AccessDenial, AccessError};
use moothall_engine::answers::HallError;
use moothall_engine::tasks::TaskError;
use moothall_kernel::command::{Refusal, Rejection};
use serde_json::json;

use super::code::{RpcCode, RpcError, TASK_CODES};
use super::methods::Method;

impl RpcError {
    /// Converts an engine error in the response of a method.
    pub(super) fn of(method: Method, error: TaskError) -> Self {
        match error {
            TaskError::Access(error) => Self::of_access(method, error),
            TaskError::UnknownAgent(_) => Self::new(RpcCode::NotFound, error.to_string()),
            TaskError::NotWanted { task, reason } => {
                let data = match reason {
                    Some(reason) => json!({ "taskId": task, "reason": reason }),
                    None => json!({ "taskId": task }),
                };
                Self::plain(RpcCode::TaskRejected).with_data(data)
            }
            TaskError::Blocked { draft, reason } => Self::plain(RpcCode::HookBlocked)
                .with_data(json!({ "reason": reason, "messageId": draft })),
            TaskError::TooMany(wait) => {
                Self::plain(RpcCode::RateLimited).with_data(json!({ "retryAfterMs": wait.0 }))
            }
            TaskError::TooManyLines => Self::new(RpcCode::RateLimited, error.to_string()),
            TaskError::Invalid(reason) => Self::invalid_params(method.word(), &reason),
        }
    }

    /// Converts an error of the door. Logs each error of the hall that is neither a rejection nor a
    /// missing conversation, and returns `InternalError` for it. The error's text is the reason,
    /// unless the text comes from the disk or from the server's own code.
    fn of_access(method: Method, error: AccessError) -> Self {
        match error {
            AccessError::Denied(AccessDenial::Stranger) => {
                Self::new(RpcCode::Unauthorized, "Authentication failed")
            }
            AccessError::Denied(denied) => Self::new(RpcCode::Forbidden, denied.to_string()),
            AccessError::Hall(HallError::Rejected(rejection)) => {
                Self::of_rejection(method, &rejection)
            }
            AccessError::Hall(HallError::NotFound(_) | HallError::Deleted(_)) => {
                Self::plain(RpcCode::NotFound)
            }
            // These texts come from the disk or from the server's own code, and may name files.
            AccessError::Hall(
                error @ (HallError::Failed(_) | HallError::Unreadable(_) | HallError::Taken { .. }),
            ) => {
                tracing::error!(%error, "a call failed");
                Self::plain(RpcCode::InternalError)
            }
            AccessError::Hall(error) => {
                tracing::warn!(%error, "a call failed");
                Self::plain(RpcCode::InternalError).because(&error.to_string())
            }
            AccessError::Invalid(_)
            | AccessError::OtherKind(_)
            | AccessError::OfSession(_)
            | AccessError::NameOfOther(..)
            | AccessError::Unknown
            | AccessError::UnknownAgent(_)
            | AccessError::LooksLike(..)
            | AccessError::UnknownApp(_)
            | AccessError::Channel(_)
            | AccessError::Computer(_)
            | AccessError::Session(_)
            | AccessError::Unfit(_) => Self::new(RpcCode::Conflict, error.to_string()),
        }
    }

    /// Converts a rejection by a rule. A rule that has its own code in the protocol gets that code,
    /// and any other rule the code of its kind.
    fn of_rejection(method: Method, rejection: &Rejection) -> Self {
        // The rule's own message is for readers of HTTP, so the protocol's default message is used.
        if rejection.code == "thread_archived" {
            return Self::plain(RpcCode::ConversationArchived);
        }
        let of_task = TASK_CODES.iter().find(|(word, ..)| *word == rejection.code);
        let code = match (of_task, rejection.refusal) {
            (Some((_, code, _)), _) => *code,
            (None, _) if rejection.code == "too_many_participants" => RpcCode::ConversationFull,
            (None, Refusal::Invalid | Refusal::TooLarge) => {
                return Self::invalid_params(method.word(), &rejection.message);
            }
            (None, Refusal::Forbidden) => RpcCode::Forbidden,
            (None, Refusal::NotFound | Refusal::Gone) => RpcCode::NotFound,
            (None, Refusal::Conflict) => RpcCode::Conflict,
            (None, Refusal::TooSoon) => RpcCode::RateLimited,
        };
        let error = Self::new(code, rejection.message.clone());
        match rejection.wait {
            Some(wait) => error.with_data(json!({ "retryAfterMs": wait.0 })),
            None => error,
        }
    }
}
