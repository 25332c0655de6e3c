//! Letting go of what deleted streams hold.
//!
//! The append that deletes a stream takes what is small along. The events go afterwards, a piece at
//! a time, so that nobody else waits long; what a crash interrupts goes on at the next start. Of
//! the stream stay its row and its last two events: the one that says it was deleted, and of the
//! one before nothing but its link, so that the chain can still be followed to its end.

use moothall_engine::crash;
use moothall_engine::log_format::{ChainLink, code_of};
use moothall_engine::ports::{DELETED, DeliveryState, LogError};
use moothall_kernel::ids::{Seq, StreamId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::append::forget_command;
use crate::errors::{Refusal, failed};
use crate::reader::{self, StreamPosition};
use crate::rows::counter;

/// Events in one piece. Their words may be 256 KiB each.
const PIECE: i64 = 256;

/// What goes with the append. Its own claims went before.
pub(crate) fn begin(conn: &Connection, stream: &StreamId, key: i64) -> Result<(), Refusal> {
    conn.prepare_cached("DELETE FROM claims WHERE stream = ?1")?.execute([stream.as_str()])?;
    conn.prepare_cached("DELETE FROM session_rooms WHERE room = ?1")?.execute([stream.as_str()])?;
    for table in ["snapshots", "read_marks", "usage_uncounted"] {
        conn.prepare_cached(&format!("DELETE FROM {table} WHERE stream = ?1"))?.execute([key])?;
    }
    settle_deliveries(conn, key)
}

/// Commands that are still owed hold words, and what came of the settled ones may. Prompts and
/// undoings hold none: whoever carries them finds out that the stream is gone.
fn settle_deliveries(conn: &Connection, key: i64) -> Result<(), Refusal> {
    let sql = "UPDATE deliveries SET state = ?2, evidence = 'its conversation was deleted'
        WHERE stream = ?1 AND state < ?3 AND target GLOB 'stream:*' RETURNING id";
    let (failed, settled) = (code_of(DeliveryState::Failed), code_of(DeliveryState::Done));
    let mut owed = conn.prepare_cached(sql)?;
    let ids: Vec<u64> = owed
        .query_map(params![key, failed, settled], |row| counter(row, 0))?
        .collect::<Result<_, _>>()?;
    ids.into_iter().try_for_each(|id| forget_command(conn, id))?;
    conn.prepare_cached("UPDATE deliveries SET evidence = '' WHERE stream = ?1 AND state >= ?2")?
        .execute(params![key, settled])?;
    Ok(())
}

/// The oldest deleted stream that still holds something. Its row alone is not believed: a bit of
/// that may have changed.
const UNERASED: &str = "SELECT s.key, s.head FROM streams s WHERE s.kind = 'deleted'
        AND EXISTS (SELECT 1 FROM events e WHERE e.stream = s.key AND e.seq = s.head AND e.envelope GLOB '{\"deleted\"*') AND (
        EXISTS (SELECT 1 FROM events e WHERE e.stream = s.key AND e.seq < s.head - 1)
        OR EXISTS (SELECT 1 FROM events e WHERE e.stream = s.key AND e.seq = s.head - 1 AND e.envelope <> ''))
    ORDER BY s.key LIMIT 1";

/// Whether a deleted stream still holds something.
pub(crate) fn is_left(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached(UNERASED)?.exists([])
}

/// Erases a piece; whether there was anything.
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

/// Follows the chain of a deleted stream as far as it goes.
///
/// # Errors
/// Where it is damaged.
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
    let says = page.events.last().is_some_and(|recorded| recorded.event.erases_all())
        || page.newer.is_some();
    if says { Ok(()) } else { Err(damaged("it does not say that the stream was deleted")) }
}

/// Refuses what asks for a deleted stream.
pub(crate) fn refuse(stream: &StreamId, kind: &str) -> Result<(), LogError> {
    if kind == DELETED { Err(LogError::Deleted(stream.clone())) } else { Ok(()) }
}

/// Why there is nothing of this stream: it was deleted, or it never began.
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
