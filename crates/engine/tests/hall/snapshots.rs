//! Loading a long conversation costs as much as its state, not its history.

use std::sync::atomic::Ordering;

use moothall_engine::ports::EventLog;
use moothall_kernel::STATE_VERSION;
use moothall_kernel::command::Actor;
use moothall_kernel::ids::{EventId, Seq};

use crate::common::{World, eventually};

const MESSAGES: u64 = 1200;

#[tokio::test(start_paused = true)]
async fn a_long_conversation_is_loaded_from_its_snapshot() {
    let world = World::new().await;
    let stream = world.create().await;
    for n in 0..MESSAGES {
        world.post(&stream, &format!("message {n}")).await.unwrap();
    }
    let before = world.hall.view(&stream, Clone::clone).await.unwrap();
    let world = world.restart(&[]).await;
    let read = world.log.read_events();
    let after = world.hall.view(&stream, Clone::clone).await.unwrap();
    assert!(
        world.log.read_events() - read < 600,
        "{} events were read",
        world.log.read_events() - read
    );
    assert_eq!(after.head(), before.head());
    assert_eq!(after, before, "the state is what it was");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_conversation_keeps_its_state_and_erasing_takes_it_away() {
    let world = World::new().await;
    let stream = world.create().await;
    let mut first = None;
    for n in 0..150 {
        let answer = world.post(&stream, &format!("message {n}")).await.unwrap();
        first = first.or(answer.event);
    }
    let snapshot = async || world.log.inner.load(&stream, STATE_VERSION, 1).await.unwrap().snapshot;
    assert_eq!(snapshot().await, None, "there is other work");
    let kept = eventually(snapshot).await;
    assert_eq!(kept.head, Seq(151));
    let appends = world.log.appends.load(Ordering::SeqCst);
    let said = first.unwrap();
    let id = EventId::of(&stream, said.seq, said.ts);
    world.hall.redact(&stream, id, Actor::human("user"), None).await.unwrap();
    assert_eq!(world.log.appends.load(Ordering::SeqCst), appends + 1, "a snapshot is no append");
    assert_eq!(snapshot().await, None);
    assert_eq!(eventually(snapshot).await.head, Seq(152), "what is kept next is from after it");
}
