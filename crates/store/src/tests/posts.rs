//! Numbers and marks of posts in a file: damage is found, and an older folder gets them.

use moothall_engine::ports::{Deliveries, EventLog, LogError, PostBook, PostChannel, Upkeep};
use moothall_testkit::conformance::build::{Builder, batch};

use rusqlite::Connection;

use super::Disk;
use crate::folder::LOG_FILE;
use crate::{schema, sums};

fn server() -> PostChannel {
    PostChannel { sender: "1server".into(), log: "l".into() }
}

/// Drops the triggers that maintain checksums.
fn drop_triggers(conn: &Connection) {
    let sql = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema
        WHERE type = 'trigger' AND name LIKE 'sums_%'";
    let all: String = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    conn.execute_batch(&all).unwrap();
}

#[tokio::test]
async fn a_walk_names_a_changed_number_or_mark() {
    for (change, table, row) in [
        ("UPDATE posts_sent SET number = 1", "posts_sent", "computer 3laptop"),
        ("UPDATE posts_taken SET through = 8", "posts_taken", "sender 1server, log l"),
        ("UPDATE deliveries SET number = 7 WHERE number = 2", "deliveries", "id 2"),
    ] {
        let disk = Disk::fresh();
        let first = batch("a", 0).says("one").owes("computer:3laptop").owes("computer:3laptop");
        disk.log.append(vec![first.takes_rows(&server(), 0, 9)]).await.unwrap();
        assert_eq!(disk.log.verify().await.faults, []);
        let intruder = disk.intruder();
        drop_triggers(&intruder);
        assert_eq!(intruder.execute(change, []).unwrap(), 1, "{change}");
        let faults = disk.log.verify().await.faults;
        let named = |fault: &LogError| match fault {
            LogError::DamagedRow { table: of, row: key, .. } => {
                (of.as_str(), key.as_str()) == (table, row)
            }
            other => panic!("{other}"),
        };
        assert!(faults.iter().any(named), "{change}: {faults:?}");
    }
}

/// Takes from a folder all that came with the numbers of posts.
fn make_older(dir: &std::path::Path) {
    let conn = schema::open_writer(&dir.join(LOG_FILE)).unwrap();
    drop_triggers(&conn);
    conn.execute_batch("ALTER TABLE deliveries DROP COLUMN number").unwrap();
    // The triggers of a version without the column.
    sums::cover(&conn).unwrap();
    let tables =
        "DROP TABLE posts_sent; DROP TABLE posts_taken; DELETE FROM sums WHERE name LIKE 'posts_%'";
    conn.execute_batch(tables).unwrap();
}

#[tokio::test]
async fn an_older_folder_gets_numbers_and_its_rows_stay_whole() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one").owes("session:1").owes("x:1")]).await.unwrap();
    let before = disk.log.of_stream(&"a".into()).await.unwrap();
    let disk = disk.reopened_after(make_older);
    assert_eq!(disk.log.verify().await.faults, []);
    assert_eq!(disk.log.of_stream(&"a".into()).await.unwrap(), before);
    let owing = batch("a", 1).says("two").owes("computer:3laptop").takes_rows(&server(), 0, 9);
    disk.log.append(vec![owing]).await.unwrap();
    let disk = disk.reopened_after(|_| {});
    assert_eq!(disk.log.of_stream(&"a".into()).await.unwrap()[2].number, Some(1));
    assert_eq!(disk.log.through(&server()).await, Ok(9));
    let verified = disk.log.verify().await;
    assert_eq!(verified.faults, []);
    for table in ["posts_sent", "posts_taken"] {
        let checked = verified.tables.iter().find(|checked| checked.table == table);
        assert_eq!(checked.map(|checked| checked.rows), Some(1), "{table}");
    }
}
