//! Walking everything, as `doctor` does.

use std::sync::Arc;

use moothall_engine::ports::{ListFilter, LogError};
use moothall_kernel::ids::Seq;
use rusqlite::Connection;

use crate::reader::{self, Readers};
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

pub(crate) async fn verify(readers: &Arc<Readers>) -> Result<Verified, LogError> {
    let mut verified = Verified { faults: readers.read(|conn| Ok(structure(conn))).await?, ..Verified::default() };
    let mut after = None;
    loop {
        let filter = ListFilter { archived: None, after, limit: Some(STRIDE) };
        let page = readers.read(move |conn| reader::list(conn, &filter).map_err(failed)).await?;
        for listed in page.streams {
            verified.streams += 1;
            let (events, fault) = walk(readers, &listed.stream).await;
            verified.events += events;
            verified.faults.extend(fault);
        }
        after = page.next;
        if after.is_none() {
            return Ok(verified);
        }
    }
}

async fn walk(readers: &Arc<Readers>, stream: &moothall_kernel::ids::StreamId) -> (u64, Option<LogError>) {
    let mut after = Seq(0);
    loop {
        let id = stream.clone();
        match readers.read(move |conn| reader::page(conn, &id, after, STRIDE)).await {
            Ok(page) if page.through == after => return (after.0, None),
            Ok(page) => after = page.through,
            Err(fault) => return (after.0, Some(fault)),
        }
    }
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
