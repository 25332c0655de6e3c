//! Answers to messages that a guard, a Stop or a cancelled turn withholds from agents. (Rulings 5,
//! 16 and 41.)

use moothall_engine::access::Caller;
use moothall_engine::hall::{Answer, HallError};
use moothall_kernel::command::HELD;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::StreamId;

use crate::error::{ApiError, ApiResult};

/// The outcome of a message.
pub struct PostOutcome {
    /// The committed event. `None` if the message was held back or changed nothing.
    pub event: Option<RecordedEvent>,
    /// `held`, `stopped` or `late`. For `held`, callers that are not sessions may also get the next
    /// step.
    pub warnings: Vec<String>,
}

/// Converts the answer of a command. A message that was held back is in the trace, and its request
/// counts as a success, because clients of other makers stop on an error.
///
/// # Errors
/// [`ApiError`] if the command was rejected for another reason.
pub fn post_outcome(
    answer: Result<Answer, HallError>,
    caller: &Caller,
    stream: &StreamId,
) -> ApiResult<PostOutcome> {
    match answer {
        Ok(answer) => {
            // A repeated request returns the event of the trace, but gets the same answer as the
            // first one.
            if let Some(word) = answer.event.as_ref().and_then(|kept| kept.event.held_back()) {
                return Ok(PostOutcome { event: None, warnings: vec![word.into()] });
            }
            let warnings = answer.event.as_ref().map(|event| asks_nobody(event, caller, stream));
            Ok(PostOutcome { event: answer.event, warnings: warnings.unwrap_or_default() })
        }
        Err(HallError::Rejected(refused)) if refused.is_held_back() => {
            Ok(PostOutcome { event: None, warnings: vec![refused.code.into()] })
        }
        Err(error) => Err(ApiError::of_hall(error, Some(stream))),
    }
}

/// Returns the warnings for the sender of a message that asked no agent, because a guard holds and
/// the sender is unproven. The next step is a command for people, so a session does not get it.
fn asks_nobody(recorded: &RecordedEvent, caller: &Caller, stream: &StreamId) -> Vec<String> {
    let Event::Posted(posted) = &recorded.event else { return Vec::new() };
    if !posted.is_held_for_proof() {
        return Vec::new();
    }
    let help = format!(
        "A guard holds this conversation, and this message asks no agent: its sender is not \
         proven, and such messages lift a hold at most six times an hour. In \
         `moothall chat {stream}`, /resume or any message continues."
    );
    let command = caller.session().is_none().then_some(help);
    std::iter::once(HELD.to_owned()).chain(command).collect()
}
