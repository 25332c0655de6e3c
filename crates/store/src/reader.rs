//! Reads through a few connections that only read. Each runs one short transaction at a time,
//! outside the async threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use moothall_engine::log_format::{ChainLink, StoredEvent};
use moothall_engine::ports::{
    Claim, Delivery, DeliveryState, ListFilter, ListPage, ListedStream, LogError, PAGE_BYTES_MAX,
    Page, Target,
};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::sync::Semaphore;

use crate::deletion;
use crate::errors::failed;
use crate::rows::{self, counter, int};
use crate::schema;

/// Maximum number of parallel readers. More would only share the same cores.
const READERS: usize = 4;

/// The pool of read connections.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Runs a query in a read transaction, so that all of it sees the same moment.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let turn = self
            .turns
            .clone()
            .acquire_owned()
            .await
            .map_err(|error| LogError::Failed(error.to_string()))?;
        let readers = self.clone();
        // The permit moves into the task: the query keeps it even if the caller has gone.
        let query = move || {
            let result = readers.run(query);
            drop(turn);
            result
        };
        tokio::task::spawn_blocking(query)
            .await
            .unwrap_or_else(|error| Err(LogError::Failed(error.to_string())))
    }

    /// Runs a query in a read transaction on an idle or new connection. The connection is kept only
    /// if its transaction ended without an error.
    fn run<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let conn = self.take().map_err(failed)?;
        let transaction = conn.unchecked_transaction().map_err(failed)?;
        let result = query(&transaction);
        transaction.finish().map_err(failed)?;
        // Reached only if the transaction ended. A connection with an error is dropped instead.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        result
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| schema::open_reader(&self.path), Ok)
    }

    /// Closes the idle connections.
    pub(crate) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A stream's position in the log, and the link that its newest event must have.
pub(crate) struct StreamPosition {
    pub(crate) key: i64,
    pub(crate) head: Seq,
    link: Option<ChainLink>,
    /// Kind of the stream.
    pub(crate) kind: String,
}

/// Returns the position of a stream that has events and was not deleted.
pub(crate) fn place(conn: &Connection, stream: &StreamId) -> Result<StreamPosition, LogError> {
    let place = any_place(conn, stream)?;
    deletion::refuse(stream, &place.kind)?;
    Ok(place)
}

/// Returns the position of a stream that has events, even if it was deleted.
pub(crate) fn any_place(conn: &Connection, stream: &StreamId) -> Result<StreamPosition, LogError> {
    let sql = "SELECT key, head, chain, kind FROM streams WHERE id = ?1 AND head > 0";
    let found = conn.prepare_cached(sql).and_then(|mut statement| {
        let query = statement.query_row([stream.as_str()], |row| {
            Ok(StreamPosition {
                key: row.get(0)?,
                head: Seq(counter(row, 1)?),
                link: ChainLink::from_stored(row.get_ref(2)?.as_blob()?),
                kind: row.get(3)?,
            })
        });
        query.optional()
    });
    found
        .map_err(|error| row_fault(stream, error))?
        .ok_or_else(|| LogError::NotFound(stream.clone()))
}

/// Converts an error on reading a stream's row in the catalog. A changed bit may have turned a text
/// into a number.
pub(crate) fn row_fault(stream: &StreamId, error: rusqlite::Error) -> LogError {
    match error {
        rusqlite::Error::SqliteFailure(..) => failed(error),
        other => LogError::Damaged {
            stream: stream.clone(),
            seq: Seq(0),
            reason: format!("its row in the catalog cannot be read: {other}"),
        },
    }
}

/// Reads a page of events after a position, and checks each event against the chain. A damaged
/// event rejects the whole page.
pub(crate) fn page(
    conn: &Connection,
    stream: &StreamId,
    after: Seq,
    limit: usize,
) -> Result<Page, LogError> {
    page_at(conn, stream, &place(conn, stream)?, after, limit)
}

/// Reads a page of a stream whose place is known.
pub(crate) fn page_at(
    conn: &Connection,
    stream: &StreamId,
    place: &StreamPosition,
    after: Seq,
    limit: usize,
) -> Result<Page, LogError> {
    if after >= place.head || limit == 0 {
        return Ok(Page { through: after, ..Page::default() });
    }
    let missing = || LogError::Damaged {
        stream: stream.clone(),
        seq: after,
        reason: "its checksum is missing".into(),
    };
    let link = link_at(conn, place, stream, after)?.ok_or_else(missing)?;
    page_after(conn, stream, place, after, link, limit)
}

/// Reads a page after an event whose link is known.
pub(crate) fn page_after(
    conn: &Connection,
    stream: &StreamId,
    place: &StreamPosition,
    after: Seq,
    mut link: ChainLink,
    limit: usize,
) -> Result<Page, LogError> {
    let mut page = Page { through: after, ..Page::default() };
    let damaged = |seq: Seq, reason: &str| LogError::Damaged {
        stream: stream.clone(),
        seq,
        reason: reason.into(),
    };
    let last = Seq(place.head.0.min(after.0.saturating_add(limit as u64)));
    let broken = |seq: Seq, error: rusqlite::Error| damaged(seq, &error.to_string());

    let sql = "SELECT seq, ts, envelope, body, body_hash, chain FROM events WHERE stream = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq";
    let mut statement = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows =
        statement.query(params![place.key, int(after.0), int(last.0)]).map_err(failed)?;
    let mut bytes = 0;
    while page.through < last {
        let seq = page.through.next();
        let row = rows
            .next()
            .map_err(|error| broken(seq, error))?
            .ok_or_else(|| damaged(seq, "it is missing"))?;
        let stored = stored(row).map_err(|error| broken(seq, error))?;
        bytes += stored.bytes();
        // An event larger than a page is returned alone, because each page must advance.
        if bytes > PAGE_BYTES_MAX && page.through > after {
            return Ok(page);
        }
        link = stored.check(seq, link).map_err(|reason| damaged(seq, reason))?;
        stored.add_to(&mut page).map_err(|reason| damaged(seq, &reason))?;
    }
    if page.through == place.head && Some(link) != place.link {
        return Err(damaged(last, "the checksum in the stream's row differs"));
    }
    Ok(page)
}

/// Messages from the newest on, each with the link of the event before it. Uses only the index of
/// messages.
pub(crate) const MESSAGES_BEFORE: &str = "SELECT e.seq, e.ts, e.envelope, e.body, e.body_hash, e.chain, p.chain
    FROM events e INDEXED BY events_said LEFT JOIN events p ON p.stream = e.stream AND p.seq = e.seq - 1
    WHERE e.stream = ?1 AND e.seq < ?2 AND e.envelope GLOB '{\"posted\"*' ORDER BY e.seq DESC LIMIT ?3";

/// Returns messages before a position, newest first: at most `limit`, and as many as fit on a page.
/// Each is checked against its link in the chain.
pub(crate) fn messages_before(
    conn: &Connection,
    stream: &StreamId,
    before: Seq,
    limit: usize,
) -> Result<Vec<RecordedEvent>, LogError> {
    let place = place(conn, stream)?;
    let mut statement = conn.prepare_cached(MESSAGES_BEFORE).map_err(failed)?;
    let before = before.0.min(place.head.0.saturating_add(1));
    let mut rows =
        statement.query(params![place.key, int(before), int(limit as u64)]).map_err(failed)?;
    let (mut page, mut bytes) = (Page::default(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        let seq = Seq(counter(row, 0).map_err(failed)?);
        let damaged =
            |reason: &str| LogError::Damaged { stream: stream.clone(), seq, reason: reason.into() };
        let stored = stored(row).map_err(|error| damaged(&error.to_string()))?;
        bytes += stored.bytes();
        if bytes > PAGE_BYTES_MAX && !page.events.is_empty() {
            break;
        }
        let before = match row.get_ref(6).map_err(failed)? {
            ValueRef::Blob(link) => ChainLink::from_stored(link),
            _ if seq == Seq(1) => Some(ChainLink::origin(stream)),
            _ => None,
        };
        stored
            .check(seq, before.ok_or_else(|| damaged("the checksum before it is missing"))?)
            .map_err(damaged)?;
        stored.add_to(&mut page).map_err(|reason| damaged(&reason))?;
    }
    Ok(page.events)
}

/// Returns the link of an event.
pub(crate) fn link_at(
    conn: &Connection,
    place: &StreamPosition,
    stream: &StreamId,
    seq: Seq,
) -> Result<Option<ChainLink>, LogError> {
    if seq == Seq(0) {
        return Ok(Some(ChainLink::origin(stream)));
    }
    let sql = "SELECT chain FROM events WHERE stream = ?1 AND seq = ?2";
    let found = conn.prepare_cached(sql).and_then(|mut statement| {
        let query = statement.query_row([place.key, int(seq.0)], |row| {
            Ok(ChainLink::from_stored(row.get_ref(0)?.as_blob()?))
        });
        query.optional()
    });
    found.map(Option::flatten).map_err(failed)
}

/// Reads a row of `events`, not yet trusted.
fn stored<'a>(row: &'a Row<'_>) -> rusqlite::Result<StoredEvent<'a>> {
    Ok(StoredEvent {
        seq: Seq(counter(row, 0)?),
        ts: Timestamp::from_millis(row.get(1)?),
        envelope: row.get_ref(2)?.as_bytes()?,
        body: bytes(row.get_ref(3)?)?,
        erased: bytes(row.get_ref(4)?)?,
        link: row.get_ref(5)?.as_bytes()?,
    })
}

fn bytes(value: ValueRef<'_>) -> rusqlite::Result<Option<&[u8]>> {
    match value {
        ValueRef::Null => Ok(None),
        present => Ok(Some(present.as_bytes()?)),
    }
}

pub(crate) fn find(conn: &Connection, stream: &StreamId) -> rusqlite::Result<Option<ListedStream>> {
    let sql = "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people
        FROM streams WHERE id = ?1 AND head > 0";
    let found = conn.prepare_cached(sql)?.query_row([stream.as_str()], rows::listed).optional()?;
    Ok(found.map(|(_, listed)| listed))
}

/// Streams with duties come from one index and streams to wake from another, so quiet streams are
/// not read.
pub(crate) const DUE: &str = "SELECT id FROM streams WHERE head > 0 AND key IN (
        SELECT key FROM streams INDEXED BY streams_with_duties WHERE has_duties = 1
        UNION ALL SELECT key FROM streams INDEXED BY streams_to_wake WHERE next_wake <= ?1)
    ORDER BY key";

pub(crate) fn due(conn: &Connection, now: Timestamp) -> rusqlite::Result<Vec<StreamId>> {
    let mut statement = conn.prepare_cached(DUE)?;
    let ids = statement.query_map([now.millis()], |row| row.get::<_, String>(0))?;
    ids.map(|id| id.map(StreamId::new)).collect()
}

pub(crate) const NEXT_WAKE: &str =
    "SELECT next_wake FROM streams WHERE next_wake IS NOT NULL ORDER BY next_wake LIMIT 1";

pub(crate) fn next_wake(conn: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    let wake = conn.prepare_cached(NEXT_WAKE)?.query_row([], |row| row.get(0)).optional()?;
    Ok(wake.map(Timestamp::from_millis))
}

/// Streams with duties come from one index and streams that wait for a person from another, so
/// quiet streams are not read.
pub(crate) const MARKED: &str = "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people
    FROM streams WHERE head > 0 AND archived = 0 AND kind <> 'deleted' AND key > ?1 AND (?3 IS NULL OR kind = ?3) AND key IN (
        SELECT key FROM streams INDEXED BY streams_with_duties WHERE has_duties = 1
        UNION ALL SELECT key FROM streams INDEXED BY streams_waiting WHERE waits_for_people > 0)
    ORDER BY key LIMIT ?2";

/// Returns the query for a filter. With `marked`, the filter's `archived` is ignored, and only
/// streams that are not archived are listed.
fn list_sql(filter: &ListFilter) -> &'static str {
    if filter.marked {
        return MARKED;
    }
    match filter.archived {
        None => {
            "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people
            FROM streams WHERE head > 0 AND kind <> 'deleted' AND key > ?1 AND (?3 IS NULL OR kind = ?3) ORDER BY key LIMIT ?2"
        }
        Some(false) => {
            "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people
            FROM streams INDEXED BY streams_open WHERE head > 0 AND archived = 0 AND key > ?1 AND (?3 IS NULL OR kind = ?3) ORDER BY key LIMIT ?2"
        }
        Some(true) => {
            "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people
            FROM streams WHERE head > 0 AND archived = 1 AND kind <> 'deleted' AND key > ?1 AND (?3 IS NULL OR kind = ?3) ORDER BY key LIMIT ?2"
        }
    }
}

/// Returns a page of streams. Damaged rows are logged and left out, but count towards the limit.
pub(crate) fn list(conn: &Connection, filter: &ListFilter) -> rusqlite::Result<ListPage> {
    let after = filter.after.unwrap_or(0);
    let limit = filter.limit.map_or(i64::MAX, |limit| int(limit as u64));
    let mut statement = conn.prepare_cached(list_sql(filter))?;
    let mut rows = statement.query(params![int(after), limit.saturating_add(1), filter.kind])?;
    let mut page = ListPage::default();
    let (mut last, mut read) = (after, 0);
    while let Some(row) = rows.next()? {
        // Damaged rows count too: the query returns one row more than fits, listed or not.
        if read >= limit {
            page.next = Some(last);
            break;
        }
        read += 1;
        last = counter(row, 0)?;
        match rows::listed(row) {
            Ok((_, listed)) => page.streams.push(listed),
            // One damaged row must not hide all others.
            Err(error) => {
                tracing::error!(row = last, %error, "a conversation is not listed because its row is damaged; see `moothall verify`")
            }
        }
    }
    Ok(page)
}

/// Returns a claim, unless it has lapsed by `now`.
pub(crate) fn claim(
    conn: &Connection,
    namespace: &str,
    key: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<Claim>> {
    let sql = "SELECT namespace, key, stream, fingerprint, outcome, expires FROM claims
        WHERE namespace = ?1 AND key = ?2 AND (expires IS NULL OR expires > ?3)";
    conn.prepare_cached(sql)?
        .query_row(params![namespace, key, now.millis()], rows::claim)
        .optional()
}

pub(crate) fn claims(
    conn: &Connection,
    namespace: &str,
    now: Timestamp,
) -> rusqlite::Result<Vec<Claim>> {
    let sql = "SELECT namespace, key, stream, fingerprint, outcome, expires FROM claims
        WHERE namespace = ?1 AND (expires IS NULL OR expires > ?2) ORDER BY key";
    conn.prepare_cached(sql)?.query_map(params![namespace, now.millis()], rows::claim)?.collect()
}

/// The oldest unsettled delivery of each target, oldest first.
pub(crate) const HEADS: &str =
    "SELECT d.id, d.target, s.id, d.turn, d.attempt, d.through_seq, d.state, d.evidence, d.command,
        d.number
    FROM deliveries d JOIN streams s ON s.key = d.stream
    WHERE d.id IN (SELECT min(id) FROM deliveries WHERE state < 4 GROUP BY target) ORDER BY d.id";

pub(crate) fn heads(conn: &Connection) -> rusqlite::Result<Vec<Delivery>> {
    conn.prepare_cached(HEADS)?.query_map([], rows::delivery)?.collect()
}

/// A page of the unsettled deliveries of one target, oldest first. The index is named, because the
/// planner prefers one that also walks the settled rows.
pub(crate) const OWED: &str =
    "SELECT d.id, d.target, s.id, d.turn, d.attempt, d.through_seq, d.state, d.evidence, d.command,
        d.number
    FROM deliveries d INDEXED BY deliveries_open JOIN streams s ON s.key = d.stream
    WHERE d.target = ?1 AND d.id > ?2 AND d.state < 4
    ORDER BY d.id LIMIT ?3";

pub(crate) fn pending_deliveries(
    conn: &Connection,
    target: &str,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<Delivery>> {
    conn.prepare_cached(OWED)?
        .query_map(params![target, int(after), int(limit as u64)], rows::delivery)?
        .collect()
}

/// Returns the newest deliveries to a target in any state, newest first; with `before`, those with
/// smaller ids.
pub(crate) fn of_target(
    conn: &Connection,
    target: &str,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<Delivery>> {
    let sql = "SELECT d.id, d.target, s.id, d.turn, d.attempt, d.through_seq, d.state, d.evidence,
        d.command, d.number
        FROM deliveries d JOIN streams s ON s.key = d.stream WHERE d.target = ?1 AND d.id < ?2 ORDER BY d.id DESC LIMIT ?3";
    let before = before.map_or(i64::MAX, int);
    conn.prepare_cached(sql)?
        .query_map(params![target, before, int(limit as u64)], rows::delivery)?
        .collect()
}

pub(crate) fn of_stream(conn: &Connection, stream: &StreamId) -> rusqlite::Result<Vec<Delivery>> {
    let sql = "SELECT d.id, d.target, s.id, d.turn, d.attempt, d.through_seq, d.state, d.evidence,
        d.command, d.number
        FROM streams s JOIN deliveries d ON d.stream = s.key WHERE s.id = ?1 ORDER BY d.id";
    conn.prepare_cached(sql)?.query_map([stream.as_str()], rows::delivery)?.collect()
}

/// Counts the deliveries in each state but `done`, from two small indexes.
pub(crate) fn tally(conn: &Connection) -> rusqlite::Result<BTreeMap<DeliveryState, u64>> {
    let sql = "SELECT state, count(*) FROM deliveries WHERE state < 4 GROUP BY state
        UNION ALL SELECT state, count(*) FROM deliveries WHERE state > 4 GROUP BY state";
    let mut statement = conn.prepare_cached(sql)?;
    let counted = statement.query_map([], |row| Ok((rows::state(row, 0)?, counter(row, 1)?)))?;
    counted.collect()
}

/// Counts the unsettled deliveries of each target, from the index of the open ones.
pub(crate) fn owed(conn: &Connection) -> rusqlite::Result<BTreeMap<Target, u64>> {
    let sql = "SELECT target, count(*) FROM deliveries INDEXED BY deliveries_open
        WHERE state < 4 GROUP BY target";
    let mut statement = conn.prepare_cached(sql)?;
    let counted = statement.query_map([], |row| {
        let Ok(target) = row.get::<_, String>(0)?.parse();
        Ok((target, counter(row, 1)?))
    })?;
    counted.collect()
}
