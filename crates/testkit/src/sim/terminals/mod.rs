//! Turns through a terminal. The program is slow, loses a key, puts a prompt back, redraws, asks,
//! dies and lies. A person types in between, and the server can die at any step.
//!
//! The machine of the session is the real one. Simulated are its terminal, the conversation that
//! offers turns and takes their results, the rows of deliveries, and the spool in which reports
//! wait while no server runs.

mod book;
mod check;
mod program;
mod spool;
mod world;

use moothall_kernel::planted::Bug;

use super::check::Objection;
use super::{Report, Stats};
use world::SessionWorld;

/// True if a bug is planted in the machine of a session.
pub(super) fn is_of_terminals(bug: Bug) -> bool {
    matches!(
        bug,
        Bug::TypedBeforeKept
            | Bug::TypedAgain
            | Bug::ScreenIsProof
            | Bug::AnyTagAccepted
            | Bug::AnswerPressedBlindly
    )
}

/// Plays the life of one session, to its end or an objection.
pub(super) fn run(seed: u64, with_story: bool) -> Report {
    let mut world = SessionWorld::new(seed, with_story);
    let objection: Option<Objection> = world.live().err();
    let stats: Stats = world.stats;
    Report { seed, stats, objection, story: world.story.into_lines() }
}
