//! Groups of any channel: their agents, their earlier conversations, and the server's own changes.

use moothall_engine::access::{AccessError, Caller};
use moothall_engine::hall::HallError;
use moothall_engine::ports::Target;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control};
use moothall_kernel::ids::{ParticipantId, StreamId};

use crate::inbox::{Inbox, is_passing};
use crate::receive::{TryAgain, passing};

/// The line of a group that no person has opened, before the sentence on its end.
pub(crate) const WAITING: &str = "This group is not connected to a conversation yet. Nothing of it \
                                  is stored. A paired person with the right threads:admin can open \
                                  it";
/// The answer to a person without the right to open groups.
pub(crate) const NO_RIGHT_TO_OPEN: &str = "This needs a pairing with the right threads:admin.";

/// Returns the first line of a chat that was bound.
pub(crate) fn opening_line(agents: &[ParticipantId]) -> String {
    let names: Vec<&str> = agents.iter().map(ParticipantId::as_str).collect();
    let who = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    format!(
        "This chat is connected to a Moothall server. What paired people write here is recorded \
         there, and shown to everybody who may read the conversation. Agents: {who}. /help lists \
         the commands."
    )
}

impl Inbox {
    /// Returns the conversation that was bound to a chat before. The opening line of that binding
    /// was a delivery to the chat, so the newest delivery to the chat is one of that conversation.
    ///
    /// # Errors
    /// [`TryAgain`] if the log cannot be read now.
    pub(crate) async fn earlier_binding(&self, chat: &Chat) -> Result<Option<StreamId>, TryAgain> {
        let Some(hall) = self.hall().weak().enter() else {
            return Err(passing(HallError::ShuttingDown));
        };
        let told = hall.store().outbox.of_target(&Target::Chat(chat.clone()), None, 1).await;
        let told = told.map_err(|error| passing(error.into()))?;
        Ok(told.into_iter().next().map(|delivery| delivery.stream))
    }

    /// True if a conversation has no agents, as after `/group dissolve`. False if it was deleted.
    ///
    /// # Errors
    /// [`TryAgain`] if the log cannot be read now.
    pub(crate) async fn is_dissolved(&self, stream: &StreamId) -> Result<bool, TryAgain> {
        match self.hall().view(stream, |state| state.agents().next().is_none()).await {
            Ok(is_empty) => Ok(is_empty),
            Err(HallError::Deleted(_)) => Ok(false),
            Err(error) => Err(passing(error)),
        }
    }

    /// Invites an agent into the conversation of a group, after the agent's account joined the
    /// group. The person who added the account must be paired, and have the right to invite or to
    /// open groups. If the agent is not invited, returns a line for the chat. Does nothing if the
    /// agent takes part already.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(crate) async fn bring_in_joined(
        &self,
        stream: &StreamId,
        agent: &str,
        person: Option<&Caller>,
    ) -> Result<Option<String>, TryAgain> {
        let id = ParticipantId::new(agent);
        let is_here = self.hall().view(stream, move |state| state.participant(&id).is_some()).await;
        if is_here.map_err(passing)? {
            return Ok(None);
        }
        let Some(person) = person else {
            return Ok(Some(format!(
                "The bot of {agent} was added by a person who is not paired. A paired person can \
                 invite the agent: /group add {agent}"
            )));
        };
        match self.bring_in(person, stream, agent).await {
            Ok(()) => Ok(None),
            Err(error) if is_passing(&error) => Err(TryAgain::after(&error)),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    /// Removes an agent whose account left a group from the group's conversation. The agent's turn
    /// is cancelled. The agent stays if the conversation is bound to another chat too, because the
    /// admins of one group do not decide for another.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(crate) async fn take_out(&self, chat: &Chat, agent: &str) -> Result<(), TryAgain> {
        let Some(stream) = self.bound(chat).await.map_err(passing)? else { return Ok(()) };
        let here = chat.clone();
        let bound = self.hall().view(&stream, move |state| state.chats().any(|chat| chat != here));
        if bound.await.map_err(passing)? {
            return Ok(());
        }
        let controls = vec![Control::Uninvite(agent.to_owned())];
        self.by_server(&stream, controls).await
    }

    /// Moves the binding of a chat to its new id.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(crate) async fn move_binding(&self, from: Chat, to: Chat) -> Result<(), TryAgain> {
        let Some(stream) = self.bound(&from).await.map_err(passing)? else { return Ok(()) };
        let controls = vec![Control::Confirm, Control::UnbindChat(from), Control::BindChat(to)];
        self.by_server(&stream, controls).await
    }

    /// Ends the binding of a chat on behalf of the server itself.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(crate) async fn unbind_by_server(&self, chat: Chat) -> Result<(), TryAgain> {
        let Some(stream) = self.bound(&chat).await.map_err(passing)? else { return Ok(()) };
        self.by_server(&stream, vec![Control::UnbindChat(chat)]).await
    }

    /// Binds a conversation to a chat for a person.
    ///
    /// # Errors
    /// [`AccessError`] if the person may not, or another chat is bound.
    pub(crate) async fn bind(
        &self,
        by: &Caller,
        stream: &StreamId,
        chat: Chat,
    ) -> Result<(), AccessError> {
        let door = self.hall().as_(by.clone());
        let controls = vec![Control::BindChat(chat)];
        let command = ClientCommand::Control { by: by.asking_as(None)?, controls };
        let permitted = door.permit(stream, command).await?;
        door.submit(permitted, None).await?;
        Ok(())
    }

    /// Changes a conversation on behalf of the server itself. A refusal means that the change is
    /// made already, and a deleted conversation needs no change.
    async fn by_server(&self, stream: &StreamId, controls: Vec<Control>) -> Result<(), TryAgain> {
        let by = Actor { id: ParticipantId::moothall(), human: true, proven: true };
        let command = ClientCommand::Control { by, controls };
        match self.hall().submit(stream, command, None).await {
            Ok(_) | Err(HallError::Rejected(_) | HallError::Deleted(_)) => Ok(()),
            Err(error) => Err(passing(error)),
        }
    }

    /// Returns the answer to a group that could not be opened; `None` if it was.
    ///
    /// # Errors
    /// [`TryAgain`] if it could not be opened now.
    pub(crate) fn opening_refused(
        &self,
        opened: Result<StreamId, AccessError>,
    ) -> Result<Option<String>, TryAgain> {
        match opened {
            Ok(_) => Ok(None),
            Err(error) if is_passing(&error) => Err(TryAgain::after(&error)),
            Err(error) => Ok(Some(error.to_string())),
        }
    }
}
