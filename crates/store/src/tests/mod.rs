//! Tests of the log: the suite of all logs, and faults that only a file can have.
#![allow(clippy::unwrap_used)]

mod backup;
mod beside;
mod conformance;
mod damage;
mod erasing;
mod folder;
mod golden;
mod identity;
mod index;
mod ledger;
mod loss;
mod posts;
mod reading;
mod room;
mod snapshots;
mod terminal;
mod writing;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::SqliteLog;
use crate::folder::LOG_FILE;

/// A log in a temporary folder.
struct Disk {
    log: SqliteLog,
    folder: TempDir,
}

impl Disk {
    fn fresh() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { log: SqliteLog::open(folder.path()).unwrap(), folder }
    }

    /// Drops the log without closing it, changes its folder and opens it again.
    fn reopened_after(self, change: impl FnOnce(&std::path::Path)) -> Self {
        let Self { log, folder } = self;
        drop(log);
        change(folder.path());
        Self { log: SqliteLog::open(folder.path()).unwrap(), folder }
    }

    /// Opens the file as another program.
    fn intruder(&self) -> Connection {
        Connection::open(self.folder.path().join(LOG_FILE)).unwrap()
    }
}
