//! Cost of a turn of a zero-latency agent, end to end through the engine and SQLite.
//!
//! `cargo bench -p moothall-store --bench turns` prints CPU microseconds (user and system, all
//! threads) and commits for each turn. `cargo bench -p moothall-engine` has the same on the memory
//! log, with the kernel alone as its floor.

#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use moothall_engine::agent::{Job, Reporter};
use moothall_engine::hall::{Hall, HallParts, Update};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_engine::run_once::{RunOnce, Work};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post};
use moothall_kernel::event::{Event, Fault, Usage};
use moothall_kernel::participant::{Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Millis;
use moothall_store::SqliteLog;
use moothall_testkit::measure::{cpu, micros};

const AGENTS: usize = 5;

struct Ready;

#[async_trait]
impl Work for Ready {
    async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Ok("an answer of a few words, as agents give them".into()), Usage::default())
    }

    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }

    /// Returns 0, like the built-in agents: this agent reads no transcript.
    fn room(&self) -> usize {
        0
    }

    fn window(&self) -> usize {
        0
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    let profile =
        Profile { client: Some("zero".into()), model: Some("zero".into()), ..Profile::default() };
    registry.insert(AgentSpec {
        client: "zero".into(),
        summary: "Answers at once.".into(),
        profile,
        origin: "built-in",
        run_as: None,
        agent: Arc::new(RunOnce::new(Ready)),
    });
    registry
}

async fn play(store: Store, goal: usize) -> (f64, f64) {
    let defaults = Policy {
        cooldown: Millis(0),
        max_agent_turns_per_message: 100,
        ..Policy::named(PolicyName::Hybrid)
    };
    let parts = HallParts {
        store,
        clock: Arc::new(SystemClock),
        registry: registry(),
        defaults: defaults.clone(),
        budgets: Default::default(),
        owner: "bench".into(),
    };
    let hall = Hall::open(parts).await.unwrap();
    let user = || Actor::human("user");
    let stream = hall.create("bench".into(), defaults, user(), None).await.unwrap().stream;
    for n in 0..AGENTS {
        let profile = hall.registry().get("zero").unwrap().profile.clone();
        let invite = Control::Invite(Invite::new(
            format!("agent{n}"),
            profile,
            hall.registry().facts("zero"),
        ));
        hall.submit(&stream, ClientCommand::Control { by: user(), controls: vec![invite] }, None)
            .await
            .unwrap();
    }
    let mut updates = hall.subscribe(&stream).await.unwrap().updates;
    let (begun, start) = (cpu(), Instant::now());
    let mut turns = 0;
    while turns < goal {
        hall.submit(&stream, ClientCommand::Post(Post::new(user(), "hello everyone")), None)
            .await
            .unwrap();
        'round: loop {
            let Update::Events(events) = updates.recv().await.unwrap() else { continue };
            for recorded in events.iter() {
                match &recorded.event {
                    Event::TurnEnded { .. } => turns += 1,
                    Event::RoundClosed => break 'round,
                    _ => {}
                }
            }
        }
    }
    (micros(cpu() - begun) / turns as f64, start.elapsed().as_secs_f64() * 1e6 / turns as f64)
}

fn report(name: &str, budget: &str, points: &[(usize, f64, f64)]) {
    println!("{name} (budget {budget})");
    println!("{:>10} {:>14} {:>14}", "turns", "cpu us/turn", "wall us/turn");
    for (turns, cpu, wall) in points {
        println!("{turns:>10} {cpu:>14.1} {wall:>14.1}");
    }
    if let [(n0, c0, _), .., (n1, c1, _)] = points {
        let total = |n: &usize, c: &f64| (*n as f64 * c).ln();
        println!(
            "growth exponent {:.3} (budget 1.05)\n",
            (total(n1, c1) - total(n0, c0)) / ((*n1 as f64).ln() - (*n0 as f64).ln())
        );
    }
}

#[tokio::main]
async fn main() {
    let goals = [200, 2_000, 10_000];
    let mut points = Vec::new();
    for goal in goals {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(SqliteLog::open(folder.path()).unwrap());
        let (cpu, wall) = play(Store::of(log), goal).await;
        points.push((goal, cpu, wall));
    }
    report("SQLite, synced", "230 us", &points);
}
