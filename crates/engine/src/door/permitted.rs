//! Permitting and submitting a caller's commands.

use moothall_kernel::chat::Chat;
use moothall_kernel::command::{ClientCommand, Control, Refusal, Rejection};
use moothall_kernel::event::{Change, Event};
use moothall_kernel::ids::StreamId;

use super::{Action, Door};
use crate::access::{AccessDenial, AccessError, AuditAction, AuditEntry, PermittedCommand};
use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::slash::keys;
use crate::ports::TargetKind;

impl Door {
    /// Checks that the caller may give a command.
    ///
    /// The kernel decides what depends on the conversation, such as the right to lift a guard or
    /// raise a limit. For that, each invitation gets what the server knows about the invited id.
    ///
    /// # Errors
    /// [`AccessError::Denied`]; [`AccessError::Hall`], if the conversation does not exist for the
    /// caller or cannot be read.
    pub async fn permit(
        &self,
        stream: &StreamId,
        command: ClientCommand,
    ) -> Result<PermittedCommand, AccessError> {
        for action in Action::of(&command) {
            self.may(action)?;
        }
        self.reaches(stream)?;
        self.check_archiving(stream, &command).await?;
        self.check_channels(&command)?;
        self.hall.permit_speaker(&self.caller, &command).await?;
        self.hall.permit(&self.caller, stream, command).await
    }

    /// Rejects archiving a conversation that is bound to chats, and opening it again, if the caller
    /// may not bind chats. Archiving frees the chats, and opening binds them again.
    async fn check_archiving(
        &self,
        stream: &StreamId,
        command: &ClientCommand,
    ) -> Result<(), AccessError> {
        if !matches!(command, ClientCommand::Archive { .. }) || self.may(Action::Bind).is_ok() {
            return Ok(());
        }
        let chats = self.hall.view(stream, |state| state.chats().collect::<Vec<_>>()).await?;
        if chats.is_empty() {
            return Ok(());
        }
        Err(AccessDenial::Archiving(keys(&chats)).into())
    }

    /// Rejects the binding of a chat that no channel serves, because its deliveries would wait for
    /// ever.
    fn check_channels(&self, command: &ClientCommand) -> Result<(), HallError> {
        let ClientCommand::Control { controls, .. } = command else { return Ok(()) };
        let carries = self.hall.inner.outbox.has_handler(TargetKind::Chat);
        let directory = self.channel_directory();
        let is_served = |chat: &Chat| {
            carries && directory.as_ref().is_none_or(|directory| directory.serves(chat.channel()))
        };
        for control in controls {
            if let Control::BindChat(chat) = control
                && !is_served(chat)
            {
                let message = format!(
                    "This server has no channel to {}. Configure the channel first.",
                    chat.key()
                );
                let refused = Rejection::new(Refusal::Conflict, "no_channel", message);
                return Err(HallError::Rejected(Box::new(refused)));
            }
        }
        Ok(())
    }

    /// Submits the command, only one time per key. Answers when its events are committed and
    /// synced, and the audit records of it are written.
    ///
    /// # Errors
    /// [`HallError`]. After `Rejected` the trace perhaps holds the words. If only an audit record
    /// failed, the events are committed. A retry with the same key writes the record then.
    pub async fn submit(
        &self,
        permitted: PermittedCommand,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        let (stream, command) = permitted.into_parts();
        let answer = self.hall.submit(&stream, command, key).await?;
        self.cancel_invitations(&stream, &answer).await?;
        self.record_chats(&stream, &answer).await?;
        Ok(answer)
    }

    /// Cancels the open invitations of removed participants. If the server dies before the
    /// cancellation, the client's retry with the same key cancels them. (`access/invite.rs`,
    /// `still_invites`)
    async fn cancel_invitations(
        &self,
        stream: &StreamId,
        answer: &Answer,
    ) -> Result<(), HallError> {
        let Some(Event::Controlled { changes, .. }) = answer.event.as_ref().map(|one| &one.event)
        else {
            return Ok(());
        };
        for change in changes {
            if let Change::Uninvited { participant, left: false } = change {
                let entry =
                    AuditEntry::of(&self.caller, AuditAction::TokenRevoked, self.hall.now());
                let detail = format!("open invitations of {participant}, who was taken out");
                let (principals, at) = (&self.hall.inner.store.principals, entry.at);
                principals
                    .cancel_invitations(stream, participant, at, &AuditEntry { detail, ..entry })
                    .await?;
            }
        }
        Ok(())
    }

    /// Records in the audit record the chats that a command bound or unbound, also by archiving and
    /// unarchiving. If the server dies before the record is written, the client's retry with the
    /// same key writes it.
    async fn record_chats(&self, stream: &StreamId, answer: &Answer) -> Result<(), HallError> {
        let Some(recorded) = &answer.event else { return Ok(()) };
        let changed: Vec<(Chat, AuditAction)> = match &recorded.event {
            Event::Controlled { changes, .. } => changes.iter().filter_map(chat_changed).collect(),
            Event::Archived { .. } => self.chats_with(stream, AuditAction::ChatUnbound).await?,
            Event::Unarchived { .. } => self.chats_with(stream, AuditAction::ChatBound).await?,
            _ => return Ok(()),
        };
        for (chat, action) in changed {
            let detail = format!("{} and the conversation {stream}", chat.key());
            let entry = AuditEntry::of(&self.caller, action, self.hall.now());
            self.hall.inner.store.principals.record(&AuditEntry { detail, ..entry }).await?;
        }
        Ok(())
    }

    /// Returns the chats of a conversation, each paired with `action`.
    async fn chats_with(
        &self,
        stream: &StreamId,
        action: AuditAction,
    ) -> Result<Vec<(Chat, AuditAction)>, HallError> {
        self.hall
            .view(stream, move |state| state.chats().map(|chat| (chat, action)).collect())
            .await
    }
}

/// Returns the chat that a change bound or unbound.
fn chat_changed(change: &Change) -> Option<(Chat, AuditAction)> {
    let (target, action) = match change {
        Change::Bound { target } => (target, AuditAction::ChatBound),
        Change::Unbound { target } => (target, AuditAction::ChatUnbound),
        _ => return None,
    };
    Some((Chat::of_target(target)?, action))
}
