//! Other computers through the door: their list, and the right to pair them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use moothall_kernel::ids::ComputerId;

use super::{Action, Door};
use crate::access::{AccessError, AuditAction, AuditEntry};
use crate::answers::HallError;
use crate::computers::{
    ComputerDirectory, ComputerError, ComputerState, ComputerStatus, ComputersStatus, JoinOutcome,
    NewComputer, PairedComputer,
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

    /// Puts the computers on after a restore, so that they exchange rows and questions again, and
    /// then records this. Returns false if they are on already.
    ///
    /// # Errors
    /// [`AccessError`]. The computers may be on nevertheless if a later step failed: the start of
    /// the exchange, or the record, which is missing then.
    pub async fn resume_computers(&self) -> Result<bool, AccessError> {
        self.may(Action::ManageComputers)?;
        let resumed = self.computer_directory()?.resume().await?;
        if resumed {
            self.record_computer(AuditAction::ComputersResumed, "all".into()).await?;
        }
        Ok(resumed)
    }

    /// Makes an invitation for another computer, and then records this. Returns the line with the
    /// invitation.
    ///
    /// # Errors
    /// [`AccessError`]. If only the record failed, an invitation is open, but its line is not
    /// returned.
    pub async fn invite_computer(&self, new: NewComputer) -> Result<String, AccessError> {
        self.may(Action::ManageComputers)?;
        let line = self.computer_directory()?.invite(new).await?;
        self.record_computer(AuditAction::ComputerInvited, "an invitation".into()).await?;
        Ok(line)
    }

    /// Joins with a line that another computer printed, and then records the pair.
    ///
    /// # Errors
    /// [`AccessError`]. If only the record failed, the computers are paired nevertheless.
    pub async fn join_computer(
        &self,
        line: &str,
        new: NewComputer,
    ) -> Result<JoinOutcome, AccessError> {
        self.may(Action::ManageComputers)?;
        let joined = self.computer_directory()?.join(line, new).await?;
        let (JoinOutcome::Accepted { computer, .. } | JoinOutcome::Paired { computer }) = &joined;
        self.record_computer(AuditAction::ComputerPaired, computer.clone()).await?;
        Ok(joined)
    }

    /// Ends the pair with a computer, and then records this. Returns false if there is none.
    ///
    /// # Errors
    /// [`AccessError`]. If only the record failed, the pair has ended nevertheless.
    pub async fn forget_computer(&self, name: &str) -> Result<bool, AccessError> {
        self.may(Action::ManageComputers)?;
        let forgotten = self.computer_directory()?.forget(name).await?;
        if forgotten {
            self.record_computer(AuditAction::ComputerForgotten, name.to_owned()).await?;
        }
        Ok(forgotten)
    }

    async fn record_computer(&self, action: AuditAction, detail: String) -> Result<(), HallError> {
        let entry = AuditEntry::of(&self.caller, action, self.hall.now());
        Ok(self.hall.inner.store.principals.record(&AuditEntry { detail, ..entry }).await?)
    }
}
