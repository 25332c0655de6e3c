//! The index's own file: its tables, and the check that it matches the log.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use moothall_engine::ports::LogError;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::errors::failed;
use crate::folder;

/// Name of the index in the data folder.
pub(crate) const INDEX_FILE: &str = "search.db";
/// An index of another format is rebuilt.
const FORMAT: i64 = 2;

/// `texts` is contentless: the log has the words already. Its words are cut and folded by the
/// kernel's rules, so the tokenizer has nothing left to decide. `keys` has the author (`f<name>`)
/// and the stream (`s<stream>`), so that filters and words are met in one walk over the index,
/// newest first. Prefixes of three letters have their own index: queries take no shorter ones of
/// ASCII, and longer ones begin few words. Every message is a `doc`, in the order of the log.
/// `names` gives ids and nicknames short keys. `called` has the current nicknames. `place` is the
/// index's position in the log.
const TABLES: &str = "
CREATE TABLE place (through INTEGER NOT NULL, link BLOB NOT NULL, residue INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE streams (stream INTEGER PRIMARY KEY, indexed_seq INTEGER NOT NULL) STRICT;
CREATE TABLE docs (doc INTEGER PRIMARY KEY, stream INTEGER NOT NULL, seq INTEGER NOT NULL, ts INTEGER NOT NULL) STRICT;
CREATE TABLE names (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE called (stream INTEGER NOT NULL, participant TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (stream, participant)) STRICT, WITHOUT ROWID;
CREATE TABLE forgotten (stream INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (stream, seq)) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5(keys, words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '3');
INSERT INTO place (through, link) VALUES (0, x'');
";

/// A redaction may rewrite a large index.
const PATIENCE: Duration = Duration::from_secs(30);
const CACHE_KIB: i64 = 2048;

/// Opens the index. If it is missing, damaged, of another format or of another log, an empty one
/// replaces it, which the indexing thread fills.
pub(crate) fn open(path: &Path, log: &Connection) -> Result<Connection, LogError> {
    if path.exists() {
        match connect(path).and_then(|conn| Ok(fits(&conn, log)?.then_some(conn))) {
            Ok(Some(conn)) => return Ok(conn),
            Ok(None) => tracing::info!("the search index does not match the log; rebuilding it"),
            Err(error) => {
                tracing::warn!(%error, "the search index cannot be read; rebuilding it")
            }
        }
        remove(path)?;
    }
    folder::private_file(path).map_err(|error| LogError::Failed(error.to_string()))?;
    let conn = connect_unsynced(path).map_err(failed)?;
    let transaction = conn.unchecked_transaction().map_err(failed)?;
    transaction
        .execute_batch(TABLES)
        .and_then(|()| transaction.pragma_update(None, "user_version", FORMAT))
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    conn.pragma_update(None, "synchronous", "normal").map_err(failed)?;
    Ok(conn)
}

/// Opens a connection that writes. A power cut loses at most the work of indexing again, so only
/// checkpoints are synced.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let conn = connect_unsynced(path)?;
    conn.pragma_update(None, "synchronous", "normal")?;
    Ok(conn)
}

/// Opens a connection that writes and does not sync. A power cut may damage a file that is filled
/// in this way, which is then rebuilt.
fn connect_unsynced(path: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(PATIENCE)?;
    conn.pragma_update(None, "synchronous", "off")?;
    conn.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(conn)
}

/// True if the index has this version's format, and the log still has the event that the index
/// processed last, in the same row. An empty index fits every log.
fn fits(conn: &Connection, log: &Connection) -> rusqlite::Result<bool> {
    let format: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if format != FORMAT {
        return Ok(false);
    }
    let (through, link): (i64, Vec<u8>) =
        conn.query_row("SELECT through, link FROM place", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let stored = log
        .query_row("SELECT chain FROM events WHERE rowid = ?1", [through], |row| {
            row.get::<_, Vec<u8>>(0)
        })
        .optional()?;
    Ok(stored.unwrap_or_default() == link)
}

/// Returns the newest event that a folder's index has seen, by its row in the log; `None` without a
/// readable index.
pub(crate) fn newest_seen(dir: &Path) -> Option<i64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(dir.join(INDEX_FILE), flags).ok()?;
    conn.query_row("SELECT through FROM place", [], |row| row.get(0)).ok()
}

/// Removes the file of the index and SQLite's two files beside it. A missing file is not an error.
fn remove(path: &Path) -> Result<(), LogError> {
    for end in ["", "-wal", "-shm"] {
        let mut name = OsString::from(path);
        name.push(end);
        match std::fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(LogError::Failed(error.to_string()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
