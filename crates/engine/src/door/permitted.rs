//! Commands that somebody may give, and giving them.

use moothall_kernel::command::ClientCommand;
use moothall_kernel::ids::StreamId;

use super::{Action, Door};
use crate::access::AccessError;
use crate::answers::{Answer, HallError, Idempotency};

/// A command of which it was asked whether its caller may give it. Only a door makes one, and a
/// door takes no other.
#[derive(Clone, Debug, PartialEq)]
pub struct Permitted {
    stream: StreamId,
    command: ClientCommand,
}

impl Permitted {
    /// What will be done.
    pub fn command(&self) -> &ClientCommand {
        &self.command
    }

    /// The conversation that the command is for.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }
}

impl Door {
    /// Asks whether the caller may give a command.
    ///
    /// What depends on the conversation, such as who lifts a guard or raises a limit, is the
    /// kernel's to decide: it knows who is proven. It is told here what the server knows somebody
    /// as who is invited.
    ///
    /// # Errors
    /// [`AccessError::Denied`], or [`AccessError::Hall`] when the conversation does not exist for
    /// the caller, or cannot be read.
    pub async fn permit(
        &self,
        stream: &StreamId,
        command: ClientCommand,
    ) -> Result<Permitted, AccessError> {
        for action in Action::of(&command) {
            self.may(action)?;
        }
        self.reaches(stream)?;
        let command = self.hall.permit(&self.caller, stream, command).await?;
        Ok(Permitted { stream: stream.clone(), command })
    }

    /// Does it; the answer comes when its events are committed and synced, and once for each key.
    ///
    /// # Errors
    /// [`HallError`]. After `Rejected` the words may be in the trace; after anything else nothing
    /// was decided.
    pub async fn submit(
        &self,
        permitted: Permitted,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        let Permitted { stream, command } = permitted;
        self.hall.submit(&stream, command, key).await
    }
}
