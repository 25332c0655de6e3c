//! Walking everything, as `doctor` does.

use std::sync::Arc;

use moothall_engine::ports::{Catalog, Listed, LogError};
use moothall_kernel::Conversation;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::reader::{self, Readers};
use crate::rows::{self, int};
use crate::trouble::failed;

/// Events and streams checked in one read transaction: long ones would keep the WAL from beginning again.
const STRIDE: usize = 1000;
/// Faults in the file's own structure that are told; one is enough to know.
const FAULTS_TOLD: u32 = 20;

/// What a walk over the whole log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Streams looked at.
    pub streams: u64,
    /// Events whose checksums match.
    pub events: u64,
    /// What is damaged: the first place of each stream, and faults of the file itself.
    pub faults: Vec<LogError>,
}

/// Never gives up: whatever cannot be read is a fault, and the walk goes on behind it.
pub(crate) async fn verify(readers: &Arc<Readers>) -> Verified {
    let structure = readers.read(|conn| Ok(structure(conn))).await;
    let mut verified = Verified { faults: structure.unwrap_or_else(|fault| vec![fault]), ..Verified::default() };
    let mut after = 0;
    loop {
        let entries = match readers.read(move |conn| entries(conn, after).map_err(failed)).await {
            Ok(entries) => entries,
            Err(fault) => {
                verified.faults.push(fault);
                return verified;
            }
        };
        // Rows that do not come in order are a fault of the structure, and would be walked for ever.
        let Some(last) = entries.last().map(|entry| entry.key).filter(|last| *last > after) else { return verified };
        after = last;
        for entry in entries {
            verified.take(readers, entry).await;
        }
    }
}

impl Verified {
    async fn take(&mut self, readers: &Arc<Readers>, entry: Entry) {
        self.streams += 1;
        match entry.listed {
            Ok(listed) => {
                let (events, fault) = walk(readers, &listed).await;
                self.events += events;
                self.faults.extend(fault);
            }
            Err(fault) => self.faults.push(fault),
        }
    }
}

/// A stream's row in the catalog, not yet trusted: a bit that changed may have made a number of a word.
struct Entry {
    key: i64,
    listed: Result<Listed, LogError>,
}

fn entries(conn: &Connection, after: i64) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived
        FROM streams WHERE key > ?1 AND head IS NOT 0 ORDER BY key LIMIT ?2";
    conn.prepare_cached(sql)?.query_map(params![after, int(STRIDE as u64)], entry)?.collect()
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let key = row.get(0)?;
    let listed = rows::listed(row).map(|(_, listed)| listed).map_err(|error| {
        let stream = row.get::<_, String>(1).unwrap_or_else(|_| format!("in row {key}"));
        reader::row_fault(&StreamId::new(stream), error)
    });
    Ok(Entry { key, listed })
}

fn damaged(stream: &StreamId, seq: Seq, reason: String) -> LogError {
    LogError::Damaged { stream: stream.clone(), seq, reason }
}

async fn walk(readers: &Arc<Readers>, listed: &Listed) -> (u64, Option<LogError>) {
    let mut after = Seq(0);
    let mut state = Some(Conversation::new(listed.stream.clone()));
    loop {
        let id = listed.stream.clone();
        match readers.read(move |conn| reader::page(conn, &id, after, STRIDE)).await {
            Ok(page) if page.through == after => return (after.0, state.and_then(|state| differs(listed, &state))),
            Ok(page) => {
                // What only a newer version understands cannot be followed.
                state = state.filter(|_| page.newer.is_none());
                state.iter_mut().for_each(|state| page.events.iter().for_each(|event| state.apply(event)));
                after = page.through;
            }
            Err(fault) => return (after.0, Some(fault)),
        }
    }
}

/// Whether the row in the catalog says what the events say. No chain goes over it, but the events make it. That it looks after a
/// conversation too early or in vain harms nobody, and another version may have had reasons to.
fn differs(listed: &Listed, state: &Conversation) -> Option<LogError> {
    let (row, made) = (&listed.catalog, Catalog::of(state));
    let too_late = made.next_wake.is_some_and(|wake| row.next_wake.is_none_or(|row| row > wake));
    let wrong = [
        ("title", row.title != made.title),
        ("policy", row.policy != made.policy),
        ("time of its beginning", row.created_at != made.created_at),
        ("time of its last event", listed.last_ts != state.last_ts()),
        ("mark of the archived", row.archived != made.archived),
        ("mark of those with something to do", made.has_duties && !row.has_duties),
        ("time to wake it", too_late),
    ];
    let (what, _) = wrong.into_iter().find(|(_, wrong)| *wrong)?;
    // Logs that were put together without a beginning have nothing to compare with.
    let reason = || format!("its row in the catalog does not fit its events: the {what}");
    (state.created_at() != Timestamp::default()).then(|| damaged(&listed.stream, state.head(), reason()))
}

/// Faults that no chain can see: pages, indexes, and events that no stream claims.
fn structure(conn: &Connection) -> Vec<LogError> {
    let mut faults = match integrity(conn) {
        Ok(lines) => lines.into_iter().filter(|line| line != "ok").map(LogError::Failed).collect(),
        Err(error) => vec![failed(error)],
    };
    let orphans = "SELECT count(*) FROM events e LEFT JOIN streams s ON s.key = e.stream AND e.seq <= s.head WHERE s.key IS NULL";
    match conn.query_row(orphans, [], |row| row.get::<_, i64>(0)) {
        Ok(0) => {}
        Ok(count) => faults.push(LogError::Failed(format!("{count} events belong to no stream"))),
        Err(error) => faults.push(failed(error)),
    }
    faults
}

fn integrity(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(&format!("PRAGMA integrity_check({FAULTS_TOLD})"))?;
    statement.query_map([], |row| row.get(0))?.collect()
}
