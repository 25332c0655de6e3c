//! Other computers through the door: their list, and the right to pair them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use moothall_kernel::ids::ComputerId;

use super::{Action, Door};
use crate::access::{AccessError, AuditAction, AuditEntry};
use crate::answers::HallError;
use crate::computers::{
    ComputerDirectory, ComputerError, ComputerPlace, ComputerState, ComputerStatus,
    ComputersStatus, JoinOutcome, NewComputer, PairedComputer,
};
use crate::hall::Hall;

/// Longest wait for the number of a computer's sessions. The list does not need it.
const COUNTED_WITHIN: Duration = Duration::from_secs(1);

impl Hall {
    /// Registers the computers of this server. Only the first registration counts.
    pub fn serve_computers(&self, computers: Weak<dyn ComputerDirectory>) {
        let _ = self.inner.computers.set(computers);
    }

    /// Returns this computer as others know it; `None` if it has no id.
    pub(crate) fn own_computer(&self) -> Option<PairedComputer> {
        self.directory_of_computers().ok()?.own()
    }

    pub(crate) fn directory_of_computers(
        &self,
    ) -> Result<Arc<dyn ComputerDirectory>, ComputerError> {
        self.inner.computers.get().and_then(Weak::upgrade).ok_or(ComputerError::Absent)
    }
}

impl Door {
    pub(super) fn computer_directory(&self) -> Result<Arc<dyn ComputerDirectory>, ComputerError> {
        self.hall.directory_of_computers()
    }

    /// Lists this computer and those that are paired with it. Computers that are connected now are
    /// asked for the number of their sessions. Only callers who may change the pairs see the post.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn computers(&self) -> Result<ComputersStatus, AccessError> {
        self.may(Action::ListComputers)?;
        let Ok(directory) = self.computer_directory() else {
            return Ok(ComputersStatus::default());
        };
        let ComputersStatus { computers, post } = directory.computers().await;
        let counted = computers.into_iter().map(async |computer| {
            let sessions = self.count_sessions(&computer).await;
            ComputerStatus { sessions, ..computer }
        });
        let post = post.filter(|_| self.may(Action::ManageComputers).is_ok());
        Ok(ComputersStatus { computers: join_all(counted).await, post })
    }

    /// Returns the number of living sessions of a computer that the caller sees. `None` if the
    /// computer is not connected, refuses, or does not answer within a second.
    async fn count_sessions(&self, status: &ComputerStatus) -> Option<usize> {
        if status.is_this {
            return self.sessions(false).ok().map(|all| all.len());
        }
        // A computer that is away would only delay the list.
        if status.state != ComputerState::Up {
            return None;
        }
        let computer =
            PairedComputer { id: ComputerId::new(status.id.as_str()), name: status.name.clone() };
        let asked = tokio::time::timeout(COUNTED_WITHIN, self.ask_for_sessions(&computer));
        asked.await.ok()?.ok().map(|all| all.len())
    }

    /// Records the request, and then puts the computers on after a restore, so that they exchange
    /// rows and questions again. Returns false, and records nothing, if they are on already.
    ///
    /// # Errors
    /// [`AccessError`]; the computers are still off then, but the request may be on record.
    pub async fn resume_computers(&self) -> Result<bool, AccessError> {
        self.may(Action::ManageComputers)?;
        let directory = self.computer_directory()?;
        if directory.must_be_on().is_ok() {
            return Ok(false);
        }
        self.record_computer(AuditAction::ComputersResumed, "all".into()).await?;
        Ok(directory.resume().await?)
    }

    /// Records the request, and then makes an invitation for another computer. Returns the line
    /// with the invitation.
    ///
    /// # Errors
    /// [`AccessError`]; no invitation is open then, but the request may be on record.
    pub async fn invite_computer(&self, new: NewComputer) -> Result<String, AccessError> {
        self.may(Action::ManageComputers)?;
        let directory = self.computer_directory()?;
        directory.must_be_on()?;
        self.record_computer(AuditAction::ComputerInvited, "an invitation".into()).await?;
        Ok(directory.invite(new).await?)
    }

    /// Records the name that the other computer has for itself, and then joins with a line that it
    /// printed.
    ///
    /// # Errors
    /// [`AccessError`]. The request may be on record, and the computers may be paired as
    /// [`ComputerDirectory::join`] says.
    pub async fn join_computer(
        &self,
        line: &str,
        new: NewComputer,
    ) -> Result<JoinOutcome, AccessError> {
        self.may(Action::ManageComputers)?;
        let directory = self.computer_directory()?;
        directory.must_be_on()?;
        let name = directory.name_in(line)?;
        self.record_computer(AuditAction::ComputerPaired, name).await?;
        Ok(directory.join(line, new).await?)
    }

    /// Records the request, and then ends the pair with a computer. Returns false, and records
    /// nothing, if there is none.
    ///
    /// # Errors
    /// [`AccessError`]. The request may be on record, and the pair may have ended as
    /// [`ComputerDirectory::forget`] says.
    pub async fn forget_computer(&self, name: &str) -> Result<bool, AccessError> {
        self.may(Action::ManageComputers)?;
        let directory = self.computer_directory()?;
        let Some(ComputerPlace::Elsewhere(_)) = directory.place_of(name) else {
            return Ok(false);
        };
        self.record_computer(AuditAction::ComputerForgotten, name.to_owned()).await?;
        Ok(directory.forget(name).await?)
    }

    /// Records a request about other computers, before it takes effect: a change that is not on
    /// record must not happen.
    async fn record_computer(&self, action: AuditAction, detail: String) -> Result<(), HallError> {
        let entry = AuditEntry::of(&self.caller, action, self.hall.now());
        Ok(self.hall.inner.store.principals.record(&AuditEntry { detail, ..entry }).await?)
    }
}
