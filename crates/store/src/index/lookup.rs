//! Searches: the index finds the positions of messages, the log has the messages.

use std::fmt::Write as _;
use std::sync::Arc;

use moothall_engine::ports::{Hit, Hits, LogError, SearchRequest};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::search::query::{Query, Term};
use moothall_kernel::search::tokens::name_key;
use moothall_kernel::search::{searchable, snippet};
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::errors::failed;
use crate::reader::{self, Readers};
use crate::rows::{counter, int};

/// The newest event of the log, by its row. A deletion never removes the newest row, so rows are
/// not reused.
pub(crate) const NEWEST: &str = "SELECT coalesce(max(rowid), 0) FROM events";

/// Messages with these words, newest first.
const BY_WORDS: &str = "SELECT d.doc, d.stream, d.seq FROM texts CROSS JOIN docs d ON d.doc = texts.rowid
    WHERE texts MATCH ?1 AND texts.rowid BETWEEN ?2 AND ?3 AND d.ts >= ?4 AND d.ts < ?5 AND d.stream > 0
    ORDER BY texts.rowid DESC LIMIT ?6";
/// Messages of a time span, newest first, for a query without words.
const BY_TIME: &str = "SELECT doc, stream, seq FROM docs
    WHERE doc BETWEEN ?1 AND ?2 AND ts >= ?3 AND ts < ?4 AND stream > 0 ORDER BY doc DESC LIMIT ?5";

/// A requested stream: its key and head in the log.
type StreamHead = (i64, u64);

/// A message in the index.
struct IndexedMessage {
    doc: i64,
    stream: i64,
    seq: Seq,
}

/// The findings of the index.
#[derive(Default)]
struct LookupResult {
    places: Vec<IndexedMessage>,
    more: bool,
    /// Position of the index in the log, by row.
    through: i64,
    /// Indexed events of the requested streams, added up.
    indexed: u64,
}

/// Returns the messages that match, newest first and at most `limit`, with a cursor for the rest.
/// Events that the index has not read yet are counted in [`Hits::lag`].
pub(crate) async fn search(
    index: &Arc<Readers>,
    log: &Arc<Readers>,
    wanted: &SearchRequest,
    limit: usize,
    cursor: Option<u64>,
) -> Result<Hits, LogError> {
    let streams = wanted.streams.clone();
    let asked = log.read(move |conn| asked(conn, streams.as_deref()).map_err(failed)).await?;
    let (query, streams) = (wanted.query.clone(), asked.clone());
    let places = index
        .read(move |conn| places(conn, &query, streams.as_deref(), limit, cursor).map_err(failed))
        .await?;
    let query = wanted.query.clone();
    log.read(move |conn| hits(conn, &query, asked.as_deref(), places)).await
}

/// Returns the key of a stream in the log, if it began.
pub(crate) fn key_of(conn: &Connection, stream: &StreamId) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT key FROM streams WHERE id = ?1 AND head > 0";
    conn.prepare_cached(sql)?.query_row([stream.as_str()], |row| row.get(0)).optional()
}

/// Returns the short key of a name, if any participant had it.
pub(crate) fn key_of_name(conn: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT key FROM names WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// Returns the key and head of each requested stream that has begun; `None` if all streams are
/// requested.
fn asked(
    conn: &Connection,
    streams: Option<&[StreamId]>,
) -> rusqlite::Result<Option<Vec<StreamHead>>> {
    let Some(streams) = streams else { return Ok(None) };
    let mut find =
        conn.prepare_cached("SELECT key, head FROM streams WHERE id = ?1 AND head > 0")?;
    let mut asked = Vec::new();
    for stream in streams {
        asked.extend(
            find.query_row([stream.as_str()], |row| Ok((row.get(0)?, counter(row, 1)?)))
                .optional()?,
        );
    }
    Ok(Some(asked))
}

/// Finds the positions of at most `limit` messages in the index, older than the cursor, and notes
/// if there are more.
fn places(
    conn: &Connection,
    query: &Query,
    asked: Option<&[StreamHead]>,
    limit: usize,
    cursor: Option<u64>,
) -> rusqlite::Result<LookupResult> {
    let through = conn.query_row("SELECT through FROM place", [], |row| row.get(0))?;
    let mut found =
        LookupResult { through, indexed: indexed(conn, asked)?, ..LookupResult::default() };
    let span = span(conn, query, cursor)?;
    let (Some(match_text), Some((first, last))) = (match_text(conn, query, asked)?, span) else {
        return Ok(found);
    };
    let (after, before) = times(query);
    let at_most = int(limit as u64).saturating_add(1);
    let place = |row: &rusqlite::Row<'_>| {
        Ok(IndexedMessage { doc: row.get(0)?, stream: row.get(1)?, seq: Seq(counter(row, 2)?) })
    };
    found.places = if match_text.is_empty() {
        conn.prepare_cached(BY_TIME)?
            .query_map(params![first, last, after, before, at_most], place)?
            .collect::<Result<_, _>>()?
    } else {
        let values = params![match_text, first, last, after, before, at_most];
        conn.prepare_cached(BY_WORDS)?.query_map(values, place)?.collect::<Result<_, _>>()?
    };
    found.more = found.places.len() > limit;
    found.places.truncate(limit);
    Ok(found)
}

/// Returns the number of indexed events of the requested streams.
fn indexed(conn: &Connection, asked: Option<&[StreamHead]>) -> rusqlite::Result<u64> {
    let mut find = conn.prepare_cached("SELECT indexed_seq FROM streams WHERE stream = ?1")?;
    let mut sum = 0;
    for (key, head) in asked.unwrap_or_default() {
        // The index may be ahead of `head`, which was read from the log before.
        sum +=
            find.query_row([key], |row| counter(row, 0)).optional()?.unwrap_or_default().min(*head);
    }
    Ok(sum)
}

fn times(query: &Query) -> (i64, i64) {
    (
        query.after.map_or(i64::MIN, Timestamp::millis),
        query.before.map_or(i64::MAX, Timestamp::millis),
    )
}

/// Returns the first and last message that can match; `None` if none can. Times are looked up by a
/// walk over `docs`, whose rows are short: an index on times would cost every message more than the
/// few such queries are worth.
fn span(
    conn: &Connection,
    query: &Query,
    cursor: Option<u64>,
) -> rusqlite::Result<Option<(i64, i64)>> {
    let below = cursor.map_or(i64::MAX, int).saturating_sub(1);
    if query.after.is_none() && query.before.is_none() {
        return Ok(Some((1, below)));
    }
    let (after, before) = times(query);
    let sql = "SELECT min(doc), max(doc) FROM docs WHERE ts >= ?1 AND ts < ?2 AND doc <= ?3";
    let ends: (Option<i64>, Option<i64>) = conn
        .prepare_cached(sql)?
        .query_row([after, before, below], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(ends.0.zip(ends.1))
}

/// Returns the query in the index's language. It is empty for a query by time alone, and `None` if
/// nothing can match. It is built from folded words and numbers, so no input is ever read as
/// syntax.
fn match_text(
    conn: &Connection,
    query: &Query,
    asked: Option<&[StreamHead]>,
) -> rusqlite::Result<Option<String>> {
    let mut parts = Vec::new();
    if let Some(asked) = asked {
        parts.push(any_key(asked.iter().map(|(key, _)| format!("s{key}"))));
    }
    if !query.from.is_empty() {
        let keys = query.from.iter().map(|name| key_of_name(conn, &name_key(name)));
        let keys: Vec<Option<i64>> = keys.collect::<Result<_, _>>()?;
        parts.push(any_key(keys.into_iter().flatten().map(|key| format!("f{key}"))));
    }
    parts.extend(query.terms.iter().map(|term| Some(phrase(term))));
    let parts: Option<Vec<String>> = parts.into_iter().collect();
    Ok(parts.map(|parts| parts.join(" AND ")))
}

fn any_key(keys: impl Iterator<Item = String>) -> Option<String> {
    let keys: Vec<String> = keys.map(|key| format!("\"{key}\"")).collect();
    (!keys.is_empty()).then(|| format!("keys : ({})", keys.join(" OR ")))
}

fn phrase(term: &Term) -> String {
    let mut text = format!("words : \"{}\"", term.words.join(" "));
    if term.open {
        let _ = write!(text, " *");
    }
    text
}

/// Reads the messages from the log. Skips messages that changed there since they were indexed.
fn hits(
    conn: &Connection,
    query: &Query,
    asked: Option<&[StreamHead]>,
    places: LookupResult,
) -> Result<Hits, LogError> {
    let newest: i64 = conn
        .prepare_cached(NEWEST)
        .and_then(|mut newest| newest.query_row([], |row| row.get(0)))
        .map_err(failed)?;
    let lag = match asked {
        Some(asked) => {
            asked.iter().map(|(_, head)| head).sum::<u64>().saturating_sub(places.indexed)
        }
        None => newest.saturating_sub(places.through).unsigned_abs(),
    };
    let next = places.places.last().filter(|_| places.more).map(|place| place.doc.unsigned_abs());
    let mut hits = Vec::with_capacity(places.places.len());
    for place in &places.places {
        hits.extend(hit(conn, query, place)?);
    }
    Ok(Hits { hits, next, lag })
}

/// Reads a message from the log. Returns `None` if it was deleted or erased, or does not match the
/// query any more.
fn hit(conn: &Connection, query: &Query, place: &IndexedMessage) -> Result<Option<Hit>, LogError> {
    let id = conn.prepare_cached("SELECT id FROM streams WHERE key = ?1");
    let id = id
        .and_then(|mut id| id.query_row([place.stream], |row| row.get::<_, String>(0)).optional());
    let Some(stream) = id.map_err(failed)?.map(StreamId::new) else { return Ok(None) };
    let Some(before) = place.seq.0.checked_sub(1) else { return Ok(None) };
    let page = match reader::page(conn, &stream, Seq(before), 1) {
        Err(LogError::Deleted(_)) => return Ok(None),
        read => read?,
    };
    let Some(recorded) = page.events.into_iter().next() else { return Ok(None) };
    let snippet = searchable(&recorded.event)
        .filter(|posted| !posted.body.is_empty())
        .and_then(|posted| query.find(&posted.body).map(|marks| snippet(&posted.body, &marks)));
    Ok(snippet.map(|snippet| Hit { stream, recorded, snippet }))
}
