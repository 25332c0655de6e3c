//! Spools for programs that run as other users. They lie outside of the data folder, which these
//! users cannot enter.
//!
//! ```text
//! /var/spool/moothall/<server>/   one for each data folder; owned by the server, and others may
//!                                 only pass through it
//!   <uid>/                        a spool as in the data folder, for one user's sessions
//!     bell                        owned by the user, who alone may connect
//!     server                      readable by all users
//!     refused/                    owned by the server
//!     <session>/                  owned by the user
//! ```
//!
//! The server owns all folders above those of sessions, so that other users cannot replace them.
//! Only the user writes files into a session's folder: the server, which may be root, only reads,
//! moves and removes reports there, follows no link, and waits for no pipe.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_engine::sessions::SessionId;
use nix::unistd::geteuid;
use tokio::sync::mpsc;

use super::folder::SpoolFolder;
use super::spool::Spool;
use crate::run_as::Account;

/// The mode of a folder that others may pass through, if they know the names in it.
const PASSAGE: u32 = 0o711;
/// Write permission of others, which a folder of the server must not have unless it is sticky.
const WRITABLE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// The spools of other users. Cheap to clone.
#[derive(Clone, Debug)]
pub struct UserSpools {
    root: PathBuf,
    url: String,
    open: Arc<Mutex<BTreeMap<u32, SpoolFolder>>>,
    opened: mpsc::UnboundedSender<Spool>,
}

impl UserSpools {
    /// Returns the spools below this folder, for a server at this address. Folders are made when
    /// first needed. Each opened spool is sent to the receiver, whose owner must run it.
    pub fn new(root: PathBuf, url: String) -> (Self, mpsc::UnboundedReceiver<Spool>) {
        let (opened, coming) = mpsc::unbounded_channel();
        (Self { root, url, open: Arc::default(), opened }, coming)
    }

    /// Opens the spools of an earlier run of the server, because programs of that run may still run
    /// and report.
    ///
    /// # Errors
    /// A spool cannot be opened.
    pub fn take_up(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if let Some(uid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                self.of_user(uid)?;
            }
        }
        Ok(())
    }

    /// Returns the spool of this user, and in it the folder of a session, which is made and given
    /// to the user.
    pub(super) fn of(
        &self,
        account: &Account,
        session: &SessionId,
    ) -> io::Result<(SpoolFolder, PathBuf)> {
        let spool = self.of_user(account.uid())?;
        let folder = spool.of(session)?;
        chown(&folder, Some(account.uid()), Some(account.gid()))?;
        Ok((spool, folder))
    }

    /// Removes the folder of an ended session, of any user.
    pub(super) fn forget(&self, session: &SessionId) -> io::Result<()> {
        let spools: Vec<SpoolFolder> = self.opened().values().cloned().collect();
        spools.iter().try_for_each(|spool| spool.forget(session))
    }

    fn opened(&self) -> MutexGuard<'_, BTreeMap<u32, SpoolFolder>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the spool of a user. At the first call the spool is made and announced, and its
    /// listener goes to the receiver of [`UserSpools::new`].
    fn of_user(&self, uid: u32) -> io::Result<SpoolFolder> {
        let mut open = self.opened();
        if let Some(spool) = open.get(&uid) {
            return Ok(spool.clone());
        }
        let folder = self.root.join(uid.to_string());
        for own in [self.root.parent(), Some(&self.root), Some(&folder)].into_iter().flatten() {
            passage(own)?;
            check(own)?;
        }
        let spool = SpoolFolder::new(&folder);
        let listening = Spool::open_for(spool.clone(), uid)?;
        spool.announce_to_all(&self.url)?;
        // The receiver is only dropped when the server shuts down.
        let _ = self.opened.send(listening);
        open.insert(uid, spool.clone());
        Ok(spool)
    }
}

/// Makes a folder that others may pass through, regardless of the umask. An existing one stays as
/// it is.
fn passage(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => fs::set_permissions(folder, fs::Permissions::from_mode(PASSAGE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Checks that only the server's user and root can replace the entries of a folder.
fn check(folder: &Path) -> io::Result<()> {
    let about = fs::symlink_metadata(folder)?;
    let owned = about.uid() == geteuid().as_raw() || about.uid() == 0;
    let shared = about.mode() & WRITABLE != 0 && about.mode() & STICKY == 0;
    if about.is_dir() && owned && !shared {
        return Ok(());
    }
    let why = format!(
        "{} must be a folder that belongs to the server's user and that only this user can write \
         to",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_that_others_write_to_is_no_place_for_spools() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("spool/0123");
        let (outside, mut coming) = UserSpools::new(root.clone(), "http://127.0.0.1:1".to_owned());
        let uid = geteuid().as_raw();
        outside.of_user(uid).unwrap();
        outside.of_user(uid).unwrap();
        assert!(coming.try_recv().is_ok() && coming.try_recv().is_err(), "it is opened once");
        assert_eq!(
            fs::metadata(root.join(uid.to_string())).unwrap().permissions().mode() & 0o777,
            PASSAGE
        );
        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
        let again = UserSpools::new(root, String::new()).0.of_user(uid).unwrap_err();
        assert!(again.to_string().contains("only this user can write"), "{again}");
    }
}
