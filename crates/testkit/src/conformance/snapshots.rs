//! Snapshots: a cache of states that is checked before use and never contains erased words.

use moothall_engine::ports::{
    EventLog, LogError, PAGE_BYTES_MAX, SNAPSHOT_BEHIND_MAX, SNAPSHOT_BYTES_MAX, Snapshot,
    StreamStart,
};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq};

use super::Subject;
use super::build::{Builder, batch, places};

const VERSION: u32 = 7;

fn snapshot(head: u64, words: &str) -> Snapshot {
    Snapshot { version: VERSION, head: Seq(head), bytes: words.as_bytes().to_vec() }
}

async fn put(log: &impl EventLog, snapshot: Snapshot) -> bool {
    log.put_snapshot(&"a".into(), snapshot).await.unwrap()
}

async fn load(log: &impl EventLog) -> StreamStart {
    log.load(&"a".into(), VERSION, 100).await.unwrap()
}

fn erasing(head: u64, seq: u64) -> moothall_engine::ports::StreamBatch {
    batch("a", head).event(Event::Redacted {
        seq: Seq(seq),
        by: ParticipantId::user(),
        message: true,
        summaries: Vec::new(),
        edited: false,
    })
}

/// A load returns the snapshot and a page of the events after it; without a snapshot, the events
/// from the beginning.
pub async fn loading_begins_at_the_snapshot<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(log.load(&"a".into(), VERSION, 100).await, Err(LogError::NotFound("a".into())));
    log.append(vec![
        batch("a", 0).says("one").says("two").says("three"),
        batch("b", 0).says("theirs"),
    ])
    .await
    .unwrap();
    assert_eq!(
        load(log).await,
        StreamStart {
            kind: "conversation".into(),
            snapshot: None,
            page: log.read(&"a".into(), Seq(0), 100).await.unwrap()
        }
    );
    assert!(put(log, snapshot(2, "state")).await);
    assert_eq!(
        load(log).await,
        StreamStart {
            kind: "conversation".into(),
            snapshot: Some(snapshot(2, "state")),
            page: log.read(&"a".into(), Seq(2), 100).await.unwrap()
        }
    );
    assert!(put(log, snapshot(3, "whole")).await);
    let opening = load(log).await;
    assert_eq!(
        (opening.snapshot, places(&opening.page.events), opening.page.through),
        (Some(snapshot(3, "whole")), vec![], Seq(3))
    );
    let theirs = log.load(&"b".into(), VERSION, 100).await.unwrap();
    assert_eq!((theirs.snapshot, places(&theirs.page.events)), (None, vec![1]));
    let long = "x".repeat(PAGE_BYTES_MAX);
    log.append(vec![batch("a", 3).says(&long).says(&long)]).await.unwrap();
    assert_eq!(places(&load(log).await.page.events), [4], "a page is bounded");
    assert_eq!(
        places(&log.load(&"a".into(), VERSION + 1, 2).await.unwrap().page.events),
        [1, 2],
        "and no longer than is asked for"
    );
}

/// A snapshot of another version is not used, and is replaced.
pub async fn a_snapshot_is_of_one_version<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    assert!(put(log, Snapshot { version: VERSION - 1, ..snapshot(2, "old") }).await);
    let opening = load(log).await;
    assert_eq!((opening.snapshot, places(&opening.page.events)), (None, vec![1, 2]));
    assert!(put(log, snapshot(1, "new")).await, "an older event of today's version");
    assert_eq!(load(log).await.snapshot, Some(snapshot(1, "new")));
    assert_eq!(log.load(&"a".into(), VERSION - 1, 100).await.unwrap().snapshot, None);
}

/// A snapshot is rejected if it is too large or too far behind the head.
pub async fn a_snapshot_that_does_not_fit_is_not_kept<S: Subject>(subject: S) {
    let log = subject.log();
    assert!(!put(log, snapshot(1, "nothing began")).await);
    log.append(vec![batch("a", 0).says("one").says("two").says("three")]).await.unwrap();
    assert!(!put(log, snapshot(0, "before the first")).await);
    assert!(!put(log, snapshot(4, "after the last")).await);
    assert!(!put(log, snapshot(3, &"x".repeat(SNAPSHOT_BYTES_MAX + 1))).await);
    assert!(put(log, snapshot(2, &"x".repeat(SNAPSHOT_BYTES_MAX))).await);
    assert!(!put(log, snapshot(2, "again")).await);
    assert!(!put(log, snapshot(1, "older")).await);
    let mut more = batch("a", 3);
    for _ in 0..SNAPSHOT_BEHIND_MAX {
        more = more.says("more");
    }
    log.append(vec![more]).await.unwrap();
    assert!(put(log, snapshot(3, "just near enough")).await);
    log.append(vec![batch("a", 3 + SNAPSHOT_BEHIND_MAX).says("last")]).await.unwrap();
    assert!(!put(log, Snapshot { version: VERSION + 1, ..snapshot(3, "too far back") }).await);
    assert_eq!(load(log).await.snapshot, Some(snapshot(3, "just near enough")));
}

/// Erasing words deletes later snapshots, and rejects one that comes late from a writer that did
/// not know of the erasure. A snapshot from before the words may stay.
pub async fn a_snapshot_goes_with_the_words_it_may_hold<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("secret").says("three")]).await.unwrap();
    assert!(put(log, snapshot(1, "before")).await);
    log.append(vec![erasing(3, 2)]).await.unwrap();
    assert_eq!(load(log).await.snapshot, Some(snapshot(1, "before")));
    assert!(!put(log, snapshot(3, "late, with secret")).await);
    assert!(put(log, snapshot(4, "without")).await);
    log.append(vec![batch("a", 4).says("five").event(Event::Redacted {
        seq: Seq(9),
        by: ParticipantId::user(),
        message: true,
        summaries: vec![Seq(3)],
        edited: false,
    })])
    .await
    .unwrap();
    assert_eq!(load(log).await.snapshot, None, "a summary was erased with it");
    assert!(put(log, snapshot(6, "again")).await);
    let conflict = log.append(vec![erasing(6, 1), batch("b", 4).says("not there")]).await;
    assert!(conflict.is_err());
    assert_eq!(load(log).await.snapshot, Some(snapshot(6, "again")), "nothing was erased");
}

/// Snapshots survive a restart, and deleted ones do not come back.
pub async fn snapshots_last<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    assert!(put(log, snapshot(2, "state")).await);
    log.append(vec![batch("a", 2).says("three")]).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    let opening = load(log).await;
    assert_eq!(
        (opening.snapshot, places(&opening.page.events)),
        (Some(snapshot(2, "state")), vec![3])
    );
    log.append(vec![erasing(3, 1)]).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    assert_eq!(load(subject.log()).await.snapshot, None);
}
