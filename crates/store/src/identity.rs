//! The id of a log, by which clients tell whether a position of theirs is one of this log.
//!
//! A restored log counts on from an older position, so its numbers come to mean other events. It
//! therefore gets another id when it is opened: a backup has none, a copy is another file, and an
//! older log that was put in place of a newer one has lost the search index that followed the
//! newer one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rusqlite::{Connection, OptionalExtension};

use crate::folder::LOG_FILE;
use crate::index::INDEX_FILE;

const ID: &str = "log";
/// The file that the log was when it got its id.
const FILE: &str = "file";

/// Takes the id away from a copy, so that each server that begins with it makes another.
pub(crate) fn forget(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute("DELETE FROM meta WHERE key IN (?1, ?2)", [ID, FILE]).map(drop)
}

/// Returns the id of the log in a folder. Makes another if this is not the log that has it.
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

/// Returns what tells a file from its copies: its number, and the time it was made, if the system
/// knows it.
fn file_of(path: &Path) -> String {
    let Ok(file) = fs::metadata(path) else { return String::new() };
    let made = file.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    format!("{}:{}", file.ino(), made.map_or(0, |made| made.as_nanos()))
}

/// True if the log has events and no search index. The operator removes the index to put an older
/// log in place, since a newer one beside it is refused.
fn lost_its_index(conn: &Connection, dir: &Path) -> rusqlite::Result<bool> {
    let begun = "SELECT EXISTS (SELECT 1 FROM streams WHERE head > 0)";
    Ok(!dir.join(INDEX_FILE).exists() && conn.query_row(begun, [], |row| row.get(0))?)
}
