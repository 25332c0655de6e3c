//! Starts and ends turns, so that the running turns agree with the duties of the state.

use std::collections::VecDeque;

use moothall_kernel::command::EngineCommand;
use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::duties::TurnDuty;
use moothall_kernel::event::{Fault, RecordedEvent, Usage};
use moothall_kernel::ids::TurnNo;
use moothall_kernel::participant::Participant;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::{Millis, Timestamp};

use super::brief::{Brief, Briefing, DraftOutcome, JobDraft, ReadRequest};
use super::deciding::Item;
use super::host::{Host, RETRY_FULL, Stage};
use super::io::{Around, Output};
use super::runs::{ActiveTurn, Phase};
use crate::ports::{LogError, Page};
use crate::runtime::agent::{TurnKey, WINDOW_LEN};
use crate::runtime::registry::RunnerFacts;

/// Interval at which the host checks that a client with a turn is still connected.
const LOOKS: Millis = Millis::from_secs(1);

impl Host {
    /// Ends turns that should not run, starts those that should, and sets the alarm.
    pub(super) fn reconcile(&mut self, around: &Around<'_>) {
        let duties = self.committed.duties();
        let ended = self.runs.keep_only(&duties.run, &self.stream);
        self.out.extend(ended);
        // A draining hall starts no turns. Turns that run here already may end, and their runtimes
        // still learn that the start was appended.
        let wanted = duties
            .run
            .into_iter()
            .filter(|run| !around.draining || self.runs.has(&self.key_of(run)));
        let runs: VecDeque<TurnDuty> = wanted.collect();
        let requests = if around.draining { Vec::new() } else { duties.requests };
        self.brief(Briefing { runs, requests, wake_at: duties.wake_at, drafting: None }, around);
    }

    /// Composes and sends the jobs of the runs in order, as far as they need one. Stops at a job
    /// whose events have to be read first, and [`Host::read`] goes on from there. Ends a turn whose
    /// job cannot be composed. After the last run, outputs the requests that people allowed, to be
    /// carried out, and sets the alarm.
    fn brief(&mut self, mut briefing: Briefing, around: &Around<'_>) {
        loop {
            let (run, drafting) = match briefing.drafting.take() {
                Some(drafted) => drafted,
                None => match briefing.runs.pop_front() {
                    Some(run) if self.needs_job(&run, around) => (run, JobDraft::default()),
                    Some(run) => {
                        self.tell_begun(&run);
                        continue;
                    }
                    None => break,
                },
            };
            match self.draft(&run, drafting) {
                Ok(None) => self.tell_begun(&run),
                Ok(Some(drafting)) => {
                    briefing.drafting = Some((run, drafting));
                    self.stage = Stage::Briefing(Box::new(briefing));
                    return;
                }
                Err(error) => {
                    self.cannot_brief(&run, &error);
                    self.tell_begun(&run);
                }
            }
        }
        let Briefing { requests, wake_at, .. } = briefing;
        let requests = requests.into_iter().map(Box::new);
        self.out.extend(requests.map(|request| Output::CarryOut { request }));
        self.set_alarm(wake_at, around);
        self.rest(around.now);
    }

    /// Notes a turn that is not noted yet. True if its job has to be sent to its runtime: for the
    /// first time, again after a probe has found the turn, or again because the turn waits at the
    /// runtime and was widened after its job was sent.
    fn needs_job(&mut self, run: &TurnDuty, around: &Around<'_>) -> bool {
        let runner = match self.runs.get(run.turn) {
            None => self.start_or_probe(run, around),
            Some(ActiveTurn { phase: Phase::Reattach, runner, .. }) => *runner,
            Some(ActiveTurn { phase: Phase::Running, runner: Some(runner), through, .. }) => {
                // A new job is sent only if the turn was widened after its job was sent.
                let turn = self
                    .conversation()
                    .and_then(|state| state.turn(run.turn))
                    .filter(|_| runner.waits && !run.started);
                turn.is_some_and(|turn| turn.is_widened_after(*through)).then_some(*runner)
            }
            Some(ActiveTurn { phase: Phase::Probing | Phase::Running | Phase::Ending, .. }) => None,
        };
        if runner.is_some() {
            self.note_run(run, runner, Phase::Running);
        }
        runner.is_some()
    }

    /// Returns the facts of the runtime in this process (the hand) to which the job of a turn has
    /// to be sent now; `None` if no job is sent. A turn of a remote client is only noted as
    /// started, and its client comes for it. A turn that an earlier process started is probed
    /// first. (Ruling 5.)
    fn start_or_probe(&mut self, run: &TurnDuty, around: &Around<'_>) -> Option<RunnerFacts> {
        let runner = around.agents.runner_of(self.conversation()?.participant(&run.participant)?);
        match runner {
            None => {
                self.note_run(run, None, Phase::Running);
                if !run.started {
                    let through = self.committed.head();
                    self.pending.push(Item::internal(EngineCommand::Started {
                        turn: run.turn,
                        attempt: run.attempt,
                        through,
                    }));
                }
                None
            }
            Some(_) if run.started => {
                self.note_run(run, runner, Phase::Probing);
                self.out.push(Output::Probe {
                    key: self.key_of(run),
                    participant: run.participant.clone(),
                });
                None
            }
            Some(_) => runner,
        }
    }

    fn note_run(&mut self, run: &TurnDuty, runner: Option<RunnerFacts>, phase: Phase) {
        if let Some(state) = self.committed.conversation() {
            self.runs.note(run, runner, phase, state);
        }
    }

    /// Makes the job of a turn and sends it to its runtime. If events are missing, requests them
    /// and returns the unfinished draft.
    fn draft(
        &mut self,
        run: &TurnDuty,
        mut drafting: JobDraft,
    ) -> Result<Option<JobDraft>, LogError> {
        let Some(state) = self.committed.conversation() else { return Ok(None) };
        let (Some(turn), Some(participant)) =
            (state.turn(run.turn), state.participant(&run.participant))
        else {
            return Ok(None);
        };
        let (room, window) = self.room_of(run.turn);
        match drafting.draft(&Brief { state, turn, participant, room, window }, &mut self.tail)? {
            DraftOutcome::Job(job) => {
                self.out.push(Output::Start { job });
                Ok(None)
            }
            DraftOutcome::Missing(missing) => {
                self.out.push(match missing {
                    ReadRequest::Events { after, count } => Output::Read { after, count },
                    ReadRequest::Messages { before, limit } => {
                        Output::ReadMessages { before, limit }
                    }
                });
                Ok(Some(drafting))
            }
        }
    }

    /// Returns the bytes of transcript that fit into the prompt of a turn, and the number of
    /// messages in its job.
    fn room_of(&self, turn: TurnNo) -> (usize, usize) {
        let runner = self.runs.get(turn).and_then(|going| going.runner);
        runner.map_or((TRANSCRIPT_BYTES, WINDOW_LEN), |runner| (runner.room, runner.window))
    }

    /// Adds the events that were read to the draft that requested them.
    fn take_read(&mut self, run: &TurnDuty, drafting: &mut JobDraft, events: Vec<RecordedEvent>) {
        let Some(state) = self.committed.conversation() else { return };
        let (Some(turn), Some(participant)) =
            (state.turn(run.turn), state.participant(&run.participant))
        else {
            return;
        };
        let (room, window) = self.room_of(run.turn);
        drafting.take(&Brief { state, turn, participant, room, window }, events, &mut self.tail);
    }

    /// Continues the draft with the result of a read. Ends the turn of the draft if the read
    /// failed.
    pub(super) fn read(
        &mut self,
        mut briefing: Briefing,
        result: Result<Page, LogError>,
        around: &Around<'_>,
    ) {
        if let Some((run, mut drafting)) = briefing.drafting.take() {
            match result {
                Ok(page) => {
                    self.take_read(&run, &mut drafting, page.events);
                    briefing.drafting = Some((run, drafting));
                }
                Err(error) => {
                    self.cannot_brief(&run, &error);
                    self.tell_begun(&run);
                }
            }
        }
        self.brief(briefing, around);
    }

    /// Ends a turn as failed, because its prompt cannot be composed: stops its runtime, and queues
    /// the command that records the end.
    fn cannot_brief(&mut self, run: &TurnDuty, error: &LogError) {
        tracing::error!(stream = %self.stream, turn = %run.turn, %error, "the prompt of a turn \
                                                                          cannot be composed");
        let result =
            Err(Fault::new("unreadable", "What the turn covers cannot be read from the log."));
        self.runs.end_here(run.turn);
        // A runtime that lets turns wait has the turn perhaps already since the grant.
        self.out.push(Output::Cancel { key: self.key_of(run) });
        self.pending.push(Item::internal(EngineCommand::Finished {
            turn: run.turn,
            attempt: run.attempt,
            result,
            usage: Usage::default(),
        }));
    }

    /// Tells a runtime that the start of its turn is in the log. Tells it only one time.
    fn tell_begun(&mut self, run: &TurnDuty) {
        if let Some(delivery) = self.runs.begin(run) {
            self.out.push(Output::Begun { key: self.key_of(run), delivery });
        }
    }

    /// True if a participant that answers by posting has a turn.
    fn awaits_client(&self) -> bool {
        let Some(state) = self.committed.conversation() else { return false };
        state.open_turns().any(|turn| {
            state.participant(&turn.participant).is_some_and(Participant::answers_by_posting)
        })
    }

    fn key_of(&self, run: &TurnDuty) -> TurnKey {
        TurnKey { stream: self.stream.clone(), turn: run.turn, attempt: run.attempt }
    }

    /// Sets the time of the next look to `wake_at`, the next deadline of the state. If a remote
    /// client has a turn, the look comes at most [`LOOKS`] from now.
    fn set_alarm(&mut self, wake_at: Option<Timestamp>, around: &Around<'_>) {
        let now = around.now;
        // No event reports that a client has gone, so the host checks while a client has a turn.
        let wake_at = if self.awaits_client() {
            wake_at.into_iter().chain([self.time(now) + LOOKS]).min()
        } else {
            wake_at
        };
        let rang = self.wake.is_some_and(|at| at <= now.steady);
        let lost = |at: &Timestamp| planted::has(Bug::LostWakeUp) && at.millis() % 5 == 0;
        self.wake = wake_at.filter(|at| !lost(at)).map(|at| {
            let wait = at.since(self.time(now));
            // A past alarm that changed nothing would fire in a tight loop without this pause.
            let wait = if wait == Millis(0) && rang { RETRY_FULL } else { wait };
            Millis(now.steady.0.saturating_add(wait.0))
        });
    }
}
