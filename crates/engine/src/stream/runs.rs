//! The turns that this process runs: the reports of their runtimes, and the news for listeners and
//! runtimes.

use std::collections::BTreeMap;

use moothall_kernel::Conversation;
use moothall_kernel::command::{EngineCommand, ShownAnswer};
use moothall_kernel::duties::TurnDuty;
use moothall_kernel::ending::Ending;
use moothall_kernel::event::{Fault, TurnKind, Usage};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::OnLost;
use moothall_kernel::planted::{self, Bug};

use super::io::Output;
use super::partial::{CappedText, StreamedText};
use crate::answers::Signal;
use crate::runtime::agent::{PermissionAnswer, Probe, Report, TurnKey};
use crate::runtime::registry::RunnerFacts;

/// Maximum thoughts that are stored of one turn, in bytes.
const THOUGHT_BYTES_MAX: usize = 256 * 1024;

/// The turns that this process runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    pub(super) going: BTreeMap<TurnNo, ActiveTurn>,
}

/// A turn that this process runs.
#[derive(Clone, Debug)]
pub(super) struct ActiveTurn {
    attempt: u32,
    pub(super) participant: ParticipantId,
    /// The facts of its runtime in this process; `None` for a remote client, which runs by itself.
    pub(super) runner: Option<RunnerFacts>,
    kind: TurnKind,
    /// The newest event that its prompt covers.
    pub(super) through: Seq,
    /// The newest event when its prompt was made.
    read_at: Seq,
    partial: StreamedText,
    /// Thoughts of its model in this attempt.
    thoughts: CappedText<THOUGHT_BYTES_MAX>,
    /// Output of its program, if the program failed.
    printed: String,
    /// The end of what its program has printed so far.
    last_lines: String,
    /// True if the answer consists of thoughts only.
    only_thought: bool,
    /// The way in which the model ended its answer.
    ended: Option<Ending>,
    /// Usage reported by the runtime so far.
    used: Usage,
    permissions: Vec<PermissionId>,
    pub(super) phase: Phase,
    /// Id of the delivery that carries its prompt.
    delivery: Option<u64>,
    /// True if its runtime knows that the start is in the log.
    begun: bool,
    /// True if it ended because its time limit passed.
    pub(super) lapsed: bool,
}

/// The progress of a turn between its conversation and its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// An earlier process started the turn, and its runtime is being probed.
    Probing,
    /// The runtime still has the turn and needs a new reporter.
    Reattach,
    /// The runtime has the turn.
    Running,
    /// The end of the turn is on its way to the log, so nothing is left to cancel.
    Ending,
}

impl Runs {
    pub(super) fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    /// True if a turn would be lost if the process ended now. A turn in a session or a remote
    /// client outlives the process. A turn that is still being probed perhaps does not run.
    pub(super) fn would_lose(&self) -> bool {
        let lost = |going: &ActiveTurn| {
            going.runner.is_some_and(|runner| !runner.outlives) && going.phase != Phase::Probing
        };
        self.going.values().any(lost)
    }

    /// True if a runtime in this process has the turn.
    pub(super) fn is_run_here(&self, turn: TurnNo) -> bool {
        self.going.get(&turn).is_some_and(|going| going.runner.is_some())
    }

    pub(super) fn has(&self, key: &TurnKey) -> bool {
        self.going.get(&key.turn).is_some_and(|going| going.attempt == key.attempt)
    }

    pub(super) fn get(&self, turn: TurnNo) -> Option<&ActiveTurn> {
        self.going.get(&turn)
    }

    fn current(&mut self, key: &TurnKey) -> Option<&mut ActiveTurn> {
        self.going.get_mut(&key.turn).filter(|going| going.attempt == key.attempt)
    }

    /// Notes a turn with its phase. `runner` is `None` if the turn runs outside this process.
    pub(super) fn note(
        &mut self,
        run: &TurnDuty,
        runner: Option<RunnerFacts>,
        phase: Phase,
        state: &Conversation,
    ) {
        let Some(turn) = state.turn(run.turn) else { return };
        let going = ActiveTurn {
            attempt: run.attempt,
            participant: run.participant.clone(),
            runner,
            kind: turn.kind,
            through: turn.running.map_or(state.head(), |running| running.through_seq),
            read_at: state.head(),
            partial: StreamedText::default(),
            thoughts: CappedText::default(),
            printed: String::new(),
            last_lines: String::new(),
            only_thought: false,
            ended: None,
            used: Usage::default(),
            // An earlier process may have asked these questions, and their answers have to reach
            // this turn.
            permissions: turn.permissions().cloned().collect(),
            phase,
            delivery: None,
            begun: false,
            lapsed: false,
        };
        self.going.insert(run.turn, going);
    }

    /// Returns the output of the running turns that `of` selects, for a command that may end these
    /// turns.
    pub(super) fn shown_answers(
        &self,
        of: impl Fn(TurnNo) -> bool,
    ) -> BTreeMap<TurnNo, ShownAnswer> {
        let brought = |(turn, going): (&TurnNo, &ActiveTurn)| {
            let shown = ShownAnswer {
                attempt: going.attempt,
                text: going.partial.shown().unwrap_or_default().to_owned(),
                usage: going.used,
                thoughts: going.thoughts.as_str().to_owned(),
                printed: going.printed.clone(),
                last_lines: going.last_lines.clone(),
                only_thought: going.only_thought,
                ended: going.ended,
            };
            (*turn, shown)
        };
        self.going.iter().filter(|(turn, _)| of(**turn)).map(brought).collect()
    }

    /// Returns the text that the running turns have streamed so far, as far as it may be shown.
    pub(super) fn partials(&self) -> Vec<Signal> {
        let shown = |(turn, going): (&TurnNo, &ActiveTurn)| {
            let text = going.partial.shown()?.to_owned();
            Some(Signal::Delta {
                turn: *turn,
                attempt: going.attempt,
                participant: going.participant.clone(),
                offset: 0,
                text,
            })
        };
        self.going.iter().filter_map(shown).collect()
    }

    /// Drops the turns that are not wanted. Returns the outputs that cancel them at their runtimes,
    /// or tell the runtimes that the time limit passed.
    pub(super) fn keep_only(&mut self, wanted: &[TurnDuty], stream: &StreamId) -> Vec<Output> {
        let mut ended = Vec::new();
        self.going.retain(|turn, going| {
            let keep = wanted.iter().any(|run| run.turn == *turn && run.attempt == going.attempt);
            let must_cancel = going.phase != Phase::Ending
                && going.runner.is_some()
                && !planted::has(Bug::CancelForgotten);
            if !keep && must_cancel {
                let key = TurnKey { stream: stream.clone(), turn: *turn, attempt: going.attempt };
                ended.push(if going.lapsed {
                    Output::Lapse { key }
                } else {
                    Output::Cancel { key }
                });
            }
            keep
        });
        ended
    }

    /// Notes the ids of the deliveries that carry the prompts of turns. `prompts` and `ids` are
    /// paired by position.
    pub(super) fn inserted(&mut self, prompts: &[Option<(TurnNo, u32)>], ids: &[u64]) {
        for (prompt, id) in prompts.iter().zip(ids) {
            let going = prompt.and_then(|(turn, attempt)| {
                self.going.get_mut(&turn).filter(|going| going.attempt == attempt)
            });
            going.into_iter().for_each(|going| going.delivery = Some(*id));
        }
    }

    /// Returns the delivery of a turn's prompt, if its runtime has to learn now that the start is
    /// in the log. Returns it only one time for each attempt. The inner `None` means that no
    /// delivery carries the prompt.
    pub(super) fn begin(&mut self, run: &TurnDuty) -> Option<Option<u64>> {
        let going = self.going.get_mut(&run.turn)?;
        let begins = run.started && !going.begun && going.phase == Phase::Running;
        going.begun |= begins;
        (begins && going.runner.is_some()).then_some(going.delivery)
    }

    /// Notes that the end of a turn is on its way to the log.
    pub(super) fn end_here(&mut self, turn: TurnNo) {
        if let Some(going) = self.going.get_mut(&turn) {
            going.phase = Phase::Ending;
        }
    }

    /// Handles the result of a probe. Returns the command to decide if the turn was lost. Otherwise
    /// the runtime gets the job again.
    pub(super) fn probed(&mut self, key: &TurnKey, probe: &Probe) -> Option<EngineCommand> {
        let going = self.current(key)?;
        let on_lost = going.runner?.on_lost;
        match (probe, on_lost) {
            (Probe::Waiting | Probe::Running | Probe::Done(_), _) => {
                going.phase = Phase::Reattach;
                None
            }
            (Probe::Unknown | Probe::Lost, OnLost::Rerun) => {
                going.phase = Phase::Ending;
                Some(EngineCommand::Lost { turn: key.turn, attempt: key.attempt })
            }
            (Probe::Unknown | Probe::Lost, OnLost::Fail) => {
                going.phase = Phase::Ending;
                let fault = Fault::new("interrupted", "A restart interrupted it.");
                Some(EngineCommand::Finished {
                    turn: key.turn,
                    attempt: key.attempt,
                    result: Err(fault),
                    usage: Usage::default(),
                })
            }
        }
    }

    /// Returns the command for a report. `None` for progress, and for a start, a summary or a
    /// question of an attempt that does not run in this process. For other reports of such an
    /// attempt, the kernel decides if they count.
    pub(super) fn reported(&mut self, key: &TurnKey, report: Report) -> Option<EngineCommand> {
        let any = self
            .going
            .get(&key.turn)
            .filter(|_| planted::has(Bug::NoAttemptFencing))
            .map(|going| going.attempt);
        let (turn, attempt) = (key.turn, any.unwrap_or(key.attempt));
        let going = self.current(key);
        match report {
            Report::Delta(_)
            | Report::Progress(_)
            | Report::Used(_)
            | Report::Thought(_)
            | Report::OnlyThought
            | Report::Printed(_)
            | Report::LastLines(_)
            | Report::Ended(_) => None,
            Report::Started { through } => {
                going.map(|_| EngineCommand::Started { turn, attempt, through })
            }
            Report::Summarised { through, text, usage } => {
                let read_at = going?.read_at;
                Some(EngineCommand::Summarise { turn, attempt, through, read_at, text, usage })
            }
            Report::Permission { permission, question, within } => {
                let going = going?;
                // A dialog from before a restart is asked again under its former id, which is known
                // already.
                if !going.permissions.contains(&permission) {
                    going.permissions.push(permission.clone());
                }
                Some(EngineCommand::AskPermission { permission, turn, question, within })
            }
            Report::Withdrawn { permission, because } => {
                if let Some(going) = going {
                    going.permissions.retain(|asked| *asked != permission);
                }
                Some(EngineCommand::WithdrawPermission { permission, because })
            }
            Report::Finished { result, usage } => {
                if let Some(going) = going {
                    going.phase = Phase::Ending;
                }
                Some(EngineCommand::Finished { turn, attempt, result, usage })
            }
        }
    }

    /// Notes a streamed report. Returns the signal for listeners. `None` if nothing may be shown:
    /// in a pause, for a muted participant, for a turn that only listens, while the text may still
    /// become a pass, and for reports that are only noted.
    pub(super) fn streamed(
        &mut self,
        key: &TurnKey,
        report: Report,
        state: &Conversation,
    ) -> Option<Signal> {
        // The answer of a turn that ended is on its way to the log, and no piece may follow it.
        let going = self.current(key).filter(|going| going.phase == Phase::Running)?;
        let shown = going.kind == TurnKind::Reply
            && !state.is_paused()
            && !state.muted().any(|id| *id == going.participant);
        let (turn, participant) = (key.turn, going.participant.clone());
        match report {
            Report::Delta(piece) if shown => {
                let (offset, text) = going.partial.push(&piece)?;
                Some(Signal::Delta { turn, attempt: key.attempt, participant, offset, text })
            }
            Report::Used(usage) => {
                going.used = usage;
                None
            }
            Report::Thought(piece) => {
                going.thoughts.push(&piece);
                None
            }
            Report::Printed(text) => {
                going.printed = text;
                None
            }
            Report::LastLines(lines) => {
                going.last_lines = lines;
                None
            }
            Report::OnlyThought => {
                going.only_thought = true;
                None
            }
            Report::Ended(ended) => {
                going.ended = Some(ended);
                None
            }
            Report::Progress(text) if shown => Some(Signal::Progress { turn, participant, text }),
            Report::Delta(_)
            | Report::Progress(_)
            | Report::Started { .. }
            | Report::Summarised { .. }
            | Report::Permission { .. }
            | Report::Withdrawn { .. }
            | Report::Finished { .. } => None,
        }
    }

    /// Returns the output that carries the answer to a permission request to the runtime of the
    /// turn that asked. `given` is `None` if no answer came in time. Returns an empty list
    /// if no such turn runs in this process.
    pub(super) fn permit(
        &mut self,
        stream: &StreamId,
        permission: &PermissionId,
        given: Option<&PermissionAnswer>,
    ) -> Vec<Output> {
        let mut permits = Vec::new();
        for (turn, going) in &mut self.going {
            let asked = going.permissions.iter().position(|known| known == permission);
            if let (Some(at), Some(_)) = (asked, going.runner) {
                going.permissions.swap_remove(at);
                let key = TurnKey { stream: stream.clone(), turn: *turn, attempt: going.attempt };
                permits.push(Output::Permit {
                    key,
                    permission: permission.clone(),
                    given: given.cloned(),
                });
            }
        }
        permits
    }
}
