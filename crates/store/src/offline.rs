//! Checking a log that no server has open.

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

/// Walks the log in a folder as [`Upkeep::verify`](moothall_engine::ports::Upkeep::verify) does,
/// and writes nothing. The folder is locked meanwhile.
///
/// # Errors
/// [`OpenError`]: there is no log, a server has it open, a newer version wrote it, or it is none of
/// ours.
pub async fn verify(dir: &Path) -> Result<Verification, OpenError> {
    let folder = Folder::take_existing(dir)?;
    verify_in(&folder).await
}

/// The result of a walk along the audit record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditVerified {
    /// The number of rows; nothing if the record is of a format that has no chain.
    pub rows: Option<u64>,
    /// Rows that are damaged or missing, and an anchor that the chain does not go through.
    pub faults: Vec<LogError>,
}

/// Follows the chain of the audit record, and holds it to an anchor. A server may be running.
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
                Some(0)
            }
        };
        if let Some(anchor) = anchor.filter(|_| rows.is_some()) {
            faults.extend((!audit::holds(conn, &anchor)?).then(|| audit::left(&anchor)));
        }
        Ok(AuditVerified { rows, faults })
    })
}

/// The anchor of the newest row of the audit record; nothing if the record is of a format that has
/// no chain. A server may be running.
///
/// # Errors
/// [`OpenError`], as [`verify`].
pub fn audit_head(dir: &Path) -> Result<Option<Anchor>, OpenError> {
    beside_a_server(dir, audit::head)
}

/// Reads one moment of a log that a server may be writing to.
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
pub(crate) async fn verify_in(folder: &Folder) -> Result<Verification, OpenError> {
    format_in(folder)?;
    let readers = Arc::new(Readers::new(folder.path().join(LOG_FILE)));
    let verified = walk_all(&readers).await;
    readers.close();
    Ok(verified)
}
