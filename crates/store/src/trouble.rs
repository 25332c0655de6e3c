//! What SQLite's errors mean for those who wait.

use moothall_engine::ports::{AppendError, LogError};
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// What went wrong while writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No room: nothing was written, and the next write may find room again.
    Full,
    /// Another process keeps the file to itself.
    Busy,
    /// Nobody knows what is on the disk, or what is there is damaged.
    Fatal(String),
}

impl Trouble {
    /// A failed write or sync is never tried again: the kernel may have dropped the pages that it could not write. Growing the
    /// WAL's index is the exception, because it fails for want of room and nothing depends on it after a crash.
    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(failure, _) = error else {
            return Trouble::Fatal(error.to_string());
        };
        match failure.code {
            ErrorCode::DiskFull => Trouble::Full,
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Trouble::Full,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Trouble::Busy,
            _ => Trouble::Fatal(error.to_string()),
        }
    }
}

/// Why a request leaves no trace.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The log says no.
    Answer(AppendError),
    /// SQLite does.
    Trouble(Trouble),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Refusal::Trouble(Trouble::of(&error))
    }
}

impl From<Refusal> for AppendError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Answer(answer) => answer,
            Refusal::Trouble(trouble) => trouble.into(),
        }
    }
}

impl From<Refusal> for LogError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Answer(answer) => LogError::Failed(answer.to_string()),
            Refusal::Trouble(trouble) => trouble.into(),
        }
    }
}

impl From<Trouble> for AppendError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Full => AppendError::Full,
            Trouble::Busy => AppendError::Overloaded,
            Trouble::Fatal(reason) => AppendError::Fatal(reason),
        }
    }
}

impl From<Trouble> for LogError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Full => LogError::Full,
            Trouble::Busy => LogError::Failed("another process is writing to the log".into()),
            Trouble::Fatal(reason) => LogError::Fatal(reason),
        }
    }
}

/// For reads, which cannot harm anything.
pub(crate) fn failed(error: rusqlite::Error) -> LogError {
    LogError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(code: i32) -> Trouble {
        Trouble::of(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn want_of_room_passes_and_failed_syncs_do_not() {
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE] {
            assert_eq!(trouble(code), Trouble::Full);
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_LOCKED] {
            assert_eq!(trouble(code), Trouble::Busy);
        }
        let fatal = [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_READ];
        for code in fatal.into_iter().chain([ffi::SQLITE_CORRUPT, ffi::SQLITE_CONSTRAINT, ffi::SQLITE_READONLY]) {
            assert!(matches!(trouble(code), Trouble::Fatal(_)), "{code}");
        }
    }
}
