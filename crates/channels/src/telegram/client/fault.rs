//! The errors of calls. They tell if a call may be made again.

use std::time::Duration;

use serde_json::Value;

/// Longest wait that is taken from an answer. A longer one would not fit into the clock.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Words of Telegram for chats that a bot can no longer reach.
const GONE: [&str; 7] = [
    "chat not found",
    "can't initiate conversation",
    "bot was kicked",
    "bot was blocked",
    "bot is not a member",
    "user is deactivated",
    "group chat was deleted",
];

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// The call did not reach Telegram. It can be made again.
    #[error("The call did not reach Telegram: {why}.")]
    NotSent {
        /// Cause in words.
        why: String,
    },
    /// Telegram may have done what the call asks, or not.
    #[error("It is not known if Telegram did it: {why}.")]
    Maybe {
        /// Cause in words.
        why: String,
    },
    /// Telegram refused the call and did nothing.
    #[error("Telegram refused the call ({code}): {text}")]
    Refused {
        /// Code of the error.
        code: u16,
        /// Description by Telegram.
        text: String,
        /// Time for which Telegram wants no such call.
        retry_after: Option<Duration>,
        /// Id of the supergroup that the group became.
        migrate_to: Option<i64>,
    },
}

impl CallFault {
    /// Returns the time for which Telegram wants no such call, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            CallFault::Refused { retry_after, .. } => *retry_after,
            CallFault::NotSent { .. } | CallFault::Maybe { .. } => None,
        }
    }

    /// True if an edit was refused because nothing would change, which is as good as done.
    pub fn is_not_modified(&self) -> bool {
        self.is_bad_request(&["message is not modified"])
    }

    /// True if the message to delete does not exist, which is as good as done.
    pub fn is_already_deleted(&self) -> bool {
        self.is_bad_request(&["message to delete not found"])
    }

    /// True if the bot cannot reach the chat any more: it was removed or blocked, or the chat or
    /// the account is gone.
    pub fn is_gone(&self) -> bool {
        self.has(&[400, 403], &GONE)
    }

    /// True if the topic does not exist any more.
    pub fn is_thread_not_found(&self) -> bool {
        self.is_bad_request(&["message thread not found", "topic_deleted"])
    }

    /// True if the token is not valid. A Bot API server that does not know the method answers 404
    /// too, and that does not count.
    pub fn is_unauthorised(&self) -> bool {
        match self {
            CallFault::Refused { code: 404, text, .. } => {
                !text.to_ascii_lowercase().contains("method")
            }
            CallFault::Refused { code, .. } => [401, 421].contains(code),
            _ => false,
        }
    }

    /// True if the Bot API server does not know the method, because it is older than the method.
    pub fn is_unknown_method(&self) -> bool {
        self.has(&[404], &["method"])
    }

    /// True if Telegram refused the content of a call, or does not know its method. The same words
    /// can then be sent in a simpler form. A chat or topic that is gone is another fault.
    pub fn is_form_refused(&self) -> bool {
        let CallFault::Refused { code, retry_after: None, migrate_to: None, .. } = self else {
            return false;
        };
        [400, 404].contains(code) && !self.is_gone() && !self.is_thread_not_found()
    }

    /// True if another program polls with this token, or a webhook is set.
    pub fn is_conflict(&self) -> bool {
        self.has(&[409], &[""])
    }

    /// True if the formatting of a text was refused. The same text can be sent without it.
    pub fn is_entity_fault(&self) -> bool {
        self.is_bad_request(&["can't parse", "entity", "entities"])
    }

    /// True if the text is too long for one message.
    pub fn is_too_long(&self) -> bool {
        let is_long = self.is_bad_request(&["too long", "too_long"]) || self.has(&[413], &[""]);
        is_long && !self.is_entity_fault()
    }

    fn is_bad_request(&self, words: &[&str]) -> bool {
        self.has(&[400], words)
    }

    fn has(&self, codes: &[u16], words: &[&str]) -> bool {
        let CallFault::Refused { code, text, .. } = self else { return false };
        let text = text.to_ascii_lowercase();
        codes.contains(code) && words.iter().any(|word| text.contains(word))
    }

    /// Reads an answer with `ok: false`. After an error of Telegram's own server, the call has
    /// perhaps been done.
    pub(super) fn of_answer(status: u16, answer: &Value, text: String) -> Self {
        let code = answer["error_code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let code = code.unwrap_or(status);
        if code >= 500 {
            return CallFault::Maybe { why: format!("Telegram answered {code}, {text}") };
        }
        let parameters = &answer["parameters"];
        CallFault::Refused {
            code,
            text,
            retry_after: wait(&parameters["retry_after"]),
            migrate_to: parameters["migrate_to_chat_id"].as_i64(),
        }
    }
}

/// Reads a number of seconds, which may be a fraction, or a number in quotes.
fn wait(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    let is_wait = seconds.is_finite() && seconds >= 0.0;
    let longest = RETRY_AFTER_MAX.as_secs_f64();
    is_wait.then(|| Duration::from_secs_f64(seconds.min(longest)))
}
