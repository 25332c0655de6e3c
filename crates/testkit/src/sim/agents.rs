//! Agents as they are: quick, late, silent, talkative, broken.

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

/// Something that a runtime will report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlannedReport {
    Started,
    /// Asks a person, who has so many milliseconds.
    Ask(u64),
    Answer,
    Pass,
    Empty,
    TooLong,
    Directive,
    Fail,
    /// The host believes it dead, rightly or not.
    Lost,
}

/// An attempt of a turn, as its runtime sees it.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// The host that gave it last, and has to say when nobody wants it any more.
    pub(crate) host: u64,
    pub(crate) room: usize,
    pub(crate) turn: TurnNo,
    pub(crate) attempt: u32,
    pub(crate) participant: ParticipantId,
    pub(crate) abilities: Abilities,
    /// The newest event that its prompt covers.
    pub(crate) through: Seq,
    /// Nobody waits for it any more; it may speak all the same.
    pub(crate) orphan: bool,
    /// What it will report, and when.
    pub(crate) timeline: VecDeque<(i64, PlannedReport)>,
    /// What it reported and what may not be on the disk.
    pub(crate) unsure: Vec<PlannedReport>,
    /// It said for good how it ended, or the host takes it for dead.
    pub(crate) reported: bool,
}

impl Job {
    pub(crate) fn key(&self) -> TurnKey {
        TurnKey { stream: stream(self.room), turn: self.turn, attempt: self.attempt }
    }

    /// Whether whoever has it came by itself and says its answer by itself.
    pub(crate) fn comes_by_itself(&self) -> bool {
        self.abilities.answers == Answers::ByPosting
    }

    /// Whether it lives through a restart of the server.
    pub(crate) fn survives(&self) -> bool {
        self.abilities.lives_in_session || self.comes_by_itself()
    }
}

/// What an agent will do about a turn, beginning at `now` (milliseconds). One that dawdles often
/// begins later than its round waits, and mostly takes longer.
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

/// What a report amounts to: the text, or the fault.
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
