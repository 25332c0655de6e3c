//! The outbox of streams: commands for other streams, and deliveries of delivery handlers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use moothall_engine::hall::Idempotency;
use moothall_engine::outbox::{DeliveryHandler, OutboxEntry, Outcome, StreamCommand};
use moothall_engine::ports::{
    AppendError, Deliveries, Delivery, DeliveryState, EventLog, Target, TargetKind, command_claim,
};
use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Address;
use moothall_kernel::time::Millis;

use super::common::*;

fn tell(to: &StreamId, text: &str) -> OutboxEntry {
    OutboxEntry::to_stream(
        to,
        &StreamCommand::Tell { from: "courier".into(), to: "user".into(), text: text.into() },
    )
}

fn owing(key: &str) -> Idempotency {
    Idempotency { principal: "test".into(), key: key.into(), fingerprint: String::new() }
}

fn from_courier(words: &[&str]) -> Vec<(String, String)> {
    words.iter().map(|words| ("courier".to_owned(), (*words).to_owned())).collect()
}

/// Waits until all deliveries of a stream are settled, and returns their states and evidence.
async fn settled(world: &World, from: &StreamId, many: usize) -> Vec<(DeliveryState, String)> {
    eventually(async || {
        let of = world.log.of_stream(from).await.unwrap();
        let all = of.len() == many && of.iter().all(|delivery| delivery.state.is_settled());
        all.then(|| of.into_iter().map(|delivery| (delivery.state, delivery.evidence)).collect())
    })
    .await
}

/// Owes deliveries to a target whose next append is held back.
async fn owe_to_a_slow_one(world: &World, from: &StreamId, owed: Vec<OutboxEntry>) {
    world.log.close_gate();
    let held = async {
        world.log.waiting.notified().await;
        world.log.gate.add_permits(1);
        world.log.waiting.notified().await;
    };
    let (owed, ()) = tokio::join!(world.hall.owe(from, owed, owing("slow")), held);
    owed.unwrap();
}

#[tokio::test(start_paused = true)]
async fn commands_are_carried_out_in_the_order_in_which_they_were_owed() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    let words: Vec<String> = (0..50).map(|n| format!("word {n}")).collect();
    world.hall.submit_owing(&from, post("hello"), None, vec![tell(&to, &words[0])]).await.unwrap();
    for word in &words[1..] {
        world.hall.owe(&from, vec![tell(&to, word)], owing(word)).await.unwrap();
    }
    settled(&world, &from, words.len()).await;
    assert_eq!(
        world.said(&to).await,
        from_courier(&words.iter().map(String::as_str).collect::<Vec<_>>())
    );
    let first = &world.log.of_stream(&from).await.unwrap()[0];
    assert_eq!(
        (first.through_seq.0, first.command.as_deref()),
        (2, None),
        "it names the event that caused it, and keeps no words"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_owes_nothing_and_a_key_owes_once() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    let nobody = ClientCommand::Archive { on: true, by: Actor::named("nobody") };
    assert!(world.hall.submit_owing(&from, nobody, None, vec![tell(&to, "never")]).await.is_err());
    for _ in 0..3 {
        world.hall.owe(&from, vec![tell(&to, "once")], owing("same")).await.unwrap();
    }
    settled(&world, &from, 1).await;
    assert_eq!(world.said(&to).await, from_courier(&["once"]));
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_overloaded_or_out_of_room_is_tried_again() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    owe_to_a_slow_one(&world, &from, vec![tell(&to, "one"), tell(&to, "two")]).await;
    world.log.fail_next(AppendError::Overloaded);
    world.log.fail_next(AppendError::Full);
    world.log.open_gate();
    settled(&world, &from, 2).await;
    assert_eq!(world.said(&to).await, from_courier(&["one", "two"]));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_is_noted_and_does_not_hold_up_the_next() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    let nowhere = StreamId::new("nowhere");
    let unreadable = OutboxEntry {
        target: Target::Stream(to.clone()),
        command: serde_json::json!({"do": "somersault"}),
    };
    let at = Address { computer: String::new(), kind: "session".into(), local_id: "gone".into() };
    let gone = OutboxEntry::to_stream(&to, &StreamCommand::Leave { at });
    let owed = vec![tell(&nowhere, "lost"), unreadable, gone, tell(&to, "found")];
    world.hall.owe(&from, owed, owing("all")).await.unwrap();
    let ends = settled(&world, &from, 4).await;
    let states: Vec<_> = ends.iter().map(|(state, _)| *state).collect();
    assert_eq!(
        states,
        [DeliveryState::Failed, DeliveryState::Failed, DeliveryState::Done, DeliveryState::Done]
    );
    assert_eq!(ends[0].1, "conversation nowhere was not found");
    assert!(ends[1].1.contains("somersault"), "{}", ends[1].1);
    assert_eq!(ends[2].1, "whom it is about is not there");
    assert_eq!(world.said(&to).await, from_courier(&["found"]));
}

#[tokio::test(start_paused = true)]
async fn a_command_that_was_owed_before_the_server_died_is_carried_out_after() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    owe_to_a_slow_one(&world, &from, vec![tell(&to, "late")]).await;
    let world = world.restart(&[]).await;
    world.log.open_gate();
    settled(&world, &from, 1).await;
    assert_eq!(world.said(&to).await, from_courier(&["late"]));
}

/// The server dies after the target has the command and before that is recorded. It restarts days
/// later.
#[tokio::test(start_paused = true)]
async fn a_command_that_was_carried_out_is_not_carried_out_again() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    world.log.refuse_advances(true);
    world.hall.owe(&from, vec![tell(&to, "once")], owing("one")).await.unwrap();
    world.until(&to, |events| events.iter().any(|event| words(event).is_some())).await;
    world.clock.sleep_through(Millis::from_secs(3 * 24 * 3600));
    let owed = world.log.of_stream(&from).await.unwrap().remove(0);
    let (namespace, key) = command_claim(owed.id);
    assert!(world.log.claim(namespace, &key, world.hall.now()).await.unwrap().is_some());
    let world = world.restart(&[]).await;
    world.log.refuse_advances(false);
    world.hall.owe(&from, vec![tell(&to, "then this")], owing("two")).await.unwrap();
    settled(&world, &from, 2).await;
    assert_eq!(world.said(&to).await, from_courier(&["once", "then this"]));
    assert_eq!(
        world.log.claim(namespace, &key, world.hall.now()).await,
        Ok(None),
        "nobody asks for it any more"
    );
}

/// A delivery handler with scripted outcomes, which records its deliveries.
#[derive(Default)]
struct Porter {
    outcomes: Mutex<VecDeque<Outcome>>,
    carried: Mutex<Vec<String>>,
}

#[async_trait]
impl DeliveryHandler for Porter {
    async fn carry(&self, delivery: &Delivery) -> Outcome {
        self.carried.lock().unwrap().push(delivery.command.clone().unwrap_or_default());
        let outcome = self.outcomes.lock().unwrap().pop_front();
        match outcome {
            Some(outcome) => outcome,
            None => std::future::pending().await,
        }
    }
}

fn parcel(text: &str) -> OutboxEntry {
    OutboxEntry { target: "chat:telegram:7".parse().unwrap(), command: serde_json::json!(text) }
}

#[tokio::test(start_paused = true)]
async fn what_may_have_arrived_is_not_sent_again_and_holds_up_nothing() {
    let world = World::new().await;
    let from = world.create().await;
    let porter = Arc::new(Porter::default());
    let (busy, failed) = (Outcome::Later("busy".into()), Outcome::Failed("blocked".into()));
    porter.outcomes.lock().unwrap().extend([
        busy,
        Outcome::Unknown("no answer".into()),
        failed,
        Outcome::Done("7".into()),
    ]);
    world
        .hall
        .owe(&from, ["one", "two", "three", "four"].map(parcel).into(), owing("four"))
        .await
        .unwrap();
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    eventually(async || Some(()).filter(|()| porter.carried.lock().unwrap().len() == 5)).await;
    let world = world.restart(&[]).await;
    let next = Arc::new(Porter {
        outcomes: Mutex::new([Outcome::Done("8".into())].into()),
        ..Porter::default()
    });
    world.hall.owe(&from, vec![parcel("five")], owing("five")).await.unwrap();
    world.hall.register_handler(TargetKind::Chat, next.clone()).await.unwrap();
    let states: Vec<_> =
        settled(&world, &from, 5).await.into_iter().map(|(state, _)| state).collect();
    let on_its_way = DeliveryState::Unknown;
    assert_eq!(
        states,
        [
            DeliveryState::Unknown,
            DeliveryState::Failed,
            DeliveryState::Done,
            on_its_way,
            DeliveryState::Done
        ]
    );
    assert_eq!(next.carried.lock().unwrap().len(), 1, "only what was not begun");
}
