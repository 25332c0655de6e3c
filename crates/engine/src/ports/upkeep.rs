//! Looking after all that is kept, as one: whether it is whole, a copy of it, and its end.

use std::path::Path;

use async_trait::async_trait;

use super::LogError;

/// What a walk over the whole log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The number of streams that were looked at.
    pub streams: u64,
    /// Events whose checksums match, where there are any.
    pub events: u64,
    /// The tables beside the streams whose rows were checked, if the log has any.
    pub tables: Vec<CheckedTable>,
    /// The rest, which no checksum covers, in words.
    pub unchecked: Vec<String>,
    /// What is damaged: the first place of each stream, and faults of the database itself.
    pub faults: Vec<LogError>,
}

/// A table that was checked row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedTable {
    /// Its name.
    pub table: String,
    /// The number of rows that were looked at.
    pub rows: u64,
}

/// Why there is no copy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// This log has no way to copy itself.
    #[error("this log cannot be copied")]
    Unable,
    /// It has one, and that failed: for what reason, in words for people.
    #[error("{0}")]
    Failed(String),
}

/// The upkeep of all that is kept, while it is open.
#[async_trait]
pub trait Upkeep: Send + Sync + 'static {
    /// Returns the id of this log. A log that was restored, or copied, has another: its positions
    /// stand for other events.
    fn log_id(&self) -> &str;
    /// Walks everything, and folds each stream again. Takes as long as reading it all. What is
    /// damaged, also where that makes going on impossible, is in [`Verified::faults`]; a stream
    /// that has only been acquired is not counted.
    async fn verify(&self) -> Verification;
    /// Copies one moment of it all to the new folder `dest`, while others write, and walks the
    /// copy. Nothing is overwritten, and nothing bears the name `dest` unless it is whole.
    async fn backup(&self, dest: &Path) -> Result<Verification, CopyError>;
    /// Writes what was asked for and gives free what is held. Later writes are refused as
    /// [`LogError::Fatal`] or its like; closing again does nothing.
    ///
    /// # Errors
    /// The log had failed before, or cannot be written now.
    async fn close(&self) -> Result<(), LogError>;
}
