//! Snapshots on the disk. A changed snapshot is not used, a walk compares each with its events, and
//! erasing words deletes the snapshots that contain them.

use std::fs;

use moothall_engine::ports::{EventLog, LogError, Snapshot, StreamStart, Upkeep};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::{Conversation, STATE_VERSION};
use moothall_testkit::conformance::build::{Builder, at, batch, talk};

use super::Disk;

fn snapshot_of(state: &Conversation) -> Snapshot {
    Snapshot { version: STATE_VERSION, head: state.head(), bytes: state.to_bytes().unwrap() }
}

async fn kept() -> (Disk, Snapshot) {
    let disk = Disk::fresh();
    let (batch, state) = talk("a", &["one", "two"]);
    disk.log.append(vec![batch]).await.unwrap();
    let snapshot = snapshot_of(&state);
    assert_eq!(disk.log.put_snapshot(&"a".into(), snapshot.clone()).await, Ok(true));
    (disk, snapshot)
}

#[tokio::test]
async fn one_that_changed_is_not_used_and_a_walk_says_so() {
    let changes = [
        "UPDATE snapshots SET state = replace(CAST(state AS TEXT), 'mention_only', 'round_robin')",
        "UPDATE snapshots SET state = x''",
        "UPDATE snapshots SET head = 2",
        "UPDATE snapshots SET head = 9",
        "UPDATE snapshots SET checksum = x'00'",
        "UPDATE snapshots SET version = version + 1",
    ];
    for change in changes {
        let (disk, _) = kept().await;
        assert_eq!(disk.log.verify().await.faults, [], "before {change}");
        // If the table refuses the value, no checksum is needed.
        if disk.intruder().execute(change, []).is_err() {
            disk.intruder().execute("UPDATE snapshots SET state = zeroblob(7)", []).unwrap();
        }
        let opening = disk.log.load(&"a".into(), STATE_VERSION, 10).await.unwrap();
        assert_eq!(
            opening,
            StreamStart {
                kind: "conversation".into(),
                snapshot: None,
                page: disk.log.read(&"a".into(), Seq(0), 10).await.unwrap()
            },
            "{change}"
        );
        let faults = disk.log.verify().await.faults;
        assert!(
            matches!(&faults[..], [LogError::Damaged { reason, .. }] if reason.contains("the snapshot of a stream is damaged")),
            "{change}: {faults:?}"
        );
    }
}

#[tokio::test]
async fn one_of_another_history_is_not_used() {
    let (disk, snapshot) = kept().await;
    let (other, _) = talk("a", &["other", "words"]);
    let written = Disk::fresh();
    written.log.append(vec![other]).await.unwrap();
    assert_eq!(
        written.log.put_snapshot(&"a".into(), snapshot).await,
        Ok(true),
        "it is not known here what it is of"
    );
    let path = written.folder.path().join(crate::folder::LOG_FILE).display().to_string();
    let intruder = disk.intruder();
    intruder.execute("ATTACH ?1 AS other", [path]).unwrap();
    intruder
        .execute("UPDATE snapshots SET checksum = (SELECT checksum FROM other.snapshots)", [])
        .unwrap();
    assert_eq!(disk.log.load(&"a".into(), STATE_VERSION, 10).await.unwrap().snapshot, None);
}

#[tokio::test]
async fn a_walk_compares_it_with_its_events() {
    let disk = Disk::fresh();
    let (batch, _) = talk("a", &["one", "two"]);
    let mut wrong = Conversation::fold(StreamId::new("a"), &batch.events[..2]);
    wrong.apply(&moothall_kernel::event::RecordedEvent {
        seq: Seq(3),
        ts: at(3),
        event: Event::RoundClosed,
    });
    disk.log.append(vec![batch]).await.unwrap();
    assert_eq!(disk.log.put_snapshot(&"a".into(), snapshot_of(&wrong)).await, Ok(true));
    let faults = disk.log.verify().await.faults;
    assert!(
        matches!(&faults[..], [LogError::Damaged { seq: Seq(3), reason, .. }] if reason.contains("differs from its events")),
        "{faults:?}"
    );
}

#[tokio::test]
async fn nothing_of_it_is_left_when_words_were_erased() {
    let (disk, _) = kept().await;
    let canary = b"CANARY-OF-A-STATE";
    let long = Snapshot { version: STATE_VERSION + 1, head: Seq(3), bytes: canary.repeat(2000) };
    assert_eq!(disk.log.put_snapshot(&"a".into(), long).await, Ok(true));
    let holds = || {
        let files = fs::read_dir(disk.folder.path())
            .unwrap()
            .map(|file| fs::read(file.unwrap().path()).unwrap());
        files.filter(|file| file.windows(canary.len()).any(|window| window == canary)).count()
    };
    assert!(holds() > 0);
    let redacted = Event::Redacted {
        seq: Seq(2),
        by: ParticipantId::user(),
        message: true,
        summaries: Vec::new(),
        edited: false,
    };
    disk.log.append(vec![batch("a", 3).event(redacted)]).await.unwrap();
    assert_eq!(holds(), 0);
}

#[tokio::test]
async fn keeping_one_waits_for_no_disk() {
    let disk = Disk::fresh();
    let (batch, state) = talk("a", &["one"]);
    disk.log.append(vec![batch]).await.unwrap();
    let synced = disk.log.synced();
    assert_eq!(disk.log.put_snapshot(&"a".into(), snapshot_of(&state)).await, Ok(true));
    assert_eq!(disk.log.synced(), synced);
}
