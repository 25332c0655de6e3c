//! Deleting: nothing of a deleted stream can be read again.

use moothall_engine::ports::{
    Catalog, DELETED, Deliveries, DeliveryState, EventLog, ListFilter, LogError, ReadMarks, Search,
    SearchRequest, StreamBatch, Upkeep,
};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::search::Query;

use super::Subject;
use super::build::{Builder, at, batch, claim, heads, words};
use super::search::page;

fn deleted(head: u64) -> StreamBatch {
    let gone = batch("a", head).event(Event::Deleted { by: ParticipantId::user() });
    gone.row(|row| {
        *row = Catalog { kind: DELETED.into(), title: String::new(), archived: true, ..row.clone() }
    })
}

async fn delete(log: &impl EventLog, head: u64) {
    log.append(vec![deleted(head)]).await.unwrap();
    log.erase_deleted().await.unwrap();
}

/// Every access to a deleted stream says so, and no listing shows it.
pub async fn a_deleted_stream_is_gone<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two"), batch("b", 0).says("theirs")])
        .await
        .unwrap();
    delete(log, 2).await;
    let (a, user) = (StreamId::new("a"), ParticipantId::user());
    let gone = LogError::Deleted(a.clone());
    assert_eq!(log.read(&a, Seq(0), 10).await, Err(gone.clone()));
    assert_eq!(log.read(&a, Seq(3), 10).await, Err(gone.clone()));
    assert_eq!(log.messages_before(&a, Seq(9), 10).await, Err(gone.clone()));
    assert_eq!(log.load(&a, 1, 10).await, Err(gone.clone()));
    assert_eq!(log.find(&a).await, Err(gone.clone()));
    assert_eq!(log.mark(&user, &a, Seq(1)).await, Err(gone));
    for archived in [None, Some(true), Some(false)] {
        let listed =
            log.list(ListFilter { archived, ..ListFilter::default() }).await.unwrap().streams;
        assert!(listed.iter().all(|listed| listed.stream != a), "{archived:?}");
    }
    assert_eq!(words(&log.read(&"b".into(), Seq(0), 10).await.unwrap().events), ["theirs"]);
}

/// The keys of a deleted stream can be taken by others, and its deliveries to streams are not sent
/// any more.
pub async fn deleting_frees_what_it_held<S: Subject>(subject: S) {
    let log = subject.log();
    let owing =
        batch("a", 0).says("one").takes(claim("a", "chat", "1")).takes(claim("a", "idem", "k"));
    log.append(vec![owing.commands("stream:b", "words of a command")]).await.unwrap();
    delete(log, 1).await;
    for (namespace, key) in [("chat", "1"), ("idem", "k")] {
        assert_eq!(log.claim(namespace, key, at(5)).await, Ok(None));
    }
    let left: Vec<_> = log
        .of_stream(&"a".into())
        .await
        .unwrap()
        .into_iter()
        .map(|owed| (owed.state, owed.command))
        .collect();
    assert_eq!(left, [(DeliveryState::Failed, None)]);
    assert_eq!(
        log.append(vec![batch("b", 0).says("two").takes(claim("b", "chat", "1"))]).await.map(heads),
        Ok(vec![Seq(1)])
    );
}

/// A deleted stream stays deleted, even if the log was reopened before its events were erased. The
/// erasure can be resumed at any time.
pub async fn what_was_deleted_stays_deleted<S: Subject>(subject: S) {
    subject
        .log()
        .append(vec![batch("a", 0).says("one").says("two"), batch("b", 0).says("theirs")])
        .await
        .unwrap();
    subject.log().append(vec![deleted(2)]).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    assert_eq!(log.read(&"a".into(), Seq(0), 10).await, Err(LogError::Deleted("a".into())));
    log.erase_deleted().await.unwrap();
    log.erase_deleted().await.unwrap();
    assert_eq!(log.read(&"a".into(), Seq(0), 10).await, Err(LogError::Deleted("a".into())));
    assert_eq!(log.append(vec![batch("b", 1).says("more")]).await.map(heads), Ok(vec![Seq(2)]));
}

/// A walk finds no fault before and after the events are erased, and a search finds none of the
/// words.
pub async fn a_deleted_stream_is_whole_and_found_no_more<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![
        batch("a", 0).says("a needle").says("another needle"),
        batch("b", 0).says("their needle"),
    ])
    .await
    .unwrap();
    log.append(vec![deleted(2)]).await.unwrap();
    assert_eq!(log.verify().await.faults, vec![]);
    log.erase_deleted().await.unwrap();
    log.forget_stream(&"a".into()).await.unwrap();
    assert_eq!(log.verify().await.faults, vec![]);
    let wanted = SearchRequest { query: Query::parse("needle").unwrap(), streams: None };
    let hits = page(log, &wanted, 10, None)
        .await
        .hits
        .into_iter()
        .map(|hit| hit.stream.to_string())
        .collect::<Vec<_>>();
    assert_eq!(hits, ["b"]);
}
