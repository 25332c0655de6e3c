//! The simulator: conversations under virtual time, with agents that misbehave and a server that crashes, all from one seed.
//!
//! The kernel is the real one. The host around it is a model whose stages lie open: decided, appended, acknowledged, published;
//! a crash can fall between any two. Checkers with knowledge of their own watch every event, every step and every rest.

mod rng;
mod bug;
mod log;
mod marks;
mod people;
mod agents;
mod host;
mod check;
mod world;
mod commit;
mod work;
mod actions;
mod story;

use std::fmt;

pub use bug::Bug;
pub use check::Objection;

use world::World;

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Steps taken.
    pub steps: u64,
    /// Events appended.
    pub events: u64,
    /// Crashes.
    pub crashes: u64,
    /// Turns granted.
    pub turns: u64,
}

impl Stats {
    /// These and those.
    #[must_use]
    pub fn plus(self, other: Stats) -> Stats {
        Stats {
            steps: self.steps + other.steps,
            events: self.events + other.events,
            crashes: self.crashes + other.crashes,
            turns: self.turns + other.turns,
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps, {} events, {} turns, {} crashes", self.steps, self.events, self.turns, self.crashes)
    }
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The seed that makes the same run again.
    pub seed: u64,
    /// What it did.
    pub stats: Stats,
    /// What a checker objected to.
    pub objection: Option<Objection>,
    /// What happened, in lines for people; empty unless asked for.
    pub story: Vec<String>,
}

/// Makes one run. The story costs time, so it is only told where it is wanted.
pub fn run(seed: u64, bug: Option<Bug>, told: bool) -> Report {
    let mut world = World::new(seed, bug, told);
    let objection = world.live().err();
    Report { seed, stats: world.stats, objection, story: world.story.into_lines() }
}
