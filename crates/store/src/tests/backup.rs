//! Copies made during writes, and interrupted copies.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use moothall_engine::ports::{CopyError, EventLog, ListFilter, Upkeep};
use moothall_kernel::ids::Seq;
use moothall_testkit::conformance::build::{Builder, batch, words};

use super::Disk;
use crate::backup::begin;
use crate::folder::LOG_FILE;
use crate::{BackupError, OpenError, SqliteLog, backup, verify};

#[tokio::test]
async fn an_open_log_copies_itself() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let place = tempfile::tempdir().unwrap();
    let dest = place.path().join("copy");
    let copied = disk.log.backup(&dest).await.unwrap();
    assert_eq!((copied.streams, copied.events), (1, 1));
    assert_eq!(verify(&dest).await.unwrap(), copied);
    assert_eq!(
        disk.log.backup(&dest).await,
        Err(CopyError::Failed(format!("{} already exists", dest.display())))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_under_load_is_a_prefix_of_the_log() {
    let disk = Arc::new(Disk::fresh());
    let enough = Arc::new(AtomicBool::new(false));
    let write = |writer: u32| {
        let (disk, enough) = (disk.clone(), enough.clone());
        tokio::spawn(async move {
            let (one, two) = (format!("s{writer}"), format!("t{writer}"));
            let mut head = 0;
            while !enough.load(Ordering::Relaxed) {
                disk.log
                    .append(vec![
                        batch(&one, head).says("one of two"),
                        batch(&two, head).says("two of two"),
                    ])
                    .await
                    .unwrap();
                head += 1;
            }
            head
        })
    };
    let writers: Vec<_> = (0..4).map(write).collect();
    let places = tempfile::tempdir().unwrap();
    let copies: Vec<_> = (0..3).map(|n| places.path().join(format!("copy-{n}"))).collect();
    for (n, copy) in copies.iter().enumerate() {
        for writer in 0..4 {
            while disk
                .log
                .find(&format!("s{writer}").as_str().into())
                .await
                .unwrap()
                .is_none_or(|listed| listed.head.0 < 10 * (n as u64 + 1))
            {
                tokio::task::yield_now().await;
            }
        }
        backup(disk.folder.path(), copy).await.unwrap();
    }
    enough.store(true, Ordering::Relaxed);
    for writer in writers {
        assert!(writer.await.unwrap() >= 30);
    }
    for copy in &copies {
        let verified = verify(copy).await.unwrap();
        assert_eq!((verified.streams, verified.faults), (8, vec![]));
        is_a_prefix(&SqliteLog::open(copy).unwrap(), &disk.log).await;
    }
}

/// Asserts that a copy has a prefix of each stream of the live log, that it has an append to two
/// streams in both or in neither, and that it can be appended to.
async fn is_a_prefix(copy: &SqliteLog, live: &SqliteLog) {
    let heads = |letter: char, streams: &[moothall_engine::ports::ListedStream]| -> Vec<Seq> {
        let mut of: Vec<_> =
            streams.iter().filter(|listed| listed.stream.as_str().starts_with(letter)).collect();
        of.sort_by(|a, b| a.stream.as_str()[1..].cmp(&b.stream.as_str()[1..]));
        of.into_iter().map(|listed| listed.head).collect()
    };
    let streams = copy.list(ListFilter::default()).await.unwrap().streams;
    assert_eq!(
        heads('s', &streams),
        heads('t', &streams),
        "an append to two streams is in it whole or not at all"
    );
    for listed in &streams {
        let copied = copy.read(&listed.stream, Seq(0), 100_000).await.unwrap().events;
        assert!(copied.len() >= 10);
        assert_eq!(live.read(&listed.stream, Seq(0), copied.len()).await.unwrap().events, copied);
    }
    // A copy is a log of its own.
    let head = copy.find(&"s0".into()).await.unwrap().unwrap().head;
    copy.append(vec![batch("s0", head.0).says("and on")]).await.unwrap();
}

#[tokio::test]
async fn nothing_is_overwritten() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let places = tempfile::tempdir().unwrap();
    let (file, folder, link) =
        (places.path().join("file"), places.path().join("folder"), places.path().join("link"));
    fs::write(&file, "precious").unwrap();
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    for taken in [&file, &folder, &link] {
        assert!(matches!(
            backup(disk.folder.path(), taken).await,
            Err(BackupError::Exists(path)) if path == *taken
        ));
    }
    assert_eq!(fs::read_dir(places.path()).unwrap().count(), 3, "nothing was left behind");
    let absent = backup(places.path(), &places.path().join("x")).await;
    assert!(matches!(absent, Err(BackupError::Open(OpenError::Absent { .. }))));
}

/// The copy is interrupted before the rename. Nothing looks like a backup, and the next one starts
/// over.
#[tokio::test]
async fn a_copy_that_was_cut_off_does_not_look_whole() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let places = tempfile::tempdir().unwrap();
    let dest = places.path().join("copy");
    let unfinished = begin(disk.folder.path(), &dest).unwrap();
    fs::write(unfinished.path().join(LOG_FILE), "half of a").unwrap();
    assert!(!dest.exists());
    assert!(matches!(backup(disk.folder.path(), &dest).await, Err(BackupError::UnderWay(_))));
    drop(unfinished);

    backup(disk.folder.path(), &dest).await.unwrap();
    let copied = SqliteLog::open(&dest).unwrap();
    assert_eq!(words(&copied.read(&"a".into(), Seq(0), 10).await.unwrap().events), ["one"]);
    assert_eq!(fs::read_dir(places.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_copy_of_damage_does_not_get_the_name() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    disk.intruder().execute("UPDATE events SET body = 'tWo' WHERE seq = 2", []).unwrap();
    let places = tempfile::tempdir().unwrap();
    let dest = places.path().join("copy");
    let refused = backup(disk.folder.path(), &dest).await;
    assert!(
        matches!(&refused, Err(BackupError::Damaged { found, .. }) if found.faults.len() == 1),
        "{refused:?}"
    );
    assert!(!dest.exists());
}

#[tokio::test]
async fn a_log_is_walked_only_when_nobody_has_it_open() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    assert!(matches!(verify(disk.folder.path()).await, Err(OpenError::Locked { .. })));
    let Disk { log, folder } = disk;
    // The log was not closed, so its events are in the write-ahead log.
    drop(log);
    let verified = verify(folder.path()).await.unwrap();
    assert_eq!((verified.streams, verified.events, verified.faults), (1, 2, vec![]));
    let nowhere = folder.path().join("nowhere");
    assert!(matches!(verify(&nowhere).await, Err(OpenError::Absent { .. })));
    assert!(!nowhere.exists());
}

#[tokio::test]
async fn a_backup_goes_into_a_folder_that_is_there_and_not_into_its_own_source() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let (dir, elsewhere) = (disk.folder.path(), tempfile::tempdir().unwrap());
    let unmounted = elsewhere.path().join("disk").join("copy");
    assert!(
        matches!(backup(dir, &unmounted).await, Err(BackupError::NoFolder(path)) if path == elsewhere.path().join("disk"))
    );
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing was made");
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(dir, &link).unwrap();
    for inside in [dir.join("copy"), link.join("copy")] {
        assert!(
            matches!(backup(dir, &inside).await, Err(BackupError::Inside(path)) if path == inside)
        );
    }
    assert!(backup(dir, &elsewhere.path().join("copy")).await.unwrap().faults.is_empty());
}
