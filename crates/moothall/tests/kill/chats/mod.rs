//! kill -9 while a busy group of Telegram, channel of Discord or room of Matrix is bound, and the
//! network and the service fail: nothing is shown twice, and nothing is lost but deliveries that
//! are shown as `unknown`, of which Matrix has none.

mod discord;
mod matrix;
mod stage;
mod telegram;

use futures_util::future::join;
use moothall_engine::crash::OUTBOX_POINTS;
use nix::sys::signal::Signal;
use tokio::time::timeout;

use crate::chance::{Chance, seed, setting};
use crate::house::PATIENCE;
use discord::DiscordChannel;
use matrix::MatrixRoom;
use stage::{Burst, ChatService, ChatStage};
use telegram::TelegramGroup;

/// Default number of messages, if `MOOTHALL_CHAT_MESSAGES` is unset.
const MESSAGES: u64 = 500;
/// Default number of kills, if `MOOTHALL_KILLS` is unset.
const KILLS: u64 = 6;
/// Calls of 100 that fail.
const FAULTS_PERCENT: u64 = 8;
/// Points of the way of a message, in and out, besides those of the outbox.
const POINTS: [&str; 5] =
    ["before_append", "before_commit", "after_commit", "after_append", "before_ack"];

/// The way in which a server dies.
enum Death {
    /// SIGKILL, after this number of messages in the group.
    Killed(usize),
    /// At a named point, `point:count`.
    At(String),
}

impl Death {
    fn draw(chance: &mut Chance, burst: u64) -> Self {
        if chance.below(2) == 0 {
            return Self::Killed(usize::try_from(chance.below(burst / 2 + 1)).unwrap());
        }
        let points: Vec<&str> = OUTBOX_POINTS.iter().chain(&POINTS).copied().collect();
        let point = points[usize::try_from(chance.below(points.len() as u64)).unwrap()];
        Self::At(format!("{point}:{}", 1 + chance.below(burst / 6 + 1)))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_while_a_chat_is_busy_loses_nothing_and_repeats_nothing() {
    run::<TelegramGroup>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_while_a_channel_is_busy_loses_nothing_and_repeats_nothing() {
    run::<DiscordChannel>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_while_a_room_is_busy_loses_nothing_and_leaves_no_doubt() {
    run::<MatrixRoom>().await;
}

async fn run<S: ChatService>() {
    let seed = seed();
    let (messages, kills) =
        (setting("MOOTHALL_CHAT_MESSAGES", || MESSAGES), setting("MOOTHALL_KILLS", || KILLS));
    println!("MOOTHALL_KILL_SEED={seed} MOOTHALL_CHAT_MESSAGES={messages} MOOTHALL_KILLS={kills}");
    let mut chance = Chance::of(seed);
    let mut stage = ChatStage::<S>::new().await;
    stage.service.disturb(Some(seed));
    let in_burst = messages / (kills + 1);
    let mut at_points = 0;
    for number in 0..kills {
        let death = Death::draw(&mut chance, in_burst);
        let burst = Burst::of(number * in_burst..(number + 1) * in_burst, &mut chance);
        at_points += u64::from(suffer(&mut stage, burst, death).await);
    }
    let burst = Burst::of(kills * in_burst..messages, &mut chance);
    stage.speak(burst).await;
    stage.service.disturb(None);
    stage.rest().await;
    let (faults, tally) = stage.faults().await;
    println!(
        "{kills} kills of a server with a busy chat of {}, {at_points} of them at named points; \
         {messages} messages of people, {} deliveries, {} of them unknown",
        S::CHANNEL,
        tally.deliveries,
        tally.unknown
    );
    assert!(
        faults.is_empty(),
        "MOOTHALL_KILL_SEED={seed} MOOTHALL_CHAT_MESSAGES={messages} MOOTHALL_KILLS={kills}\n{}",
        faults.join("\n")
    );
}

/// Lets people speak while the server dies, and starts the next one. Returns true if the server
/// died at a named point.
async fn suffer<S: ChatService>(stage: &mut ChatStage<S>, burst: Burst, death: Death) -> bool {
    let before = stage.house.crashes();
    match death {
        Death::Killed(after) => {
            let wanted = stage.shown() + after;
            let server = stage.server.take().unwrap();
            let dying = async {
                stage.service.until_shown(wanted).await;
                stage.house.kill(server).await;
                stage.house.start().await
            };
            let (server, ()) = join(dying, stage.speak(burst)).await;
            stage.server = Some(server);
        }
        Death::At(point) => {
            let server = stage.server.take().unwrap();
            stage.house.stop(server).await;
            let dying = async {
                let Ok(mut server) = stage.house.start_until(Some(&point)).await else {
                    return stage.house.start().await;
                };
                // A rare point may be passed too seldom.
                let lives = tokio::select! {
                    _ = server.wait() => false,
                    () = stage.until_heard() => true,
                };
                if lives {
                    server.signal(Signal::SIGKILL);
                }
                let ended = timeout(PATIENCE, stage.house.ended(&mut server)).await;
                ended.expect("an end, and none came");
                stage.house.start().await
            };
            let (server, ()) = join(dying, stage.speak(burst)).await;
            stage.server = Some(server);
        }
    }
    stage.house.crashes() > before
}
