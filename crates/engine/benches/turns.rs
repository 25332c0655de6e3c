//! The cost of a turn whose agent takes no time, its growth with the conversation, and the memory
//! of a live stream.
//!
//! `cargo bench -p moothall-engine` prints microseconds of one core for each turn, from grant to
//! grant, on the memory log and with one listener. The floor is the kernel alone: the same commands
//! decided, without an append and without a listener.

#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use moothall_engine::MemoryLog;
use moothall_engine::agent::{Job, Reporter};
use moothall_engine::hall::{Hall, HallParts, Subscription, Update};
use moothall_engine::ports::{Catalog, Clock, EventLog, Store, StreamBatch, SystemClock};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_engine::run_once::{RunOnce, Work};
use moothall_kernel::Conversation;
use moothall_kernel::aggregate::CONVERSATION;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post,
};
use moothall_kernel::event::{Event, Fault, Usage};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::participant::{Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};

const AGENTS: usize = 10;
const ANSWER: &str = "This is what an agent says: a sentence or two, about as long as people write in a conversation with others.";

struct Instantly;

#[async_trait]
impl Work for Instantly {
    async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Ok(ANSWER.to_owned()), Usage::default())
    }
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }
    fn room(&self) -> usize {
        0
    }

    fn window(&self) -> usize {
        0
    }
}

fn policy() -> Policy {
    Policy { cooldown: Millis(0), ..Policy::named(PolicyName::Hybrid) }
}

fn registry() -> Registry {
    let agent = Arc::new(RunOnce::new(Instantly));
    let spec = AgentSpec {
        client: "demo".into(),
        summary: String::new(),
        profile: Profile::default(),
        origin: "built-in",
        run_as: None,
        agent,
    };
    let mut registry = Registry::default();
    registry.insert(spec);
    registry
}

fn invites(registry: &Registry) -> ClientCommand {
    let profile =
        Profile { client: Some("demo".into()), model: Some("demo".into()), ..Profile::default() };
    let invite = |n| {
        Control::Invite(Invite::new(format!("agent{n}"), profile.clone(), registry.facts("demo")))
    };
    ClientCommand::Control { by: Actor::human("user"), controls: (0..AGENTS).map(invite).collect() }
}

/// Names every agent, so that each has a turn.
fn call() -> ClientCommand {
    let names: Vec<String> = (0..AGENTS).map(|n| format!("@agent{n}")).collect();
    ClientCommand::Post(Post::new(
        Actor::human("user"),
        format!("{}: what do you think?", names.join(" ")),
    ))
}

struct Room {
    hall: Hall,
    stream: StreamId,
    subscription: Subscription,
    turns: usize,
}

impl Room {
    async fn new() -> Self {
        let registry = registry();
        let invites = invites(&registry);
        let (store, clock) = (Store::of(Arc::new(MemoryLog::new())), Arc::new(SystemClock));
        let parts = HallParts {
            store,
            clock,
            registry,
            defaults: policy(),
            budgets: Default::default(),
            owner: "bench".into(),
        };
        let hall = Hall::open(parts).await.unwrap();
        let stream =
            hall.create("bench".into(), policy(), Actor::human("user"), None).await.unwrap().stream;
        hall.submit(&stream, invites, None).await.unwrap();
        let subscription = hall.subscribe(&stream).await.unwrap();
        Self { hall, stream, subscription, turns: 0 }
    }

    async fn round(&mut self) {
        self.hall.submit(&self.stream, call(), None).await.unwrap();
        let mut open = true;
        while open {
            let Update::Events(events) = self.subscription.updates.recv().await.unwrap() else {
                continue;
            };
            self.turns += events
                .iter()
                .filter(|recorded| matches!(recorded.event, Event::TurnEnded { .. }))
                .count();
            open = !events.iter().any(|recorded| recorded.event == Event::RoundClosed);
        }
    }

    /// Runs until this number of turns has ended. Returns the microseconds of each.
    async fn until(&mut self, turns: usize) -> f64 {
        let (before, start) = (self.turns, Instant::now());
        while self.turns < turns {
            self.round().await;
        }
        start.elapsed().as_secs_f64() * 1e6 / (self.turns - before) as f64
    }
}

/// Microseconds of the kernel alone for each turn of the same conversation.
fn floor() -> f64 {
    let mut state = Conversation::new("floor".into());
    let mut now = Timestamp::from_millis(1_763_700_000_000);
    let mut decide = |state: &mut Conversation, command: Command| {
        now = now + Millis(1);
        state.decide(now, command, &Facts::default());
    };
    decide(
        &mut state,
        ClientCommand::Create {
            name: "floor".into(),
            policy: policy(),
            folder: None,
            by: Actor::human("user"),
        }
        .into(),
    );
    decide(&mut state, invites(&registry()).into());
    let (mut turns, start) = (0_u32, Instant::now());
    while turns < 2_000 {
        decide(&mut state, call().into());
        while let Some(run) = state.duties().run.first().cloned() {
            let through = state.head();
            decide(
                &mut state,
                EngineCommand::Started { turn: run.turn, attempt: run.attempt, through }.into(),
            );
            let (result, usage) = (Ok(ANSWER.to_owned()), Usage::default());
            decide(
                &mut state,
                EngineCommand::Finished { turn: run.turn, attempt: run.attempt, result, usage }
                    .into(),
            );
            turns += 1;
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(turns)
}

async fn turns() {
    println!(
        "one turn of one of {AGENTS} agents, hybrid, memory log (budget 90 us, growth exponent at most 1.05)"
    );
    println!("{:>10} {:>12} {:>12}", "turns", "turn us", "kernel us");
    let mut room = Room::new().await;
    let mut spent = Vec::new();
    for size in [100_usize, 1_000, 10_000] {
        let micros = room.until(size).await;
        spent.push(micros);
        println!("{size:>10} {micros:>12.1} {:>12.1}", floor());
    }
    println!(
        "growth exponent of the total from 1,000 to 10,000 turns: {:.3}\n",
        1.0 + (spent[2] / spent[1]).log10()
    );
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// Writes a conversation to the log without making it live.
async fn write(log: &MemoryLog, stream: &StreamId, invites: ClientCommand) {
    let mut state = Conversation::new(stream.clone());
    let mut events = Vec::new();
    for command in [
        ClientCommand::Create {
            name: "bench".into(),
            policy: policy(),
            folder: None,
            by: Actor::human("user"),
        },
        invites,
    ] {
        events.extend(state.decide(SystemClock.now(), command, &Facts::default()).events);
    }
    let catalog = Catalog {
        kind: CONVERSATION.to_owned(),
        title: "bench".into(),
        policy: "hybrid".into(),
        created_at: state.created_at(),
        next_wake: None,
        has_duties: false,
        archived: false,
        waits_for_people: Some(0),
    };
    let epoch = log.acquire(stream, "bench").await.unwrap().epoch().unwrap();
    let (claims, deliveries, marks) = (Vec::new(), Vec::new(), Vec::new());
    let batch = StreamBatch {
        stream: stream.clone(),
        epoch,
        expected_head: Seq(0),
        events,
        claims,
        deliveries,
        marks,
        charges: Vec::new(),
        catalog,
    };
    log.append(vec![batch]).await.unwrap();
}

async fn weight() {
    const LIVE: usize = 2_000;
    let registry = registry();
    let (log, clock) = (Arc::new(MemoryLog::new()), Arc::new(SystemClock));
    let mut streams = Vec::new();
    for n in 0..LIVE {
        let stream = StreamId::new(format!("stream-{n}"));
        write(&log, &stream, invites(&registry)).await;
        streams.push(stream);
    }
    let parts = HallParts {
        store: Store::of(log),
        clock,
        registry,
        defaults: policy(),
        budgets: Default::default(),
        owner: "bench".into(),
    };
    let hall = Hall::open(parts).await.unwrap();
    let before = resident_kib();
    for stream in &streams {
        hall.view(stream, Conversation::head).await.unwrap();
    }
    let kib = (resident_kib().saturating_sub(before)) as f64 / LIVE as f64;
    println!(
        "a live conversation with {AGENTS} participants, idle: {kib:.1} KiB resident more (budget 16 KiB)"
    );
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        weight().await;
        turns().await;
    });
}
