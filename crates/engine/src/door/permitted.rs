//! Commands that somebody may give, and giving them.

use moothall_kernel::command::ClientCommand;
use moothall_kernel::event::{Change, Event};
use moothall_kernel::ids::StreamId;

use super::{Action, Door};
use crate::access::{AccessError, AuditAction, AuditEntry, PermittedCommand};
use crate::answers::{Answer, HallError, Idempotency};

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
    ) -> Result<PermittedCommand, AccessError> {
        for action in Action::of(&command) {
            self.may(action)?;
        }
        self.reaches(stream)?;
        self.hall.permit_speaker(&self.caller, &command).await?;
        self.hall.permit(&self.caller, stream, command).await
    }

    /// Does it; the answer comes when its events are committed and synced, and once for each key.
    ///
    /// # Errors
    /// [`HallError`]. After `Rejected` the words may be in the trace; after anything else nothing
    /// was decided.
    pub async fn submit(
        &self,
        permitted: PermittedCommand,
        key: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        let (stream, command) = permitted.into_parts();
        let answer = self.hall.submit(&stream, command, key).await?;
        self.cancel_invitations(&stream, &answer).await?;
        Ok(answer)
    }

    /// Cancels the open invitations of those who were taken out: that is repeated with the request,
    /// should the server die before it is done. (`access/invite.rs`, `still_invites`)
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
}
