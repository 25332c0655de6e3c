//! The id of a log: it stays with the log, and every other log has another.

use std::fs;
use std::path::Path;

use moothall_engine::ports::{EventLog, Upkeep};
use moothall_testkit::conformance::build::{Builder, batch};

use crate::folder::LOG_FILE;
use crate::{SqliteLog, backup};

/// Opens the log in a folder, closes it, and returns its id.
async fn id_of(dir: &Path) -> String {
    let log = SqliteLog::open(dir).unwrap();
    let id = log.log_id().to_owned();
    log.close().await.unwrap();
    id
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[tokio::test]
async fn a_log_keeps_its_id_and_each_restore_has_another() {
    let places = tempfile::tempdir().unwrap();
    let (data, saved) = (places.path().join("data"), places.path().join("saved"));
    let log = SqliteLog::open(&data).unwrap();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let first = log.log_id().to_owned();
    backup(&data, &saved).await.unwrap();
    let ids = "SELECT count(*) FROM meta WHERE key = 'log'";
    let ids = |dir: &Path| {
        let conn = rusqlite::Connection::open(dir.join(LOG_FILE)).unwrap();
        conn.query_row(ids, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((ids(&data), ids(&saved)), (1, 0), "a backup has none, wherever it is put back");
    log.close().await.unwrap();
    assert_eq!(first.len(), 16);
    assert_eq!(id_of(&data).await, first, "a start changes nothing");
    drop(SqliteLog::open(&data).unwrap());
    assert_eq!(id_of(&data).await, first, "nor does a kill");

    let mut seen = vec![first];
    for restored in ["once", "twice"] {
        let place = places.path().join(restored);
        copy(&saved, &place);
        seen.push(id_of(&place).await);
    }
    seen.push(id_of(&saved).await);
    // A copy of the whole folder that was made by hand, with the index.
    let by_hand = places.path().join("by-hand");
    copy(&data, &by_hand);
    seen.push(id_of(&by_hand).await);
    assert_eq!(id_of(&by_hand).await, seen[4]);
    // An older log in place of a newer one, put there as the error message says.
    let older = fs::read(data.join(LOG_FILE)).unwrap();
    let log = SqliteLog::open(&data).unwrap();
    log.append(vec![batch("a", 1).says("two")]).await.unwrap();
    log.close().await.unwrap();
    fs::write(data.join(LOG_FILE), older).unwrap();
    for file in fs::read_dir(&data).unwrap().map(Result::unwrap) {
        if file.file_name().to_string_lossy().starts_with("search.db") {
            fs::remove_file(file.path()).unwrap();
        }
    }
    seen.push(id_of(&data).await);
    let different: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(different.len(), seen.len(), "{seen:?}");
}
