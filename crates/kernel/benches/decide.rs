//! The cost of a decision, and its growth with the conversation.
//!
//! `cargo bench -p moothall-kernel` prints microseconds of one core for each row. The floor is the
//! time to clone and drop the same events, which any design would pay.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post,
};
use moothall_kernel::event::{RecordedEvent, Usage};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::{AgentFacts, Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};

const AGENTS: usize = 10;

struct Room {
    state: Conversation,
    now: Timestamp,
    facts: Facts,
    events: usize,
}

impl Room {
    fn new(policy: PolicyName) -> Self {
        let state = Conversation::new(StreamId::new("bench"));
        let mut room = Self {
            state,
            now: Timestamp::from_millis(1_763_700_000_000),
            facts: Facts::default(),
            events: 0,
        };
        let policy = Policy { cooldown: Millis(0), ..Policy::named(policy) };
        room.submit(ClientCommand::Create {
            name: "bench".into(),
            policy,
            folder: None,
            by: Actor::named("user"),
        });
        for n in 0..AGENTS {
            let profile = Profile {
                client: Some("demo".into()),
                model: Some("demo".into()),
                ..Profile::default()
            };
            let facts = AgentFacts::of_runtime(Runtime::SCRIPT);
            let controls = vec![Control::Invite(Invite::new(format!("agent{n}"), profile, facts))];
            room.submit(ClientCommand::Control { by: Actor::named("user"), controls });
        }
        room
    }

    fn submit(&mut self, command: impl Into<Command>) -> Vec<RecordedEvent> {
        self.now = self.now + Millis(1);
        let events = self.state.decide(self.now, command, &self.facts).events;
        self.events += events.len();
        events
    }

    fn post(&mut self, body: &str) -> Vec<RecordedEvent> {
        self.submit(ClientCommand::Post(Post::new(Actor::named("user"), body)))
    }

    /// Answers running turns until none is left. Returns their number.
    fn answer_all(&mut self, text: &str) -> usize {
        let mut turns = 0;
        while let Some(run) = self.state.duties().run.first().cloned() {
            let through = self.state.head();
            self.submit(EngineCommand::Started { turn: run.turn, attempt: run.attempt, through });
            self.submit(EngineCommand::Finished {
                turn: run.turn,
                attempt: run.attempt,
                result: Ok(text.into()),
                usage: Usage::default(),
            });
            turns += 1;
        }
        turns
    }
}

fn micros(runs: u32, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..runs).for_each(|_| work());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(runs)
}

fn one_message() {
    println!("one message naming one of {AGENTS} agents, hybrid (budget 5 us, flat)");
    println!("{:>10} {:>12} {:>12}", "events", "decide us", "floor us");
    for size in [100, 1_000, 10_000, 100_000] {
        let mut room = Room::new(PolicyName::Hybrid);
        while room.events < size {
            room.post("hello");
            room.answer_all("an answer");
        }
        let body = "@agent3 what do you make of the figures of the last quarter?";
        let runs = 2_000;
        let copies =
            std::cell::RefCell::new((0..runs).map(|_| room.state.clone()).collect::<Vec<_>>());
        let (now, facts) = (room.now, room.facts.clone());
        let mut last = Vec::new();
        let decide = micros(runs, || {
            let mut state = copies.borrow_mut().pop().unwrap();
            last = state
                .decide(now, ClientCommand::Post(Post::new(Actor::named("user"), body)), &facts)
                .events;
            black_box(&state);
            std::mem::forget(state);
        });
        let floor = micros(runs, || drop(black_box(last.clone())));
        println!("{size:>10} {decide:>12.2} {floor:>12.2}");
    }
}

fn turns() {
    println!("\nturns of zero-latency agents, hybrid, {AGENTS} agents");
    println!("{:>10} {:>12}", "turns", "us per turn");
    let mut points = Vec::new();
    for goal in [100, 1_000, 10_000] {
        let mut room = Room::new(PolicyName::Hybrid);
        let mut turns = 0;
        let start = Instant::now();
        while turns < goal {
            room.post("hello");
            turns += room.answer_all("an answer");
        }
        let total = start.elapsed().as_secs_f64();
        points.push(((turns as f64).ln(), total.ln()));
        println!("{turns:>10} {:>12.2}", total * 1e6 / turns as f64);
    }
    let (first, last) = (points[0], points[points.len() - 1]);
    println!("growth exponent {:.3} (budget 1.05)", (last.1 - first.1) / (last.0 - first.0));
}

fn main() {
    one_message();
    turns();
}
