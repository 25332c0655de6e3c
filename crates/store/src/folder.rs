//! The data folder: private to its owner and used by one server at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the log in its folder.
pub(crate) const LOG_FILE: &str = "moothall.db";
const LOCK_FILE: &str = "lock";
/// Number of attempts to take the lock: one second in all.
const LOCK_TRIES: u32 = 20;
const LOCK_AGAIN: Duration = Duration::from_millis(50);

/// Reasons why a log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server uses the folder.
    #[error("another server is using {}; stop it, or use another folder for this one", .dir.display())]
    Locked {
        /// The data folder that is in use.
        dir: PathBuf,
    },
    /// The folder does not contain a log.
    #[error("{} does not contain a log", .dir.display())]
    Absent {
        /// The data folder without a log.
        dir: PathBuf,
    },
    /// A newer version made the log.
    #[error("the log in {} was written by a newer version of Moothall (format {found}; this \
             version supports up to {known})", .dir.display())]
    Newer {
        /// The data folder with the log.
        dir: PathBuf,
        /// The format that the log's file states.
        found: u32,
        /// The newest format this version knows.
        known: u32,
    },
    /// The disk has no space for the files that opening the log needs.
    #[error("the disk has no space to open the log in {}", .dir.display())]
    Full {
        /// The data folder on that disk.
        dir: PathBuf,
    },
    /// The folder or one of its files cannot be used.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Acknowledged events are missing. Opening the log would silently continue without them.
    #[error("{} is damaged: {reason}", .path.display())]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// The damage, and how to continue without the lost events.
        reason: String,
    },
    /// The file exists but is not a Moothall log.
    #[error("cannot open the log {}: {reason}", .path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The reason, in words.
        reason: String,
    },
}

/// Returns true if a process holds the lock of a data folder. Creates nothing.
///
/// # Errors
/// The folder cannot be read, for example because it belongs to another user.
pub fn is_in_use(path: &Path) -> io::Result<bool> {
    let lock = match File::open(path.join(LOCK_FILE)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match lock.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The lock of a data folder, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates the folder if it is missing, and takes its lock.
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        warn_if_open_to_others(path);
        Self::lock(path, || std::thread::sleep(LOCK_AGAIN))
    }

    /// Takes the lock, and retries for a second. A killed process may leave a child between fork
    /// and exec, which holds the lock until it executes its program.
    fn lock(path: &Path, mut pause: impl FnMut()) -> Result<Self, OpenError> {
        let lock = private_file(&path.join(LOCK_FILE))?;
        for _ in 0..LOCK_TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { path: path.to_owned(), _lock: lock }),
                Err(TryLockError::WouldBlock) => pause(),
                Err(TryLockError::Error(source)) => {
                    return Err(OpenError::Io { path: path.join(LOCK_FILE), source });
                }
            }
        }
        Err(OpenError::Locked { dir: path.to_owned() })
    }

    /// Takes the lock of a folder that has a log. Creates nothing if the log is missing.
    pub(crate) fn take_existing(path: &Path) -> Result<Self, OpenError> {
        must_have_a_log(path)?;
        Self::take(path)
    }

    /// Returns the path of the log's file, which it creates if missing. SQLite itself would create
    /// a file that other users can read. SQLite gives the `-wal` and `-shm` files the same mode.
    pub(crate) fn log_file(&self) -> Result<PathBuf, OpenError> {
        let path = self.path.join(LOG_FILE);
        private_file(&path)?;
        Ok(path)
    }

    /// Syncs the folder, so that the names of new files survive a power cut.
    pub(crate) fn sync(&self) -> Result<(), OpenError> {
        let synced = File::open(&self.path).and_then(|folder| folder.sync_all());
        synced.map_err(|source| OpenError::Io { path: self.path.clone(), source })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Rejects a folder without a log. Its path may be mistyped.
pub(crate) fn must_have_a_log(path: &Path) -> Result<(), OpenError> {
    let file = path.join(LOG_FILE);
    match file.try_exists() {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError::Absent { dir: path.to_owned() }),
        Err(source) => Err(OpenError::Io { path: file, source }),
    }
}

/// Opens a file that only its owner can read, and creates it if missing.
pub(crate) fn private_file(path: &Path) -> Result<File, OpenError> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path);
    opened.map_err(|source| OpenError::Io { path: path.to_owned(), source })
}

fn warn_if_open_to_others(path: &Path) {
    let others = std::fs::metadata(path).map_or(0, |folder| folder.permissions().mode() & 0o077);
    if others != 0 {
        tracing::warn!(folder = %path.display(), "other users of this computer can read the data \
                                                  folder; chmod 700 prevents this");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_lock_that_is_about_to_be_given_free_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut dying = Some(Folder::take(folder.path()).unwrap());
        let mut pauses = 0;
        let taken = Folder::lock(folder.path(), || {
            pauses += 1;
            dying = dying.take().filter(|_| pauses < 3);
        });
        assert!(taken.is_ok() && pauses == 3);
        pauses = 0;
        let refused = Folder::lock(folder.path(), || pauses += 1);
        assert!(matches!(refused, Err(OpenError::Locked { .. })) && pauses == LOCK_TRIES);
    }
}
