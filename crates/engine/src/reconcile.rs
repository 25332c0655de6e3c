//! Makes what runs agree with what should run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use moothall_kernel::command::Command;
use moothall_kernel::duties::Run;
use moothall_kernel::event::{Event, Fault, Outcome, Recorded, TurnKind, Usage};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::participant::{OnLost, Participant, Runtime};
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::agent::{Agent, Probe, Report, Reporter, TurnKey};
use crate::brief::{Brief, brief};
use crate::crash;
use crate::hall::Signal;
use crate::inner::{Inner, report_to};
use crate::live::{Live, RETRY_FULL};
use crate::mail::Notice;
use crate::partial::{Partial, STREAMED_BYTES_MAX};
use crate::ports::LogError;
use crate::settle::Item;

/// What a report costs beside its text, so that many empty ones are a flood too.
const REPORT_BYTES: usize = 64;

/// How long a runtime may take to say what it knows about a turn.
const PROBE_MAX: Duration = Duration::from_secs(10);

/// The turns that this process runs.
#[derive(Default)]
pub(crate) struct Runs {
    going: BTreeMap<TurnNo, Going>,
}

/// A turn that this process runs.
struct Going {
    attempt: u32,
    participant: ParticipantId,
    /// What runs it; nothing for a remote client, which runs by itself.
    agent: Option<Arc<dyn Agent>>,
    kind: TurnKind,
    /// The newest event its prompt covers.
    through: Seq,
    /// The newest event when its prompt was made.
    read_at: Seq,
    partial: Partial,
    permissions: Vec<PermissionId>,
    phase: Phase,
    /// Its runtime knows that the start is in the log.
    begun: bool,
    /// It ended because its time was over.
    lapsed: bool,
}

/// Where a turn stands between its conversation and its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// An earlier process started it, and its runtime was asked about it.
    Probing,
    /// Its runtime still has it, and must be told where to report.
    Reattach,
    /// Its runtime has it.
    Running,
    /// Its end is on its way to the log; there is nothing left to cancel.
    Over,
}

impl Runs {
    pub(crate) fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    fn current(&mut self, key: &TurnKey) -> Option<&mut Going> {
        self.going.get_mut(&key.turn).filter(|going| going.attempt == key.attempt)
    }

    /// What the running turns have shown so far.
    pub(crate) fn partials(&self) -> Vec<Signal> {
        let shown = |(turn, going): (&TurnNo, &Going)| {
            let text = going.partial.shown()?.to_owned();
            Some(Signal::Delta { turn: *turn, attempt: going.attempt, participant: going.participant.clone(), offset: 0, text })
        };
        self.going.iter().filter_map(shown).collect()
    }
}

/// Takes the reports of one turn to its stream.
struct Lane {
    hall: Weak<Inner>,
    key: TurnKey,
    streamed: AtomicUsize,
}

impl Reporter for Lane {
    fn report(&self, report: Report) {
        if let Report::Delta(text) | Report::Progress(text) = &report {
            let before = self.streamed.fetch_add(text.len() + REPORT_BYTES, Ordering::Relaxed);
            if before + text.len() > 2 * STREAMED_BYTES_MAX {
                return;
            }
        }
        report_to(&self.hall, &self.key, report);
    }
}

impl Live {
    /// Ends what should not run, starts what should, and sets the alarm.
    pub(crate) async fn reconcile(&mut self) {
        let duties = self.committed.duties();
        self.stop_others(&duties.run);
        for run in &duties.run {
            if self.hall.is_draining() {
                break;
            }
            match self.runs.going.get(&run.turn) {
                None => self.take_up(run).await,
                Some(Going { phase: Phase::Reattach, agent: Some(agent), .. }) => self.ensure(run, agent.clone()).await,
                Some(Going { phase: Phase::Running, agent: Some(agent), through, .. }) if self.is_stale(run, &**agent, *through) => {
                    self.ensure(run, agent.clone()).await;
                }
                Some(_) => {}
            }
            self.tell_begun(run);
        }
        for start in &duties.start {
            if !self.hall.is_draining() {
                self.hall.sessions.begin_start(&self.stream, start);
            }
        }
        self.set_alarm(duties.wake_at);
    }

    /// Whether a turn that waits for its runtime got a cause that the job it has does not show.
    fn is_stale(&self, run: &Run, agent: &dyn Agent, through: Seq) -> bool {
        agent.waits() && !run.started && self.committed.turn(run.turn).is_some_and(|turn| turn.is_widened_after(through))
    }

    /// Tells a runtime once that the start of its turn is kept.
    fn tell_begun(&mut self, run: &Run) {
        let Some(going) = self.runs.going.get_mut(&run.turn) else { return };
        if run.started && !going.begun && going.phase == Phase::Running {
            going.begun = true;
            if let Some(agent) = &going.agent {
                agent.begun(&TurnKey { stream: self.stream.clone(), turn: run.turn, attempt: run.attempt });
            }
        }
    }

    fn stop_others(&mut self, wanted: &[Run]) {
        let stream = &self.stream;
        self.runs.going.retain(|turn, going| {
            let keep = wanted.iter().any(|run| run.turn == *turn && run.attempt == going.attempt);
            if !keep
                && going.phase != Phase::Over
                && let Some(agent) = &going.agent
            {
                let key = TurnKey { stream: stream.clone(), turn: *turn, attempt: going.attempt };
                if going.lapsed { agent.lapsed(&key) } else { agent.cancel(&key) }
            }
            keep
        });
    }

    fn set_alarm(&mut self, wake_at: Option<Timestamp>) {
        let now = Instant::now();
        let rang = self.wake.is_some_and(|at| at <= now);
        self.wake = wake_at.map(|at| {
            let wait = at.since(self.hall.now());
            // A wake that is over and changes nothing must not ring without a pause.
            if wait == Millis(0) && rang { now + RETRY_FULL } else { now + Duration::from_millis(wait.0) }
        });
    }

    async fn take_up(&mut self, run: &Run) {
        crash::point("turn_granted");
        let Some(participant) = self.committed.participant(&run.participant) else { return };
        match self.agent_of(participant) {
            None => self.await_remote(run),
            Some(agent) if run.started => self.probe(run, agent),
            Some(agent) => self.ensure(run, agent).await,
        }
    }

    /// What runs a participant here; nothing when it runs elsewhere and comes by itself. (Ruling 5.)
    fn agent_of(&self, participant: &Participant) -> Option<Arc<dyn Agent>> {
        if participant.facts.runtime == Runtime::Terminal {
            return Some(self.hall.sessions.agent());
        }
        let registry = self.hall.standing().registry();
        let spec = registry.get(participant.profile.client.as_deref()?)?;
        (participant.facts.runtime != Runtime::Remote).then(|| spec.agent.clone())
    }

    fn note_going(&mut self, run: &Run, agent: Option<Arc<dyn Agent>>, phase: Phase) {
        let Some(turn) = self.committed.turn(run.turn) else { return };
        let going = Going {
            attempt: run.attempt,
            participant: run.participant.clone(),
            agent,
            kind: turn.kind,
            through: turn.running.map_or(self.committed.head(), |running| running.through_seq),
            read_at: self.committed.head(),
            partial: Partial::default(),
            permissions: turn.permissions().cloned().collect(),
            phase,
            begun: false,
            lapsed: false,
        };
        self.runs.going.insert(run.turn, going);
    }

    fn await_remote(&mut self, run: &Run) {
        self.note_going(run, None, Phase::Running);
        if !run.started {
            let through = self.committed.head();
            self.pending.push(Item::own(Command::Started { turn: run.turn, attempt: run.attempt, through }));
        }
    }

    /// Asks what became of a turn that an earlier process started.
    fn probe(&mut self, run: &Run, agent: Arc<dyn Agent>) {
        self.note_going(run, Some(agent.clone()), Phase::Probing);
        let key = TurnKey { stream: self.stream.clone(), turn: run.turn, attempt: run.attempt };
        let hall = self.hall.weak();
        tokio::spawn(async move {
            let probe = tokio::time::timeout(PROBE_MAX, agent.probe(&key)).await.unwrap_or(Probe::Lost);
            if let Some(hall) = hall.upgrade() {
                hall.notify(&key.stream.clone(), Box::new(Notice::Probed(key, probe)));
            }
        });
    }

    /// What to do about a turn of which a runtime said what it knows.
    pub(crate) fn probed(&mut self, key: &TurnKey, probe: &Probe) -> Option<Command> {
        let going = self.runs.current(key)?;
        crash::point("turn_probed");
        let on_lost = going.agent.as_ref()?.on_lost();
        match (probe, on_lost) {
            (Probe::Waiting | Probe::Running | Probe::Done(_), _) => {
                going.phase = Phase::Reattach;
                None
            }
            (Probe::Unknown | Probe::Lost, OnLost::Rerun) => {
                going.phase = Phase::Over;
                Some(Command::Lost { turn: key.turn, attempt: key.attempt })
            }
            (Probe::Unknown | Probe::Lost, OnLost::Fail) => {
                going.phase = Phase::Over;
                let fault = Fault::new("interrupted", "A restart interrupted it.");
                Some(Command::Finished { turn: key.turn, attempt: key.attempt, result: Err(fault), usage: Usage::default() })
            }
        }
    }

    /// Hands a turn to its runtime.
    async fn ensure(&mut self, run: &Run, agent: Arc<dyn Agent>) {
        self.note_going(run, Some(agent.clone()), Phase::Running);
        let (Some(turn), Some(participant)) = (self.committed.turn(run.turn), self.committed.participant(&run.participant)) else { return };
        let of = Brief { state: &self.committed, turn, participant, log: &*self.hall.log };
        let job = match brief(of, &mut self.tail).await {
            Ok(job) => job,
            Err(error) => return self.cannot_brief(run, &error),
        };
        let lane = Lane { hall: self.hall.weak(), key: job.key.clone(), streamed: AtomicUsize::new(0) };
        agent.ensure(job, Arc::new(lane));
        crash::point("agent_started");
    }

    fn cannot_brief(&mut self, run: &Run, error: &LogError) {
        tracing::error!(stream = %self.stream, turn = %run.turn, %error, "no prompt can be made");
        let result = Err(Fault::new("unreadable", "What the turn covers cannot be read from the log."));
        self.end_here(run.turn);
        self.pending.push(Item::own(Command::Finished { turn: run.turn, attempt: run.attempt, result, usage: Usage::default() }));
    }

    fn end_here(&mut self, turn: TurnNo) {
        if let Some(going) = self.runs.going.get_mut(&turn) {
            going.phase = Phase::Over;
        }
    }

    /// The command that a report asks for. The kernel judges reports of other attempts.
    pub(crate) fn reported(&mut self, key: &TurnKey, report: Report) -> Option<Command> {
        let (turn, attempt) = (key.turn, key.attempt);
        let going = self.runs.current(key);
        match report {
            Report::Delta(_) | Report::Progress(_) => None,
            Report::Started { through } => going.map(|_| Command::Started { turn, attempt, through }),
            Report::Summarised { through, text, usage } => {
                let read_at = going?.read_at;
                Some(Command::Summarise { turn, attempt, through, read_at, text, usage })
            }
            Report::Permission { permission, question, within } => {
                let going = going?;
                if !going.permissions.contains(&permission) {
                    going.permissions.push(permission.clone());
                }
                Some(Command::AskPermission { permission, turn, question, within })
            }
            Report::Withdrawn { permission, because } => {
                if let Some(going) = going {
                    going.permissions.retain(|asked| *asked != permission);
                }
                Some(Command::WithdrawPermission { permission, because })
            }
            Report::Finished { result, usage } => {
                crash::point("agent_finished");
                if let Some(going) = going {
                    going.phase = Phase::Over;
                }
                Some(Command::Finished { turn, attempt, result, usage })
            }
        }
    }

    /// What listeners are shown of a running turn. What a listener-only turn says stays in the trace.
    pub(crate) fn streamed(&mut self, key: &TurnKey, report: Report) -> Option<Signal> {
        let going = self.runs.current(key).filter(|going| going.phase == Phase::Running)?;
        let shown =
            going.kind == TurnKind::Reply && !self.committed.is_paused() && !self.committed.muted().any(|id| *id == going.participant);
        let (turn, participant) = (key.turn, going.participant.clone());
        match report {
            Report::Delta(piece) if shown => {
                let (offset, text) = going.partial.push(&piece)?;
                Some(Signal::Delta { turn, attempt: key.attempt, participant, offset, text })
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

    /// What committed events mean for those who are run here: their presence, and answers to their permissions.
    pub(crate) fn take_note(&mut self, events: &[Recorded]) {
        let mut states: BTreeMap<ParticipantId, &str> = BTreeMap::new();
        for recorded in events {
            match &recorded.event {
                Event::TurnStarted { turn, .. } => {
                    let run_here = self.runs.going.get(turn).filter(|going| going.agent.is_some());
                    states.extend(run_here.map(|going| (going.participant.clone(), "thinking")));
                }
                Event::TurnEnded { turn, participant, outcome, .. } => {
                    if let Some(going) = self.runs.going.get_mut(turn) {
                        going.lapsed = *outcome == Outcome::Expired;
                        states.extend(going.agent.is_some().then(|| (participant.clone(), "listening")));
                    }
                }
                Event::PermissionAnswered { permission, option, .. } => self.permit(permission, Some(option)),
                Event::PermissionExpired { permission } => self.permit(permission, None),
                _ => {}
            }
        }
        for (id, state) in states {
            let details = self.committed.participant(&id).map(details);
            self.hall.note_presence(&self.stream, id, state.to_owned(), details);
        }
    }

    fn permit(&mut self, permission: &PermissionId, option: Option<&str>) {
        for (turn, going) in &mut self.runs.going {
            let asked = going.permissions.iter().position(|known| known == permission);
            if let (Some(at), Some(agent)) = (asked, &going.agent) {
                going.permissions.swap_remove(at);
                agent.permit(&TurnKey { stream: self.stream.clone(), turn: *turn, attempt: going.attempt }, permission, option);
            }
        }
    }
}

/// What a presence says about a participant that the server runs.
fn details(participant: &Participant) -> Map<String, Value> {
    let profile = serde_json::to_value(&participant.profile).unwrap_or_default();
    match profile {
        Value::Object(details) => details,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
