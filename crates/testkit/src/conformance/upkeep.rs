//! Upkeep: a walk over all data finds mismatches, and a closed log accepts no more writes.

use moothall_engine::ports::{AppendError, EventLog, LogError, Snapshot, Upkeep};
use moothall_kernel::STATE_VERSION;
use moothall_kernel::ids::Seq;

use super::Subject;
use super::build::{Builder, at, batch, epoch, talk, words};

fn damaged(stream: &str, seq: u64, reason: &str) -> LogError {
    LogError::Damaged { stream: stream.into(), seq: Seq(seq), reason: reason.into() }
}

/// Returns the streams, events and faults of a walk. The tables beside them differ from log to log.
async fn walked(log: &impl Upkeep) -> (u64, u64, Vec<LogError>) {
    let verified = log.verify().await;
    (verified.streams, verified.events, verified.faults)
}

/// A walk counts every stream that began and every event, including those of a newer version, and
/// finds no false fault.
pub async fn a_walk_counts_what_is_whole<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(walked(log).await, (0, 0, Vec::new()));
    let (begun, state) = talk("a", &["one", "two"]);
    log.append(vec![begun, batch("b", 0).says("theirs")]).await.unwrap();
    let snapshot =
        Snapshot { version: STATE_VERSION, head: state.head(), bytes: state.to_bytes().unwrap() };
    assert_eq!(log.put_snapshot(&"a".into(), snapshot).await, Ok(true));
    subject.append_newer(&"b".into(), at(2), "teleported").await;
    epoch(log, "never-begun", "owner").await;
    assert_eq!(walked(log).await, (2, 5, Vec::new()));
}

/// Each fault names its stream, and the walk continues behind it.
pub async fn a_row_that_does_not_fit_its_events_is_a_fault<S: Subject>(subject: S) {
    let log = subject.log();
    let (whole, _) = talk("b", &["one"]);
    log.append(vec![talk("a", &["one"]).0.row(|row| row.title = "Another".into()), whole])
        .await
        .unwrap();
    let faults = vec![damaged("a", 2, "its row in the catalog contradicts its events: the title")];
    assert_eq!(walked(log).await, (2, 4, faults));
}

/// A wrong snapshot is a fault: a load from it would give a state that never existed.
pub async fn a_snapshot_that_its_events_do_not_make_is_a_fault<S: Subject>(subject: S) {
    let log = subject.log();
    let (begun, _) = talk("a", &["one", "two"]);
    log.append(vec![begun]).await.unwrap();
    let stream = "a".into();
    let put = |version, bytes: &[u8]| {
        log.put_snapshot(&stream, Snapshot { version, head: Seq(2), bytes: bytes.to_vec() })
    };
    assert_eq!(put(STATE_VERSION + 1, b"not looked at").await, Ok(true));
    assert_eq!(log.verify().await.faults, []);
    assert_eq!(put(STATE_VERSION, b"nonsense").await, Ok(true));
    assert_eq!(
        log.verify().await.faults,
        [damaged("a", 2, "its snapshot differs from its events")]
    );
}

/// Earlier data is there when the log is opened again.
pub async fn a_closed_log_takes_nothing_more<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    assert_eq!(log.close().await, Ok(()));
    assert!(matches!(
        log.append(vec![batch("a", 1).says("late")]).await,
        Err(AppendError::Fatal(_))
    ));
    assert!(matches!(log.acquire(&"a".into(), "owner").await, Err(LogError::Fatal(_))));
    assert_eq!(log.close().await, Ok(()), "again");

    let Some(subject) = subject.reopen().await else { return };
    assert_eq!(words(&subject.log().read(&"a".into(), Seq(0), 10).await.unwrap().events), ["one"]);
}
