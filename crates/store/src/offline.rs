//! Checking a log that no server has open.

use std::path::Path;
use std::sync::Arc;

use moothall_engine::ports::Verified;

use crate::folder::{Folder, LOG_FILE, OpenError};
use crate::log::{unusable, with_room};
use crate::loss;
use crate::reader::Readers;
use crate::schema;
use crate::verify::walk_all;

/// Walks the log in a folder as [`Upkeep::verify`](moothall_engine::ports::Upkeep::verify) does,
/// and writes nothing. The folder is locked meanwhile.
///
/// # Errors
/// [`OpenError`]: there is no log, a server has it open, a newer version wrote it, or it is none of
/// ours.
pub async fn verify(dir: &Path) -> Result<Verified, OpenError> {
    let folder = Folder::take_existing(dir)?;
    verify_in(&folder).await
}

/// The format of the log in a folder that no server has, and whether it is the one that this
/// version writes. Writes nothing.
///
/// # Errors
/// [`OpenError`], as [`verify`].
pub fn look(dir: &Path) -> Result<(u32, bool), OpenError> {
    let folder = Folder::take_existing(dir)?;
    let found = format_in(&folder)?;
    Ok((found, found == schema::FORMAT))
}

fn format_in(folder: &Folder) -> Result<u32, OpenError> {
    loss::refuse(folder.path())?;
    let path = folder.path().join(LOG_FILE);
    let look = || {
        schema::open_reader(&path)
            .and_then(|conn| schema::format(&conn))
            .map_err(|error| unusable(folder.path(), &error))
    };
    let found = with_room(folder.path(), look)?;
    match found > schema::FORMAT {
        true => {
            Err(OpenError::Newer { dir: folder.path().to_owned(), found, known: schema::FORMAT })
        }
        false => Ok(found),
    }
}

/// Walks the log of a folder whose lock is held.
pub(crate) async fn verify_in(folder: &Folder) -> Result<Verified, OpenError> {
    format_in(folder)?;
    let readers = Arc::new(Readers::new(folder.path().join(LOG_FILE)));
    let verified = walk_all(&readers).await;
    readers.close();
    Ok(verified)
}
