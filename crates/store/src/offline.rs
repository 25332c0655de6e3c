//! Checks a log that no server has open.

use std::path::Path;
use std::sync::Arc;

use moothall_engine::ports::{LogError, Verification};
use rusqlite::Connection;

use crate::audit::{self, Anchor};
use crate::folder::{Folder, LOG_FILE, OpenError, must_have_a_log};
use crate::log::{unusable, with_room};
use crate::loss;
use crate::reader::Readers;
use crate::schema;
use crate::verify::walk_all;

/// Walks the log in a folder as [`Upkeep::verify`](moothall_engine::ports::Upkeep::verify) does.
/// Does not change the log. The folder is locked meanwhile.
///
/// # Errors
/// [`OpenError`]: the folder has no log, a server has it open, a newer version wrote it,
/// acknowledged events are missing, or the file is not a Moothall log.
pub async fn verify(dir: &Path) -> Result<Verification, OpenError> {
    let folder = Folder::take_existing(dir)?;
    verify_in(&folder).await
}

/// The result of a walk along the audit record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditVerified {
    /// Number of rows; `None` if the record's format has no chain.
    pub rows: Option<u64>,
    /// Damaged or missing rows, and an anchor that is not in the chain.
    pub faults: Vec<LogError>,
}

/// Follows the chain of the audit record, and checks that it contains the anchor. A server may be
/// running.
///
/// # Errors
/// [`OpenError`], as [`verify`].
pub fn audit_verify(dir: &Path, anchor: Option<Anchor>) -> Result<AuditVerified, OpenError> {
    beside_a_server(dir, |conn| {
        let mut faults = Vec::new();
        let rows = match audit::walk(conn, &mut faults) {
            Ok(rows) => rows,
            Err(fault) => {
                faults.push(fault);
                // `None` means a record without a chain, and skips the check of the anchor.
                Some(0)
            }
        };
        if let Some(anchor) = anchor.filter(|_| rows.is_some()) {
            faults.extend((!audit::holds(conn, &anchor)?).then(|| audit::left(&anchor)));
        }
        Ok(AuditVerified { rows, faults })
    })
}

/// Returns the anchor of the newest row of the audit record; `None` if the record's format has no
/// chain. A server may be running.
///
/// # Errors
/// [`OpenError`], as [`verify`].
pub fn audit_head(dir: &Path) -> Result<Option<Anchor>, OpenError> {
    beside_a_server(dir, audit::head)
}

/// Runs a query in one read transaction on a log that a server may be writing to.
fn beside_a_server<T>(
    dir: &Path,
    read: impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<T, OpenError> {
    must_have_a_log(dir)?;
    let run = || {
        let conn = schema::open_reader(&dir.join(LOG_FILE))?;
        let moment = conn.unchecked_transaction()?;
        read(&moment)
    };
    with_room(dir, || run().map_err(|error| unusable(dir, &error)))
}

/// Returns the format of the log in a folder that no server uses, and true if this version writes
/// that format. Does not change the log.
///
/// # Errors
/// [`OpenError`], as [`verify`].
pub fn look(dir: &Path) -> Result<(u32, bool), OpenError> {
    let folder = Folder::take_existing(dir)?;
    let found = format_in(&folder)?;
    Ok((found, found == schema::FORMAT))
}

/// Returns the format of the log in a folder. Returns an error if acknowledged events are missing
/// or a newer version wrote the format.
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

/// Walks the log of a locked folder.
pub(crate) async fn verify_in(folder: &Folder) -> Result<Verification, OpenError> {
    format_in(folder)?;
    let readers = Arc::new(Readers::new(folder.path().join(LOG_FILE)));
    let verified = walk_all(&readers).await;
    readers.close();
    Ok(verified)
}
