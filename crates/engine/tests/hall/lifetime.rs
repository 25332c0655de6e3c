//! Loading and unloading streams, unnoticed by their listeners.

use std::time::Duration;

use moothall_engine::hall::{HallChange, HallError, Listener, Update};
use moothall_engine::ports::{Clock, EventLog};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::Seq;
use moothall_kernel::participant::Runtime;
use tokio::sync::broadcast;

use crate::common::{Parrot, World, agent, eventually, has, post_by};

async fn next_seqs(updates: &mut Listener) -> Vec<u64> {
    loop {
        if let Update::Events(events) = updates.recv().await.unwrap() {
            return events.iter().map(|recorded: &RecordedEvent| recorded.seq.0).collect();
        }
    }
}

async fn idle() {
    tokio::time::sleep(Duration::from_secs(90)).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_duties_leaves_memory_and_comes_back() {
    let world = World::new().await;
    let stream = world.create().await;
    world.post(&stream, "one").await.unwrap();
    assert_eq!(world.hall.live_streams(), 1);
    idle().await;
    assert_eq!(world.hall.live_streams(), 0);
    assert_eq!(world.post(&stream, "two").await.unwrap().head, Seq(3));
    assert_eq!(world.hall.view(&stream, |state| state.name().to_owned()).await.unwrap(), "a test");
}

#[tokio::test(start_paused = true)]
async fn a_stream_with_an_open_turn_stays() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "remote").await;
    let _connected = world.hall.connect(&stream, "r".into(), true).await.unwrap();
    world.post(&stream, "@r hello").await.unwrap();
    idle().await;
    assert_eq!(world.hall.live_streams(), 1);
    world.hall.submit(&stream, post_by("r", "hello"), None).await.unwrap();
    idle().await;
    assert_eq!(world.hall.live_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_listener_gets_each_event_once_in_order_and_keeps_the_stream() {
    let world = World::new().await;
    let stream = world.create().await;
    idle().await;
    let mut subscription = world.hall.subscribe(&stream).await.unwrap();
    assert_eq!(subscription.head, Seq(1));
    let mut seen = Vec::new();
    for body in ["one", "two", "three"] {
        world.post(&stream, body).await.unwrap();
        idle().await;
        seen.extend(next_seqs(&mut subscription.updates).await);
    }
    assert_eq!(seen, [2, 3, 4]);
    assert_eq!(world.hall.live_streams(), 1);
    drop(subscription);
    idle().await;
    assert_eq!(world.hall.live_streams(), 0);
    let mut subscription = world.hall.subscribe(&stream).await.unwrap();
    assert_eq!(subscription.head, Seq(4));
    world.post(&stream, "four").await.unwrap();
    assert_eq!(next_seqs(&mut subscription.updates).await, [5]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_listener_is_told_that_it_missed_something() {
    let world = World::new().await;
    let stream = world.create().await;
    let mut subscription = world.hall.subscribe(&stream).await.unwrap();
    for n in 0..1100 {
        world.post(&stream, &n.to_string()).await.unwrap();
    }
    assert!(matches!(
        subscription.updates.recv().await,
        Err(broadcast::error::RecvError::Lagged(_))
    ));
}

#[tokio::test(start_paused = true)]
async fn the_hall_rings_for_every_conversation() {
    let world = World::new().await;
    let mut changes = world.hall.changes();
    let stream = world.create().await;
    world.hall.set_presence(&stream, "a".into(), "idle".into(), None).await.unwrap();
    assert_eq!(
        changes.recv().await.unwrap(),
        HallChange::Head {
            stream: stream.clone(),
            head: Seq(1),
            waits_for_people: 0,
            concerns_people: false
        }
    );
    assert!(
        matches!(changes.recv().await.unwrap(), HallChange::Presence { presence, .. } if presence.state == "idle")
    );
}

#[tokio::test(start_paused = true)]
async fn presence_does_not_load_a_stream() {
    let world = World::new().await;
    let stream = world.create().await;
    idle().await;
    world.hall.set_presence(&stream, "a".into(), "idle".into(), None).await.unwrap();
    assert_eq!(world.hall.presence(&stream).await.unwrap().len(), 1);
    assert_eq!(world.hall.live_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn opening_loads_only_what_has_something_to_do() {
    let world = World::new().await;
    let busy = world.create().await;
    for _ in 0..10 {
        world.create().await;
    }
    world.invite(&busy, "r", "remote").await;
    let _connected = world.hall.connect(&busy, "r".into(), true).await.unwrap();
    world.post(&busy, "@r hello").await.unwrap();
    world.until(&busy, |events| has(events, |event| event.kind() == "turn_started")).await;
    let world = world.restart(&[]).await;
    assert_eq!(world.hall.live_streams(), 1);
    assert!(world.hall.view(&busy, |state| state.open_turns().count() == 1).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_wake_of_a_stream_that_is_not_live_is_kept() {
    let world = World::new().await;
    let stream = world.create().await;
    let soon = world.clock.now() + moothall_kernel::time::Millis::from_secs(300);
    let mut listed = world.hall.find(&stream).await.unwrap();
    idle().await;
    let epoch = world.log.acquire(&stream, "another").await.unwrap().epoch().unwrap();
    listed.catalog.next_wake = Some(soon);
    let batch = moothall_engine::ports::StreamBatch {
        stream: stream.clone(),
        epoch,
        expected_head: listed.head,
        events: vec![],
        claims: vec![],
        deliveries: vec![],
        marks: vec![],
        charges: Vec::new(),
        catalog: listed.catalog,
    };
    world.log.append(vec![batch]).await.unwrap();
    assert_eq!(world.hall.live_streams(), 0);
    eventually(async || (world.hall.live_streams() == 1).then_some(())).await;
    assert!(world.clock.now() >= soon);
}

#[tokio::test(start_paused = true)]
async fn a_newer_versions_conversation_can_be_read_and_not_written() {
    let world = World::new().await;
    let stream = world.create().await;
    world.post(&stream, "before").await.unwrap();
    idle().await;
    world.log.inner.append_newer(&stream, world.clock.now(), "hologram");
    let refused = world.post(&stream, "after").await;
    assert_eq!(
        refused,
        Err(HallError::ReadOnly { stream: stream.clone(), seq: Seq(3), kind: "hologram".into() })
    );
    assert_eq!(world.hall.view(&stream, |state| state.head()).await, Ok(Seq(2)));
    assert_eq!(world.events(&stream).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_registry_that_changed_is_noted_when_the_stream_is_loaded() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "p", "parrot").await;
    let world = world.restart(&[("parrot", agent(Parrot("now I am here")))]).await;
    world.post(&stream, "@p hello").await.unwrap();
    let events = world
        .until(&stream, |events| events.iter().filter_map(crate::common::words).count() == 2)
        .await;
    let known = |event: &Event| {
        matches!(
            event,
            Event::FactsChanged { facts, .. } if facts.known && facts.runtime == Runtime::SCRIPT
        )
    };
    assert!(has(&events, known));
}
