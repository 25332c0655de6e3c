//! Walks the whole log, as `moothall verify` does.

use std::sync::Arc;

use moothall_engine::log_format::Walk;
use moothall_engine::ports::{DELETED, ListedStream, LogError, Snapshot, Verification};
use moothall_kernel::ids::{Seq, StreamId};
use rusqlite::{Connection, Row, params};

use crate::deletion;
use crate::errors::failed;
use crate::reader::{self, Readers};
use crate::rows::{self, int};
use crate::snapshots;
use crate::sums;

/// Events or streams per read transaction. A long transaction would keep the WAL from being reset.
const STRIDE: usize = 1000;
/// Maximum number of reported faults in the file's own structure.
const FAULTS_TOLD: u32 = 20;

/// Walks the whole log. Anything that cannot be read is a fault, and the walk continues after it.
/// The walk ends early only if rows of the catalog cannot be read at all.
pub(crate) async fn walk_all(readers: &Arc<Readers>) -> Verification {
    let structure = readers.read(|conn| Ok(structure(conn))).await;
    let mut verified = Verification {
        faults: structure.unwrap_or_else(|fault| vec![fault]),
        ..Verification::default()
    };
    walk_beside(&mut verified, readers).await;
    let mut after = 0;
    loop {
        let entries = match readers.read(move |conn| entries(conn, after).map_err(failed)).await {
            Ok(entries) => entries,
            Err(fault) => {
                verified.faults.push(fault);
                return verified;
            }
        };
        // Rows out of order are a fault of the structure, and would make the walk endless.
        let Some(last) = entries.last().map(|entry| entry.key).filter(|last| *last > after) else {
            return verified;
        };
        after = last;
        for entry in entries {
            take(&mut verified, readers, entry).await;
        }
    }
}

/// Checks the tables beside the log in one read transaction, because the rows of a table and its
/// checksums must be read in the same state.
async fn walk_beside(verified: &mut Verification, readers: &Arc<Readers>) {
    let walked = readers.read(|conn| {
        let mut found = Verification::default();
        sums::walk(conn, &mut found);
        Ok(found)
    });
    match walked.await {
        Ok(Verification { tables, unchecked, faults, .. }) => {
            (verified.tables, verified.unchecked) = (tables, unchecked);
            verified.faults.extend(faults);
        }
        Err(fault) => verified.faults.push(fault),
    }
}

/// Checks one stream, and adds its events and faults to the result.
async fn take(verified: &mut Verification, readers: &Arc<Readers>, entry: Entry) {
    verified.streams += 1;
    match entry.listed {
        Ok(listed) if listed.catalog.kind == DELETED => {
            let checked = readers.read(move |conn| {
                let place = reader::any_place(conn, &listed.stream)?;
                deletion::check(conn, &listed.stream, &place)
            });
            verified.events += 1;
            verified.faults.extend(checked.await.err());
        }
        Ok(listed) => {
            let id = listed.stream.clone();
            let stored = readers.read(move |conn| snapshots::stored(conn, &id)).await;
            let (events, fault) =
                walk(readers, &listed, stored.as_ref().ok().and_then(Option::as_ref)).await;
            verified.events += events;
            verified.faults.extend(fault.or(stored.err()));
        }
        Err(fault) => verified.faults.push(fault),
    }
}

/// A stream's row in the catalog, not yet trusted. A changed bit may have turned a text into a
/// number.
struct Entry {
    key: i64,
    listed: Result<ListedStream, LogError>,
}

/// Reads the next rows of the catalog, without `waits_for_people`: that column is only a hint, and
/// logs of earlier versions lack it.
fn entries(conn: &Connection, after: i64) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT key, id, head, last_ts, title, policy, created_at, next_wake, has_duties, archived, kind, NULL
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

/// Reads the events of a stream and compares them with its row and snapshot. Returns the number of
/// events that were read, and a fault if there is one. An unreadable event ends the walk.
async fn walk(
    readers: &Arc<Readers>,
    listed: &ListedStream,
    snapshot: Option<&Snapshot>,
) -> (u64, Option<LogError>) {
    let (mut after, mut walk) = (Seq(0), Walk::new(listed, snapshot));
    loop {
        let id = listed.stream.clone();
        match readers.read(move |conn| reader::page(conn, &id, after, STRIDE)).await {
            Ok(page) if page.through == after => return (after.0, walk.end()),
            Ok(page) => {
                walk.page(&page);
                after = page.through;
            }
            Err(fault) => return (after.0, Some(fault)),
        }
    }
}

/// Returns faults that no chain can show: in pages, in indexes, and events without a stream.
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
