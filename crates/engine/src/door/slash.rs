//! Slash commands through the door. They are parsed and permitted, and for callers that show only
//! text they are carried out too.

use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control};
use moothall_kernel::ids::StreamId;
use moothall_kernel::view::Viewer;

use super::{Action, Door, PermittedCommand};
use crate::access::{AccessDenial, AccessError};
use crate::answers::{HallError, Idempotency};
use crate::hall::slash::{Step, keys};

/// The answer to a command whose message a guard or a Stop holds back.
const HELD_BACK: &str = "The message is held until a person writes in the conversation.";

/// The outcome of reading a slash command.
#[derive(Clone, Debug, PartialEq)]
pub enum SlashOutcome {
    /// Nothing is done. The text is shown to the person who typed the command.
    Tell(String),
    /// The command asks which agents were asked about the latest message.
    Why,
    /// The command means this permitted command. The text reports it after it was done.
    Do(Box<PermittedCommand>, String),
}

impl Door {
    /// Parses a slash command, and checks that the caller may do what it asks for.
    ///
    /// # Errors
    /// [`AccessError`]; `bad_command` if the command cannot be understood.
    pub async fn order(
        &self,
        stream: &StreamId,
        by: Actor,
        text: &str,
    ) -> Result<SlashOutcome, AccessError> {
        self.enter(Action::RunCommand, stream)?;
        self.hall.permit_name(&self.caller, &by.id).await?;
        self.hall.find(stream).await?;
        Ok(match self.hall.read_slash(stream, by, text).await? {
            Step::Tell(text) => SlashOutcome::Tell(text),
            Step::Why => SlashOutcome::Why,
            Step::Do(command, text) => {
                self.check_unbinding(&command)?;
                SlashOutcome::Do(Box::new(self.permit(stream, *command).await?), text)
            }
        })
    }

    /// Rejects a command that also unbinds chats, if the caller may not unbind them. The error
    /// names the chats.
    fn check_unbinding(&self, command: &ClientCommand) -> Result<(), AccessDenial> {
        let ClientCommand::Control { controls, .. } = command else { return Ok(()) };
        let chats = controls.iter().filter_map(|control| match control {
            Control::UnbindChat(chat) => Some(chat.clone()),
            _ => None,
        });
        let chats: Vec<Chat> = chats.collect();
        if chats.is_empty() || self.may(Action::Bind).is_ok() {
            return Ok(());
        }
        Err(AccessDenial::Unbinding(keys(&chats)))
    }

    /// Runs a slash command, only one time per key, and returns the text for the person who typed
    /// it.
    ///
    /// For `/why`, the text has only facts that a guest may see, because in a chat all members read
    /// the answer. Rate limits are not counted in this function; the surface that calls it counts
    /// the command.
    ///
    /// # Errors
    /// [`AccessError`]; `bad_command` if the command cannot be understood. Nothing was done then,
    /// unless [`Door::submit`] says otherwise.
    pub async fn run_line(
        &self,
        stream: &StreamId,
        by: Actor,
        text: &str,
        key: Option<Idempotency>,
    ) -> Result<String, AccessError> {
        let (permitted, text) = match self.order(stream, by, text).await? {
            SlashOutcome::Tell(text) => return Ok(text),
            SlashOutcome::Why => return self.why(stream, &Viewer::Guest, str::to_owned).await,
            SlashOutcome::Do(permitted, text) => (permitted, text),
        };
        let recorded = match self.submit(*permitted, key).await {
            Ok(answer) => answer.event,
            Err(HallError::Rejected(refused)) if refused.is_held_back() => {
                return Ok(HELD_BACK.into());
            }
            Err(error) => return Err(error.into()),
        };
        let Some(recorded) = recorded else { return Ok(text) };
        // A repeated request returns the event of the first one, so the answer is the same.
        if recorded.event.held_back().is_some() {
            return Ok(HELD_BACK.into());
        }
        let warnings = self.warnings_of(stream, &recorded).await;
        // Warnings for programs are single words, and only sentences are shown to people.
        let sentences = warnings.into_iter().filter(|warning| warning.contains(' '));
        Ok(std::iter::once(text).chain(sentences).collect::<Vec<_>>().join(" "))
    }
}
