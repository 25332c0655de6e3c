//! The simulator: conversations under virtual time, with agents that misbehave and a server that
//! crashes, all from one seed.
//!
//! The kernel, the host of a stream, the purses and the log are the real ones. Only what is around
//! them is made up: time, people, agents, and a disk that fills up, forgets its writers and answers
//! late. A host says what it waits for, and a crash can fall before and after each of that.
//! Checkers with knowledge of their own watch every event, every step and every rest.
//!
//! Each seed also plays the life of one session in a terminal, with the real machine of its turns
//! (`terminals/`).

pub(crate) mod rng;
mod log;
mod marks;
mod people;
mod agents;
mod server;
mod check;
mod world;
mod drive;
mod work;
mod actions;
mod starts;
mod consent;
mod errands;
mod story;
mod terminals;

use std::fmt;

pub use check::Objection;
pub use moothall_kernel::planted::Bug;

use world::World;

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Steps that the run took.
    pub steps: u64,
    /// Events that were appended.
    pub events: u64,
    /// Times that the server died.
    pub crashes: u64,
    /// Turns that were granted.
    pub turns: u64,
}

impl Stats {
    /// The sums of both.
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
        write!(
            f,
            "{} steps, {} events, {} turns, {} crashes",
            self.steps, self.events, self.turns, self.crashes
        )
    }
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The seed that makes the same run again.
    pub seed: u64,
    /// How much happened in it.
    pub stats: Stats,
    /// What a checker objected to.
    pub objection: Option<Objection>,
    /// What happened, in lines for people; empty unless asked for.
    pub story: Vec<String>,
}

/// Makes one run, with a bug planted in the engine or the kernel where they were built for that.
/// The story costs time, so it is only told where it is wanted.
pub fn run(seed: u64, bug: Option<Bug>, told: bool) -> Report {
    moothall_kernel::planted::plant(bug);
    let report = match bug {
        Some(bug) if terminals::is_of_terminals(bug) => terminals::run(seed, told),
        Some(_) => converse(seed, told),
        None => {
            let report = converse(seed, told);
            if report.objection.is_some() {
                report
            } else {
                report.then(terminals::run(seed, told))
            }
        }
    };
    moothall_kernel::planted::plant(None);
    report
}

/// Conversations and their hosts.
fn converse(seed: u64, told: bool) -> Report {
    let mut world = World::new(seed, told);
    let objection = world.live().err();
    Report { seed, stats: world.stats, objection, story: world.story.into_lines() }
}

impl Report {
    fn then(mut self, next: Report) -> Report {
        self.story.extend(next.story);
        Report {
            seed: self.seed,
            stats: self.stats.plus(next.stats),
            objection: next.objection,
            story: self.story,
        }
    }
}

/// The first seed that shows a planted bug.
pub const fn known_seed(bug: Bug) -> u64 {
    match bug {
        Bug::AcknowledgeBeforeCommit
        | Bug::PublishBeforeCommit
        | Bug::LostWakeUp
        | Bug::CauseCoveredTwice
        | Bug::AudienceLeak
        | Bug::TimeGoesBackwards
        | Bug::NoEpochFencing
        | Bug::FencedWriterGoesOn
        | Bug::ChargedTwice
        | Bug::AnswersSwapped
        | Bug::SnapshotForgets
        | Bug::CooldownDrops
        | Bug::PatienceForgotten
        | Bug::RoundWaitsOn
        | Bug::TypedBeforeKept
        | Bug::AnswerPressedBlindly => 0,
        Bug::RetryLostWhenFull | Bug::AskForcesNobody => 1,
        Bug::DowntimeForgotten | Bug::CancelForgotten | Bug::LateAnswerChargedToNewest => 2,
        Bug::RetryRunsTwice | Bug::SilenceIsConsent => 3,
        Bug::OwnWordsPassGuards | Bug::ChargeNotGivenBack => 4,
        Bug::NoAttemptFencing => 5,
        Bug::GuardNotRestored | Bug::ArchiveLeavesTurns | Bug::AnyTagAccepted => 6,
        Bug::DuplicateClaim | Bug::CommandClaimLapses => 11,
        Bug::ReaderGetsTurns => 43,
        Bug::ReplyAddressesNobody => 98,
        Bug::FirstMessageNotReserved => 100,
        Bug::ReactsTwice => 113,
        Bug::CancelledIsAskedAgain => 139,
        Bug::ScreenIsProof => 148,
        Bug::OlderCauseAskedAgain | Bug::TypedAgain => 163,
    }
}
