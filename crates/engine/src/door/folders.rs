//! The programs for terminals through the door, and the folders to start them in.

use std::path::PathBuf;

use super::{Action, Door};
use crate::access::AccessError;
use crate::sessions::{FolderList, FolderQuery, ProgramOffer};

/// Most folders of earlier sessions in one answer.
const RECENT_FOLDERS_MAX: usize = 8;

impl Door {
    /// Returns the programs for terminals, in the order of their names.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn programs(&self) -> Result<Vec<ProgramOffer>, AccessError> {
        self.may(Action::ListSessions)?;
        Ok(self.terminals()?.programs())
    }

    /// Returns the folders inside a folder, and up to eight folders in which sessions worked,
    /// newest first.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn folders(
        &self,
        query: FolderQuery,
    ) -> Result<(FolderList, Vec<PathBuf>), AccessError> {
        self.may(Action::ListFolders)?;
        let granted = self.hall.permit_folders(&self.caller, query)?;
        let list = self.terminals()?.folders(&granted).await?;
        let mut recent = Vec::new();
        for status in self.sessions(true)?.into_iter().rev() {
            let folder = status.session.cwd;
            if recent.len() < RECENT_FOLDERS_MAX && !recent.contains(&folder) {
                recent.push(folder);
            }
        }
        Ok((list, recent))
    }
}
