//! Appending: all or nothing, in order, by the newest writer.

use std::sync::Arc;

use moothall_engine::ports::{
    Acquisition, AppendError, Deliveries, Epoch, EventLog, Lease, ListFilter,
};
use moothall_kernel::ids::{Seq, StreamId};

use super::Subject;
use super::build::{Builder, at, batch, claim, epoch, heads, places, words};

fn conflict(stream: &str, head: u64) -> AppendError {
    AppendError::Conflict { stream: StreamId::new(stream), head: Seq(head) }
}

fn fenced(stream: &str) -> AppendError {
    AppendError::Fenced { stream: StreamId::new(stream) }
}

/// A stream exists from its first append on.
pub async fn a_stream_begins_with_its_first_append<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(log.find(&"a".into()).await, Ok(None));
    assert_eq!(
        log.append(vec![batch("a", 0).says("one").says("two")]).await.map(heads),
        Ok(vec![Seq(2)])
    );
    assert_eq!(log.append(vec![batch("a", 2).says("three")]).await.map(heads), Ok(vec![Seq(3)]));
    let page = log.read(&"a".into(), Seq(0), 10).await.unwrap();
    assert_eq!(words(&page.events), ["one", "two", "three"]);
    assert_eq!(places(&page.events), [1, 2, 3]);
}

/// A stream without events cannot begin. A stream with events may get a row or a claim alone.
pub async fn an_append_that_begins_nothing_is_refused<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(
        log.append(vec![batch("a", 0).takes(claim("a", "chat", "1"))]).await,
        Err(conflict("a", 0))
    );
    assert_eq!(log.find(&"a".into()).await, Ok(None));
    assert_eq!(log.claim("chat", "1", at(1)).await, Ok(None));

    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    assert_eq!(
        log.append(vec![batch("a", 1).takes(claim("a", "chat", "1"))]).await.map(heads),
        Ok(vec![Seq(1)])
    );
    assert!(log.claim("chat", "1", at(1)).await.unwrap().is_some());
}

/// A rejected batch leaves no trace of the other batches.
pub async fn an_append_goes_to_all_its_streams_or_to_none<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("b", 0).says("b1")]).await.unwrap();
    let row = log.find(&"b".into()).await;
    let whole = |head| {
        let changed = batch("b", 1)
            .says("b2")
            .takes(claim("b", "link", "k"))
            .owes("chat:1")
            .row(|row| row.has_duties = true);
        vec![changed, batch("a", 0).says("a1").owes("chat:2"), batch("c", head).says("c1")]
    };
    assert_eq!(log.append(whole(4)).await, Err(conflict("c", 0)));
    assert_eq!(log.find(&"b".into()).await, row);
    assert_eq!(log.read(&"b".into(), Seq(0), 10).await.unwrap().events.len(), 1);
    assert_eq!(log.list(ListFilter::default()).await.unwrap().streams.len(), 1);
    assert_eq!(log.claim("link", "k", at(1)).await, Ok(None));
    assert_eq!(log.due(at(1)).await, Ok(vec![]));
    assert_eq!(log.heads().await, Ok(vec![]));

    assert_eq!(log.append(whole(0)).await.map(heads), Ok(vec![Seq(2), Seq(1), Seq(1)]));
    assert_eq!(log.list(ListFilter::default()).await.unwrap().streams.len(), 3);
    assert!(log.claim("link", "k", at(1)).await.unwrap().is_some());
    assert_eq!(log.heads().await.unwrap().len(), 2);
}

/// A later batch of an append sees the changes of an earlier one.
pub async fn batches_of_one_stream_follow_each_other<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(
        log.append(vec![batch("a", 0).says("one"), batch("a", 1).says("two")]).await.map(heads),
        Ok(vec![Seq(1), Seq(2)])
    );
    assert_eq!(
        log.append(vec![batch("a", 2).says("three"), batch("a", 2).says("other")]).await,
        Err(conflict("a", 3))
    );
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(2));
}

/// A writer that expects another head gets the real one.
pub async fn a_conflict_tells_the_head<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    for head in [0, 1, 3, 9] {
        assert_eq!(log.append(vec![batch("a", head).says("late")]).await, Err(conflict("a", 2)));
    }
    assert_eq!(log.read(&"a".into(), Seq(0), 10).await.unwrap().events.len(), 2);
}

/// Events with a gap between their positions are rejected.
pub async fn a_gap_is_refused<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let mut gap = batch("a", 1).says("two").says("three");
    gap.events[1].seq = Seq(4);
    assert_eq!(log.append(vec![gap]).await, Err(conflict("a", 1)));
    let mut twice = batch("a", 1).says("two").says("two again");
    twice.events[1].seq = Seq(2);
    assert_eq!(log.append(vec![twice]).await, Err(conflict("a", 1)));
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(1));
}

/// An append without batches changes nothing.
pub async fn an_append_of_nothing_changes_nothing<S: Subject>(subject: S) {
    assert_eq!(subject.log().append(vec![]).await.map(heads), Ok(vec![]));
    assert_eq!(subject.log().list(ListFilter::default()).await.unwrap().streams, vec![]);
}

/// Each acquire returns a newer epoch and fences all earlier ones. The epoch is checked before
/// anything else.
pub async fn the_newest_writer_fences_the_others<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let first = epoch(log, "a", "first").await;
    assert_eq!(log.append(vec![batch("a", 1).says("by nobody")]).await, Err(fenced("a")));
    log.append(vec![batch("a", 1).by(first).says("two")]).await.unwrap();

    let second = epoch(log, "a", "second").await;
    assert!(second > first);
    let late = vec![
        batch("b", 0).says("b1"),
        batch("a", 1).by(first).says("late").takes(claim("a", "link", "k")).owes("chat:1"),
    ];
    assert_eq!(log.append(late).await, Err(fenced("a")));
    assert_eq!(
        log.append(vec![batch("a", 2).by(Epoch(second.0 + 1)).says("never given")]).await,
        Err(fenced("a"))
    );
    assert_eq!(log.find(&"b".into()).await, Ok(None));
    assert_eq!(log.claim("link", "k", at(1)).await, Ok(None));
    assert_eq!(log.heads().await, Ok(vec![]));
    assert_eq!(
        log.append(vec![batch("a", 2).by(second).says("three")]).await.map(heads),
        Ok(vec![Seq(3)])
    );
}

/// A stream is not taken from a live process: its writer continues. Its own owner may acquire
/// again.
pub async fn what_another_process_holds_is_not_taken<S: Subject>(subject: S) {
    let log = subject.log();
    let holder = epoch(log, "a", "first").await;
    let lease = Lease { owner: "first".into(), until: at(i64::MAX) };
    if !subject.lease(lease.clone()) {
        return;
    }
    assert_eq!(log.acquire(&"a".into(), "second").await, Ok(Acquisition::Held(lease.clone())));
    assert_eq!(log.acquire(&"not-begun".into(), "second").await, Ok(Acquisition::Held(lease)));
    log.append(vec![batch("a", 0).by(holder).says("one")]).await.unwrap();
    assert!(epoch(log, "a", "first").await > holder);
}

/// A stream with a lapsed lease can be taken. Its earlier owner, if still alive, is fenced.
pub async fn a_lease_that_is_over_can_be_taken<S: Subject>(subject: S) {
    let log = subject.log();
    let holder = epoch(log, "a", "first").await;
    if !subject.lease(Lease { owner: "first".into(), until: at(1) }) {
        return;
    }
    let second = epoch(log, "a", "second").await;
    assert!(second > holder);
    assert_eq!(log.append(vec![batch("a", 0).by(holder).says("late")]).await, Err(fenced("a")));
    log.append(vec![batch("a", 0).by(second).says("one")]).await.unwrap();
}

/// A stream can have a writer before its first event. Readers do not see it yet.
pub async fn a_stream_can_be_acquired_before_it_begins<S: Subject>(subject: S) {
    let log = subject.log();
    let epoch = epoch(log, "a", "first").await;
    assert_eq!(log.find(&"a".into()).await, Ok(None));
    assert_eq!(log.list(ListFilter::default()).await.unwrap().streams, vec![]);
    assert_eq!(log.append(vec![batch("a", 0).says("by nobody")]).await, Err(fenced("a")));
    assert_eq!(
        log.append(vec![batch("a", 0).by(epoch).says("one")]).await.map(heads),
        Ok(vec![Seq(1)])
    );
}

/// Writers that race for one stream, and retry after a conflict, leave no gap in it. Writers of
/// other streams are not disturbed.
pub async fn writers_at_once_leave_no_gap<S: Subject>(subject: S) {
    const WRITERS: u64 = 8;
    const EACH: u64 = 10;
    let subject = Arc::new(subject);
    let tasks: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(race(subject.clone(), writer, EACH))).collect();
    for task in tasks {
        task.await.unwrap();
    }
    let shared = subject.log().read(&"shared".into(), Seq(0), 1000).await.unwrap();
    assert_eq!(places(&shared.events), (1..=WRITERS * EACH).collect::<Vec<_>>());
    for writer in 0..WRITERS {
        let own = StreamId::new(format!("own-{writer}"));
        assert_eq!(subject.log().find(&own).await.unwrap().unwrap().head, Seq(EACH));
        let mine =
            shared.events.iter().filter(|recorded| recorded.event.body() == Some(own.as_str()));
        assert_eq!(mine.count() as u64, EACH);
    }
}

async fn race<S: Subject>(subject: Arc<S>, writer: u64, times: u64) {
    let own = format!("own-{writer}");
    let mut head = Seq(0);
    for done in 0..times {
        loop {
            let batches = vec![batch(&own, done).says("mine"), batch("shared", head.0).says(&own)];
            match subject.log().append(batches).await {
                Ok(appended) => {
                    head = appended[1].head;
                    break;
                }
                Err(AppendError::Conflict { stream, head: actual }) => {
                    assert_eq!(stream, "shared".into());
                    head = actual;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}
