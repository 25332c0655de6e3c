//! Copies a log while a server writes to it.
//!
//! SQLite copies the view of one read transaction, so the copy is one moment of the whole log. The
//! copy is written under another name, verified like any log, and only then renamed. A backup under
//! its final name is therefore intact.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use moothall_engine::ports::Verification;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::folder::{Folder, LOG_FILE, OpenError, must_have_a_log};
use crate::identity;
use crate::offline;
use crate::schema;

/// Reasons why a backup failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The name is taken. A backup never overwrites anything.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// The parent folder of the backup is missing: perhaps a disk is not mounted.
    #[error("the folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    /// The backup would be inside the data folder that it copies.
    #[error("{} is inside the data folder; name another place", .0.display())]
    Inside(PathBuf),
    /// Another backup to the same place is in progress.
    #[error("another backup is being written to {}", .0.display())]
    UnderWay(PathBuf),
    /// The log, or the place for its copy, cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The copy could not be written.
    #[error("cannot copy the log to {}: {reason}", .path.display())]
    Copy {
        /// The folder of the unfinished copy.
        path: PathBuf,
        /// The reason, in words.
        reason: String,
    },
    /// The copy is damaged, and so is the log.
    #[error("the log is damaged, and so is its copy in {}", .path.display())]
    Damaged {
        /// Place of the copy, which keeps its unfinished name.
        path: PathBuf,
        /// The damage that was found.
        found: Verification,
    },
}

/// Copies the log in `dir` to the new folder `dest`, which is then a data folder of its own. A
/// server may write meanwhile. The search index is not copied: a server rebuilds it.
///
/// # Errors
/// [`BackupError`]. Then `dest` is not created, unless only the sync of its new name failed.
pub async fn backup(dir: &Path, dest: &Path) -> Result<Verification, BackupError> {
    let unfinished = begin(dir, dest)?;
    let (from, to) = (dir.join(LOG_FILE), unfinished.log_file()?);
    let copied = tokio::task::spawn_blocking(move || copy(&from, &to)).await;
    let copied = copied.unwrap_or_else(|error| Err(error.to_string()));
    copied.map_err(|reason| BackupError::Copy { path: unfinished.path().to_owned(), reason })?;
    finish(unfinished, dest).await
}

/// Prepares and locks a temporary folder for the copy. It is beside the final place, so that the
/// rename stays on one file system.
pub(crate) fn begin(dir: &Path, dest: &Path) -> Result<Folder, BackupError> {
    must_have_a_log(dir)?;
    // A dangling symlink counts as existing.
    if dest.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(dest.to_owned()));
    }
    let parent = parent_of(dest);
    let (Ok(real), true) = (fs::canonicalize(parent), parent.is_dir()) else {
        return Err(BackupError::NoFolder(parent.to_owned()));
    };
    if fs::canonicalize(dir).is_ok_and(|dir| real.starts_with(dir)) {
        return Err(BackupError::Inside(dest.to_owned()));
    }
    let path = unfinished(dest);
    let folder = Folder::take(&path).map_err(|error| match error {
        OpenError::Locked { dir } => BackupError::UnderWay(dir),
        other => BackupError::Open(other),
    })?;
    // Remove the files of an interrupted backup.
    for end in ["", "-journal", "-wal", "-shm"] {
        let file = path.join(format!("{LOG_FILE}{end}"));
        match fs::remove_file(&file) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(OpenError::Io { path: file, source }.into());
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(folder)
}

/// Returns the folder that will contain the copy.
fn parent_of(dest: &Path) -> &Path {
    dest.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unfinished(dest: &Path) -> PathBuf {
    let mut name = OsString::from(dest.as_os_str());
    name.push(".unfinished");
    name.into()
}

/// Copies all pages in one step. A copy in several steps would restart at each write of the server.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let text = |error: rusqlite::Error| error.to_string();
    let source = schema::open_reader(from).map_err(text)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(text)?;
    target.pragma_update(None, "synchronous", "extra").map_err(text)?;
    let step =
        Backup::new(&source, &mut target).and_then(|backup| backup.step(-1)).map_err(text)?;
    if step != StepResult::Done {
        return Err("another process has locked the log".into());
    }
    identity::forget(&target).map_err(text)?;
    target.close().map_err(|(_, error)| text(error))
}

/// Verifies the copy and renames it to its final name.
pub(crate) async fn finish(unfinished: Folder, dest: &Path) -> Result<Verification, BackupError> {
    let found = offline::verify_in(&unfinished).await?;
    if !found.faults.is_empty() {
        return Err(BackupError::Damaged { path: unfinished.path().to_owned(), found });
    }
    unfinished.sync()?;
    let io = |source| BackupError::Open(OpenError::Io { path: dest.to_owned(), source });
    fs::rename(unfinished.path(), dest).map_err(io)?;
    fs::File::open(parent_of(dest)).and_then(|folder| folder.sync_all()).map_err(io)?;
    Ok(found)
}
