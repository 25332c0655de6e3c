//! Upkeep of all storage as one: verifying it, copying it, closing it.

use std::path::Path;

use async_trait::async_trait;

use super::LogError;

/// The result of verifying the whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Number of streams that were read.
    pub streams: u64,
    /// Number of events whose checksums match, if the log has checksums.
    pub events: u64,
    /// The tables other than the streams whose rows were checked, if the log has any.
    pub tables: Vec<CheckedTable>,
    /// Descriptions of the data that no checksum covers.
    pub unchecked: Vec<String>,
    /// The damage that was found: the first place in each stream, and faults of the database
    /// itself.
    pub faults: Vec<LogError>,
}

/// A table that was checked row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedTable {
    /// Name of the table.
    pub table: String,
    /// Number of rows that were checked.
    pub rows: u64,
}

/// The reason why a copy failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// This log cannot copy itself.
    #[error("this log cannot be copied")]
    Unable,
    /// The copy failed, for this reason in words for people.
    #[error("{0}")]
    Failed(String),
}

/// The upkeep of all storage while it is open.
#[async_trait]
pub trait Upkeep: Send + Sync + 'static {
    /// Returns the id of this log. A restored or copied log has another id, because its positions
    /// may stand for other events.
    fn log_id(&self) -> &str;
    /// Reads everything, and replays each stream. Takes as long as reading the whole log. Damage is
    /// in [`Verification::faults`], even if it makes further reading impossible. A stream that was
    /// only acquired is not counted.
    async fn verify(&self) -> Verification;
    /// Copies a consistent state to the new folder `dest`, while others write, and verifies the
    /// copy. Never overwrites, and only a complete copy gets the name `dest`.
    async fn backup(&self, dest: &Path) -> Result<Verification, CopyError>;
    /// Writes all pending data and releases all resources. Later writes are refused as
    /// [`LogError::Fatal`] or an equivalent. Closing a second time does nothing.
    ///
    /// # Errors
    /// The log had failed before, or cannot be written now.
    async fn close(&self) -> Result<(), LogError>;
}
