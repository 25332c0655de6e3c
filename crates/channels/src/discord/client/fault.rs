//! The errors of calls to Discord. They tell if a call may be made again.

use std::time::Duration;

/// Codes of Discord for channels that a bot can no longer reach.
const GONE: [u64; 4] = [UNKNOWN_CHANNEL, 50_001, 50_007, 50_013];
const UNKNOWN_CHANNEL: u64 = 10_003;
const UNKNOWN_MESSAGE: u64 = 10_008;
const UNKNOWN_WEBHOOK: u64 = 10_015;
const INVALID_WEBHOOK_TOKEN: u64 = 50_027;
const ALREADY_ACKNOWLEDGED: u64 = 40_060;

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestFailure {
    /// The call did not reach Discord. It can be made again.
    #[error("The call did not reach Discord: {why}.")]
    NotSent {
        /// Cause in words.
        why: String,
    },
    /// Discord may have done what the call asks, or not.
    #[error("It is not known if Discord did it: {why}.")]
    Maybe {
        /// Cause in words.
        why: String,
    },
    /// Discord takes no such call for a time, and did nothing.
    #[error("Discord takes no such call for {} s.", after.as_secs_f32().ceil())]
    Limited {
        /// The time.
        after: Duration,
    },
    /// Discord refused the call and did nothing.
    #[error("Discord refused the call ({status}, {code}): {text}")]
    Refused {
        /// Status of the answer.
        status: u16,
        /// Code of the error; 0 if it has none.
        code: u64,
        /// Description by Discord.
        text: String,
    },
}

impl RestFailure {
    /// Returns the time for which Discord takes no such call, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            RestFailure::Limited { after } => Some(*after),
            _ => None,
        }
    }

    /// True if the same call may succeed later without a change by people.
    pub fn is_passing(&self) -> bool {
        !matches!(self, RestFailure::Refused { .. })
    }

    /// True if Discord does not accept the bot's token.
    pub fn is_unauthorised(&self) -> bool {
        matches!(self, RestFailure::Refused { status: 401, .. }) && !self.is_webhook_gone()
    }

    /// True if the bot cannot write in the place any more: the channel is gone or closed to the
    /// bot, or the person does not take its messages.
    pub fn is_gone(&self) -> bool {
        self.has(&GONE)
    }

    /// True if the channel does not exist.
    pub fn is_channel_gone(&self) -> bool {
        self.has(&[UNKNOWN_CHANNEL])
    }

    /// True if the webhook does not exist any more: an administrator deleted it.
    pub fn is_webhook_gone(&self) -> bool {
        self.has(&[UNKNOWN_WEBHOOK, INVALID_WEBHOOK_TOKEN])
    }

    /// True if the message does not exist, so that its deletion is as good as done.
    pub fn is_message_gone(&self) -> bool {
        self.has(&[UNKNOWN_MESSAGE])
    }

    /// True if another program answered an interaction before.
    pub fn is_answered_already(&self) -> bool {
        self.has(&[ALREADY_ACKNOWLEDGED])
    }

    fn has(&self, codes: &[u64]) -> bool {
        matches!(self, RestFailure::Refused { code, .. } if codes.contains(code))
    }
}
