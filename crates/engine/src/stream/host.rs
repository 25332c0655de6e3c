//! The host of a live stream: a state machine that waits for nothing and asks for everything.
//!
//! It holds the committed state and the one that is being decided on, what waits to be decided, and
//! the turns that run here. It is told things by [`Host::handle`], and what it wants comes back, in
//! order. It has no clock, no chance and no order of a hash: the same inputs give the same outputs.
//! Inputs may come in any order; what comes while an answer is outstanding waits for it, so that
//! nothing is ever decided on a state that may turn out not to be kept.
//!
//! Everything told before a look is decided together and appended at once: look up → decide and
//! charge → append → apply → answer → publish → show → see what has to run. Until it is appended,
//! nobody outside hears of any of it.
//!
//! Three things decisions depend on are not the stream's own. *Who is reachable* and *which keys
//! were used* are facts that come once for each batch, with [`Input::Found`]: they may change at
//! any time anyway. *Which agents there are* comes with every input, in [`Around`], because a turn
//! that should run has to be given to somebody at once. *The purses* are shared by all streams, so
//! what a decision spends is asked for by [`Output::Charge`] before the next one is made: two
//! streams must not spend the same turn, and nothing is locked while the rules decide.

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
use super::deciding::{PendingBatch, Item, PendingPayment};
use super::io::{
    Around, StartMode, Consent, Input, Loaded, Now, Output, RequestId, ReadOnlyReason, ItemBody, EndReason,
};
use super::runs::Runs;
use crate::answers::{HallError, Idempotency, Signal};
use crate::ports::Epoch;
use crate::runtime::agent::{Probe, Report, TurnKey};
use crate::runtime::registry::Roster;

/// A gap in time longer than this is downtime: deadlines move instead of firing.
pub const GAP: Millis = Millis::from_secs(5);
/// Pause before what found the disk full is tried again.
pub(crate) const RETRY_FULL: Millis = Millis::from_secs(1);

/// A live stream. See the module.
#[derive(Clone, Debug)]
pub struct Host {
    pub(super) stream: StreamId,
    /// Which writer this is. A stream that is only read has none, so that it can be read when
    /// nothing can be written.
    pub(super) epoch: Option<Epoch>,
    /// What the log says.
    pub(super) committed: Aggregate,
    /// The same, and what was decided since. Made when something is to be decided, and kept while
    /// there is work.
    pub(super) working: Option<Aggregate>,
    /// Why it is only read, if it is.
    pub(super) unwritable: Option<ReadOnlyReason>,
    pub(super) tail: Tail,
    pub(super) runs: Runs,
    inbox: Inbox,
    /// Requests to which somebody has to agree.
    pub(super) awaited: PendingConsents,
    /// What is still to be decided of this look: one batch, unless a key turned out to be taken.
    pub(super) batches: VecDeque<Vec<Item>>,
    /// Who sees the committed state when that is done.
    views: Vec<RequestId>,
    pub(super) stage: Stage,
    /// The engine's own commands for the next look.
    pub(super) pending: Vec<Item>,
    /// The pending ones wait until then, because the log had no room.
    pub(super) retry_at: Option<Millis>,
    pub(super) wake: Option<Millis>,
    /// Refused contributions that were not kept and of which no event has told yet: how many of
    /// whom, and how many bytes.
    pub(super) unkept: BTreeMap<ParticipantId, (u64, u64)>,
    /// The conversation's own time when it last looked, and the steady clock then.
    clock: Now,
    pub(super) out: Vec<Output>,
}

/// What was told since the last look.
#[derive(Clone, Debug, Default)]
struct Inbox {
    notices: Vec<(TurnKey, HostNotice)>,
    items: Vec<Item>,
    views: Vec<RequestId>,
    refresh: bool,
    look: bool,
}

/// News of a turn.
#[derive(Clone, Debug)]
enum HostNotice {
    Report(Report, Option<(RequestId, Idempotency)>),
    Probed(Probe),
}

/// The answer that the host waits for; until it comes, it asks for nothing else.
#[derive(Clone, Debug, Default)]
pub(super) enum Stage {
    /// No answer is waited for.
    #[default]
    Idle,
    /// What a batch has to know.
    Looking(Vec<Item>),
    /// Whether a decision can be paid.
    Paying(Box<PendingPayment>),
    /// An epoch to append under.
    Acquiring(Box<PendingBatch>),
    /// Whether what was decided is appended.
    Appending(Box<PendingBatch>),
    /// The stream, read anew.
    Reloading,
    /// Events for a prompt.
    Briefing(Box<Briefing>),
    /// None, for ever: the stream is no longer live here.
    Closed,
}

impl Host {
    /// A stream that becomes live.
    pub fn new(stream: StreamId, loaded: Loaded, begin: StartMode, around: &Around<'_>) -> Self {
        let Loaded { state, unwritable } = loaded;
        let mut host = Self {
            stream,
            // Nobody else knows the name of a new one, so there is no earlier writer to fence.
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
            wake: None,
            unkept: BTreeMap::new(),
            clock: around.now,
            out: Vec::new(),
        };
        host.clock.wall = host.time(around.now);
        if let StartMode::Existing(opened_at) = begin
            && host.unwritable.is_none()
        {
            // What a stream is told when it is loaded: how long nobody looked after it, and what
            // the registry says now.
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

    /// Takes what happened. What it wants now comes back.
    pub fn handle(&mut self, around: &Around<'_>, input: Input) -> Vec<Output> {
        match input {
            Input::Request { id, wanted, idempotency, condition, owing } => {
                let once = idempotency.map(|key| *key);
                let item = Item::external(id, wanted, once).on(condition).owing(owing);
                self.inbox.items.push(item);
            }
            Input::Answered { id, consent } => self.answered(id, consent, around.now.steady),
            Input::View { id } => self.inbox.views.push(id),
            Input::Report { key, report, receipt } => {
                self.inbox.notices.push((key, HostNotice::Report(report, receipt)))
            }
            Input::Probed { key, probe } => self.inbox.notices.push((key, HostNotice::Probed(probe))),
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

    /// What the log says.
    pub fn committed(&self) -> &Aggregate {
        &self.committed
    }

    /// The same, if it is a conversation.
    pub fn conversation(&self) -> Option<&Conversation> {
        self.committed.conversation()
    }

    /// The state that is decided on, where something was decided and is not appended. For those who
    /// watch the host.
    pub fn working(&self) -> &Aggregate {
        self.working.as_ref().unwrap_or(&self.committed)
    }

    /// What the running turns have shown so far.
    pub fn partials(&self) -> Vec<Signal> {
        self.runs.partials()
    }

    /// Whether this attempt of a turn is run here.
    pub fn runs(&self, key: &TurnKey) -> bool {
        self.runs.has(key)
    }

    /// Whether a turn runs here that would be lost if the process ended now.
    pub fn would_lose_turns(&self) -> bool {
        self.runs.would_lose()
    }

    /// Whether nothing was told that it has not looked at, and nothing is outstanding.
    pub fn is_idle(&self) -> bool {
        let told = !self.inbox.items.is_empty()
            || !self.inbox.views.is_empty()
            || !self.inbox.notices.is_empty()
            || self.inbox.refresh;
        matches!(self.stage, Stage::Idle) && !told
    }

    /// Whether everything it was told is decided and kept, or refused, but for what waits until
    /// somebody agrees.
    pub fn is_settled(&self) -> bool {
        self.is_idle() && self.pending.is_empty()
    }

    /// The batch that is being appended: the events of each decision. For those who watch the host.
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

    /// Whether it could be let go, and be loaded again when somebody asks.
    pub fn may_leave(&self) -> bool {
        self.is_settled()
            && self.awaited.is_empty()
            && self.runs.is_empty()
            && (self.unwritable.is_some() || !self.has_timers())
    }

    /// One look: everything that was told is decided, appended and told, and then it is seen what
    /// has to run.
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
        // What was put back goes before everything else that is decided: deadlines have to be moved
        // before anything looks at them.
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

    /// The conversation's own time: it is never behind the newest event, and goes on by the steady
    /// clock. Where the computer's clock was set back, or the newest event lies ahead of it,
    /// nothing waits for it to catch up.
    pub(super) fn time(&self, now: Now) -> Timestamp {
        if planted::has(Bug::TimeGoesBackwards) {
            return now.wall;
        }
        let elapsed = now.steady.0.saturating_sub(self.clock.steady.0);
        (self.clock.wall + Millis(elapsed)).max(self.committed.last_ts())
    }

    /// The computer's clock went further than the conversation's own, since the last look.
    fn gap(&mut self, now: Now) -> Option<Item> {
        let elapsed = now.steady.0.saturating_sub(self.clock.steady.0);
        let gap = now.wall.since(self.clock.wall + Millis(elapsed));
        self.clock = Now { wall: self.time(now).max(now.wall), steady: now.steady };
        self.stood_still(gap).filter(|_| self.unwritable.is_none())
    }

    fn tick(&self, now: Now) -> Option<Item> {
        let rings = self.unwritable.is_none() && self.wake.is_some_and(|at| at <= now.steady);
        rings.then(|| Item::internal(EngineCommand::Tick))
    }

    /// Nobody looked at the clock for so long.
    fn stood_still(&self, downtime: Millis) -> Option<Item> {
        (downtime > GAP && self.has_timers())
            .then(|| Item::internal(EngineCommand::ShiftClock { downtime }))
    }

    /// What the registry says otherwise than the conversation remembers, and the end of what nobody
    /// is left to run.
    fn changed_facts(&self, agents: &Roster) -> Vec<Item> {
        let open = self.conversation().filter(|conversation| !conversation.is_archived());
        let here = open.into_iter().flat_map(Conversation::agents);
        let changed = here.filter_map(|p| {
            let listed = agents.facts(p.profile.client.as_deref()?);
            let facts = match p.address {
                None => listed,
                // What a session is does not change with the registry, but for how long it may
                // take.
                Some(_) if listed.abilities.lives_in_session => {
                    AgentFacts { timeout: listed.timeout, ..p.facts.clone() }
                }
                Some(_) => return None,
            };
            (facts != p.facts).then_some((p, facts))
        });
        let told = changed.flat_map(|(p, facts)| {
            let orphans =
                if p.facts.known && !facts.known { self.orphans(&p.id) } else { Vec::new() };
            let changed = EngineCommand::Facts { participant: p.id.clone(), facts };
            // Who has nobody to run it is known before its turns end, so that none is granted to it
            // again.
            iter::once(changed).chain(orphans)
        });
        told.map(Item::internal).collect()
    }

    /// Ends the turns of somebody whose client is gone, but for those that run here: they end as
    /// they began.
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

    fn has_timers(&self) -> bool {
        let duties = self.committed.duties();
        !duties.run.is_empty() || !duties.requests.is_empty() || duties.wake_at.is_some()
    }

    /// Somebody who was asked about a request said something.
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

    /// Nobody agreed in time, or nobody is waited for any more.
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

    fn hear(&mut self, key: &TurnKey, notice: HostNotice, items: &mut Vec<Item>) {
        match notice {
            // At once, so that a piece of an answer never follows the answer.
            HostNotice::Report(report, _) if report.is_by_the_way() => {
                let signal = self
                    .committed
                    .conversation()
                    .and_then(|conversation| self.runs.streamed(key, report, conversation));
                self.out.extend(signal.map(Output::Signal));
            }
            HostNotice::Report(report, receipt) => match (self.runs.reported(key, report), receipt) {
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

    /// Goes on with what is to be decided.
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

    /// All of a look is decided, and what could be kept is.
    fn settled(&mut self, around: &Around<'_>) {
        if self.conversation().is_some_and(Conversation::is_deleted) {
            // What runs is cancelled, and whoever wants to see it hears why there is nothing to
            // see.
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

    /// Says when to look again.
    pub(super) fn rest(&mut self, now: Now) {
        let ready = (!self.pending.is_empty() && self.retry_at.is_none()).then_some(now.steady);
        self.out.push(Output::Wake {
            at: [self.wake, self.retry_at, ready, self.awaited.until()].into_iter().flatten().min(),
        });
    }

    pub(super) fn close(&mut self, why: EndReason) {
        self.stage = Stage::Closed;
        self.awaited = PendingConsents::default();
        self.out.push(Output::Close { why });
    }

    fn reloaded(&mut self, result: Result<Loaded, HallError>, around: &Around<'_>) {
        match result {
            Ok(Loaded { state, unwritable }) => {
                self.tail.clear();
                self.committed = state;
                self.working = None;
                self.unwritable = unwritable;
                self.next_batch(around);
            }
            Err(error) => self.close(EndReason::Unreadable(error)),
        }
    }

    /// What can be read again, or made again from what is committed.
    fn forget(&mut self) {
        if matches!(self.stage, Stage::Idle) {
            self.tail.clear();
            self.working = None;
        }
    }
}
