//! Checks for lost events before a log is opened. SQLite itself continues silently from the last
//! intact event.
//!
//! Three signs show a loss: the write-ahead log, the search index (which never sees unsynced
//! events), and an empty file beside others with content. The end of the last commit, which a power
//! cut can tear, was never acknowledged and is not a loss.

use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::{LOG_FILE, OpenError};
use crate::index::{INDEX_FILE, NEWEST, newest_seen};
use crate::schema;
use crate::wal::{self, WalFindings};

/// Rejects a folder whose log lost something. Changes nothing.
///
/// # Errors
/// [`OpenError::Damaged`]; [`OpenError::Io`] if a file cannot be read.
pub(crate) fn refuse(dir: &Path) -> Result<(), OpenError> {
    let log = dir.join(LOG_FILE);
    let wal = dir.join(format!("{LOG_FILE}-wal"));
    let seen = wal::look(&wal).map_err(|source| OpenError::Io { path: wal.clone(), source })?;
    if let Some(at) = seen.broken_at {
        let reason = format!(
            "it cannot be read from byte {at} on, and acknowledged commits follow there. \
             `truncate -s {at} {}` continues without them",
            wal.display()
        );
        return Err(OpenError::Damaged { path: wal, reason });
    }
    let held = fs::metadata(&log).map_or(0, |file| file.len());
    match held {
        0 => refuse_empty(dir, log, &seen),
        _ => refuse_behind(dir, log),
    }
}

/// Accepts an empty file as a new log, unless other files show that it had content. If the log was
/// just being created, all its pages are in the write-ahead log.
fn refuse_empty(dir: &Path, log: PathBuf, seen: &WalFindings) -> Result<(), OpenError> {
    let other = if seen.pages_missing {
        format!("{LOG_FILE}-wal")
    } else if newest_seen(dir).is_some_and(|newest| newest > 0) {
        INDEX_FILE.to_owned()
    } else {
        return Ok(());
    };
    let reason = format!(
        "it is empty, and {other} beside it belongs to a log with content. To begin a new log, \
         name another folder"
    );
    Err(OpenError::Damaged { path: log, reason })
}

/// Rejects a log that is behind its search index: the index sees only synced events. Leaves an
/// unreadable log to the code that opens it.
fn refuse_behind(dir: &Path, log: PathBuf) -> Result<(), OpenError> {
    let Some(seen) = newest_seen(dir) else { return Ok(()) };
    let newest = schema::open_reader(&log)
        .and_then(|conn| conn.query_row(NEWEST, [], |row| row.get::<_, i64>(0)));
    match newest {
        Ok(newest) if newest < seen => {
            let index = dir.join(INDEX_FILE);
            let reason = format!(
                "the search index has {} events that are not in the log. If an older log was \
                 restored on purpose, or to continue without them, remove {}*: the index is \
                 rebuilt",
                seen - newest,
                index.display()
            );
            Err(OpenError::Damaged { path: log, reason })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}
