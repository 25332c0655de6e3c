//! The journal: each call of a bot with its parameters and its outcome.

use std::time::Instant;

use serde_json::{Value, json};

/// A call of a bot.
#[derive(Clone, Debug, PartialEq)]
pub struct BotCall {
    /// Username of the bot; empty for a bad token.
    pub bot: String,
    /// Method, as written in the path.
    pub method: String,
    /// Parameters as JSON, with the types of the method.
    pub body: Value,
    /// Its outcome.
    pub outcome: CallOutcome,
    /// Time at which it was done or refused.
    pub at: Instant,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// Done and answered with this result.
    Success(Value),
    /// Refused with this code and description.
    Refusal {
        /// Status and `error_code`.
        code: u16,
        /// Description in the service's words.
        description: String,
    },
    /// Not done, because of a fault.
    Loss,
    /// Done with this result, of which the caller was not told.
    Silence(Value),
}

impl BotCall {
    /// True if the call had its effect.
    pub fn is_done(&self) -> bool {
        matches!(self.outcome, CallOutcome::Success(_) | CallOutcome::Silence(_))
    }

    /// Returns the call as a line of a journal.
    pub(super) fn line(&self) -> String {
        let outcome = match &self.outcome {
            CallOutcome::Success(_) => "done",
            CallOutcome::Refusal { .. } => "refused",
            CallOutcome::Loss => "lost",
            CallOutcome::Silence(_) => "unanswered",
        };
        json!({"bot": self.bot, "method": self.method, "body": self.body, "outcome": outcome})
            .to_string()
    }
}
