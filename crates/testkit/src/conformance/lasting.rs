//! Lasting: acknowledged changes are there when the log is opened again. A log that is not meant to
//! last passes at once.

use moothall_engine::ports::{
    AppendError, Deliveries, DeliveryState, Durability, EventLog, ListFilter,
};
use moothall_kernel::ids::{Seq, StreamId};

use super::Subject;
use super::build::{Builder, at, batch, claim, epoch, heads};

/// Events, rows, claims and deliveries survive a restart.
pub async fn all_of_it_lasts<S: Subject>(subject: S) {
    let log = subject.log();
    let first =
        batch("a", 0).says("one").says("two").takes(claim("a", "chat", "1")).owes("x").owes("y");
    log.append(vec![first, batch("b", 0).says("b1").row(|row| row.next_wake = Some(at(9)))])
        .await
        .unwrap();
    log.append(vec![batch("b", 1).says("b2").row(|row| row.has_duties = true)]).await.unwrap();
    let x = log.heads().await.unwrap()[0].id;
    log.advance(
        x,
        &[DeliveryState::Pending],
        DeliveryState::Unknown,
        "cut off",
        Durability::Synced,
    )
    .await
    .unwrap();
    let before = everything(log).await;

    let Some(subject) = subject.reopen().await else { return };
    assert_eq!(everything(subject.log()).await, before);
    assert_eq!(
        subject.log().append(vec![batch("a", 2).says("three")]).await.map(heads),
        Ok(vec![Seq(3)])
    );
}

async fn everything(log: &(impl EventLog + Deliveries)) -> String {
    let mut lines = Vec::new();
    for id in ["a", "b"].map(StreamId::new) {
        let page = log.read(&id, Seq(0), 100).await.unwrap();
        lines.push(format!("{page:?} {:?}", log.of_stream(&id).await.unwrap()));
    }
    let list = log.list(ListFilter::default()).await.unwrap();
    let claim = log.claim("chat", "1", at(5)).await.unwrap();
    lines.push(format!(
        "{list:?} {claim:?} {:?} {:?} {:?}",
        log.due(at(5)).await,
        log.next_wake().await,
        log.heads().await
    ));
    lines.join("\n")
}

/// An earlier writer stays fenced, and an epoch is never given twice.
pub async fn fences_last<S: Subject>(subject: S) {
    let log = subject.log();
    let stale = epoch(log, "a", "first").await;
    log.append(vec![batch("a", 0).by(stale).says("one")]).await.unwrap();
    let newest = epoch(log, "a", "second").await;

    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    let fenced = AppendError::Fenced { stream: "a".into() };
    assert_eq!(log.append(vec![batch("a", 1).by(stale).says("late")]).await, Err(fenced));
    assert!(epoch(log, "a", "third").await > newest);
}

/// Delivery ids keep rising, so that a target's order holds across a restart.
pub async fn delivery_ids_go_on_rising<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").owes("x")]).await.unwrap();
    let first = log.heads().await.unwrap()[0].id;
    log.advance(first, &[DeliveryState::Pending], DeliveryState::Done, "", Durability::Synced)
        .await
        .unwrap();

    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    log.append(vec![batch("a", 1).says("two").owes("x")]).await.unwrap();
    assert!(log.heads().await.unwrap()[0].id > first);
}
