//! Meaning of SQLite's errors for the callers.

use std::path::Path;
use std::{fs, io};

use moothall_engine::ports::{AppendError, LogError};
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// A failure while writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// The disk is full. Nothing was written, and a later write may find room.
    Full,
    /// Another process holds the file.
    Busy,
    /// The system refused a write. [`judged`] finds out if a used-up quota was the reason.
    Unwritten(String),
    /// The data on disk is unknown or damaged.
    Fatal(String),
}

impl StoreFault {
    /// Classifies an error of SQLite. Unless room was short, a failed write or sync is never
    /// retried: the kernel may have dropped the pages that it could not write. A failure to grow
    /// the WAL's index counts as a full disk: its usual cause is want of room, and nothing depends
    /// on that index after a crash.
    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(failure, _) = error else {
            return StoreFault::Fatal(error.to_string());
        };
        match failure.code {
            ErrorCode::DiskFull => StoreFault::Full,
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                StoreFault::Full
            }
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_WRITE => {
                StoreFault::Unwritten(error.to_string())
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreFault::Busy,
            _ => StoreFault::Fatal(error.to_string()),
        }
    }
}

/// The reason why a request changed nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The log rejected the request.
    Answer(AppendError),
    /// SQLite failed.
    StoreFault(StoreFault),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Refusal::StoreFault(StoreFault::of(&error))
    }
}

impl From<Refusal> for AppendError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Answer(answer) => answer,
            Refusal::StoreFault(trouble) => trouble.into(),
        }
    }
}

impl From<Refusal> for LogError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Answer(answer) => LogError::Failed(answer.to_string()),
            Refusal::StoreFault(trouble) => trouble.into(),
        }
    }
}

impl From<StoreFault> for AppendError {
    fn from(trouble: StoreFault) -> Self {
        match trouble {
            StoreFault::Full => AppendError::Full,
            StoreFault::Busy => AppendError::Overloaded,
            StoreFault::Unwritten(reason) | StoreFault::Fatal(reason) => AppendError::Fatal(reason),
        }
    }
}

impl From<StoreFault> for LogError {
    fn from(trouble: StoreFault) -> Self {
        match trouble {
            StoreFault::Full => LogError::Full,
            StoreFault::Busy => LogError::Failed("another process is writing to the log".into()),
            StoreFault::Unwritten(reason) | StoreFault::Fatal(reason) => LogError::Fatal(reason),
        }
    }
}

/// Size of the file that tests for free space.
const PROBE_BYTES: usize = 1024 * 1024;

/// Replaces `Unwritten` by `Full` or `Fatal`. SQLite recognises a full disk, but reports a used-up
/// quota as a failed write.
pub(crate) fn judged(trouble: StoreFault, dir: &Path) -> StoreFault {
    judged_by(trouble, || probe(dir))
}

/// Keeps every fault but `Unwritten`. For that one, writes a probe: if no space is left for it, the
/// fault is `Full`, otherwise `Fatal`.
fn judged_by(trouble: StoreFault, probe: impl FnOnce() -> io::Result<()>) -> StoreFault {
    let StoreFault::Unwritten(reason) = trouble else { return trouble };
    match probe() {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) =>
        {
            StoreFault::Full
        }
        Ok(()) | Err(_) => StoreFault::Fatal(reason),
    }
}

fn probe(dir: &Path) -> io::Result<()> {
    let path = dir.join("probe");
    // A file system may store zeros without space, and would then seem to have room.
    let written = fs::write(&path, vec![0x5a; PROBE_BYTES]);
    probed(written, fs::remove_file(&path))
}

/// Returns the error of the write if there is one, or else that of the removal. A file that was
/// never created cannot be removed, so the error of the write tells more.
fn probed(written: io::Result<()>, removed: io::Result<()>) -> io::Result<()> {
    written.and(removed)
}

/// Converts the error of a read. A failed read harms nothing, so the result is never `Fatal`.
pub(crate) fn failed(error: rusqlite::Error) -> LogError {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => LogError::Unreadable(error.to_string()),
        Some(_) | None => LogError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(code: i32) -> StoreFault {
        StoreFault::of(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn want_of_room_passes_and_failed_syncs_do_not() {
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE] {
            assert_eq!(trouble(code), StoreFault::Full);
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_LOCKED] {
            assert_eq!(trouble(code), StoreFault::Busy);
        }
        let fatal = [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC, ffi::SQLITE_IOERR_READ];
        for code in fatal.into_iter().chain([
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_CONSTRAINT,
            ffi::SQLITE_READONLY,
        ]) {
            assert!(matches!(trouble(code), StoreFault::Fatal(_)), "{code}");
        }
    }

    #[test]
    fn a_write_that_a_quota_refused_is_for_want_of_room_and_another_is_not() {
        let judged = |error: Option<io::ErrorKind>| {
            judged_by(trouble(ffi::SQLITE_IOERR_WRITE), || {
                error.map_or(Ok(()), |kind| Err(io::Error::from(kind)))
            })
        };
        for full in [io::ErrorKind::QuotaExceeded, io::ErrorKind::StorageFull] {
            assert_eq!(judged(Some(full)), StoreFault::Full);
        }
        for broken in [None, Some(io::ErrorKind::ReadOnlyFilesystem), Some(io::ErrorKind::Other)] {
            assert!(matches!(judged(broken), StoreFault::Fatal(_)), "{broken:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(
            matches!(
                super::judged(trouble(ffi::SQLITE_IOERR_WRITE), folder.path()),
                StoreFault::Fatal(_)
            ),
            "there is room here"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_quota_that_keeps_the_probe_from_being_created_is_want_of_room() {
        let failed = |kind: io::ErrorKind| Err::<(), _>(io::Error::from(kind));
        let outcome = probed(failed(io::ErrorKind::QuotaExceeded), failed(io::ErrorKind::NotFound));
        assert_eq!(judged_by(trouble(ffi::SQLITE_IOERR_WRITE), || outcome), StoreFault::Full);
        assert!(probed(Ok(()), failed(io::ErrorKind::NotFound)).is_err());
    }

    #[test]
    fn a_disk_that_cannot_be_read_is_told_from_other_failures() {
        let failed =
            |code: i32| failed(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert!(matches!(failed(ffi::SQLITE_IOERR_READ), LogError::Unreadable(_)));
        assert!(matches!(failed(ffi::SQLITE_BUSY), LogError::Failed(_)));
    }
}
