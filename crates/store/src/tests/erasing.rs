//! Erased words are gone from all files of the folder: from pages, from free space and from the
//! write-ahead log.

use std::fs;
use std::path::Path;

use moothall_engine::ports::{Catalog, DELETED, EventLog, PostBook, StreamBatch, Upkeep};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_testkit::conformance::build::{Builder, batch};

use super::Disk;

fn erasing(head: u64, seq: u64) -> StreamBatch {
    batch("a", head).event(Event::Redacted {
        seq: Seq(seq),
        by: ParticipantId::user(),
        message: true,
        summaries: Vec::new(),
        edited: false,
    })
}

/// Returns those words that are in any file of the folder.
fn left(dir: &Path, words: &[String]) -> Vec<String> {
    let files: Vec<Vec<u8>> =
        fs::read_dir(dir).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
    let holds = |word: &&String| {
        files.iter().any(|file| file.windows(word.len()).any(|window| window == word.as_bytes()))
    };
    words.iter().filter(holds).cloned().collect()
}

#[tokio::test]
async fn nothing_is_left_when_the_append_returns() {
    let disk = Disk::fresh();
    // Upper case, because the index stores lower case and has its own test.
    let canary = |n: u64| format!("CANARY-{n}-YRANAC");
    let lengths = [0, 30, 300, 1500, 5000, 40_000];
    let body = |n: u64| {
        format!("{} {}", canary(n), "filler ".repeat(lengths[n as usize % lengths.len()] / 7))
    };
    for n in 1..=120 {
        disk.log.append(vec![batch("a", n - 1).says(&body(n))]).await.unwrap();
    }
    let all: Vec<String> = (1..=120).map(canary).collect();
    assert_eq!(left(disk.folder.path(), &all), all);

    // In an order that lets pages shrink and merge while others on them are still to be erased.
    let mut gone = Vec::new();
    for step in 0..60 {
        let seq = (step * 37) % 120 + 1;
        disk.log.append(vec![erasing(120 + step, seq)]).await.unwrap();
        gone.push(canary(seq));
        if step % 10 == 9 {
            assert_eq!(left(disk.folder.path(), &gone), Vec::<String>::new(), "after {step}");
        }
    }
    let here: Vec<String> = all.into_iter().filter(|word| !gone.contains(word)).collect();
    assert_eq!(left(disk.folder.path(), &here), here);
    let verified = disk.log.verify().await;
    assert_eq!((verified.events, verified.faults), (180, vec![]));
}

#[tokio::test]
async fn words_of_rows_for_computers_are_gone_with_their_stream_or_their_computer() {
    let disk = Disk::fresh();
    let [deleted, forgotten] = ["CANARY-1-YRANAC", "CANARY-2-YRANAC"].map(str::to_owned);
    let owing = batch("a", 0).says("one").commands("computer:3laptop", &deleted);
    let other = batch("b", 0).says("one").commands("computer:1server", &forgotten);
    disk.log.append(vec![owing, other]).await.unwrap();
    let all = [deleted, forgotten];
    assert_eq!(left(disk.folder.path(), &all), all);
    let gone = batch("a", 1).event(Event::Deleted { by: ParticipantId::user() });
    disk.log.append(vec![gone]).await.unwrap();
    assert_eq!(left(disk.folder.path(), &all), all[1..]);
    assert_eq!(disk.log.forget(&"1server".into()).await, Ok(1));
    assert_eq!(left(disk.folder.path(), &all), Vec::<String>::new());
}

#[tokio::test]
async fn a_reader_who_is_in_the_way_only_delays_it() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("CANARY-1-YRANAC")]).await.unwrap();
    let reader = disk.intruder();
    reader.execute_batch("BEGIN; SELECT * FROM events").unwrap();
    disk.log.append(vec![erasing(1, 1)]).await.unwrap();
    reader.execute_batch("COMMIT").unwrap();
    disk.log.append(vec![batch("a", 2).says("later")]).await.unwrap();
    // Replies come before checkpoints, so the next reply comes after the pending one.
    disk.log.append(vec![batch("a", 3).says("later still")]).await.unwrap();
    assert_eq!(left(disk.folder.path(), &["CANARY-1-YRANAC".to_owned()]), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_left_of_what_was_deleted() {
    let disk = Disk::fresh();
    let canary = |n: u64| format!("CANARY-{n}-YRANAC");
    for n in 1..=600 {
        let said = format!("{} {}", canary(n), "filler ".repeat(usize::try_from(n % 40).unwrap()));
        disk.log
            .append(vec![
                batch("a", n - 1).says(&said).row(|row| row.title = "CANARY-title".into()),
            ])
            .await
            .unwrap();
    }
    disk.log.append(vec![batch("b", 0).says("CANARY-b")]).await.unwrap();
    let by = ParticipantId::user();
    let gone = batch("a", 600).event(Event::Deleted { by });
    let row = |row: &mut Catalog| {
        *row = Catalog { kind: DELETED.into(), title: String::new(), archived: true, ..row.clone() }
    };
    disk.log.append(vec![gone.row(row)]).await.unwrap();
    let all: Vec<String> =
        (1..=600).step_by(60).map(canary).chain(["CANARY-title".to_owned()]).collect();
    assert!(!left(disk.folder.path(), &all).is_empty(), "the events go afterwards");
    assert_eq!(disk.log.verify().await.faults, vec![]);

    let disk = disk.reopened_after(|_| {});
    disk.log.erase_deleted().await.unwrap();
    assert_eq!(left(disk.folder.path(), &all), Vec::<String>::new());
    assert_eq!(left(disk.folder.path(), &["CANARY-b".to_owned()]), ["CANARY-b"]);
    let verified = disk.log.verify().await;
    assert_eq!((verified.streams, verified.events, verified.faults), (2, 2, vec![]));
    let rows: i64 =
        disk.intruder().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 3, "two of the deleted one, so that its chain can be followed to its end");
}

/// The deletion of a conversation is as well protected from a flipped bit as its events were.
#[tokio::test]
async fn what_is_left_of_it_is_checked() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    let gone = batch("a", 2).event(Event::Deleted { by: ParticipantId::user() });
    disk.log.append(vec![gone.row(|row| row.kind = DELETED.into())]).await.unwrap();
    disk.log.erase_deleted().await.unwrap();
    assert_eq!(disk.log.verify().await.faults, vec![]);
    disk.intruder().execute("UPDATE events SET ts = ts + 1 WHERE seq = 3", []).unwrap();
    assert_eq!(disk.log.verify().await.faults.len(), 1);
    disk.intruder().execute("UPDATE events SET ts = ts - 1 WHERE seq = 3", []).unwrap();
    disk.intruder()
        .execute("UPDATE events SET chain = x'00112233445566778899aabbccddeeff' WHERE seq = 2", [])
        .unwrap();
    assert_eq!(disk.log.verify().await.faults.len(), 1);
    // The row alone cannot make a conversation look deleted.
    disk.log.append(vec![batch("b", 0).says("one")]).await.unwrap();
    disk.intruder().execute("UPDATE streams SET kind = 'deleted' WHERE id = 'b'", []).unwrap();
    assert_eq!(disk.log.verify().await.faults.len(), 2);
}
