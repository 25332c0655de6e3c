//! Erases the contents of deleted streams.
//!
//! The append that deletes a stream also removes its small rows. The events go afterwards, one
//! piece at a time, so that other writes do not wait long. After a crash the next start continues,
//! or a repeated or later deletion does. Two events of the stream stay, with its row: `Deleted`
//! itself, and the link of the event before it, from which the chain can still be checked
//! (decisions/0037).

use moothall_engine::crash;
use moothall_engine::log_format::{ChainLink, code_of};
use moothall_engine::ports::{DELETED, DeliveryState, LogError};
use moothall_kernel::ids::{Seq, StreamId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::append::forget_command;
use crate::errors::{Refusal, failed};
use crate::posts;
use crate::reader::{self, StreamPosition};
use crate::rows::counter;

/// Events in one piece. Each body may have 256 KiB.
const PIECE: i64 = 256;

/// Removes the stream's small rows in the append that deletes it. Runs after the append's own
/// claims are written, so these go too.
pub(crate) fn begin(conn: &Connection, stream: &StreamId, key: i64) -> Result<(), Refusal> {
    conn.prepare_cached("DELETE FROM claims WHERE stream = ?1")?.execute([stream.as_str()])?;
    conn.prepare_cached("DELETE FROM session_rooms WHERE room = ?1")?.execute([stream.as_str()])?;
    for table in ["snapshots", "read_marks", "usage_uncounted"] {
        conn.prepare_cached(&format!("DELETE FROM {table} WHERE stream = ?1"))?.execute([key])?;
    }
    settle_deliveries(conn, key)
}

/// Fails the commands that the stream still owes to other streams, and removes their words. Removes
/// the words of open rows for computers too; these rows stay open. Removes the evidence of all
/// settled deliveries. Prompts and cancellations contain no words; their handler finds the stream
/// deleted.
fn settle_deliveries(conn: &Connection, key: i64) -> Result<(), Refusal> {
    let sql = "UPDATE deliveries SET state = ?2 WHERE stream = ?1 AND state < ?3 AND target GLOB 'stream:*' RETURNING id";
    let (failed, settled) = (code_of(DeliveryState::Failed), code_of(DeliveryState::Done));
    let mut owed = conn.prepare_cached(sql)?;
    let ids: Vec<u64> = owed
        .query_map(params![key, failed, settled], |row| counter(row, 0))?
        .collect::<Result<_, _>>()?;
    ids.into_iter().try_for_each(|id| forget_command(conn, id))?;
    posts::forget_words(conn, key)?;
    conn.prepare_cached("UPDATE deliveries SET evidence = '' WHERE stream = ?1 AND state >= ?2")?
        .execute(params![key, settled])?;
    Ok(())
}

/// The oldest deleted stream that still has contents. The `deleted` event must be there too: a bit
/// error in the row must not erase a stream.
const UNERASED: &str = "SELECT s.key, s.head FROM streams s WHERE s.kind = 'deleted'
        AND EXISTS (SELECT 1 FROM events e WHERE e.stream = s.key AND e.seq = s.head AND e.envelope GLOB '{\"deleted\"*') AND (
        EXISTS (SELECT 1 FROM events e WHERE e.stream = s.key AND e.seq < s.head - 1)
        OR EXISTS (SELECT 1 FROM events e WHERE e.stream = s.key AND e.seq = s.head - 1 AND e.envelope <> ''))
    ORDER BY s.key LIMIT 1";

/// True if a deleted stream still has contents.
pub(crate) fn is_left(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached(UNERASED)?.exists([])
}

/// Erases one piece of the contents of deleted streams. Returns false if none was left.
pub(crate) fn erase_some(conn: &Connection) -> Result<bool, Refusal> {
    let place = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let Some((key, head)) = conn.prepare_cached(UNERASED)?.query_row([], place).optional()? else {
        return Ok(false);
    };
    let oldest = "DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE stream = ?1 AND seq < ?2 ORDER BY seq LIMIT ?3)";
    let erased = conn.prepare_cached(oldest)?.execute([key, head - 1, PIECE])?;
    crash::point("deletion_erasing");
    if (erased as i64) < PIECE {
        let last = "UPDATE events SET envelope = '', body = NULL, body_hash = NULL WHERE stream = ?1 AND seq = ?2";
        conn.prepare_cached(last)?.execute([key, head - 1])?;
    }
    Ok(true)
}

/// Checks the chain of a deleted stream from the link that is left.
///
/// # Errors
/// The chain is damaged, or the stream does not end with `Deleted`.
pub(crate) fn check(
    conn: &Connection,
    stream: &StreamId,
    place: &StreamPosition,
) -> Result<(), LogError> {
    let before = Seq(place.head.0.saturating_sub(1));
    let damaged = |reason: &str| LogError::Damaged {
        stream: stream.clone(),
        seq: place.head,
        reason: reason.into(),
    };
    let link: ChainLink = reader::link_at(conn, place, stream, before)?
        .ok_or_else(|| damaged("the checksum before it is missing"))?;
    let page = reader::page_after(conn, stream, place, before, link, 1)?;
    // The last event may be of a newer version, which this one cannot read.
    let says = page.events.last().is_some_and(|recorded| recorded.event.erases_all())
        || page.newer.is_some();
    if says { Ok(()) } else { Err(damaged("it does not record that the stream was deleted")) }
}

/// Rejects a request for a deleted stream.
pub(crate) fn refuse(stream: &StreamId, kind: &str) -> Result<(), LogError> {
    if kind == DELETED { Err(LogError::Deleted(stream.clone())) } else { Ok(()) }
}

/// Returns the error for a missing stream: it was deleted, or it never began.
pub(crate) fn absent(conn: &Connection, stream: &StreamId) -> LogError {
    let kind = conn.prepare_cached("SELECT kind FROM streams WHERE id = ?1 AND head > 0");
    let kind = kind.and_then(|mut kind| {
        kind.query_row([stream.as_str()], |row| row.get::<_, String>(0)).optional()
    });
    match kind {
        Ok(Some(kind)) => {
            refuse(stream, &kind).err().unwrap_or_else(|| LogError::NotFound(stream.clone()))
        }
        Ok(None) => LogError::NotFound(stream.clone()),
        Err(error) => failed(error),
    }
}
