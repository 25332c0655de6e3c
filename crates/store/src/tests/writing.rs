//! Pages written by an append: those of its events, their keys and the stream's row, and no others.

use moothall_engine::ports::{EventLog, ListFilter};
use moothall_testkit::conformance::build::{Builder, batch};
use rusqlite::Connection;

use super::Disk;
use crate::SqliteLog;
use crate::folder::LOG_FILE;
use crate::schema;

/// Bytes of a page in the write-ahead log, with its frame header.
const FRAME_BYTES: u64 = 4096 + 24;

fn frames(disk: &Disk) -> u64 {
    let wal = disk.folder.path().join(format!("{LOG_FILE}-wal"));
    std::fs::metadata(wal).unwrap().len() / FRAME_BYTES
}

async fn say(disk: &Disk, head: u64) {
    disk.log.append(vec![batch("a", head).says("words")]).await.unwrap();
}

#[tokio::test]
async fn a_message_writes_four_pages() {
    let disk = Disk::fresh();
    for head in 0..3 {
        say(&disk, head).await;
    }
    let before = frames(&disk);
    say(&disk, 3).await;
    assert_eq!(frames(&disk) - before, 4);
}

#[tokio::test]
async fn a_log_of_before_writes_as_many_from_now_on_and_lists_what_is_open() {
    let folder = tempfile::tempdir().unwrap();
    schema::first_format(&Connection::open(folder.path().join(LOG_FILE)).unwrap()).unwrap();
    let disk = Disk { log: SqliteLog::open(folder.path()).unwrap(), folder };
    say(&disk, 0).await;
    say(&disk, 1).await;
    let before = frames(&disk);
    say(&disk, 2).await;
    assert_eq!(frames(&disk) - before, 4);
    let open = ListFilter { archived: Some(false), ..ListFilter::default() };
    assert_eq!(disk.log.list(open).await.unwrap().streams.len(), 1);
}
