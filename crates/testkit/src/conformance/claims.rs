//! Claims: one holder for each key, taken and released together with events.

use moothall_engine::ports::{AppendError, Claim, EventLog};
use moothall_kernel::ids::Seq;

use super::Subject;
use super::build::{Builder, at, batch, claim, heads, lapsing};

fn claimed(by: Claim) -> AppendError {
    AppendError::Claimed(Box::new(by))
}

/// Every field of a claim is stored. Namespaces and keys are kept apart.
pub async fn a_claim_is_found_as_it_was_taken<S: Subject>(subject: S) {
    let log = subject.log();
    let taken =
        Claim { fingerprint: "abc".into(), outcome: "17".into(), ..lapsing("a", "user:k", 90) };
    log.append(vec![batch("a", 0).says("one").takes(taken.clone()).takes(claim("a", "in", "x:1"))])
        .await
        .unwrap();
    assert_eq!(log.claim("idem", "user:k", at(5)).await, Ok(Some(taken)));
    assert_eq!(log.claim("in", "x:1", at(5)).await, Ok(Some(claim("a", "in", "x:1"))));
    assert_eq!(log.claim("in:x", "1", at(5)).await, Ok(None));
    assert_eq!(log.claim("idem", "USER:K", at(5)).await, Ok(None));
}

/// A late append gets the holder of the key, and leaves no trace.
pub async fn a_held_claim_fails_the_whole_append<S: Subject>(subject: S) {
    let log = subject.log();
    let held = claim("a", "chat", "1");
    log.append(vec![batch("a", 0).says("one").takes(held.clone())]).await.unwrap();
    let late = batch("b", 0)
        .says("b1")
        .takes(claim("b", "chat", "2"))
        .takes(claim("b", "chat", "1"))
        .owes("chat:1");
    assert_eq!(log.append(vec![batch("a", 1).says("two"), late]).await, Err(claimed(held)));
    assert_eq!(log.find(&"b".into()).await, Ok(None));
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(1));
    assert_eq!(log.claim("chat", "2", at(1)).await, Ok(None));
}

/// A repeated request meets its own claim.
pub async fn a_claim_fails_its_own_holder_too<S: Subject>(subject: S) {
    let log = subject.log();
    let held = lapsing("a", "k", 90);
    log.append(vec![batch("a", 0).says("one").takes(held.clone())]).await.unwrap();
    let again = Claim { outcome: "2".into(), ..held.clone() };
    assert_eq!(
        log.append(vec![batch("a", 1).says("again").takes(again)]).await,
        Err(claimed(held.clone()))
    );
    let first = claim("a", "link", "twice");
    let twice = batch("a", 1).says("two").takes(first.clone()).takes(first.clone());
    assert_eq!(log.append(vec![twice]).await, Err(claimed(first)));
    assert_eq!(log.claim("link", "twice", at(1)).await, Ok(None));
}

/// Another stream's release does not remove the claim.
pub async fn a_claim_is_released_by_its_holder_alone<S: Subject>(subject: S) {
    let log = subject.log();
    let held = claim("a", "chat", "1");
    log.append(vec![batch("a", 0).says("one").takes(held.clone())]).await.unwrap();
    log.append(vec![batch("b", 0).says("b1").releases("chat", "1").releases("chat", "none")])
        .await
        .unwrap();
    assert_eq!(log.claim("chat", "1", at(1)).await, Ok(Some(held)));
    log.append(vec![batch("a", 1).says("two").releases("chat", "1")]).await.unwrap();
    assert_eq!(log.claim("chat", "1", at(1)).await, Ok(None));
    assert!(
        log.append(vec![batch("b", 1).says("b2").takes(claim("b", "chat", "1"))]).await.is_ok()
    );
}

/// A claim that one batch releases can be taken by a later batch of the same append.
pub async fn a_claim_passes_on_within_an_append<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").takes(claim("a", "chat", "1"))]).await.unwrap();
    let passes = vec![
        batch("a", 1).says("two").releases("chat", "1"),
        batch("b", 0).says("b1").takes(claim("b", "chat", "1")),
    ];
    assert_eq!(log.append(passes).await.map(heads), Ok(vec![Seq(2), Seq(1)]));
    assert_eq!(log.claim("chat", "1", at(1)).await, Ok(Some(claim("b", "chat", "1"))));
}

/// A claim is gone from its time of expiry on.
pub async fn a_claim_lapses<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").takes(lapsing("a", "k", 90))]).await.unwrap();
    assert!(log.claim("idem", "k", at(89)).await.unwrap().is_some());
    assert_eq!(log.claim("idem", "k", at(90)).await, Ok(None));
}

/// The newest event of an append is the time for its claims.
pub async fn a_lapsed_claim_can_be_taken_over<S: Subject>(subject: S) {
    let log = subject.log();
    let first = lapsing("a", "k", 90);
    log.append(vec![batch("a", 0).says("one").takes(first.clone())]).await.unwrap();
    let takes = |millis| batch("b", 0).says_at(millis, "b1").takes(lapsing("b", "k", 200));
    assert_eq!(log.append(vec![takes(89)]).await, Err(claimed(first.clone())));
    let timeless = batch("a", 1).takes(lapsing("a", "k", 200));
    assert_eq!(log.append(vec![timeless]).await, Err(claimed(first)));
    assert_eq!(log.append(vec![takes(90)]).await.map(heads), Ok(vec![Seq(1)]));
    assert_eq!(log.claim("idem", "k", at(100)).await, Ok(Some(lapsing("b", "k", 200))));
}

/// An append that fails after its claims were checked changes no claim.
pub async fn a_failed_append_neither_takes_nor_releases<S: Subject>(subject: S) {
    let log = subject.log();
    let held = claim("a", "chat", "1");
    log.append(vec![batch("a", 0).says("one").takes(held.clone())]).await.unwrap();
    let releases = batch("a", 1).says("two").releases("chat", "1").takes(claim("a", "chat", "2"));
    assert!(log.append(vec![releases, batch("b", 7).says("b8")]).await.is_err());
    assert_eq!(log.claim("chat", "1", at(1)).await, Ok(Some(held)));
    assert_eq!(log.claim("chat", "2", at(1)).await, Ok(None));
}

/// A namespace lists its claims, without lapsed ones and those of other namespaces.
pub async fn a_namespace_lists_its_claims<S: Subject>(subject: S) {
    let log = subject.log();
    let (first, second, later) = (
        claim("a", "link", "x"),
        claim("b", "link", "y"),
        Claim { namespace: "link".into(), ..lapsing("a", "z", 90) },
    );
    log.append(vec![batch("b", 0).says("b1").takes(second.clone()).takes(claim("b", "chat", "x"))])
        .await
        .unwrap();
    log.append(vec![batch("a", 0).says("one").takes(later.clone()).takes(first.clone())])
        .await
        .unwrap();
    assert_eq!(log.claims("link", at(89)).await, Ok(vec![first.clone(), second.clone(), later]));
    assert_eq!(log.claims("link", at(90)).await, Ok(vec![first.clone(), second]));
    log.append(vec![batch("b", 1).says("b2").releases("link", "y")]).await.unwrap();
    assert_eq!(log.claims("link", at(90)).await, Ok(vec![first]));
    assert_eq!(log.claims("lin", at(90)).await, Ok(vec![]));
}
