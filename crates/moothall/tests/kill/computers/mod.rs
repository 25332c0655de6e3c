//! kill -9 of two servers and of the Redis at which they meet, while sessions of both talk: each
//! word arrives once, and every turn ends.

mod computer;
mod oracle;
mod stage;

use std::time::Duration;

use futures_util::future::join;
use moothall_engine::crash::COMPUTER_POINTS;
use moothall_testkit::fake_tui;
use nix::sys::signal::Signal;
use tokio::time::timeout;

use crate::chance::{Chance, seed, setting};
use crate::house::PATIENCE;
use computer::{Computer, until};
use stage::{ComputerStage, RoundWords};

/// Longest time until all is at rest. The place of a dead server at the post counts for half a
/// minute.
const REST_MAX: Duration = Duration::from_secs(90);
/// Default number of kills, if `MOOTHALL_KILL_ROUNDS` is unset.
const ROUNDS: u64 = 30;
/// Kills in the life of two computers: new ones keep the logs from growing too long.
const ROUNDS_IN_A_WORLD: u64 = 15;
/// Greatest number of times that a point is passed before the server dies there.
const PASSES_MAX: u64 = 4;
/// Of this many servers that died, one waits until its former place at the post counts no more.
const WAITS_ONE_OF: u64 = 8;
/// Points of the way of a row besides its own: of the log, of the outbox, and of the terminal.
const POINTS: [&str; 10] = [
    "before_append",
    "after_append",
    "before_ack",
    "delivery_taken",
    "delivery_carried",
    "paste_done",
    "enter_pressed",
    "delivery_accepted",
    "hook_heard",
    "turn_answered",
];

/// The way in which one of the three processes dies.
#[derive(Debug)]
enum ProcessDeath {
    /// SIGKILL of the server of a computer.
    Killed(usize),
    /// The server of a computer dies at a named point, `point:count`.
    At(usize, String),
    /// SIGKILL of Redis, which loses everything or nothing.
    Redis { is_lost: bool },
}

impl ProcessDeath {
    fn draw(chance: &mut Chance) -> Self {
        let place = usize::try_from(chance.below(2)).unwrap();
        match chance.below(4) {
            0 => Self::Killed(place),
            1 => Self::Redis { is_lost: chance.below(2) == 0 },
            _ => {
                let points: Vec<&str> = COMPUTER_POINTS.iter().chain(&POINTS).copied().collect();
                let point = points[usize::try_from(chance.below(points.len() as u64)).unwrap()];
                Self::At(place, format!("{point}:{}", 1 + chance.below(PASSES_MAX)))
            }
        }
    }
}

/// Counts of a run.
#[derive(Default)]
struct RoundCounts {
    rounds: u64,
    at_points: u64,
    acknowledged: u64,
    prompts: usize,
    unknown: usize,
}

/// Entry point of the stand-in for a command-line agent, when this binary is started as one.
#[test]
fn stands_in() {
    fake_tui::act();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_two_computers_and_their_post_loses_nothing_and_repeats_nothing() {
    let (seed, rounds) = (seed(), setting("MOOTHALL_KILL_ROUNDS", || ROUNDS));
    println!("MOOTHALL_KILL_SEED={seed} MOOTHALL_KILL_ROUNDS={rounds}");
    let (mut chance, mut tally) = (Chance::of(seed), RoundCounts::default());
    while tally.rounds < rounds {
        let rounds = (rounds - tally.rounds).min(ROUNDS_IN_A_WORLD);
        let Some(faults) = haunt(rounds, chance.branch(), &mut tally).await else { return };
        assert!(faults.is_empty(), "MOOTHALL_KILL_SEED={seed}\n{}", faults.join("\n"));
    }
    println!(
        "{} kills of two computers and their post, {} of them at named points; {} acknowledged, \
         {} prompts, {} deliveries unknown",
        tally.rounds, tally.at_points, tally.acknowledged, tally.prompts, tally.unknown
    );
}

/// Kills processes of one world this many times. Returns the faults; `None` without a Redis.
async fn haunt(rounds: u64, mut chance: Chance, tally: &mut RoundCounts) -> Option<Vec<String>> {
    let mut stage = ComputerStage::new().await?;
    for round in 0..=rounds {
        let bursts = [(); 2].map(|()| RoundWords::draw(&mut chance));
        for (said, burst) in stage.said.iter_mut().zip(bursts) {
            said.sends += burst.sends;
            said.words += burst.words;
            said.asks += burst.asks;
        }
        stage.encourage(round).await;
        // Nothing dies in the last round: what comes late in others is seen in it.
        if round == rounds {
            stage.speak(bursts).await;
        } else {
            let death = ProcessDeath::draw(&mut chance);
            println!("{death:?} {bursts:?}");
            suffer(&stage, bursts, death, &mut chance).await;
        }
        if let Err(unrest) = stage.rest().await {
            return Some(vec![format!("no rest in round {round}: {unrest}")]);
        }
    }
    tally.rounds += rounds;
    tally.acknowledged += stage.acknowledged();
    tally.prompts += stage.prompts();
    tally.at_points += stage.computers.iter().map(|one| one.house.crashes()).sum::<u64>();
    Some(oracle::faults(&mut stage, &mut tally.unknown).await)
}

/// Lets both computers speak while a process dies, and starts it again.
async fn suffer(
    stage: &ComputerStage,
    bursts: [RoundWords; 2],
    death: ProcessDeath,
    chance: &mut Chance,
) {
    let waits = chance.below(WAITS_ONE_OF) == 0;
    match death {
        ProcessDeath::Killed(place) => {
            let dying = async {
                moment(stage, bursts, chance).await;
                let computer = &stage.computers[place];
                let server = computer.server.lock().await.take().unwrap();
                computer.house.kill(server).await;
                if !waits {
                    stage.forget_lease(place);
                }
                computer.start().await;
            };
            join(dying, stage.speak(bursts)).await;
        }
        ProcessDeath::Redis { is_lost } => {
            let dying = async {
                moment(stage, bursts, chance).await;
                tokio::task::block_in_place(|| stage.kill_redis(is_lost));
            };
            join(dying, stage.speak(bursts)).await;
        }
        ProcessDeath::At(place, point) => {
            let computer = &stage.computers[place];
            let dying = async {
                die_at(stage, computer, &point).await;
                if !waits {
                    stage.forget_lease(place);
                }
                computer.start().await;
            };
            join(dying, stage.speak(bursts)).await;
        }
    }
}

/// Starts the server of a computer anew, and waits until it dies at a point.
async fn die_at(stage: &ComputerStage, computer: &Computer, point: &str) {
    let former = computer.server.lock().await.take().unwrap();
    computer.house.stop(former).await;
    let Ok(mut server) = computer.house.start_until(Some(point)).await else { return };
    // A rare point may be passed too seldom.
    let lives = tokio::select! {
        _ = server.wait() => false,
        rested = stage.rest() => { rested.unwrap(); true }
    };
    if lives {
        server.signal(Signal::SIGKILL);
    }
    let ended = timeout(PATIENCE, computer.house.ended(&mut server)).await;
    ended.expect("an end, and none came");
}

/// Waits for the random moment of a death: some acknowledgements or prompts from now on.
async fn moment(stage: &ComputerStage, bursts: [RoundWords; 2], chance: &mut Chance) {
    let (acknowledged, prompts) = (stage.acknowledged(), stage.prompts());
    let more = chance.below(bursts.iter().map(|burst| burst.len()).sum());
    if chance.below(3) == 0 {
        return until("it is heard", async || stage.acknowledged() >= acknowledged + more).await;
    }
    let prompts = prompts + usize::try_from(more).unwrap();
    // Several messages may come in one prompt.
    until("it is typed", async || stage.prompts() >= prompts || stage.is_at_rest().await).await;
}
