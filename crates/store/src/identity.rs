//! The id of a log, by which clients tell if their position belongs to this log.
//!
//! A restored log continues from an older position, so its numbers come to mean other events. It
//! therefore gets another id when it is opened. Three signs show a restored log: a backup has no
//! id, a copy is another file, and an older log put in place of a newer one has lost the newer
//! one's search index.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rusqlite::{Connection, OptionalExtension};

use crate::folder::LOG_FILE;
use crate::index::INDEX_FILE;

const ID: &str = "log";
/// The file that had the log when the id was made.
const FILE: &str = "file";

/// Removes the id from a copy, so that each server started on it makes another.
pub(crate) fn forget(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute("DELETE FROM meta WHERE key IN (?1, ?2)", [ID, FILE]).map(drop)
}

/// Returns the id of the log in a folder. Makes another if the id belongs to a different file or
/// the log lost its index.
pub(crate) fn of(conn: &Connection, dir: &Path) -> rusqlite::Result<String> {
    let file = file_of(&dir.join(LOG_FILE));
    let known = value(conn, ID)?.filter(|id| !id.is_empty());
    let is_same = value(conn, FILE)? == Some(file.clone()) && !lost_its_index(conn, dir)?;
    if let Some(id) = known.filter(|_| is_same) {
        return Ok(id);
    }
    let id: String = conn.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))?;
    let transaction = conn.unchecked_transaction()?;
    for (key, value) in [(ID, &id), (FILE, &file)] {
        transaction
            .execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", [key, value])?;
    }
    transaction.commit()?;
    Ok(id)
}

fn value(conn: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

/// Returns values that differ between a file and its copies: the inode number and, if the system
/// knows it, the creation time.
fn file_of(path: &Path) -> String {
    let Ok(file) = fs::metadata(path) else { return String::new() };
    let made = file.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    format!("{}:{}", file.ino(), made.map_or(0, |made| made.as_nanos()))
}

/// True if the log has events but no search index. An operator removes the index to put an older
/// log in place, since an older log beside a newer index is refused.
fn lost_its_index(conn: &Connection, dir: &Path) -> rusqlite::Result<bool> {
    let begun = "SELECT EXISTS (SELECT 1 FROM streams WHERE head > 0)";
    Ok(!dir.join(INDEX_FILE).exists() && conn.query_row(begun, [], |row| row.get(0))?)
}
