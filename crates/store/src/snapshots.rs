//! States of streams, stored so that a load need not fold all events. A row that does not match its
//! log counts as missing.

use moothall_engine::log_format::codec::{self, DecodedEvent};
use moothall_engine::log_format::{ChainLink, snapshot_sum};
use moothall_engine::ports::{
    LogError, SNAPSHOT_BEHIND_MAX, SNAPSHOT_BYTES_MAX, Snapshot, StreamStart,
};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::errors::{Refusal, failed};
use crate::reader::{self, StreamPosition};
use crate::rows::{counter, int};

/// A snapshot and its stored checksum.
struct Row {
    snapshot: Snapshot,
    sum: Vec<u8>,
}

impl Row {
    fn of(conn: &Connection, stream: i64) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT version, head, state, checksum FROM snapshots WHERE stream = ?1";
        let found = conn.prepare_cached(sql)?.query_row([stream], |row| {
            let snapshot =
                Snapshot { version: row.get(0)?, head: Seq(counter(row, 1)?), bytes: row.get(2)? };
            Ok(Self { snapshot, sum: row.get(3)? })
        });
        found.optional()
    }

    /// True if the checksum matches the snapshot and the event at its head.
    fn is_whole(&self, link: Option<ChainLink>) -> bool {
        link.is_some_and(|link| snapshot_sum(&self.snapshot, link) == *self.sum)
    }
}

/// Loads a stream: its usable snapshot, and the first page of events after it.
pub(crate) fn load(
    conn: &Connection,
    stream: &StreamId,
    version: u32,
    limit: usize,
) -> Result<StreamStart, LogError> {
    let place = reader::place(conn, stream)?;
    let snapshot = usable(conn, stream, &place, version);
    let after = snapshot.as_ref().map_or(Seq(0), |snapshot| snapshot.head);
    let page = reader::page_at(conn, stream, &place, after, limit)?;
    Ok(StreamStart { kind: place.kind, snapshot, page })
}

/// Returns the snapshot of this version if it matches the log. An error only means "no snapshot",
/// because the events are there.
fn usable(
    conn: &Connection,
    stream: &StreamId,
    place: &StreamPosition,
    version: u32,
) -> Option<Snapshot> {
    let row = Row::of(conn, place.key).ok()??;
    let fits = row.snapshot.version == version
        && row.snapshot.head > Seq(0)
        && row.snapshot.head <= place.head;
    let link =
        if fits { reader::link_at(conn, place, stream, row.snapshot.head).ok()? } else { None };
    row.is_whole(link).then_some(row.snapshot)
}

/// Returns the stored snapshot of a stream, even if it cannot be used. A log of an earlier version
/// has none.
///
/// # Errors
/// The snapshot does not match its checksum.
pub(crate) fn stored(conn: &Connection, stream: &StreamId) -> Result<Option<Snapshot>, LogError> {
    let place = reader::place(conn, stream)?;
    let known = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'snapshots'";
    if !conn
        .prepare_cached(known)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(failed)?
    {
        return Ok(None);
    }
    let damaged = |seq| LogError::Damaged {
        stream: stream.clone(),
        seq,
        reason: "the snapshot of a stream is damaged and is not used".into(),
    };
    let Some(row) = Row::of(conn, place.key).map_err(|_| damaged(Seq(0)))? else { return Ok(None) };
    let link = reader::link_at(conn, &place, stream, row.snapshot.head)?;
    if row.is_whole(link) { Ok(Some(row.snapshot)) } else { Err(damaged(row.snapshot.head)) }
}

/// Stores a snapshot. Returns false if it is not newer than the stored one of the same version, is
/// too large or too far behind the head, has no event at its head, or may contain erased words.
pub(crate) fn put(
    conn: &Connection,
    stream: &StreamId,
    snapshot: &Snapshot,
) -> Result<bool, Refusal> {
    let sql = "SELECT s.key, s.head, e.chain, n.version, n.head FROM streams s JOIN events e ON e.stream = s.key AND e.seq = ?2
        LEFT JOIN snapshots n ON n.stream = s.key WHERE s.id = ?1";
    let found = conn.prepare_cached(sql)?.query_row(
        params![stream.as_str(), int(snapshot.head.0)],
        |row| {
            let kept = row.get::<_, Option<u32>>(3)?.zip(row.get::<_, Option<i64>>(4)?);
            Ok((
                row.get::<_, i64>(0)?,
                counter(row, 1)?,
                ChainLink::from_stored(row.get_ref(2)?.as_blob()?),
                kept,
            ))
        },
    );
    let Some((key, head, Some(link), kept)) = found.optional()? else { return Ok(false) };
    let older = kept
        .is_none_or(|(version, head)| version != snapshot.version || head < int(snapshot.head.0));
    let fits =
        snapshot.bytes.len() <= SNAPSHOT_BYTES_MAX && head - snapshot.head.0 <= SNAPSHOT_BEHIND_MAX;
    if !older || !fits || is_erased_after(conn, key, snapshot.head)? {
        return Ok(false);
    }
    let sql = "INSERT OR REPLACE INTO snapshots (stream, version, head, state, checksum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let sum = snapshot_sum(snapshot, link);
    conn.prepare_cached(sql)?.execute(params![
        key,
        snapshot.version,
        int(snapshot.head.0),
        snapshot.bytes,
        sum.as_slice()
    ])?;
    Ok(true)
}

/// True if an event after `head` erases words at or before it. An unreadable event counts as one
/// that does.
fn is_erased_after(conn: &Connection, stream: i64, head: Seq) -> Result<bool, Refusal> {
    let mut statement =
        conn.prepare_cached("SELECT envelope FROM events WHERE stream = ?1 AND seq > ?2")?;
    let mut rows = statement.query(params![stream, int(head.0)])?;
    while let Some(row) = rows.next()? {
        let erases = match codec::decode(
            head,
            Timestamp::default(),
            row.get_ref(0)?.as_str().unwrap_or_default(),
            None,
        ) {
            DecodedEvent::Event(recorded) => {
                recorded.event.erases_all() || recorded.event.erases().any(|seq| seq <= head)
            }
            DecodedEvent::Newer(_) | DecodedEvent::Damaged(_) => true,
        };
        if erases {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes a snapshot that may contain words of the event at `seq`.
pub(crate) fn forget(conn: &Connection, stream: i64, seq: Seq) -> Result<(), Refusal> {
    conn.prepare_cached("DELETE FROM snapshots WHERE stream = ?1 AND head >= ?2")?
        .execute([stream, int(seq.0)])?;
    Ok(())
}
