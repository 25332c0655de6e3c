//! The data folder: private, used by one server at a time, and not of an older format than its log.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use moothall_engine::ports::{AppendError, EventLog, ListFilter, Principals, Upkeep};
use moothall_kernel::ids::Seq;
use moothall_testkit::conformance::build::{Builder, batch, heads};
use rusqlite::Connection;

use super::Disk;
use crate::folder::LOG_FILE;
use crate::schema::{self, FORMAT};
use crate::{OpenError, SqliteLog};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn everything_in_a_new_folder_is_the_owners_alone() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("some/data");
    let log = SqliteLog::open(&dir).unwrap();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    assert_eq!(mode(&dir), 0o700);
    let names: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() >= 4, "{names:?} should hold the lock, the log, its WAL and its index");
    for name in names {
        assert_eq!(mode(&name), 0o600, "{}", name.display());
    }
}

#[tokio::test]
async fn a_second_server_is_told_which_folder_is_taken() {
    let disk = Disk::fresh();
    let refused = SqliteLog::open(disk.folder.path()).unwrap_err();
    assert!(matches!(&refused, OpenError::Locked { dir } if dir == disk.folder.path()));
    assert!(refused.to_string().contains(disk.folder.path().to_str().unwrap()));
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    disk.reopened_after(|_| {});
}

#[tokio::test]
async fn closing_flushes_into_one_file_and_gives_the_folder_free() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    disk.log.close().await.unwrap();
    assert!(matches!(
        disk.log.append(vec![batch("a", 1).says("two")]).await,
        Err(AppendError::Fatal(_))
    ));
    disk.log.close().await.unwrap();

    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(disk.folder.path().join(LOG_FILE), copy.path().join(LOG_FILE)).unwrap();
    for path in [disk.folder.path(), copy.path()] {
        let log = SqliteLog::open(path).unwrap();
        assert_eq!(log.read(&"a".into(), Seq(0), 10).await.unwrap().events.len(), 1);
    }
}

#[tokio::test]
async fn a_process_that_ends_without_closing_loses_nothing_acknowledged() {
    let disk = Disk::fresh();
    for head in 0..5 {
        disk.log.append(vec![batch("a", head).says("more")]).await.unwrap();
    }
    // The folder of a killed process: the file and its WAL, as they are while the log is open.
    let left = tempfile::tempdir().unwrap();
    for name in [LOG_FILE.to_owned(), format!("{LOG_FILE}-wal")] {
        std::fs::copy(disk.folder.path().join(&name), left.path().join(&name)).unwrap();
    }
    let log = SqliteLog::open(left.path()).unwrap();
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(5));
    assert_eq!(log.verify().await.faults, vec![]);
}

#[tokio::test]
async fn a_wal_torn_in_its_last_commit_loses_that_commit_alone() {
    let disk = Disk::fresh();
    let wal = disk.folder.path().join(format!("{LOG_FILE}-wal"));
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let whole = std::fs::metadata(&wal).unwrap().len();
    disk.log.append(vec![batch("a", 1).says(&"two ".repeat(4000))]).await.unwrap();
    let grown = std::fs::metadata(&wal).unwrap().len();
    assert!(grown > whole);

    for cut in [whole, whole + 1, whole + 5000, grown - 1, grown] {
        let left = tempfile::tempdir().unwrap();
        std::fs::copy(disk.folder.path().join(LOG_FILE), left.path().join(LOG_FILE)).unwrap();
        let bytes = std::fs::read(&wal).unwrap();
        std::fs::write(left.path().join(format!("{LOG_FILE}-wal")), &bytes[..cut as usize])
            .unwrap();
        let log = SqliteLog::open(left.path()).unwrap();
        let head = log.find(&"a".into()).await.unwrap().unwrap().head;
        assert_eq!(head, if cut == grown { Seq(2) } else { Seq(1) });
        assert_eq!(log.verify().await.faults, vec![]);
        assert_eq!(
            log.append(vec![batch("a", head.0).says("on")]).await.map(heads),
            Ok(vec![head.next()])
        );
    }
}

#[test]
fn a_log_from_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteLog::open(folder.path()).unwrap());
    let conn = Connection::open(folder.path().join(LOG_FILE)).unwrap();
    conn.execute("UPDATE meta SET value = '7' WHERE key = 'format'", []).unwrap();
    drop(conn);
    let refused = SqliteLog::open(folder.path()).unwrap_err();
    assert!(matches!(
        &refused,
        OpenError::Newer { dir, found: 7, known: FORMAT } if dir == folder.path()
    ));
    assert!(refused.to_string().contains("newer version"));
}

/// Returns a folder with a log of the first format, one conversation, and the changes in `also`.
fn first_format(also: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(folder.path().join(LOG_FILE)).unwrap();
    schema::first_format(&conn).unwrap();
    conn.execute("INSERT INTO streams (id, head, title) VALUES ('a', 1, 'Old')", []).unwrap();
    conn.execute_batch(also).unwrap();
    folder
}

fn format_of(folder: &Path) -> u32 {
    schema::format(&Connection::open(folder.join(LOG_FILE)).unwrap()).unwrap()
}

#[tokio::test]
async fn an_older_log_is_taken_to_the_new_format_with_all_that_is_in_it() {
    let folder = first_format("");
    assert_eq!(format_of(folder.path()), 1);
    for _ in 0..2 {
        let log = SqliteLog::open(folder.path()).unwrap();
        assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().catalog.title, "Old");
        assert!(log.tokens(None, 10).await.unwrap().is_empty());
        assert!(log.cards_of("ann").await.unwrap().is_empty());
        drop(log);
        assert_eq!(format_of(folder.path()), FORMAT);
    }
}

#[tokio::test]
async fn what_an_earlier_version_did_not_note_of_a_stream_is_not_known_until_it_is_written_to() {
    let folder = first_format("");
    let log = SqliteLog::open(folder.path()).unwrap();
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().catalog.waits_for_people, None);
    log.append(vec![batch("b", 0).says("one").row(|row| row.waits_for_people = Some(3))])
        .await
        .unwrap();
    assert_eq!(log.find(&"b".into()).await.unwrap().unwrap().catalog.waits_for_people, Some(3));
    drop(log);
    Connection::open(folder.path().join(LOG_FILE))
        .unwrap()
        .execute("UPDATE streams SET waits_for_people = -1", [])
        .unwrap();
    let log = SqliteLog::open(folder.path()).unwrap();
    let waits: Vec<_> = log
        .list(ListFilter::default())
        .await
        .unwrap()
        .streams
        .iter()
        .map(|one| one.catalog.waits_for_people)
        .collect();
    assert_eq!(waits, [None, None], "a hint that cannot be hides nothing");
}

#[test]
fn a_change_of_format_that_breaks_off_has_changed_nothing() {
    // The step fails in its middle: the first of its tables exists and the second does not.
    let folder = first_format("CREATE TABLE tokens (of TEXT)");
    assert!(matches!(SqliteLog::open(folder.path()).unwrap_err(), OpenError::Unusable { .. }));
    let conn = Connection::open(folder.path().join(LOG_FILE)).unwrap();
    let begun: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'principals'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!((begun, format_of(folder.path())), (0, 1));
    conn.execute_batch("DROP TABLE tokens").unwrap();
    SqliteLog::open(folder.path()).unwrap();
    assert_eq!(format_of(folder.path()), FORMAT);
}

#[test]
fn the_record_cannot_be_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteLog::open(folder.path()).unwrap());
    let conn = Connection::open(folder.path().join(LOG_FILE)).unwrap();
    conn.execute("INSERT INTO audit (at, deed, detail) VALUES (1, 'denied', 'GET /audit')", [])
        .unwrap();
    for change in ["UPDATE audit SET detail = ''", "DELETE FROM audit"] {
        assert!(conn.execute(change, []).unwrap_err().to_string().contains("only added to"));
    }
}

#[test]
fn what_is_no_log_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(LOG_FILE), "these are notes about something else".repeat(50))
        .unwrap();
    assert!(matches!(SqliteLog::open(folder.path()).unwrap_err(), OpenError::Unusable { .. }));

    let folder = tempfile::tempdir().unwrap();
    Connection::open(folder.path().join(LOG_FILE))
        .unwrap()
        .execute("CREATE TABLE cats (name TEXT)", [])
        .unwrap();
    assert!(matches!(SqliteLog::open(folder.path()).unwrap_err(), OpenError::Unusable { .. }));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(
        matches!(SqliteLog::open(&file).unwrap_err(), OpenError::Io { path, .. } if path == file)
    );
}
