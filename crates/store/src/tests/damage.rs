//! Bits that changed on the disk: a read or a walk finds them, and they are never served as good.

use std::path::Path;

use moothall_engine::log_format::BodyHash;
use moothall_engine::ports::{
    AppendError, EventLog, ListFilter, ListPage, LogError, Page, StreamBatch, Upkeep,
};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Timestamp;
use moothall_testkit::conformance::Subject;
use moothall_testkit::conformance::build::{Builder, batch, heads, words};
use rusqlite::Connection;

use super::Disk;
use crate::SqliteLog;
use crate::folder::LOG_FILE;

async fn three_words() -> Disk {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one").says("two").says("three")]).await.unwrap();
    disk.log.append(vec![batch("b", 0).says("one").says("two").says("three")]).await.unwrap();
    disk
}

/// Returns the position of the damaged event that a read reports; `None` for every other result.
fn damaged_at(result: Result<Page, LogError>) -> Option<u64> {
    match result {
        Err(LogError::Damaged { seq, .. }) => Some(seq.0),
        Err(
            LogError::NotFound(_)
            | LogError::Deleted(_)
            | LogError::DamagedRow { .. }
            | LogError::Full
            | LogError::Fatal(_)
            | LogError::Unreadable(_)
            | LogError::Failed(_),
        )
        | Ok(_) => None,
    }
}

#[tokio::test]
async fn an_event_that_changed_is_not_served() {
    let changes = [
        "UPDATE events SET body = 'tWo' WHERE stream = 1 AND seq = 2",
        "UPDATE events SET body = NULL WHERE stream = 1 AND seq = 2",
        "UPDATE events SET body = CAST(x'74ff6f' AS TEXT) WHERE stream = 1 AND seq = 2",
        "UPDATE events SET envelope = replace(envelope, 'human', 'agent') WHERE stream = 1 AND seq = 2",
        "UPDATE events SET envelope = '' WHERE stream = 1 AND seq = 2",
        "UPDATE events SET ts = ts + 1 WHERE stream = 1 AND seq = 2",
        "UPDATE events SET chain = x'00' WHERE stream = 1 AND seq = 2",
        "UPDATE events SET chain = zeroblob(16) WHERE stream = 1 AND seq = 2",
        "DELETE FROM events WHERE stream = 1 AND seq = 2",
    ];
    for change in changes {
        let disk = three_words().await;
        assert_eq!(disk.intruder().execute(change, []).unwrap(), 1, "{change}");
        assert_eq!(damaged_at(disk.log.read(&"a".into(), Seq(0), 10).await), Some(2), "{change}");
        assert_eq!(damaged_at(disk.log.read(&"a".into(), Seq(1), 1).await), Some(2), "{change}");
        assert_eq!(
            words(&disk.log.read(&"a".into(), Seq(0), 1).await.unwrap().events),
            ["one"],
            "{change}"
        );
        assert_eq!(
            disk.log.read(&"b".into(), Seq(0), 10).await.unwrap().events.len(),
            3,
            "{change}"
        );
        let faults = disk.log.verify().await.faults;
        assert!(
            matches!(&faults[..], [LogError::Damaged { stream, seq: Seq(2), .. }] if stream.as_str() == "a"),
            "{change}: {faults:?}"
        );
    }
}

#[tokio::test]
async fn an_event_of_a_known_kind_that_does_not_read_as_one_is_damage_whatever_its_checksum() {
    let disk = three_words().await;
    // The event's link is right, but no version ever wrote such a message.
    disk.append_newer(&"a".into(), Timestamp::from_millis(9), "posted").await;
    let read = disk.log.read(&"a".into(), Seq(0), 10).await;
    assert!(
        matches!(&read, Err(LogError::Damaged { seq: Seq(4), reason, .. }) if reason.contains("cannot be read as")),
        "{read:?}"
    );
    assert_eq!(
        words(&disk.log.read(&"a".into(), Seq(0), 3).await.unwrap().events),
        ["one", "two", "three"]
    );
}

#[tokio::test]
async fn events_that_moved_or_vanished_are_noticed() {
    let changes = [
        "UPDATE events SET seq = 5 - seq WHERE stream = 1 AND seq = 3",
        "DELETE FROM events WHERE stream = 1 AND seq = 3",
        "UPDATE streams SET head = 2 WHERE key = 1",
        "UPDATE streams SET head = 4 WHERE key = 1",
        "UPDATE streams SET chain = (SELECT chain FROM streams WHERE key = 2) WHERE key = 1",
        "UPDATE streams SET id = 'c' WHERE key = 1",
        "UPDATE streams SET head = 0 WHERE key = 1",
        "DELETE FROM streams WHERE key = 1",
    ];
    for change in changes {
        let disk = three_words().await;
        disk.intruder()
            .execute(
                "DELETE FROM events WHERE stream = 1 AND seq = 2 AND ?1 LIKE '%5 - seq%'",
                [change],
            )
            .unwrap();
        assert_eq!(disk.intruder().execute(change, []).unwrap(), 1, "{change}");
        assert!(disk.log.read(&"a".into(), Seq(0), 10).await.is_err(), "{change}");
        assert!(!disk.log.verify().await.faults.is_empty(), "{change}");
    }
    let disk = three_words().await;
    disk.intruder()
        .execute_batch(
            "UPDATE events SET stream = 3 - stream + 10; UPDATE events SET stream = stream - 10",
        )
        .unwrap();
    assert_eq!(damaged_at(disk.log.read(&"a".into(), Seq(0), 10).await), Some(1));
}

#[tokio::test]
async fn a_body_can_be_erased_without_breaking_the_chain() {
    let disk = three_words().await;
    let hash = BodyHash::of(b"two");
    let erase = "UPDATE events SET body = NULL, body_hash = ?1 WHERE stream = 1 AND seq = 2";
    disk.intruder().execute(erase, [hash.as_bytes()]).unwrap();
    assert_eq!(
        words(&disk.log.read(&"a".into(), Seq(0), 10).await.unwrap().events),
        ["one", "", "three"]
    );
    assert_eq!(
        disk.log.append(vec![batch("a", 3).says("four")]).await.map(heads),
        Ok(vec![Seq(4)])
    );
    let verified = disk.log.verify().await;
    assert_eq!((verified.streams, verified.events, verified.faults), (2, 7, vec![]));

    let other = BodyHash::of(b"other");
    disk.intruder().execute(erase, [other.as_bytes()]).unwrap();
    assert_eq!(damaged_at(disk.log.read(&"a".into(), Seq(0), 10).await), Some(2));
}

#[tokio::test]
async fn a_row_of_the_catalog_that_changed_is_a_fault_and_hides_no_other() {
    // `STRICT` tables refuse these values, but a bit error on the disk does not.
    let changes = [
        ("head", "x'02'"),
        ("last_ts", "'then'"),
        ("title", "x'ff'"),
        ("title", "'Other'"),
        ("policy", "7"),
        ("policy", "'open'"),
        ("created_at", "NULL"),
        ("created_at", "2"),
        ("last_ts", "3"),
        ("next_wake", "'never'"),
        ("has_duties", "x'01'"),
        ("archived", "1"),
        ("archived", "'no'"),
        ("chain", "17"),
        ("id", "x'ff'"),
    ];
    for (column, value) in changes {
        let disk = Disk::fresh();
        disk.log.append(vec![begun("a"), begun("b")]).await.unwrap();
        let intruder = disk.intruder();
        intruder.pragma_update(None, "writable_schema", true).unwrap();
        let lax = "replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')";
        intruder
            .execute(&format!("UPDATE sqlite_schema SET sql = {lax} WHERE name = 'streams'"), [])
            .unwrap();
        intruder.pragma_update(None, "writable_schema", false).unwrap();
        drop(intruder);
        let disk = disk.reopened_after(|dir| {
            let conn = Connection::open(dir.join(LOG_FILE)).unwrap();
            assert_eq!(
                conn.execute(&format!("UPDATE streams SET {column} = {value} WHERE id = 'a'"), [])
                    .unwrap(),
                1
            );
        });
        let verified = disk.log.verify().await;
        let named = |fault: &LogError| matches!(fault, LogError::Damaged { stream, .. } if stream.as_str() == "a" || column == "id");
        assert!(verified.faults.iter().any(named), "{column} = {value}: {:?}", verified.faults);
        assert_eq!(verified.streams, 2, "{column} = {value}");
        let listed = disk.log.list(ListFilter::default()).await.unwrap();
        assert!(
            listed.streams.iter().any(|listed| listed.stream.as_str() == "b"),
            "{column} = {value}"
        );
        assert!(disk.log.read(&"b".into(), Seq(0), 10).await.is_ok());
    }
}

#[tokio::test]
async fn a_damaged_row_does_not_end_a_listing_in_pages() {
    let disk = Disk::fresh();
    disk.log.append(["a", "b", "c", "d"].map(begun).to_vec()).await.unwrap();
    let change = "UPDATE streams SET title = CAST(x'ff' AS TEXT) WHERE id IN ('a', 'c')";
    assert_eq!(disk.intruder().execute(change, []).unwrap(), 2);
    for limit in 1..=4 {
        let mut filter = ListFilter { limit: Some(limit), ..ListFilter::default() };
        let (mut listed, mut pages) = (Vec::new(), 0);
        loop {
            let page = disk.log.list(filter.clone()).await.unwrap();
            listed.extend(page.streams.into_iter().map(|row| row.stream.to_string()));
            pages += 1;
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        assert_eq!((listed, pages), (vec!["b".into(), "d".into()], 4usize.div_ceil(limit)));
    }
}

/// Returns a conversation with its beginning, and a row that agrees with its events.
fn begun(id: &str) -> StreamBatch {
    let created = Event::Created {
        name: id.into(),
        by: ParticipantId::user(),
        policy: Policy::named(PolicyName::Hybrid),
        task: None,
        folder: None,
    };
    batch(id, 0).event(created).says("one")
}

/// The readable contents of two streams.
type Readable = (Vec<Result<Page, LogError>>, Result<ListPage, LogError>);

async fn known(log: &SqliteLog) -> Readable {
    let (a, b) =
        (log.read(&"a".into(), Seq(0), 1000).await, log.read(&"b".into(), Seq(0), 1000).await);
    (vec![a, b], log.list(ListFilter::default()).await)
}

/// Flips one bit of the file at many places. Afterwards the readable contents are unchanged, or the
/// damage is reported.
#[tokio::test]
async fn no_flipped_bit_is_served_as_good() {
    const FLIPS: u64 = 160;
    let disk = Disk::fresh();
    disk.log.append(vec![begun("a"), begun("b")]).await.unwrap();
    let long = "a message of some length, ".repeat(30);
    for head in 2..180 {
        disk.log
            .append(vec![batch("a", head).says(&long), batch("b", head).says(&long)])
            .await
            .unwrap();
    }
    let good = known(&disk.log).await;
    disk.log.close().await.unwrap();
    let bytes = std::fs::read(disk.folder.path().join(LOG_FILE)).unwrap();
    let rows = catalog_bits(&disk.folder.path().join(LOG_FILE));
    let mut noticed = 0;
    for flip in 0..FLIPS {
        // Spread evenly, with a stride that shares no factor with the page size.
        let bit = (flip * (bytes.len() as u64 * 8 / FLIPS) + flip * 13) as usize;
        noticed += u32::from(notices(&bytes, &good, bit).await);
    }
    assert!(
        noticed > 90,
        "only {noticed} of {FLIPS} flips were noticed: most of the file should be covered"
    );
    let mut harmless = 0;
    for bit in rows.clone() {
        harmless += u32::from(!notices(&bytes, &good, bit).await);
    }
    println!(
        "{noticed} of {FLIPS} flips noticed, the others changed nothing; {harmless} of {} in the catalog did no harm",
        rows.len()
    );
}

/// Returns the bits of the catalog's rows, which are at the end of their page.
fn catalog_bits(path: &Path) -> std::iter::StepBy<std::ops::Range<usize>> {
    let (page, size) = page_of(path, "streams");
    ((page * size - 220) * 8..page * size * 8).step_by(11)
}

/// Flips a bit of the log's file and opens it. Returns true if the opening or the walk reports a
/// fault. Panics if the damage is served as good.
async fn notices(bytes: &[u8], good: &Readable, bit: usize) -> bool {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(LOG_FILE), bytes).unwrap();
    // A folder in place of the index: building an index each time would only take time.
    std::fs::create_dir(folder.path().join("search.db")).unwrap();
    let Ok(log) = SqliteLog::open(folder.path()) else { return true };
    let (read, listed) = known(&log).await;
    for (read, good) in read.iter().zip(&good.0) {
        assert!(read.is_err() || read == good, "bit {bit} was served as good");
    }
    let same = read == good.0 && listed == good.1;
    let faults = log.verify().await.faults;
    assert!(
        same || !faults.is_empty(),
        "bit {bit} changes what is known, and a walk finds nothing: {listed:?}"
    );
    !faults.is_empty()
}

/// Returns the first page of a table or index, and the page size.
pub(super) fn page_of(path: &Path, name: &str) -> (usize, usize) {
    let conn = Connection::open(path).unwrap();
    let page: u32 = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))
        .unwrap();
    let size: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    (page as usize, size as usize)
}

fn overwrite_page_of(dir: &Path, name: &str) {
    let path = dir.join(LOG_FILE);
    let (page, size) = page_of(&path, name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(page - 1) * size..page * size].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
}

#[tokio::test]
async fn damage_met_while_writing_ends_all_writing() {
    let disk = three_words().await;
    let disk = disk.reopened_after(|dir| overwrite_page_of(dir, "sqlite_autoindex_events_1"));
    assert!(matches!(
        disk.log.append(vec![batch("a", 3).says("four")]).await,
        Err(AppendError::Fatal(_))
    ));
    assert!(matches!(
        disk.log.append(vec![batch("a", 3).row(|row| row.archived = true)]).await,
        Err(AppendError::Fatal(_))
    ));
    assert!(disk.log.acquire(&"b".into(), "owner").await.is_err());
    assert_eq!(disk.log.find(&"a".into()).await.unwrap().unwrap().head, Seq(3));
    assert!(disk.log.close().await.is_err());
}
