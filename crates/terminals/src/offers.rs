//! The programs for terminals, and the folders in which they could be started.

use moothall_engine::sessions::{FolderList, FolderQuery, HostFault, ProgramOffer, SessionError};

use crate::directory::Sessions;
use crate::faults::host_error;

impl Sessions {
    /// Returns the programs for terminals.
    pub fn programs(&self) -> Vec<ProgramOffer> {
        self.host().map(|host| host.programs()).unwrap_or_default()
    }

    /// Returns a folder and the folders inside it, as the user of a program sees them.
    pub(super) async fn folders(&self, query: &FolderQuery) -> Result<FolderList, SessionError> {
        let host = self.host()?;
        self.offer(&query.client)?;
        let folder = match query.folder.as_os_str().is_empty() {
            true => host.home(&query.client, None),
            false => query.folder.clone(),
        };
        let folders = host.folders(&query.client, &folder).await.map_err(|fault| match fault {
            // The host refuses only a folder that cannot be read, so the fault is in the caller's
            // request.
            HostFault::Refused(why) => SessionError::Invalid(why),
            other => host_error(other),
        })?;
        Ok(FolderList { folder, folders })
    }

    /// Returns the program of a client, installed or not.
    pub(super) fn offer(&self, client: &str) -> Result<ProgramOffer, SessionError> {
        let mut programs = self.programs();
        if let Some(at) = programs.iter().position(|offer| offer.client == client) {
            return Ok(programs.swap_remove(at));
        }
        let known: Vec<_> = programs.into_iter().map(|offer| offer.client).collect();
        Err(SessionError::Invalid(format!(
            "Unknown program {client:?}; the programs are: {}.",
            known.join(", ")
        )))
    }
}
