//! The log on disk: one SQLite file in a locked folder.
//!
//! One thread writes. It runs each waiting request in its own savepoint and commits all of them
//! together, so that many writers share one sync. Readers have their own connections and never wait
//! for the writer.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use moothall_engine::ports::{EventLog, ListFilter, Upkeep};
//!
//! # let folder = tempfile::tempdir()?;
//! # let data = folder.path().join("data");
//! let log = moothall_store::SqliteLog::open(&data)?;
//! assert!(log.list(ListFilter::default()).await?.streams.is_empty());
//! log.close().await?;
//! # Ok(())
//! # }
//! ```

mod folder;
mod schema;
mod rows;
mod sums;
mod append;
mod deletion;
mod wal;
mod loss;
mod identity;
mod writer;
mod reader;
mod ledger;
mod reserve;
mod marks;
mod posts;
mod audit;
mod keys;
mod cards;
mod apps;
mod sessions;
mod snapshots;
mod errors;
mod verify;
mod offline;
mod backup;
mod index;
mod log;

#[cfg(test)]
mod tests;

pub use audit::Anchor;
pub use backup::{BackupError, backup};
pub use folder::{OpenError, is_in_use};
pub use log::SqliteLog;
pub use offline::{AuditVerified, audit_head, audit_verify, look, verify};

/// Returns the version of the built-in SQLite, e.g. `3.51.3`.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
