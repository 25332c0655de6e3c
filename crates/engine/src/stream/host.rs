//! The host of a live stream: a state machine without I/O. It requests everything that it needs.
//!
//! The host holds the committed state, the state after the decisions in progress, the items that
//! wait to be decided, and the turns that run in this process. [`Host::handle`] takes an input and
//! returns the outputs in order. It is deterministic, without a clock, randomness or hash order:
//! the same inputs give the same outputs. Inputs may come in any order. While the host waits for an
//! answer, other inputs wait too, so that each batch starts from an appended state.
//!
//! All inputs before a look are decided together and appended in one batch: look up → decide and
//! charge → append → apply → answer → publish → show → see which turns have to run. Nothing of a
//! batch is visible outside before it is appended.
//!
//! Decisions also depend on facts that do not belong to the stream. *Who is reachable* and *which
//! keys were used* come one time for each batch, with [`Input::Found`], since they may change at
//! any time anyway. *Which agents there are* comes with every input, in [`Around`], because a turn
//! that should run has to be given to its runtime immediately. *The budgets* are shared by all
//! streams, so [`Output::Charge`] requests the costs of a decision before the next decision is
//! made, because two streams must not spend the same money. The budgets are not locked while the
//! rules decide.

use std::collections::{BTreeMap, VecDeque};
use std::iter;

use moothall_kernel::command::EngineCommand;
use moothall_kernel::event::{Fault, RecordedEvent, Usage};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::AgentFacts;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::{Aggregate, Conversation};

use super::awaited::{PendingConsents, refused, unanswered};
use super::brief::{Briefing, Tail};
use super::deciding::{Item, PendingBatch, PendingPayment};
use super::io::{
    Around, Consent, EndReason, Input, ItemBody, LoadedStream, Now, Output, ReadOnlyReason,
    RequestId, StartMode,
};
use super::runs::Runs;
use crate::answers::{HallError, Idempotency, Signal};
use crate::ports::Epoch;
use crate::runtime::agent::{Probe, Report, TurnKey};
use crate::runtime::registry::Roster;

/// A jump of the wall clock longer than this is downtime: deadlines move instead of firing.
pub const GAP: Millis = Millis::from_secs(5);
/// Pause before a retry after the disk was full.
pub(crate) const RETRY_FULL: Millis = Millis::from_secs(1);

/// A live stream as a state machine. See the module.
#[derive(Clone, Debug)]
pub struct Host {
    pub(super) stream: StreamId,
    /// The epoch under which this writer appends. `None` for a stream that was only read so far, so
    /// that reading works on a log that cannot be written.
    pub(super) epoch: Option<Epoch>,
    /// The state after all events in the log.
    pub(super) committed: Aggregate,
    /// The committed state with the decisions in progress applied. Made for the first decision, and
    /// kept while there is work.
    pub(super) working: Option<Aggregate>,
    /// The reason why the stream is read-only, if it is.
    pub(super) unwritable: Option<ReadOnlyReason>,
    pub(super) tail: Tail,
    pub(super) runs: Runs,
    inbox: Inbox,
    /// Requests that wait for consent.
    pub(super) awaited: PendingConsents,
    /// Batches of this look that are still to be decided. There is only one, unless its items have
    /// to be decided one at a time after an error.
    pub(super) batches: VecDeque<Vec<Item>>,
    /// Requests to view the committed state, for which the batches of this look have to be done
    /// first.
    views: Vec<RequestId>,
    pub(super) stage: Stage,
    /// The engine's own commands for the next look.
    pub(super) pending: Vec<Item>,
    /// Time at which `pending` is retried, if the log had no room.
    pub(super) retry_at: Option<Millis>,
    /// Number of times that `pending` was put back since the last append.
    pub(super) retries: u32,
    pub(super) wake: Option<Millis>,
    /// Number and bytes of the dropped posts of each participant that no event has reported yet.
    pub(super) unkept: BTreeMap<ParticipantId, (u64, u64)>,
    /// The conversation's own time at the last look, and the steady clock then.
    clock: Now,
    pub(super) out: Vec<Output>,
}

/// Inputs since the last look.
#[derive(Clone, Debug, Default)]
struct Inbox {
    notices: Vec<(TurnKey, HostNotice)>,
    items: Vec<Item>,
    views: Vec<RequestId>,
    refresh: bool,
    look: bool,
}

/// A notice about a turn.
#[derive(Clone, Debug)]
enum HostNotice {
    Report(Report, Option<(RequestId, Idempotency)>),
    Probed(Probe),
}

/// The answer that the host waits for. Before it comes, the host requests nothing else.
#[derive(Clone, Debug, Default)]
pub(super) enum Stage {
    /// No answer is outstanding.
    #[default]
    Idle,
    /// Waits for the facts that a batch needs.
    Looking(Vec<Item>),
    /// Waits for the charge of a decision.
    Paying(Box<PendingPayment>),
    /// Waits for an epoch to append under.
    Acquiring(Box<PendingBatch>),
    /// Waits for the append of a batch.
    Appending(Box<PendingBatch>),
    /// Waits for the stream to be loaded again.
    Reloading,
    /// Waits for events for a prompt.
    Briefing(Box<Briefing>),
    /// The stream is not live in this process any more, and ignores all answers.
    Closed,
}

impl Host {
    /// Makes the host of a stream that becomes live.
    pub fn new(
        stream: StreamId,
        loaded: LoadedStream,
        begin: StartMode,
        around: &Around<'_>,
    ) -> Self {
        let LoadedStream { state, unwritable } = loaded;
        let mut host = Self {
            stream,
            // No other writer knows the id of a new stream, so there is no earlier epoch to fence.
            epoch: begin.is_new().then(Epoch::default),
            committed: state,
            working: None,
            unwritable,
            tail: Tail::default(),
            runs: Runs::default(),
            inbox: Inbox::default(),
            awaited: PendingConsents::default(),
            batches: VecDeque::new(),
            views: Vec::new(),
            stage: Stage::Idle,
            pending: Vec::new(),
            retry_at: None,
            retries: 0,
            wake: None,
            unkept: BTreeMap::new(),
            clock: around.now,
            out: Vec::new(),
        };
        // The newest event may be ahead of a clock that was set back, and the later of the two
        // times counts.
        host.clock.wall = host.time(around.now);
        if let StartMode::Existing(opened_at) = begin
            && host.unwritable.is_none()
        {
            // On loading, a stream gets the downtime since its last event and the present facts
            // about its agents.
            let downtime = if planted::has(Bug::DowntimeForgotten) {
                Millis(0)
            } else {
                opened_at.since(host.committed.last_ts())
            };
            host.pending.extend(host.stood_still(downtime));
            host.pending.extend(host.changed_facts(around.agents));
        }
        host
    }

    /// Handles an input. Returns the outputs in the order in which they have to be performed.
    pub fn handle(&mut self, around: &Around<'_>, input: Input) -> Vec<Output> {
        match input {
            Input::Request { id, wanted, idempotency, condition, owing, taking } => {
                let once = idempotency.map(|key| *key);
                let item =
                    Item::external(id, wanted, once).on(condition).owing(owing).taking(taking);
                self.inbox.items.push(item);
            }
            Input::Answered { id, consent } => self.answered(id, consent, around.now.steady),
            Input::View { id } => self.inbox.views.push(id),
            Input::Report { key, report, receipt } => {
                self.inbox.notices.push((key, HostNotice::Report(report, receipt)))
            }
            Input::Probed { key, probe } => {
                self.inbox.notices.push((key, HostNotice::Probed(probe)))
            }
            Input::Refresh => self.inbox.refresh = true,
            Input::Look => self.inbox.look = true,
            Input::Quiet => self.forget(),
            Input::Found(found) => match std::mem::take(&mut self.stage) {
                Stage::Looking(items) => {
                    self.decide(PendingBatch::new(items, found, self.time(around.now)), around)
                }
                other => self.stage = other,
            },
            Input::Charged { paid, budgets } => match std::mem::take(&mut self.stage) {
                Stage::Paying(paying) => self.charged(*paying, paid, budgets, around),
                other => self.stage = other,
            },
            Input::Acquired(result) => match std::mem::take(&mut self.stage) {
                Stage::Acquiring(deciding) => self.acquired(deciding, result, around),
                other => self.stage = other,
            },
            Input::Appended(result) => match std::mem::take(&mut self.stage) {
                Stage::Appending(deciding) => self.appended(*deciding, result, around),
                other => self.stage = other,
            },
            Input::Loaded(result) => match std::mem::take(&mut self.stage) {
                Stage::Reloading => self.reloaded(result.map(|loaded| *loaded), around),
                other => self.stage = other,
            },
            Input::Read(result) => match std::mem::take(&mut self.stage) {
                Stage::Briefing(briefing) => self.read(*briefing, result, around),
                other => self.stage = other,
            },
        }
        if self.inbox.look && matches!(self.stage, Stage::Idle) {
            self.look(around);
        }
        std::mem::take(&mut self.out)
    }

    /// Returns the state after all events in the log.
    pub fn committed(&self) -> &Aggregate {
        &self.committed
    }

    /// Returns the committed state, if the stream is a conversation.
    pub fn conversation(&self) -> Option<&Conversation> {
        self.committed.conversation()
    }

    /// Returns the state with the decisions that are not appended yet, for observers such as the
    /// simulator.
    pub fn working(&self) -> &Aggregate {
        self.working.as_ref().unwrap_or(&self.committed)
    }

    /// Returns the text that the running turns have streamed so far, as far as it may be shown.
    pub fn partials(&self) -> Vec<Signal> {
        self.runs.partials()
    }

    /// True if this attempt of a turn runs in this process.
    pub fn runs(&self, key: &TurnKey) -> bool {
        self.runs.has(key)
    }

    /// True if a turn runs in this process that would be lost if the process ended now.
    pub fn would_lose_turns(&self) -> bool {
        self.runs.would_lose()
    }

    /// True if all inputs were looked at and no answer is outstanding.
    pub fn is_idle(&self) -> bool {
        let has_inputs = !self.inbox.items.is_empty()
            || !self.inbox.views.is_empty()
            || !self.inbox.notices.is_empty()
            || self.inbox.refresh;
        matches!(self.stage, Stage::Idle) && !has_inputs
    }

    /// True if all inputs are decided and appended, or refused. Requests that wait for consent do
    /// not count.
    pub fn is_settled(&self) -> bool {
        self.is_idle() && self.pending.is_empty()
    }

    /// Returns the batch that is being appended, as the events of each decision, for observers such
    /// as the simulator.
    pub fn appending(&self) -> Vec<Vec<RecordedEvent>> {
        match &self.stage {
            Stage::Appending(deciding) => deciding.decisions(),
            Stage::Idle
            | Stage::Looking(_)
            | Stage::Paying(_)
            | Stage::Acquiring(_)
            | Stage::Reloading
            | Stage::Briefing(_)
            | Stage::Closed => Vec::new(),
        }
    }

    /// True if the stream's task may end, to be loaded again by the next request. This needs a
    /// settled host without consent questions and turns, and without deadlines unless the stream is
    /// read-only.
    pub fn may_leave(&self) -> bool {
        self.is_settled()
            && self.awaited.is_empty()
            && self.runs.is_empty()
            && (self.unwritable.is_some() || !self.has_timers())
    }

    /// Begins a look: puts all inputs into a batch, and requests the facts to decide it. The
    /// answers to the outputs continue the look with append, publish, and then the reconciliation
    /// of the turns.
    fn look(&mut self, around: &Around<'_>) {
        let now = around.now;
        self.refuse_unanswered(around);
        let inbox = std::mem::take(&mut self.inbox);
        let stood_still = self.gap(now);
        let mut items: Vec<Item> = self.tick(now).into_iter().collect();
        for (key, notice) in inbox.notices {
            self.hear(&key, notice, &mut items);
        }
        if self.unwritable.is_none() && inbox.refresh {
            items.extend(self.changed_facts(around.agents));
        }
        items.extend(inbox.items);
        // Commands that were put back go first: deadlines have to be moved before another command
        // reads them.
        let is_due = self.retry_at.is_none_or(|at| at <= now.steady)
            || stood_still.is_some()
            || !items.is_empty();
        let put_back = if is_due { std::mem::take(&mut self.pending) } else { Vec::new() };
        if is_due {
            self.retry_at = None;
        }
        self.views = inbox.views;
        self.batches.push_back(stood_still.into_iter().chain(put_back).chain(items).collect());
        self.next_batch(around);
    }

    /// Returns the conversation's own time. It is at least that of the newest event, and advances
    /// with the steady clock, even while the computer clock is set back.
    pub(super) fn time(&self, now: Now) -> Timestamp {
        if planted::has(Bug::TimeGoesBackwards) {
            return now.wall;
        }
        let elapsed = now.steady.0.saturating_sub(self.clock.steady.0);
        (self.clock.wall + Millis(elapsed)).max(self.committed.last_ts())
    }

    /// Advances the conversation's own time to the wall clock. Returns the command that moves the
    /// deadlines, if the wall clock has jumped ahead for longer than [`GAP`] and there is a
    /// deadline or a turn.
    fn gap(&mut self, now: Now) -> Option<Item> {
        let elapsed = now.steady.0.saturating_sub(self.clock.steady.0);
        let gap = now.wall.since(self.clock.wall + Millis(elapsed));
        self.clock = Now { wall: self.time(now).max(now.wall), steady: now.steady };
        self.stood_still(gap).filter(|_| self.unwritable.is_none())
    }

    /// Returns the command that handles the passed deadlines, if the alarm has gone off.
    fn tick(&self, now: Now) -> Option<Item> {
        let rings = self.unwritable.is_none() && self.wake.is_some_and(|at| at <= now.steady);
        rings.then(|| Item::internal(EngineCommand::Tick))
    }

    /// Returns the command that moves the deadlines by a downtime. `None` if the downtime is not
    /// longer than [`GAP`], or if the stream has neither a deadline nor a turn.
    fn stood_still(&self, downtime: Millis) -> Option<Item> {
        (downtime > GAP && self.has_timers())
            .then(|| Item::internal(EngineCommand::ShiftClock { downtime }))
    }

    /// Returns commands for the agents' facts that changed in the registry, and commands that end
    /// the turns of agents whose client was removed.
    fn changed_facts(&self, agents: &Roster) -> Vec<Item> {
        let open = self.conversation().filter(|conversation| !conversation.is_archived());
        let here = open.into_iter().flat_map(Conversation::agents);
        let changed = here.filter_map(|p| {
            let listed = agents.facts(p.profile.client.as_deref()?);
            let facts = match &p.address {
                None => listed,
                // This computer's registry does not know the programs of another computer.
                Some(address) if address.is_elsewhere() => return None,
                // The facts of a session do not depend on the registry, except for its timeout.
                Some(_) if listed.abilities.lives_in_session => {
                    AgentFacts { timeout: listed.timeout, ..p.facts.clone() }
                }
                Some(_) => return None,
            };
            (facts != p.facts).then_some((p, facts))
        });
        let commands = changed.flat_map(|(p, facts)| {
            let orphans =
                if p.facts.known && !facts.known { self.orphans(&p.id) } else { Vec::new() };
            let changed = EngineCommand::Facts { participant: p.id.clone(), facts };
            // The lost client is recorded first. Otherwise the end of its turns would lead to new
            // turns for it.
            iter::once(changed).chain(orphans)
        });
        commands.map(Item::internal).collect()
    }

    /// Returns commands that end the turns of a participant whose client was removed. Turns that
    /// run in this process end by themselves.
    fn orphans(&self, participant: &ParticipantId) -> Vec<EngineCommand> {
        let turns = self.conversation().into_iter().flat_map(Conversation::open_turns);
        let lost = turns
            .filter(|turn| turn.participant == *participant && !self.runs.is_run_here(turn.no));
        let ended = lost.map(|turn| {
            let fault =
                Fault::new("client_removed", "Its client is not in the configuration any more.");
            EngineCommand::Finished {
                turn: turn.no,
                attempt: turn.attempt,
                result: Err(fault),
                usage: Usage::default(),
            }
        });
        ended.collect()
    }

    /// True if a turn or an allowed request has to run, or a deadline is set.
    fn has_timers(&self) -> bool {
        let duties = self.committed.duties();
        !duties.run.is_empty() || !duties.requests.is_empty() || duties.wake_at.is_some()
    }

    /// Handles the answer to a consent question: takes its requests into the next look, or refuses
    /// them.
    fn answered(&mut self, id: RequestId, consent: Consent, now: Millis) {
        let items = self.awaited.answered(id, now);
        match consent {
            Consent::Given => self.inbox.items.extend(items),
            Consent::GivenFor(readers) => {
                self.inbox.items.extend(items.into_iter().map(|item| item.only_for(&readers)))
            }
            Consent::Refused(why) => self.refuse(items, &refused(&why)),
        }
    }

    /// Refuses the requests whose consent did not come in time. A draining hall refuses all that
    /// wait.
    fn refuse_unanswered(&mut self, around: &Around<'_>) {
        if self.awaited.is_empty() {
            return;
        }
        let (over, error) = match around.draining {
            true => (self.awaited.take_all(), HallError::ShuttingDown),
            false => (self.awaited.take_over(around.now.steady), unanswered()),
        };
        if planted::has(Bug::SilenceIsConsent) {
            self.inbox.items.extend(over);
        } else {
            self.refuse(over, &error);
        }
    }

    /// Handles a report or a probe result of a turn. Passes progress to the listeners without
    /// delay. Adds the command that the report leads to, if any, to `items`. A report with a
    /// receipt that leads to no command is answered immediately.
    fn hear(&mut self, key: &TurnKey, notice: HostNotice, items: &mut Vec<Item>) {
        match notice {
            // Progress goes to the listeners without delay. Otherwise a part of an answer could
            // come after the whole answer.
            HostNotice::Report(report, _) if report.is_by_the_way() => {
                let signal = self
                    .committed
                    .conversation()
                    .and_then(|conversation| self.runs.streamed(key, report, conversation));
                self.out.extend(signal.map(Output::Signal));
            }
            HostNotice::Report(report, receipt) => match (self.runs.reported(key, report), receipt)
            {
                (Some(command), Some((id, once))) => {
                    items.push(Item::external(id, ItemBody::Decision(command.into()), Some(once)))
                }
                (Some(command), None) => items.push(Item::internal(command)),
                (None, Some((id, _))) => {
                    self.out.push(Output::Answer { answers: vec![(id, Ok(self.nothing_new()))] })
                }
                (None, None) => {}
            },
            HostNotice::Probed(probe) => {
                items.extend(self.runs.probed(key, &probe).map(Item::internal))
            }
        }
    }

    /// Continues with the next batch, or ends the look if there is none. In a read-only stream,
    /// refuses the batches.
    pub(super) fn next_batch(&mut self, around: &Around<'_>) {
        while let Some(items) = self.batches.pop_front() {
            if let Some(unwritable) = &self.unwritable {
                let error = unwritable.error(&self.stream);
                self.refuse(items, &error);
            } else if !items.is_empty() {
                let keys = items.iter().filter_map(Item::claim_key).collect();
                self.out.push(Output::Lookup { keys });
                self.stage = Stage::Looking(items);
                return;
            }
        }
        self.settled(around);
    }

    /// Ends a look after all of its batches. Shows the state to the views, and reconciles the
    /// turns. Closes a stream that is deleted or has no events.
    fn settled(&mut self, around: &Around<'_>) {
        if self.conversation().is_some_and(Conversation::is_deleted) {
            // The running turns are cancelled, and pending views get the error that the
            // conversation was deleted.
            self.reconcile(around);
            return self.close(EndReason::Deleted);
        }
        if !self.views.is_empty() {
            self.out.push(Output::Show { ids: std::mem::take(&mut self.views) });
        }
        if self.committed.head() == Seq(0) {
            self.close(EndReason::NeverBegan);
        } else if self.unwritable.is_none() {
            self.reconcile(around);
        } else {
            self.wake = None;
            self.rest(around.now);
        }
    }

    /// Sets the time of the next look to the earliest of the alarm, the retry and the consent
    /// deadlines.
    pub(super) fn rest(&mut self, now: Now) {
        // Commands of a reconciliation are due now, because the log has not refused them.
        let ready = (!self.pending.is_empty() && self.retry_at.is_none()).then_some(now.steady);
        self.out.push(Output::Wake {
            at: [self.wake, self.retry_at, ready, self.awaited.until()].into_iter().flatten().min(),
        });
    }

    /// Ends the stream with this reason: drops the requests that wait for consent, and ignores all
    /// further inputs.
    pub(super) fn close(&mut self, why: EndReason) {
        self.stage = Stage::Closed;
        self.awaited = PendingConsents::default();
        self.out.push(Output::Close { why });
    }

    /// Replaces the state by the one that was loaded again, and continues with the next batch.
    /// Closes the stream if its log could not be read.
    fn reloaded(&mut self, result: Result<LoadedStream, HallError>, around: &Around<'_>) {
        match result {
            Ok(LoadedStream { state, unwritable }) => {
                self.tail.clear();
                self.committed = state;
                self.working = None;
                self.unwritable = unwritable;
                self.next_batch(around);
            }
            Err(error) => self.close(EndReason::Unreadable(error)),
        }
    }

    /// Drops the data that can be read again, or made again from the committed state.
    fn forget(&mut self) {
        if matches!(self.stage, Stage::Idle) {
            self.tail.clear();
            self.working = None;
        }
    }
}
