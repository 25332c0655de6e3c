//! Checking a log that no server has open.

use std::path::Path;
use std::sync::Arc;

use crate::folder::{Folder, LOG_FILE, OpenError};
use crate::reader::Readers;
use crate::schema;
use crate::verify::{self, Verified};

/// Walks the log in a folder as [`crate::SqliteLog::verify`] does, and writes nothing. The folder is locked meanwhile.
///
/// # Errors
/// [`OpenError`]: there is no log, a server has it open, a newer version wrote it, or it is none of ours.
pub async fn verify(dir: &Path) -> Result<Verified, OpenError> {
    let folder = Folder::take_existing(dir)?;
    verify_in(&folder).await
}

/// The same, of a folder whose lock is held.
pub(crate) async fn verify_in(folder: &Folder) -> Result<Verified, OpenError> {
    let path = folder.path().join(LOG_FILE);
    let unusable = |reason: String| OpenError::Unusable { path: path.clone(), reason };
    let conn = schema::open_reader(&path).map_err(|error| unusable(error.to_string()))?;
    let found = schema::format(&conn).map_err(|error| unusable(error.to_string()))?;
    if found > schema::FORMAT {
        return Err(OpenError::Newer { dir: folder.path().to_owned(), found, known: schema::FORMAT });
    }
    drop(conn);
    let readers = Arc::new(Readers::new(path.clone()));
    let verified = verify::verify(&readers).await;
    readers.close();
    Ok(verified)
}
