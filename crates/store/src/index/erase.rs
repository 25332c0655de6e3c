//! Erases words from the index for good.

use std::path::Path;

use moothall_kernel::ids::Seq;
use rusqlite::{Connection, TransactionBehavior};

use super::table;
use crate::rows::int;

/// The part of a stream to erase from the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErasedPart {
    /// The event at this position.
    Event(Seq),
    /// All events of the stream.
    Stream,
}

/// The right to write to the index. One thread at a time has it, in the order of the requests.
///
/// If two checkpoints meet, SQLite refuses one of them immediately, even with a busy timeout.
/// Without this turn an erasure could end while its words are still in the write-ahead log.
pub(crate) type WriteTurn = tokio::sync::Mutex<()>;

/// Removes the words in the calling thread, including their residue in the file. If a reader keeps
/// the residue in the write-ahead log, a later call of [`residue`] removes it.
pub(crate) fn now(
    path: &Path,
    turn: &WriteTurn,
    stream: i64,
    what: ErasedPart,
) -> rusqlite::Result<()> {
    let _turn = turn.blocking_lock();
    let mut conn = table::connect(path)?;
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match what {
        ErasedPart::Event(seq) => entry(&transaction, stream, int(seq.0))?,
        ErasedPart::Stream => all(&transaction, stream)?,
    }
    transaction.commit()?;
    residue(&conn)
}

/// Removes an event's entry. Its number in the index stays taken, since cursors may hold it.
pub(crate) fn entry(conn: &Connection, stream: i64, seq: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR IGNORE INTO forgotten (stream, seq) VALUES (?1, ?2)")?
        .execute([stream, seq])?;
    let doc = "SELECT doc FROM docs WHERE stream = ?1 AND seq = ?2";
    let docs: Vec<i64> = conn
        .prepare_cached(doc)?
        .query_map([stream, seq], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for doc in docs {
        conn.prepare_cached("DELETE FROM texts WHERE rowid = ?1")?.execute([doc])?;
        conn.prepare_cached("UPDATE docs SET stream = 0, seq = 0 WHERE doc = ?1")?
            .execute([doc])?;
        conn.prepare_cached("UPDATE place SET residue = 1")?.execute([])?;
    }
    Ok(())
}

/// In `forgotten`, the position that stands for all events of a stream.
pub(crate) const EVERY_PLACE: i64 = 0;

/// Removes all entries of a stream, and keeps later ones from being added.
pub(crate) fn all(conn: &Connection, stream: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM forgotten WHERE stream = ?1")?.execute([stream])?;
    conn.prepare_cached("INSERT INTO forgotten (stream, seq) VALUES (?1, ?2)")?
        .execute([stream, EVERY_PLACE])?;
    conn.prepare_cached("DELETE FROM called WHERE stream = ?1")?.execute([stream])?;
    conn.prepare_cached(
        "DELETE FROM texts WHERE rowid IN (SELECT doc FROM docs WHERE stream = ?1)",
    )?
    .execute([stream])?;
    if conn
        .prepare_cached("UPDATE docs SET stream = 0, seq = 0 WHERE stream = ?1")?
        .execute([stream])?
        > 0
    {
        conn.prepare_cached("UPDATE place SET residue = 1")?.execute([])?;
    }
    Ok(())
}

/// Rewrites the index and its file if removed entries left residue. FTS5 only marks an entry as
/// deleted, and free pages keep their old content. If a reader keeps the WAL from being truncated,
/// the mark stays and the next call retries.
pub(crate) fn residue(conn: &Connection) -> rusqlite::Result<()> {
    if !conn.prepare_cached("SELECT residue FROM place")?.query_row([], |row| row.get(0))? {
        return Ok(());
    }
    conn.execute_batch("INSERT INTO texts (texts) VALUES ('optimize'); VACUUM;")?;
    let busy: bool = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if !busy {
        conn.execute("UPDATE place SET residue = 0", [])?;
    }
    Ok(())
}
