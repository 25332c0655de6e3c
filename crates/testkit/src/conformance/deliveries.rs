//! Deliveries: rows with a target, and their progress.

use std::collections::BTreeMap;

use moothall_engine::ports::{
    Deliveries, Delivery, DeliveryState, Durability, EventLog, Target, command_claim,
};
use moothall_kernel::ids::{Seq, TurnNo};
use moothall_kernel::time::Timestamp;

use super::Subject;
use super::build::{Builder, batch, claim};

/// A time later than every lapse.
const LATEST: Timestamp = Timestamp::from_millis(i64::MAX);

fn to(text: &str) -> Target {
    text.parse().unwrap()
}

fn at_targets(deliveries: &[Delivery]) -> Vec<(String, u64)> {
    let at = |delivery: &Delivery| (delivery.target.to_string(), delivery.through_seq.0);
    deliveries.iter().map(at).collect()
}

/// Every field is stored, in the order of the appends, and listed by stream.
pub async fn deliveries_are_inserted_with_their_append<S: Subject>(subject: S) {
    let log = subject.log();
    let mut first = batch("a", 0).says("one").owes("chat:1").owes("session:2");
    first.deliveries[1].turn = None;
    let mut appended =
        log.append(vec![first, batch("b", 0).says("b1").owes("chat:1")]).await.unwrap();
    appended.extend(log.append(vec![batch("a", 1).says("two").owes("chat:1")]).await.unwrap());

    let of_a = log.of_stream(&"a".into()).await.unwrap();
    assert_eq!(
        at_targets(&of_a),
        [("chat:1".to_owned(), 1), ("session:2".to_owned(), 1), ("chat:1".to_owned(), 2)]
    );
    assert!(of_a.windows(2).all(|pair| pair[0].id < pair[1].id));
    let ids: Vec<u64> =
        appended.iter().flat_map(|appended| appended.deliveries.iter().copied()).collect();
    assert_eq!(
        ids,
        [of_a[0].id, of_a[1].id, log.of_stream(&"b".into()).await.unwrap()[0].id, of_a[2].id],
        "an append says them"
    );
    let expected = Delivery {
        id: of_a[0].id,
        target: to("chat:1"),
        stream: "a".into(),
        turn: Some(TurnNo(3)),
        attempt: 2,
        through_seq: Seq(1),
        number: None,
        state: DeliveryState::Pending,
        evidence: String::new(),
        command: None,
    };
    assert_eq!(of_a[0], expected);
    assert_eq!(of_a[1].turn, None);
    assert_eq!(log.of_stream(&"b".into()).await.unwrap().len(), 1);
    assert_eq!(log.of_stream(&"unknown".into()).await, Ok(vec![]));
}

/// The oldest delivery of each target is its head until it is done, whatever its stream.
pub async fn each_target_is_served_first_in_first_out<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").owes("x").owes("y").says("two").owes("x")])
        .await
        .unwrap();
    log.append(vec![batch("b", 0).says("b1").owes("x")]).await.unwrap();
    let heads = log.heads().await.unwrap();
    assert_eq!(at_targets(&heads), [("x".to_owned(), 1), ("y".to_owned(), 1)]);

    let x = heads[0].id;
    let steps = [
        DeliveryState::Pending,
        DeliveryState::Sending,
        DeliveryState::Sent,
        DeliveryState::Accepted,
    ];
    for pair in steps.windows(2) {
        assert_eq!(log.advance(x, &[pair[0]], pair[1], "step", Durability::Synced).await, Ok(true));
        let head = log.heads().await.unwrap().remove(0);
        assert_eq!((head.id, head.state, head.evidence.as_str()), (x, pair[1], "step"));
    }
    log.advance(
        x,
        &[DeliveryState::Accepted],
        DeliveryState::Done,
        "read back",
        Durability::Synced,
    )
    .await
    .unwrap();
    assert_eq!(at_targets(&log.heads().await.unwrap()), [("y".to_owned(), 1), ("x".to_owned(), 2)]);
    assert_eq!(log.of_stream(&"a".into()).await.unwrap()[0].evidence, "read back");
}

/// A done, failed or unknown delivery lets the next one follow.
pub async fn what_is_over_does_not_block_its_target<S: Subject>(subject: S) {
    let log = subject.log();
    let ends = [DeliveryState::Done, DeliveryState::Failed, DeliveryState::Unknown];
    let owed = ends.iter().fold(batch("a", 0).says("one"), |batch, _| batch.owes("x"));
    log.append(vec![owed]).await.unwrap();
    let all = log.of_stream(&"a".into()).await.unwrap();
    for (delivery, end) in all.iter().zip(ends) {
        assert_eq!(log.heads().await, Ok(vec![delivery.clone()]));
        assert_eq!(
            log.advance(delivery.id, &[DeliveryState::Pending], end, "", Durability::Synced).await,
            Ok(true)
        );
    }
    assert_eq!(log.heads().await, Ok(vec![]));
    let ended: Vec<_> =
        log.of_stream(&"a".into()).await.unwrap().iter().map(|delivery| delivery.state).collect();
    assert_eq!(ended, ends);
}

/// Of two callers that advance the same delivery, one succeeds. A delivery that was not advanced
/// keeps its evidence.
pub async fn a_delivery_advances_only_from_where_it_is<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").owes("x")]).await.unwrap();
    let id = log.heads().await.unwrap()[0].id;
    assert_eq!(
        log.advance(
            id,
            &[DeliveryState::Pending],
            DeliveryState::Sending,
            "mine",
            Durability::Synced
        )
        .await,
        Ok(true)
    );
    assert_eq!(
        log.advance(
            id,
            &[DeliveryState::Pending],
            DeliveryState::Sending,
            "other's",
            Durability::Synced
        )
        .await,
        Ok(false)
    );
    assert_eq!(
        log.advance(
            id + 1,
            &[DeliveryState::Pending],
            DeliveryState::Sending,
            "nobody's",
            Durability::Synced
        )
        .await,
        Ok(false)
    );
    let head = log.heads().await.unwrap().remove(0);
    assert_eq!((head.state, head.evidence.as_str()), (DeliveryState::Sending, "mine"));
}

/// A delivery leaves one of several states in one write, synced or not.
pub async fn a_delivery_advances_from_whichever_state_is_named<S: Subject>(subject: S) {
    use DeliveryState::{Accepted, Done, Failed, Pending, Sending, Sent};
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").owes("x").says("two").owes("x").owes("y")])
        .await
        .unwrap();
    let id = log.heads().await.unwrap()[0].id;
    assert_eq!(log.advance(id, &[], Sending, "", Durability::Synced).await, Ok(false));
    assert_eq!(
        log.advance(id, &[Sending, Sent, Accepted, Done, Failed], Done, "", Durability::Written)
            .await,
        Ok(false)
    );
    assert_eq!(
        log.advance(id, &[Pending, Sending], Sent, "early", Durability::Written).await,
        Ok(true)
    );
    assert_eq!(log.heads().await.unwrap()[0].evidence, "early");
    assert_eq!(
        log.pending_deliveries(&to("x"), 0, 9)
            .await
            .unwrap()
            .iter()
            .map(|row| (row.id, row.state))
            .collect::<Vec<_>>(),
        [(id, Sent), (id + 1, Pending)]
    );
    assert_eq!(
        log.advance(id, &[Sending, Sent, Accepted], Done, "", Durability::Written).await,
        Ok(true)
    );
    assert_eq!(
        log.pending_deliveries(&to("x"), 0, 9)
            .await
            .unwrap()
            .iter()
            .map(|row| row.id)
            .collect::<Vec<_>>(),
        [id + 1]
    );
    assert_eq!(log.pending_deliveries(&to("z"), 0, 9).await, Ok(vec![]));
}

/// The unsettled deliveries of a target are read in pages, from an id on.
pub async fn pending_deliveries_come_in_pages<S: Subject>(subject: S) {
    let log = subject.log();
    let owed = (0..5).fold(batch("a", 0).says("one"), |batch, _| batch.owes("x").owes("y"));
    log.append(vec![owed]).await.unwrap();
    let all: Vec<u64> =
        log.of_stream(&"a".into()).await.unwrap().iter().map(|row| row.id).collect();
    let ids = async |after, limit| -> Vec<u64> {
        let page = log.pending_deliveries(&to("x"), after, limit).await.unwrap();
        page.iter().map(|row| row.id).collect()
    };
    let x: Vec<u64> = all.iter().step_by(2).copied().collect();
    assert_eq!(ids(0, 9).await, x);
    assert_eq!(ids(0, 2).await, x[..2]);
    assert_eq!(ids(x[1], 2).await, x[2..4]);
    assert_eq!(ids(x[1] + 1, 9).await, x[2..], "an id of another target");
    assert_eq!(ids(x[4], 9).await, [0; 0]);
    let done = DeliveryState::Done;
    log.advance(x[2], &[DeliveryState::Pending], done, "", Durability::Written).await.unwrap();
    assert_eq!(ids(x[0], 2).await, [x[1], x[3]], "a settled one takes no place");
}

/// Deliveries are counted by state, without the done ones.
pub async fn deliveries_are_counted_by_state<S: Subject>(subject: S) {
    use DeliveryState::{Done, Pending, Sending, Unknown};
    let log = subject.log();
    assert_eq!(log.tally().await.unwrap(), BTreeMap::new());
    log.append(vec![batch("a", 0).says("one").owes("w").owes("x").owes("y").owes("z")])
        .await
        .unwrap();
    let ids: Vec<u64> = log.heads().await.unwrap().iter().map(|delivery| delivery.id).collect();
    for (id, to) in ids.into_iter().zip([Done, Unknown, Sending]) {
        assert!(log.advance(id, &[Pending], to, "", Durability::Synced).await.unwrap());
    }
    assert_eq!(
        log.tally().await.unwrap(),
        BTreeMap::from([(Pending, 1), (Sending, 1), (Unknown, 1)])
    );
}

/// Deliveries that are not settled are counted for each target.
pub async fn open_deliveries_are_counted_by_target<S: Subject>(subject: S) {
    use DeliveryState::{Done, Failed, Pending, Sending};
    let log = subject.log();
    assert_eq!(log.owed().await.unwrap(), BTreeMap::new());
    log.append(vec![
        batch("a", 0).says("one").owes("chat:telegram:1").owes("chat:telegram:2").owes("x:1"),
        batch("b", 0).says("b1").owes("chat:telegram:1"),
    ])
    .await
    .unwrap();
    log.append(vec![batch("a", 1).says("two").owes("chat:telegram:1")]).await.unwrap();
    let ids: Vec<u64> = log.heads().await.unwrap().iter().map(|delivery| delivery.id).collect();
    for (id, to) in ids.into_iter().zip([Sending, Done, Failed]) {
        assert!(log.advance(id, &[Pending], to, "", Durability::Synced).await.unwrap());
    }
    assert_eq!(log.owed().await.unwrap(), BTreeMap::from([(to("chat:telegram:1"), 3)]));
}

/// A target lists its newest deliveries first, in any state, and none of other targets.
pub async fn a_target_knows_its_newest_deliveries<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![
        batch("a", 0).says("one").owes("chat:1").owes("chat:2"),
        batch("b", 0).says("b1").owes("chat:1"),
    ])
    .await
    .unwrap();
    log.append(vec![batch("a", 1).says("two").owes("chat:1")]).await.unwrap();
    let first = log.heads().await.unwrap()[0].id;
    assert!(
        log.advance(
            first,
            &[DeliveryState::Pending],
            DeliveryState::Failed,
            "gone",
            Durability::Synced
        )
        .await
        .unwrap()
    );
    let newest = log.of_target(&to("chat:1"), None, 10).await.unwrap();
    let at: Vec<(&str, u64)> =
        newest.iter().map(|delivery| (delivery.stream.as_str(), delivery.through_seq.0)).collect();
    assert_eq!(at, [("a", 2), ("b", 1), ("a", 1)]);
    assert_eq!(log.of_target(&to("chat:1"), None, 2).await.unwrap(), newest[..2]);
    let before = Some(newest[0].id);
    assert_eq!(log.of_target(&to("chat:1"), before, 1).await.unwrap(), newest[1..2]);
    assert_eq!(log.of_target(&to("chat:1"), Some(newest[2].id), 9).await.unwrap(), []);
    assert_eq!(log.of_target(&to("chat:9"), None, 2).await.unwrap(), []);
}

/// A command stays until its delivery is settled, whatever the outcome. Then its words and the
/// claim that made it count once are removed.
pub async fn a_command_is_kept_until_it_is_settled<S: Subject>(subject: S) {
    let log = subject.log();
    for (number, end) in
        [DeliveryState::Done, DeliveryState::Failed, DeliveryState::Unknown].into_iter().enumerate()
    {
        let from = format!("from-{number}");
        let ids = log
            .append(vec![batch(&from, 0).says("one").commands("stream:t", "do this")])
            .await
            .unwrap()
            .remove(0)
            .deliveries;
        let (namespace, key) = command_claim(ids[0]);
        let other = claim("t", namespace, &format!("{key}0"));
        let taken = batch("t", number as u64)
            .says("done")
            .takes(claim("t", namespace, &key))
            .takes(other.clone());
        log.append(vec![taken]).await.unwrap();

        assert_eq!(
            log.pending_deliveries(&to("stream:t"), 0, 9).await.unwrap()[0].command.as_deref(),
            Some("do this")
        );
        log.advance(
            ids[0],
            &[DeliveryState::Pending],
            DeliveryState::Sending,
            "",
            Durability::Written,
        )
        .await
        .unwrap();
        assert_eq!(
            log.heads().await.unwrap()[0].command.as_deref(),
            Some("do this"),
            "it is not settled"
        );
        assert!(log.claim(namespace, &key, LATEST).await.unwrap().is_some(), "it does not lapse");

        log.advance(ids[0], &[DeliveryState::Sending], end, "", Durability::Written).await.unwrap();
        assert_eq!(log.of_stream(&from.as_str().into()).await.unwrap()[0].command, None);
        assert_eq!(log.claim(namespace, &key, LATEST).await, Ok(None));
        assert_eq!(log.claim(namespace, &other.key, LATEST).await, Ok(Some(other)), "another's");
    }
}
