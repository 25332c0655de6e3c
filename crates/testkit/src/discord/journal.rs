//! The journal: each call of the REST interface with its body and its outcome.

use serde_json::{Value, json};

/// A call of the REST interface.
#[derive(Clone, Debug, PartialEq)]
pub struct RestCall {
    /// Name of the bot; empty for a bad token, or a token in the path.
    pub bot: String,
    /// Method and path with `{}` in place of ids and tokens.
    pub route: String,
    /// The ids in the path, in order.
    pub ids: Vec<String>,
    /// Body as JSON.
    pub body: Value,
    /// Its outcome.
    pub outcome: CallResult,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// Done and answered with this result.
    Success(Value),
    /// Refused with this status, code and message.
    Refusal {
        /// Status.
        status: u16,
        /// Code of the service.
        code: u64,
        /// Message in the service's words.
        message: String,
    },
    /// Not done, because of a fault.
    Loss,
    /// Done with this result, of which the caller was not told.
    Silence(Value),
}

impl RestCall {
    /// True if the call had its effect.
    pub fn is_done(&self) -> bool {
        matches!(self.outcome, CallResult::Success(_) | CallResult::Silence(_))
    }

    /// Returns the call as a line of a journal.
    pub(super) fn line(&self) -> String {
        let outcome = match &self.outcome {
            CallResult::Success(_) => "done",
            CallResult::Refusal { .. } => "refused",
            CallResult::Loss => "lost",
            CallResult::Silence(_) => "unanswered",
        };
        json!({"bot": self.bot, "route": self.route, "body": self.body, "outcome": outcome})
            .to_string()
    }
}
