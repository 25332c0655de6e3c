//! Turns while the hall drains: running turns may end, and no turn begins.

use super::*;

/// True if the hall still waits although nothing more can happen.
async fn still_waits(drained: &tokio::task::JoinHandle<()>) -> bool {
    tokio::time::sleep(Duration::from_secs(1)).await;
    !drained.is_finished()
}

#[tokio::test(start_paused = true)]
async fn draining_lets_running_turns_end_and_begins_none() {
    let (slow, agent) = slow();
    let world = World::with(&[("slow", agent.clone())]).await;
    let stream = world.create().await;
    for id in ["one", "two"] {
        world.invite(&stream, id, "slow").await;
    }
    world.post(&stream, "@one work").await.unwrap();
    eventually(async || (slow.asked().len() == 1).then_some(())).await;
    world.post(&stream, "@one again").await.unwrap();
    let hall = world.hall.clone();
    let drained = tokio::spawn(async move { hall.drain(Millis::from_secs(10)).await });
    assert!(still_waits(&drained).await);
    slow.say("done");
    drained.await.unwrap();
    assert_eq!(world.said(&stream).await.last().unwrap(), &("one".to_owned(), "done".to_owned()));
    assert_eq!(slow.asked().len(), 1, "what waited was not begun");
    let world = world.restart(&[("slow", agent)]).await;
    eventually(async || (slow.asked().len() == 2).then_some(())).await;
    assert_eq!(slow.asked()[1].1, 1, "it is begun for the first time");
    drop(world);
}

#[tokio::test(start_paused = true)]
async fn draining_waits_no_longer_than_it_may() {
    let (slow, agent) = slow();
    let world = World::with(&[("slow", agent)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s work").await.unwrap();
    eventually(async || (!slow.asked().is_empty()).then_some(())).await;
    let begun = tokio::time::Instant::now();
    world.hall.drain(Millis::from_secs(10)).await;
    assert_eq!(begun.elapsed().as_secs(), 10);
    assert!(!has(&world.events(&stream).await, |event| ended(event).is_some()), "it is left open");
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_nobody_who_runs_elsewhere() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "remote").await;
    let _connected = world.hall.connect(&stream, "r".into(), true).await.unwrap();
    world.post(&stream, "@r hello").await.unwrap();
    let begun = tokio::time::Instant::now();
    world.hall.drain(Millis::from_secs(10)).await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
