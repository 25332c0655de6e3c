//! Read marks: a row for each reader and stream.

use moothall_engine::ports::UnreadCount;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::errors::Refusal;
use crate::rows::{counter, int};

/// Returns a reader's mark in a stream, and the mark after reading up to `seq`. `None` if the
/// stream never began or was deleted.
pub(crate) fn place(
    conn: &Connection,
    reader: &ParticipantId,
    stream: &StreamId,
    seq: Seq,
) -> rusqlite::Result<Option<(Seq, Seq)>> {
    let sql = "SELECT s.head, coalesce(m.seq, 0) FROM streams s LEFT JOIN read_marks m ON m.stream = s.key AND m.reader = ?1
        WHERE s.id = ?2 AND s.head > 0 AND s.kind <> 'deleted'";
    let row = |row: &rusqlite::Row<'_>| Ok((Seq(counter(row, 1)?), seq.min(Seq(counter(row, 0)?))));
    let found =
        conn.prepare_cached(sql)?.query_row([reader.as_str(), stream.as_str()], row).optional()?;
    Ok(found.map(|(now, wanted)| (now, now.max(wanted))))
}

/// Moves a mark forward. The head never goes back, so the position from [`place`] is still valid.
pub(crate) fn advance(
    conn: &Connection,
    reader: &ParticipantId,
    stream: &StreamId,
    seq: Seq,
) -> Result<Seq, Refusal> {
    let sql =
        "INSERT INTO read_marks (reader, stream, seq) SELECT ?1, key, ?3 FROM streams WHERE id = ?2
        ON CONFLICT (reader, stream) DO UPDATE SET seq = max(seq, excluded.seq) RETURNING seq";
    let values = params![reader.as_str(), stream.as_str(), int(seq.0)];
    let seq = conn.prepare_cached(sql)?.query_row(values, |row| counter(row, 0)).optional()?;
    Ok(Seq(seq.unwrap_or_default()))
}

/// Counts messages of others after a position. Erased messages have no body and do not count.
const MESSAGES: &str = "SELECT count(*) FROM (SELECT 1 FROM events
    WHERE stream = (SELECT key FROM streams WHERE id = ?1) AND seq > ?2 AND body IS NOT NULL
    AND envelope GLOB '{\"posted\"*' AND json_extract(envelope, '$.posted.from') <> ?3 LIMIT ?4)";

/// Returns a reader's mark and number of unread messages in each of these streams. No number is
/// above `most`.
pub(crate) fn unread(
    conn: &Connection,
    reader: &ParticipantId,
    streams: &[StreamId],
    most: usize,
) -> rusqlite::Result<Vec<UnreadCount>> {
    let count = |stream: &StreamId| {
        let Some((read, _)) = place(conn, reader, stream, Seq(0))? else {
            return Ok(UnreadCount::default());
        };
        let values = params![stream.as_str(), int(read.0), reader.as_str(), int(most as u64)];
        let messages = conn.prepare_cached(MESSAGES)?.query_row(values, |row| counter(row, 0))?;
        Ok(UnreadCount { read, messages: usize::try_from(messages).unwrap_or(most) })
    };
    streams.iter().map(count).collect()
}
