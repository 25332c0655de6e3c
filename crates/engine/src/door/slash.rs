//! Slash commands through the door: parsed, permitted, and for callers that show only text also
//! carried out.

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
    /// The command asks who was asked about the latest message.
    Why,
    /// The command does this, and the text reports it.
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

    /// Rejects a command that also unbinds chats, with their names, if the caller may not.
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

    /// Runs a slash command, once per key, and returns the text for the person who typed it.
    ///
    /// `/why` explains what a guest sees: in a chat, all members read the answer. The caller counts
    /// the command against its rate limits.
    ///
    /// # Errors
    /// [`AccessError`]; `bad_command` if the command cannot be understood. Nothing was done then.
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
        // A repeated request returns the kept event: answer as the first time.
        if recorded.event.held_back().is_some() {
            return Ok(HELD_BACK.into());
        }
        let warnings = self.warnings_of(stream, &recorded).await;
        // Words for programs have no space.
        let sentences = warnings.into_iter().filter(|warning| warning.contains(' '));
        Ok(std::iter::once(text).chain(sentences).collect::<Vec<_>>().join(" "))
    }
}
