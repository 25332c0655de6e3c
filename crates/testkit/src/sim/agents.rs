//! Simulated agents: quick, late, silent, talkative, broken.

use std::collections::VecDeque;

use moothall_engine::agent::TurnKey;
use moothall_kernel::Conversation;
use moothall_kernel::event::Fault;
use moothall_kernel::ids::{ParticipantId, Seq, TurnNo};
use moothall_kernel::participant::{Abilities, Answers};

use super::log::stream;
use super::marks::Marks;
use super::people;
use super::rng::Rng;

/// A future report of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlannedReport {
    Started,
    /// A permission request, with the person's time in milliseconds.
    Ask(u64),
    Answer,
    Pass,
    Empty,
    TooLong,
    Directive,
    Fail,
    /// The host's wrong or right belief that the runtime is dead.
    Lost,
}

/// An attempt of a turn, as its runtime sees it.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// The host that sent the job last, and has to report its cancellation.
    pub(crate) host: u64,
    pub(crate) room: usize,
    pub(crate) turn: TurnNo,
    pub(crate) attempt: u32,
    pub(crate) participant: ParticipantId,
    pub(crate) abilities: Abilities,
    /// The newest event that the prompt covers.
    pub(crate) through: Seq,
    /// True if the job was cancelled. Its runtime may report all the same.
    pub(crate) orphan: bool,
    /// The future reports and their times.
    pub(crate) timeline: VecDeque<(i64, PlannedReport)>,
    /// The reports that may not be on the disk.
    pub(crate) unsure: Vec<PlannedReport>,
    /// True if the runtime reported a final result, or the host takes it for dead.
    pub(crate) reported: bool,
}

impl Job {
    pub(crate) fn key(&self) -> TurnKey {
        TurnKey { stream: stream(self.room), turn: self.turn, attempt: self.attempt }
    }

    /// True if the job's client comes by itself and posts its answer itself.
    pub(crate) fn comes_by_itself(&self) -> bool {
        self.abilities.answers == Answers::ByPosting
    }

    /// True if the job survives a restart of the server.
    pub(crate) fn survives(&self) -> bool {
        self.abilities.lives_in_session || self.comes_by_itself()
    }
}

/// Returns the plan of an agent for a turn that begins at `now` (milliseconds). A dawdling agent
/// often begins after its round stops waiting, and mostly takes longer.
pub(crate) fn timeline(
    rng: &mut Rng,
    now: i64,
    circle: bool,
    dawdles: bool,
) -> VecDeque<(i64, PlannedReport)> {
    use PlannedReport::{Answer, Ask, Directive, Empty, Fail, Lost, Pass, Started, TooLong};
    let latest = if dawdles && rng.chance(50) { 60_000 } else { 50 };
    let quick = rng.between(0, latest);
    let work = [rng.between(1, 900), rng.between(500, 20_000), rng.between(10_000, 90_000)]
        [rng.weighted(if dawdles { &[1, 3, 6] } else { &[6, 3, 1] })];
    let ages = rng.between(60_000, 4_000_000);
    let asked = rng.between(1000, 200_000);
    let directive = if circle { 20 } else { 1 };
    let steps: Vec<(u64, PlannedReport)> =
        match rng.weighted(&[50, 14, 4, 4, 6, 5, 5, 3, 5, 1, directive, 6, 7, 2, 3]) {
            0 => vec![(quick, Started), (work, Answer)],
            1 => vec![(quick, Started), (work, Pass)],
            2 => vec![(quick, Started), (work, Empty)],
            3 => vec![(quick, Started)],
            4 => vec![(quick, Started), (ages, Answer)],
            5 => vec![(quick, Started), (work, Answer), (quick, Answer)],
            6 => vec![(quick, Started), (work, Fail)],
            7 => vec![(quick, Fail)],
            8 => vec![(work, Answer)],
            9 => vec![(quick, Started), (work, TooLong)],
            10 => vec![(quick, Started), (work, Directive)],
            11 => vec![(quick, Started), (work, Ask(asked)), (rng.between(500, 300_000), Answer)],
            12 => vec![(quick, Started), (work, Lost), (rng.between(0, 5_000), Answer)],
            13 => Vec::new(),
            _ => vec![(ages, Started), (work, Answer)],
        };
    let mut at = now;
    let timed = steps.into_iter().map(|(delay, report)| {
        at += delay as i64;
        (at, report)
    });
    timed.collect()
}

/// Returns the result of a report: the text, or the fault.
pub(crate) fn result(
    rng: &mut Rng,
    job: &Job,
    report: &PlannedReport,
    state: &Conversation,
    marks: &mut Marks,
) -> Result<String, Fault> {
    let remote = job.comes_by_itself();
    let mut mark =
        || marks.make(job.participant.clone(), (!remote).then_some((job.turn, job.attempt)));
    match report {
        PlannedReport::Pass => Ok(" [PASS]\n".into()),
        PlannedReport::Empty => Ok(" \n".into()),
        PlannedReport::TooLong => Ok(format!("{}{}", mark(), "x".repeat(300 * 1024))),
        PlannedReport::Directive => {
            let mark = mark();
            let name = rng
                .pick(state.participants())
                .map_or_else(|| "nobody".to_owned(), |p| p.name().to_owned());
            let line =
                ["I pass".to_owned(), format!("I pass to {name}."), "Passing to Nobody".to_owned()]
                    [rng.below(3) as usize]
                    .clone();
            Ok(format!("{mark} said\n{line}"))
        }
        PlannedReport::Fail | PlannedReport::Lost => Err(Fault::new("exit_status", "it broke")),
        PlannedReport::Started | PlannedReport::Ask(_) | PlannedReport::Answer => {
            let mark = mark();
            Ok(people::words(rng, state, &mark))
        }
    }
}
