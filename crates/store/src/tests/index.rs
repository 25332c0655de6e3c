//! The index beside the log: built from it, rebuilt if it does not match, and without erased words.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use moothall_engine::ports::{EventLog, Search, SearchRequest, Upkeep};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::search::Query;
use moothall_testkit::conformance::build::{Builder, batch, heads};
use moothall_testkit::conformance::search::page;
use rusqlite::Connection;

use super::Disk;
use crate::SqliteLog;
use crate::folder::{LOG_FILE, OpenError};

const INDEX: &str = "search.db";

async fn found(log: &SqliteLog, query: &str) -> Vec<u64> {
    let wanted = SearchRequest { query: Query::parse(query).unwrap(), streams: None };
    page(log, &wanted, 1000, None).await.hits.iter().map(|hit| hit.recorded.seq.0).collect()
}

async fn three_words() -> Disk {
    let disk = Disk::fresh();
    disk.log
        .append(vec![batch("a", 0).says("word one").says("word two").says("word three")])
        .await
        .unwrap();
    assert_eq!(found(&disk.log, "word").await, [3, 2, 1]);
    disk
}

/// True if a file of the index contains the word.
fn holds(dir: &Path, word: &str) -> bool {
    let files = [INDEX.to_owned(), format!("{INDEX}-wal")]
        .into_iter()
        .filter_map(|name| fs::read(dir.join(name)).ok());
    files.into_iter().any(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
}

#[tokio::test]
async fn an_index_that_is_gone_or_broken_is_made_anew() {
    let disk = three_words().await;
    let disk = disk.reopened_after(|dir| fs::remove_file(dir.join(INDEX)).unwrap());
    assert_eq!(found(&disk.log, "word").await, [3, 2, 1]);
    let disk = disk.reopened_after(|dir| {
        fs::write(
            dir.join(INDEX),
            "not a database, and long enough to be taken for one".repeat(100),
        )
        .unwrap()
    });
    assert_eq!(found(&disk.log, "word").await, [3, 2, 1]);
    let disk = disk.reopened_after(|dir| {
        Connection::open(dir.join(INDEX)).unwrap().pragma_update(None, "user_version", 99).unwrap()
    });
    assert_eq!(found(&disk.log, "word").await, [3, 2, 1]);
}

#[tokio::test]
async fn an_index_of_another_log_is_made_anew() {
    let (ours, theirs) = (three_words().await, Disk::fresh());
    theirs
        .log
        .append(vec![batch("a", 0).says("other one").says("other two").says("other three")])
        .await
        .unwrap();
    assert_eq!(found(&theirs.log, "other").await, [3, 2, 1]);
    theirs.log.close().await.unwrap();
    let ours = ours.reopened_after(|dir| {
        fs::copy(theirs.folder.path().join(INDEX), dir.join(INDEX)).unwrap();
    });
    assert_eq!(found(&ours.log, "word").await, [3, 2, 1]);
    assert_eq!(found(&ours.log, "other").await, Vec::<u64>::new());
}

/// A log put back from a copy looks like one that lost its newest events, so the operator has to
/// remove the other log's index.
#[tokio::test]
async fn a_log_put_back_from_a_copy_gets_an_index_that_fits() {
    let disk = three_words().await;
    disk.log.close().await.unwrap();
    let copy = fs::read(disk.folder.path().join(LOG_FILE)).unwrap();
    let disk = disk.reopened_after(|_| {});
    disk.log.append(vec![batch("a", 3).says("word to be lost")]).await.unwrap();
    assert_eq!(found(&disk.log, "word").await, [4, 3, 2, 1]);
    disk.log.close().await.unwrap();
    let disk = disk.reopened_after(|dir| {
        fs::write(dir.join(LOG_FILE), copy).unwrap();
        assert!(matches!(SqliteLog::open(dir), Err(OpenError::Damaged { .. })));
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(dir.join(format!("{INDEX}{end}")));
        }
    });
    disk.log.append(vec![batch("a", 3).says("instead")]).await.unwrap();
    assert_eq!(
        (found(&disk.log, "word").await, found(&disk.log, "instead").await),
        (vec![3, 2, 1], vec![4])
    );
}

#[tokio::test]
async fn nothing_is_left_of_words_that_were_erased() {
    let disk = Disk::fresh();
    let dir = disk.folder.path();
    let talk =
        (0..50).fold(batch("a", 0), |batch, n| batch.says(&format!("filler {n} of some length")));
    disk.log
        .append(vec![
            talk.says("the xylozebrapassword is here").says("and the zyloxebrasecret there"),
        ])
        .await
        .unwrap();
    assert_eq!(found(&disk.log, "xylozebrapassword").await, [51]);
    assert!(holds(dir, "xylozebrapassword") && holds(dir, "zyloxebrasecret"));

    disk.log.forget(&"a".into(), Seq(51)).await.unwrap();
    assert_eq!(found(&disk.log, "xylozebrapassword").await, Vec::<u64>::new());
    assert!(!holds(dir, "xylozebrapassword"));

    disk.log
        .append(vec![batch("a", 52).event(Event::Redacted {
            seq: Seq(52),
            by: ParticipantId::user(),
            message: true,
            summaries: Vec::new(),
            edited: false,
        })])
        .await
        .unwrap();
    assert_eq!(found(&disk.log, "zyloxebrasecret").await, Vec::<u64>::new());
    assert_eq!(found(&disk.log, "filler").await.len(), 50);
    // The file is cleaned after the entry is removed, or at the next start.
    let disk = disk.reopened_after(|_| {});
    disk.log.append(vec![batch("a", 53).says("later")]).await.unwrap();
    assert_eq!(found(&disk.log, "later").await, [54]);
    assert!(!holds(disk.folder.path(), "zyloxebrasecret"));
}

/// SQLite refuses a checkpoint beside another one, without waiting. Without its turn, an erasure
/// could leave its words in the write-ahead log.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn words_that_are_erased_side_by_side_are_gone_when_each_erasure_ends() {
    const ERASURES: u64 = 12;
    let disk = Disk::fresh();
    let said = (1..=ERASURES).fold(batch("a", 0), |batch, n| batch.says(&format!("xylo{n}secret")));
    disk.log.append(vec![said.says("last")]).await.unwrap();
    assert_eq!(found(&disk.log, "last").await, [ERASURES + 1]);
    let disk = Arc::new(disk);
    let erasures = (1..=ERASURES).map(|n| {
        let disk = disk.clone();
        tokio::spawn(async move {
            disk.log.forget(&"a".into(), Seq(n)).await.unwrap();
            holds(disk.folder.path(), &format!("xylo{n}secret"))
        })
    });
    for (n, erasure) in (1..).zip(erasures.collect::<Vec<_>>()) {
        assert!(!erasure.await.unwrap(), "the words of erasure {n}");
    }
}

#[tokio::test]
async fn the_lag_says_what_is_missing() {
    let disk = three_words().await;
    let wanted = SearchRequest { query: Query::parse("word").unwrap(), streams: None };
    // Another program holds the index, so that it falls behind.
    let intruder = Connection::open(disk.folder.path().join(INDEX)).unwrap();
    intruder.execute_batch("BEGIN IMMEDIATE").unwrap();
    disk.log.append(vec![batch("a", 3).says("word four").event(Event::RoundClosed)]).await.unwrap();
    disk.log.append(vec![batch("b", 0).says("word five")]).await.unwrap();
    let behind = disk.log.search(&wanted, 10, None).await.unwrap();
    assert_eq!((behind.lag, behind.hits.len()), (3, 3));
    let of = |stream: &str| SearchRequest { streams: Some(vec![stream.into()]), ..wanted.clone() };
    assert_eq!(disk.log.search(&of("a"), 10, None).await.unwrap().lag, 2);
    assert_eq!(disk.log.search(&of("b"), 10, None).await.unwrap().lag, 1);
    intruder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(page(&disk.log, &wanted, 10, None).await.hits.len(), 5);
}

#[tokio::test]
async fn a_log_without_an_index_is_a_log() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(INDEX)).unwrap();
    let log = SqliteLog::open(folder.path()).unwrap();
    assert_eq!(log.append(vec![batch("a", 0).says("one")]).await.map(heads), Ok(vec![Seq(1)]));
    assert!(
        log.search(&SearchRequest { query: Query::parse("one").unwrap(), streams: None }, 10, None)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn ten_thousand_messages_are_searched_and_caught_up_with() {
    const MESSAGES: u64 = 10_000;
    let disk = Disk::fresh();
    for thousand in 0..MESSAGES / 1000 {
        let head = thousand * 1000;
        let talk = (head..head + 1000).fold(batch("a", head), |batch, n| {
            batch.says(&format!("message {n} about topic{}", n % 100))
        });
        disk.log.append(vec![talk]).await.unwrap();
    }
    let disk = disk.reopened_after(|_| {});
    assert_eq!(found(&disk.log, "\"message 7777\"").await, [7778]);
    let about = found(&disk.log, "topic42").await;
    assert_eq!((about.len(), about[0], about[99]), (100, 9943, 43));
    let intruder = Connection::open(disk.folder.path().join(INDEX)).unwrap();
    let indexed: i64 =
        intruder.query_row("SELECT indexed_seq FROM streams", [], |row| row.get(0)).unwrap();
    assert_eq!(indexed, MESSAGES as i64);
}
