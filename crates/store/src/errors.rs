//! What SQLite's errors mean for those who wait.

use std::path::Path;
use std::{fs, io};

use moothall_engine::ports::{AppendError, LogError};
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// What went wrong while writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// No room: nothing was written, and the next write may find room again.
    Full,
    /// Another process keeps the file to itself.
    Busy,
    /// A write was refused by the system. Whoever knows the folder can find out whether that was
    /// for want of room, as with a quota.
    Unwritten(String),
    /// Nobody knows what is on the disk, or what is there is damaged.
    Fatal(String),
}

impl StoreFault {
    /// A failed write or sync is never tried again: the kernel may have dropped the pages that it
    /// could not write. Growing the WAL's index is the exception, because it fails for want of room
    /// and nothing depends on it after a crash.
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

/// Why a request leaves no trace.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The log says no.
    Answer(AppendError),
    /// SQLite could not do it.
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

/// What is written to find out whether there is room.
const PROBE_BYTES: usize = 1024 * 1024;

/// What a trouble is in this folder. SQLite tells a full disk from others, and takes a quota that
/// is used up for a broken one.
pub(crate) fn judged(trouble: StoreFault, dir: &Path) -> StoreFault {
    judged_by(trouble, || probe(dir))
}

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
    let written = fs::write(&path, vec![0x5a; PROBE_BYTES]);
    fs::remove_file(&path)?;
    written
}

/// For reads, which cannot harm anything.
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
    fn a_disk_that_cannot_be_read_is_told_from_other_failures() {
        let failed =
            |code: i32| failed(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert!(matches!(failed(ffi::SQLITE_IOERR_READ), LogError::Unreadable(_)));
        assert!(matches!(failed(ffi::SQLITE_BUSY), LogError::Failed(_)));
    }
}
