//! The server dies at each named point, early and late.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{join, join_all};
use moothall_engine::crash::POINTS;
use nix::sys::signal::Signal;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::chance::{Chance, seed, setting};
use crate::house::{PATIENCE, Server};
use crate::world::{Floor, World};
use crate::writer::Writer;

/// Requests per writer after which an unreached point counts as unreachable.
const STEPS_MAX: u64 = 400;
/// Parallel plays: they mostly wait for the disk.
const SIDE_BY_SIDE: usize = 4;
const FLOORS: [Floor; 2] = [Floor::Hybrid, Floor::Asked];
/// Index in [`FLOORS`] of the thread with the gated agent.
const GATED: usize = 1;

/// Phase in which a server passes a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// During normal work.
    Working,
    /// During a start after a crash, with a turn to resume.
    Starting,
    /// During shutdown.
    Stopping,
}

fn when(at: &str) -> Phase {
    match at.split(':').next().unwrap_or_default() {
        "writer_became" | "before_lost_append" | "after_lost_append" | "stream_loaded"
        | "turn_probed" | "hall_opened" => Phase::Starting,
        "drain" | "before_checkpoint" | "after_checkpoint" => Phase::Stopping,
        _ => Phase::Working,
    }
}

/// Returns every death of this run, as `point:count`; `MOOTHALL_KILL_AT` chooses one.
fn deaths(chance: &mut Chance) -> Vec<String> {
    match std::env::var("MOOTHALL_KILL_AT") {
        Ok(one) => vec![one],
        Err(_) => POINTS
            .iter()
            .flat_map(|point| {
                counts(point, chance).into_iter().map(move |count| format!("{point}:{count}"))
            })
            .collect(),
    }
}

/// Returns the number of passes before the server dies at a point. Starts and stops pass most of
/// their points once.
fn counts(point: &str, chance: &mut Chance) -> Vec<u64> {
    let more = setting("MOOTHALL_KILL_ROUNDS", || 0);
    match when(point) {
        Phase::Working => {
            let rare = ["pass", "mute", "pause", "stop", "summary"]
                .iter()
                .any(|rare| point.contains(rare));
            let late = 2 + chance.below(if rare { 2 } else { 12 });
            [1, late]
                .into_iter()
                .chain((0..more).map(|_| 1 + chance.below(if rare { 6 } else { 60 })))
                .collect()
        }
        Phase::Starting | Phase::Stopping => vec![1; usize::try_from(1 + more).unwrap()],
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_any_point_loses_nothing_and_repeats_nothing() {
    let seed = seed();
    println!("MOOTHALL_KILL_SEED={seed}");
    let mut chance = Chance::of(seed);
    let room = Arc::new(Semaphore::new(SIDE_BY_SIDE));
    let mut plays = JoinSet::new();
    for at in deaths(&mut chance) {
        let (room, chance) = (room.clone(), chance.branch());
        plays.spawn(async move {
            let _room = room.acquire().await.unwrap();
            // A panicking play must be reported with its name, too.
            let played = tokio::spawn(play(at.clone(), chance)).await;
            let faults = played.unwrap_or_else(|error| vec![error.to_string()]);
            faults.into_iter().map(|fault| format!("{at}: {fault}")).collect::<Vec<_>>()
        });
    }
    let deaths = plays.len();
    let faults = plays.join_all().await.concat();
    println!("{deaths} deaths at {} points", POINTS.len());
    assert!(faults.is_empty(), "MOOTHALL_KILL_SEED={seed}\n{}", faults.join("\n"));
}

/// Plays one life, one death at a point, and another life. Returns the faults.
async fn play(at: String, mut chance: Chance) -> Vec<String> {
    let when = when(&at);
    let mut world = World::new().await;
    let first = Some(at.as_str()).filter(|_| when != Phase::Starting);
    let mut server =
        world.house.start_until(first).await.expect("a server that works before it dies");
    world.furnish(&mut server, &FLOORS).await;
    let mut writers: Vec<Writer> =
        (0..4).map(|number| Writer::of(number % FLOORS.len(), number, chance.branch())).collect();
    if world.house.crashes() == 0 {
        server = match when {
            Phase::Working => die_working(&world, server, &mut writers).await,
            Phase::Starting => die_starting(&world, server, &mut writers, &at).await,
            Phase::Stopping => die_stopping(&world, server, &mut writers).await,
        };
    }
    if world.house.crashes() != 1 {
        return vec![format!(
            "the server was to die once, and died {} times; {}",
            world.house.crashes(),
            world.house.said()
        )];
    }
    // Writers repeat unanswered requests, and continue for a while.
    join_all(writers.iter_mut().map(|writer| writer.speak(&world, 2))).await;
    let mut faults = world.faults(&mut server, "play").await;
    world.house.stop(server).await;
    faults.extend(world.house.damage().await);
    faults
}

/// Writers speak until the server dies; returns the next server.
async fn die_working(world: &World, mut server: Server, writers: &mut [Writer]) -> Server {
    let mut speaking =
        pin!(join_all(writers.iter_mut().map(|writer| writer.speak(world, STEPS_MAX))));
    tokio::select! {
        _ = server.wait() => {
            world.house.ended(&mut server).await;
            speaking.await;
        }
        spoken = &mut speaking => {
            if spoken.iter().all(Option::is_some) {
                return server;
            }
            let ended = timeout(PATIENCE, world.house.ended(&mut server)).await;
            assert!(ended.is_ok(), "a server that lives did not answer: {}; {}", world.ledger.loss(), world.house.said());
        }
    }
    world.house.start().await
}

/// Kills the server in mid-turn, and lets the next one die while it resumes that turn.
async fn die_starting(
    world: &World,
    mut server: Server,
    writers: &mut [Writer],
    at: &str,
) -> Server {
    world
        .event(&mut server, GATED, "gated", json!({"from": "user", "content": "@gated please"}))
        .await;
    world.running(&world.threads[GATED], "gated").await;
    let spoken = join_all(writers.iter_mut().map(|writer| writer.speak(world, 4))).await;
    assert!(spoken.iter().all(Option::is_some), "the server died before it was to");
    world.house.open_gate();
    world.house.kill(server).await;
    match world.house.start_until(Some(at)).await {
        Ok(server) => die_working(world, server, writers).await,
        Err(_) => world.house.start().await,
    }
}

/// Stops the server while all writers speak.
async fn die_stopping(world: &World, mut server: Server, writers: &mut [Writer]) -> Server {
    let enough = *world.ledger.acknowledged.borrow() + 12;
    let stopping = async {
        world.ledger.reached(enough).await;
        server.signal(Signal::SIGTERM);
        let ended = timeout(PATIENCE, world.house.ended(&mut server)).await;
        assert!(ended.is_ok(), "the server does not stop: {}", world.house.said());
    };
    join(stopping, join_all(writers.iter_mut().map(|writer| writer.speak(world, STEPS_MAX)))).await;
    world.house.start().await
}
