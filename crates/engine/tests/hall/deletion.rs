//! Deleting conversations, by a person or because their retention has passed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use moothall_engine::hall::{HallError, Update};
use moothall_engine::ports::ListFilter;
use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::event::{Event, Outcome};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Millis;
use tokio::sync::broadcast::error::RecvError;

use crate::common::{SharedAgent, Slow, World, agent, eventually, post};

const DAY: Millis = Millis::from_secs(24 * 3600);

fn user() -> Actor {
    Actor::human("user")
}

/// Deleting cancels running turns. Listeners get those events, then the end, and nothing stays in
/// memory.
#[tokio::test(start_paused = true)]
async fn what_runs_is_cancelled_and_whoever_listens_is_told() {
    let slow = Arc::new(Slow::default());
    let world = World::with(&[("slow", agent(SharedAgent(slow.clone())))]).await;
    let (stream, other) = (world.create().await, world.create().await);
    world.invite(&stream, "slow", "slow").await;
    world.post(&stream, "@slow hello").await.unwrap();
    eventually(async || (!slow.jobs.lock().unwrap().is_empty()).then_some(())).await;
    let mut listening = world.hall.subscribe(&stream).await.unwrap();
    assert_eq!(world.hall.delete(&stream, user()).await, Ok(true));

    let mut heard = Vec::new();
    let over = loop {
        match listening.updates.recv().await {
            Ok(Update::Events(events)) => {
                heard.extend(events.iter().map(|recorded| recorded.event.clone()))
            }
            Ok(Update::Signal(_)) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(over, RecvError::Closed);
    assert!(
        heard
            .iter()
            .any(|event| matches!(event, Event::TurnEnded { outcome: Outcome::Cancelled, .. })),
        "{heard:?}"
    );
    assert!(matches!(heard.last(), Some(Event::Deleted { .. })), "{heard:?}");
    eventually(async || (slow.dropped.load(Ordering::SeqCst) == 1).then_some(())).await;

    let gone = HallError::Deleted(stream.clone());
    assert_eq!(world.hall.find(&stream).await, Err(gone.clone()));
    assert_eq!(world.post(&stream, "still there?").await, Err(gone.clone()));
    assert_eq!(world.hall.view(&stream, |state| state.head()).await, Err(gone.clone()));
    assert!(matches!(world.hall.subscribe(&stream).await, Err(error) if error == gone));
    assert_eq!(world.hall.delete(&stream, user()).await, Ok(true), "again changes nothing");
    assert_eq!(world.hall.live_streams(), 1, "the other one");
    world.post(&other, "here I am").await.unwrap();
}

/// Every request that arrives before the deletion is answered gets an answer.
#[tokio::test(start_paused = true)]
async fn what_is_asked_meanwhile_is_refused_and_not_left_waiting() {
    let world = World::new().await;
    let stream = world.create().await;
    let hall = &world.hall;
    let (deleted, said, seen, again) = tokio::join!(
        hall.delete(&stream, user()),
        hall.submit(&stream, post("one more"), None),
        hall.find(&stream),
        hall.delete(&stream, user())
    );
    assert_eq!((deleted, again), (Ok(true), Ok(true)));
    assert!(
        !matches!(said, Err(HallError::Failed(_))) && !matches!(seen, Err(HallError::Failed(_))),
        "{said:?} {seen:?}"
    );
}

/// Sleeps by the paused clock.
async fn hours(hours: u64) {
    tokio::time::sleep(Duration::from_secs(hours * 3600)).await;
}

async fn listed(world: &World) -> Vec<StreamId> {
    world
        .hall
        .list(ListFilter::default())
        .await
        .unwrap()
        .streams
        .into_iter()
        .map(|listed| listed.stream)
        .collect()
}

/// The age of the newest event counts, and only archived conversations are deleted.
#[tokio::test(start_paused = true)]
async fn archived_conversations_go_when_their_time_is_over() {
    let world = World::new().await;
    let (old, open, young) = (world.create().await, world.create().await, world.create().await);
    let archive = async |stream: &StreamId| {
        world
            .hall
            .submit(stream, ClientCommand::Archive { on: true, by: user() }, None)
            .await
            .unwrap();
    };
    archive(&old).await;
    world.clock.sleep_through(DAY);
    archive(&young).await;
    world.clock.sleep_through(Millis(DAY.0 * 2 + 1000));
    assert_eq!(world.hall.delete_outlived(Millis(DAY.0 * 3)).await, Ok(1));
    assert_eq!(listed(&world).await, [open.clone(), young.clone()]);

    world.hall.set_retention(Some(Millis(DAY.0 * 4)));
    hours(24).await;
    assert_eq!(listed(&world).await.len(), 2);
    hours(26).await;
    assert_eq!(listed(&world).await, std::slice::from_ref(&open));
    archive(&open).await;
    world.hall.set_retention(None);
    world.clock.sleep_through(Millis(DAY.0 * 400));
    hours(2).await;
    assert_eq!(listed(&world).await, [open]);
}

/// The clock is set to another year, and back.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_wrong_deletes_nothing_for_a_day() {
    let world = World::new().await;
    let stream = world.create().await;
    world
        .hall
        .submit(&stream, ClientCommand::Archive { on: true, by: user() }, None)
        .await
        .unwrap();
    world.hall.set_retention(Some(Millis(DAY.0 * 4)));
    hours(2).await;
    world.clock.sleep_through(Millis(DAY.0 * 400));
    hours(12).await;
    // Reloading the configuration does not reset the delay.
    world.hall.set_retention(Some(Millis(DAY.0 * 4)));
    hours(12).await;
    assert_eq!(listed(&world).await, std::slice::from_ref(&stream));
    world.clock.set_back(Millis(DAY.0 * 400));
    hours(48).await;
    assert_eq!(listed(&world).await, std::slice::from_ref(&stream));
    // After a jump to the right time, deletion starts a day later.
    world.clock.sleep_through(Millis(DAY.0 * 3));
    hours(24).await;
    assert_eq!(listed(&world).await, std::slice::from_ref(&stream));
    hours(2).await;
    assert_eq!(listed(&world).await, [] as [StreamId; 0]);
}
