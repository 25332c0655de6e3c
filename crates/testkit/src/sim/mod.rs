//! The simulator: conversations under virtual time, with agents that misbehave and a server that
//! crashes, all from one seed.
//!
//! The kernel, the host of a stream, the budgets and the log are the real ones. Only their
//! surroundings are simulated: time, people, agents, and a disk that fills up, forgets its writers
//! and answers late. A crash can fall before and after each operation that a host waits for.
//! Checkers with knowledge of their own watch every event, every step and every rest.
//!
//! Each seed also plays the life of one session in a terminal, with the real machine of its turns
//! (`terminals/`), and that of some computers that owe each other rows and converse (`computers/`).

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
mod cross_commands;
mod story;
mod terminals;
mod computers;

use std::fmt;

pub use check::Objection;
pub use moothall_kernel::planted::Bug;

use world::World;

/// The size of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of steps.
    pub steps: u64,
    /// Number of appended events.
    pub events: u64,
    /// Number of crashes of the server.
    pub crashes: u64,
    /// Number of granted turns.
    pub turns: u64,
}

impl Stats {
    /// Returns the sums of both.
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

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The seed that reproduces the run.
    pub seed: u64,
    /// The size of the run.
    pub stats: Stats,
    /// The objection of a checker, if any.
    pub objection: Option<Objection>,
    /// The story of the run, line by line; empty unless asked for.
    pub story: Vec<String>,
}

/// Makes one run, with a planted bug if the engine and the kernel were built for that. The story
/// costs time, so it is only recorded if `told` is true.
pub fn run(seed: u64, bug: Option<Bug>, with_story: bool) -> Report {
    moothall_kernel::planted::plant(bug);
    let report = match bug {
        Some(bug) if terminals::is_of_terminals(bug) => terminals::run(seed, with_story),
        Some(bug) if computers::is_of_computers(bug) => computers::run(seed, with_story),
        Some(_) => converse(seed, with_story),
        None => converse(seed, with_story)
            .then(|| terminals::run(seed, with_story))
            .then(|| computers::run(seed, with_story)),
    };
    moothall_kernel::planted::plant(None);
    report
}

/// Makes only the part of a run in which computers owe each other rows, and converse.
pub fn run_computers(seed: u64, with_story: bool) -> Report {
    computers::run(seed, with_story)
}

/// Runs the conversations and their hosts.
fn converse(seed: u64, with_story: bool) -> Report {
    let mut world = World::new(seed, with_story);
    let objection = world.live().err();
    Report { seed, stats: world.stats, objection, story: world.story.into_lines() }
}

impl Report {
    /// Adds the next part of the run, if this one ended well.
    fn then(mut self, next: impl FnOnce() -> Report) -> Report {
        if self.objection.is_some() {
            return self;
        }
        let next = next();
        self.story.extend(next.story);
        Report {
            seed: self.seed,
            stats: self.stats.plus(next.stats),
            objection: next.objection,
            story: self.story,
        }
    }
}

/// Returns the lowest seed that shows a planted bug.
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
        | Bug::AnswerPressedBlindly
        | Bug::AcknowledgedBeforeTaken
        | Bug::MarkApart
        | Bug::NumberUsedAgain
        | Bug::NonceTwice
        | Bug::RefusedLeftOpen => 0,
        Bug::RetryLostWhenFull | Bug::AskForcesNobody | Bug::ReplyAddressesNobody => 1,
        Bug::DowntimeForgotten | Bug::CancelForgotten | Bug::LateAnswerChargedToNewest => 2,
        Bug::RetryRunsTwice | Bug::SilenceIsConsent => 3,
        Bug::OwnWordsPassGuards | Bug::ChargeNotGivenBack => 4,
        Bug::GuardNotRestored | Bug::ArchiveLeavesTurns | Bug::AnyTagAccepted => 6,
        Bug::NoAttemptFencing => 9,
        Bug::CommandClaimLapses => 11,
        Bug::HostedMerged => 20,
        Bug::RestoredSenderGoesOn => 22,
        Bug::PartedStillTyped => 26,
        Bug::DuplicateClaim => 33,
        Bug::HomeChosenTwice => 36,
        Bug::ReaderGetsTurns => 43,
        Bug::FirstMessageNotReserved => 104,
        Bug::ReactsTwice => 113,
        Bug::CancelledAnswerTaken => 114,
        Bug::CancelledIsAskedAgain => 139,
        Bug::ScreenIsProof => 148,
        Bug::OlderCauseAskedAgain | Bug::TypedAgain => 163,
        Bug::HostedTwice => 314,
    }
}
