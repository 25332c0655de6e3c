//! kill -9 repeatedly under load, after a random number of acknowledgements or seen events.

use std::sync::atomic::Ordering;

use futures_util::future::{join, join_all};
use tokio::time::timeout;

use crate::chance::{Chance, seed, setting};
use crate::house::PATIENCE;
use crate::reader::Reader;
use crate::world::{Floor, World};
use crate::writer::Writer;

/// Default number of kills, if `MOOTHALL_KILLS` is unset.
const KILLS: u64 = 30;
/// Kills per house: a new house keeps the log from growing too long.
const KILLS_IN_A_HOUSE: u64 = 100;
/// Kills between full checks.
const KILLS_UNSEEN: u64 = 15;
/// Maximum number of acknowledgements between two kills.
const ACKNOWLEDGED_MAX: u64 = 30;
/// Maximum number of events that a reader sees between two kills.
const SEEN_MAX: u64 = 60;
const FLOORS: [Floor; 4] = [Floor::Hybrid, Floor::Hybrid, Floor::Asked, Floor::Asked];
const WRITERS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_again_and_again_under_load_loses_nothing_and_repeats_nothing() {
    let (seed, kills) = (seed(), setting("MOOTHALL_KILLS", || KILLS));
    println!("MOOTHALL_KILL_SEED={seed} MOOTHALL_KILLS={kills}");
    let mut chance = Chance::of(seed);
    let mut done = Tally::default();
    while done.kills < kills {
        let faults =
            haunt((kills - done.kills).min(KILLS_IN_A_HOUSE), chance.branch(), &mut done).await;
        assert!(
            faults.is_empty(),
            "MOOTHALL_KILL_SEED={seed} MOOTHALL_KILLS={kills}\n{}",
            faults.join("\n")
        );
    }
    println!(
        "{} kills under load, {} acknowledged, {} repeated, {} events, {} connections of readers",
        done.kills, done.acknowledged, done.repeated, done.events, done.connections
    );
}

/// Counts of a run.
#[derive(Default)]
struct Tally {
    kills: u64,
    acknowledged: u64,
    repeated: u64,
    events: u64,
    connections: u64,
}

impl Tally {
    fn add(&mut self, world: &World, kills: u64) {
        self.kills += kills;
        self.acknowledged += *world.ledger.acknowledged.borrow();
        self.repeated += world.ledger.repeated.load(Ordering::Relaxed);
        self.events +=
            world.threads.iter().map(|thread| *thread.readers[0].head.borrow()).sum::<u64>();
        self.connections += world
            .threads
            .iter()
            .flat_map(|thread| &thread.readers)
            .map(Reader::connections)
            .sum::<u64>();
    }
}

/// Kills servers in one house this many times. Returns the faults.
async fn haunt(kills: u64, mut chance: Chance, done: &mut Tally) -> Vec<String> {
    let mut world = World::new().await;
    let mut server = world.house.start().await;
    world.furnish(&mut server, &FLOORS).await;
    let mut writers: Vec<Writer> = (0..WRITERS)
        .map(|number| Writer::of(number % FLOORS.len(), number, chance.branch()))
        .collect();
    for kill in 1..=kills {
        let death = async {
            wait_for_moment(&world, &mut chance).await;
            world.house.kill(server).await;
        };
        join(death, join_all(writers.iter_mut().map(|writer| writer.speak(&world, u64::MAX))))
            .await;
        server = world.house.start().await;
        let complaints = world.complaints();
        if !complaints.is_empty() {
            return complaints;
        }
        if kill % KILLS_UNSEEN == 0 || kill == kills {
            join_all(writers.iter_mut().map(|writer| writer.finish_open(&world))).await;
            let faults = world.faults(&mut server, &format!("kill-{kill}")).await;
            if !faults.is_empty() {
                return faults;
            }
        }
    }
    world.house.stop(server).await;
    done.add(&world, kills);
    world.house.damage().await
}

/// Waits for the random moment of the next kill.
async fn wait_for_moment(world: &World, chance: &mut Chance) {
    if chance.below(3) > 0 {
        let count = *world.ledger.acknowledged.borrow() + chance.below(ACKNOWLEDGED_MAX);
        return world.ledger.reached(count).await;
    }
    let thread = &world.threads[usize::try_from(chance.below(FLOORS.len() as u64)).unwrap()];
    let mut head = thread.readers[0].head.clone();
    let wanted = *head.borrow() + chance.below(SEEN_MAX);
    let seen = timeout(PATIENCE, head.wait_for(|head| *head >= wanted)).await;
    seen.unwrap_or_else(|_| panic!("events, and none came; {:?}", world.complaints())).unwrap();
}
