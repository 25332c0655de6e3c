//! A live stream: one task, the stream's only writer.
//!
//! It drains what is waiting, decides all of it, appends one batch, and only then tells anybody anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::Conversation;
use moothall_kernel::budget::Charge;
use moothall_kernel::command::Command;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::time::{Millis, Timestamp};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use crate::agent::Report;
use crate::brief::Tail;
use crate::crash;
use crate::directory::Seat;
use crate::hall::{HallError, Subscription};
use crate::inner::Inner;
use crate::mail::{Notice, Question, Request};
use crate::meters::OpenTurns;
use crate::ports::{Epoch, EventLog};
use crate::reconcile::Runs;
use crate::settle::Item;

/// A stream that nothing keeps is let go after so long.
pub(crate) const IDLE: Duration = Duration::from_secs(60);
/// After so long without work it keeps no events in memory.
const QUIET: Duration = Duration::from_secs(10);
/// Requests decided together, at most.
const DRAIN_MAX: usize = 256;
/// Events read at once while loading.
const LOAD_PAGE: usize = 1000;
/// A gap in time longer than this is downtime: deadlines move instead of firing.
pub(crate) const GAP: Millis = Millis::from_secs(5);
/// Pause before what found the disk full is tried again.
pub(crate) const RETRY_FULL: Duration = Duration::from_secs(1);
/// Pause before what found the log overloaded is tried again.
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// How a stream becomes live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// From its log.
    Existing,
    /// As a new one, whose first command creates it.
    New,
}

/// Why a stream is no longer live.
#[derive(Debug)]
pub(crate) struct Over(pub(crate) HallError);

/// A stream's first event that this version does not know.
pub(crate) type Newer = (Seq, String);

/// The state of a live stream's task.
pub(crate) struct Live {
    pub(crate) hall: Arc<Inner>,
    pub(crate) stream: StreamId,
    pub(crate) seat: Seat,
    /// Which writer this is. A stream that is only read has none, so that it can be read when nothing can be written.
    pub(crate) epoch: Option<Epoch>,
    /// What the log says.
    pub(crate) committed: Conversation,
    /// The same, and what was decided since. Made when something is to be decided, and kept while there is work.
    pub(crate) working: Option<Conversation>,
    pub(crate) newer: Option<Newer>,
    pub(crate) tail: Tail,
    pub(crate) runs: Runs,
    open_turns: OpenTurns,
    /// The engine's own commands for the next drain.
    pub(crate) pending: Vec<Item>,
    /// The pending ones wait until then, because the log had no room.
    pub(crate) retry_at: Option<Instant>,
    pub(crate) wake: Option<Instant>,
    /// Refused contributions that were not kept and of which no event has told yet: how many of whom, and how many bytes.
    pub(crate) unkept: BTreeMap<ParticipantId, (u64, u64)>,
    /// When it last had something to do.
    active: Instant,
    /// Both clocks as they stood then: they drift apart when the computer slept.
    pulse: (Timestamp, Instant),
}

/// What a live stream's task got hold of.
#[derive(Default)]
struct Drained {
    requests: Vec<Request>,
    notices: Vec<Notice>,
}

/// What made the task look up.
enum Woken {
    Work,
    Quiet,
    Abandoned,
}

/// What is answered after the append of the same drain.
#[derive(Default)]
struct After {
    questions: Vec<Question>,
    subscribers: Vec<oneshot::Sender<Result<Subscription, HallError>>>,
    drained: Vec<oneshot::Sender<()>>,
}

/// The task of a live stream, from loading to leaving.
pub(crate) async fn run(hall: Arc<Inner>, stream: StreamId, seat: Seat, begin: Begin) {
    match Live::load(&hall, &stream, begin).await {
        Ok(loaded) => Live::new(hall, stream, seat, loaded, begin).live().await,
        Err(error) => leave(&hall, &stream, seat, &error),
    }
}

/// Leaves the directory and refuses what was still waiting.
fn leave(hall: &Inner, stream: &StreamId, mut seat: Seat, error: &HallError) {
    hall.directory.leave(stream, seat.number);
    while let Ok(request) = seat.requests.try_recv() {
        request.refuse(error);
    }
}

/// What loading gives.
pub(crate) struct Loaded {
    epoch: Option<Epoch>,
    state: Conversation,
    newer: Option<Newer>,
}

impl Live {
    async fn load(hall: &Inner, stream: &StreamId, begin: Begin) -> Result<Loaded, HallError> {
        match begin {
            // Nobody else knows its name yet, so there is no earlier writer to fence.
            Begin::New => Ok(Loaded { epoch: Some(Epoch::default()), state: Conversation::new(stream.clone()), newer: None }),
            Begin::Existing => {
                let (state, newer) = fold(&*hall.log, stream).await?;
                crash::point("stream_loaded");
                Ok(Loaded { epoch: None, state, newer })
            }
        }
    }

    fn new(hall: Arc<Inner>, stream: StreamId, seat: Seat, loaded: Loaded, begin: Begin) -> Self {
        let pulse = (hall.now(), Instant::now());
        let open_turns = OpenTurns::new(hall.meters.clone());
        let mut live = Self {
            hall,
            stream,
            seat,
            epoch: loaded.epoch,
            committed: loaded.state,
            working: None,
            newer: loaded.newer,
            tail: Tail::default(),
            runs: Runs::default(),
            open_turns,
            pending: Vec::new(),
            retry_at: None,
            wake: None,
            unkept: BTreeMap::new(),
            active: pulse.1,
            pulse,
        };
        if begin == Begin::Existing && live.newer.is_none() {
            live.catch_up();
        }
        live
    }

    /// What a stream is told when it is loaded: how long nobody looked after it, and what the registry says now.
    fn catch_up(&mut self) {
        let downtime = self.hall.opened_at.since(self.committed.last_ts());
        if downtime > GAP && self.has_timers() {
            self.pending.push(Item::own(Command::Resume { downtime }));
        }
        let changed = self.changed_facts();
        self.pending.extend(changed);
    }

    /// What the registry says otherwise than the conversation remembers.
    fn changed_facts(&self) -> Vec<Item> {
        let registry = self.hall.standing().registry();
        let agents = self.committed.agents().filter(|_| !self.committed.is_archived());
        let changed = agents.filter_map(|p| {
            let facts = registry.facts(p.profile.client.as_deref()?);
            (p.address.is_none() && facts != p.facts).then(|| Command::Facts { participant: p.id.clone(), facts })
        });
        changed.map(Item::own).collect()
    }

    fn has_timers(&self) -> bool {
        let duties = self.committed.duties();
        !duties.run.is_empty() || !duties.start.is_empty() || duties.wake_at.is_some()
    }

    async fn live(mut self) {
        match self.work_on().await {
            Ok(()) => tracing::debug!(stream = %self.stream, "idle, let go"),
            Err(Over(error)) => leave(&self.hall, &self.stream, self.seat, &error),
        }
    }

    /// Works until nothing keeps the stream.
    async fn work_on(&mut self) -> Result<(), Over> {
        let mut drained = Drained::default();
        self.drain(&mut drained);
        self.work(&mut drained).await?;
        loop {
            match self.next(&mut drained).await {
                Woken::Work => {
                    self.work(&mut drained).await?;
                    self.active = Instant::now();
                }
                Woken::Quiet => {
                    self.tail.clear();
                    self.working = None;
                    if self.may_leave() {
                        return Ok(());
                    }
                }
                Woken::Abandoned => return Ok(()),
            }
        }
    }

    /// Waits for something to do, and takes all that is there.
    async fn next(&mut self, drained: &mut Drained) -> Woken {
        if !self.pending.is_empty() && self.retry_at.is_none() {
            self.drain(drained);
            return Woken::Work;
        }
        let quiet = self.quiet_at();
        let timer = [self.wake, self.retry_at].into_iter().flatten().min();
        tokio::select! {
            biased;
            notice = self.seat.lane.recv() => match notice {
                Some(notice) => drained.notices.push(*notice),
                None => return Woken::Abandoned,
            },
            request = self.seat.requests.recv() => match request {
                Some(request) => drained.requests.push(request),
                None => return Woken::Abandoned,
            },
            () = sleep_until(timer.unwrap_or(quiet)), if timer.is_some() => {}
            () = sleep_until(quiet) => return Woken::Quiet,
        }
        self.drain(drained);
        Woken::Work
    }

    fn drain(&mut self, drained: &mut Drained) {
        while let Ok(notice) = self.seat.lane.try_recv() {
            drained.notices.push(*notice);
        }
        while drained.requests.len() < DRAIN_MAX
            && let Ok(request) = self.seat.requests.try_recv()
        {
            drained.requests.push(request);
        }
    }

    /// First the time to forget events, then, again and again, the time to leave.
    fn quiet_at(&self) -> Instant {
        let quiet = self.active + QUIET;
        if quiet > Instant::now() { quiet } else { (self.active + IDLE).max(Instant::now() + QUIET) }
    }

    fn may_leave(&self) -> bool {
        let unused = self.active.elapsed() >= IDLE && self.pending.is_empty() && self.runs.is_empty();
        let free = unused && (self.newer.is_some() || !self.has_timers());
        free && self.hall.directory.leave_if_idle(&self.stream, &self.seat)
    }

    /// One drain: decide, append, tell, and see what has to run now.
    async fn work(&mut self, drained: &mut Drained) -> Result<(), Over> {
        let mut items = self.own_items();
        let mut after = After::default();
        for notice in drained.notices.drain(..) {
            self.hear(notice, &mut items);
        }
        if self.newer.is_none() && drained.requests.iter().any(|request| matches!(request, Request::Refresh)) {
            items.extend(self.changed_facts());
        }
        for request in drained.requests.drain(..) {
            sort(request, &mut items, &mut after);
        }
        if let Some(newer) = &self.newer {
            refuse_newer(&self.stream, newer, items);
        } else if let Err(over) = self.settle_all(items).await {
            after.refuse(&over.0);
            return Err(over);
        }
        self.open_turns.set(&self.committed);
        self.answer(after);
        if self.committed.head() == Seq(0) {
            return Err(Over(HallError::NotFound(self.stream.clone())));
        }
        if self.newer.is_none() {
            self.reconcile().await;
        }
        Ok(())
    }

    /// What the engine itself has to say: time that stood still, a timer, and what was left over.
    fn own_items(&mut self) -> Vec<Item> {
        let now = (self.hall.now(), Instant::now());
        let elapsed = Millis(u64::try_from((now.1 - self.pulse.1).as_millis()).unwrap_or(u64::MAX));
        let gap = Millis(now.0.since(self.pulse.0).0.saturating_sub(elapsed.0));
        self.pulse = now;
        let mut items = Vec::new();
        let writable = self.newer.is_none();
        if writable && gap > GAP && self.has_timers() {
            items.push(Item::own(Command::Resume { downtime: gap }));
        }
        if self.retry_at.is_none_or(|at| at <= now.1) {
            self.retry_at = None;
            items.append(&mut self.pending);
        }
        if writable && self.wake.is_some_and(|at| at <= now.1) {
            items.push(Item::own(Command::Tick));
        }
        items
    }

    fn hear(&mut self, notice: Notice, items: &mut Vec<Item>) {
        match notice {
            // At once, so that a piece of an answer never follows the answer.
            Notice::Report(key, report @ (Report::Delta(_) | Report::Progress(_))) => {
                if let Some(signal) = self.streamed(&key, report) {
                    self.seat.updates.signal(|| signal);
                }
            }
            Notice::Report(key, report) => items.extend(self.reported(&key, report).map(Item::own)),
            Notice::Probed(key, probe) => items.extend(self.probed(&key, &probe).map(Item::own)),
        }
    }

    /// Answers what only needed the committed state.
    fn answer(&mut self, after: After) {
        for question in after.questions {
            question(Ok(&self.committed));
        }
        for subscriber in after.subscribers {
            let updates = self.seat.updates.subscribe();
            let partials = self.runs.partials();
            let _ = subscriber.send(Ok(Subscription { head: self.committed.head(), partials, updates }));
        }
        for done in after.drained {
            crash::point("drain");
            let _ = done.send(());
        }
    }

    /// Reads the stream again after its log turned out to be elsewhere.
    pub(crate) async fn reload(&mut self) -> Result<(), Over> {
        let (state, newer) = fold(&*self.hall.log, &self.stream).await.map_err(Over)?;
        self.tail.clear();
        self.committed = state;
        self.working = None;
        self.newer = newer;
        Ok(())
    }
}

impl After {
    fn refuse(self, error: &HallError) {
        self.questions.into_iter().for_each(|question| question(Err(error.clone())));
        self.subscribers.into_iter().for_each(|subscriber| drop(subscriber.send(Err(error.clone()))));
        for done in self.drained {
            let _ = done.send(());
        }
    }
}

fn sort(request: Request, items: &mut Vec<Item>, after: &mut After) {
    match request {
        Request::Submit(submitted) => items.push(Item::asked(*submitted)),
        Request::Ask(question) => after.questions.push(question),
        Request::Subscribe(reply) => after.subscribers.push(reply),
        Request::Wake | Request::Refresh => {}
        Request::Drain(done) => after.drained.push(done),
    }
}

fn refuse_newer(stream: &StreamId, (seq, kind): &Newer, items: Vec<Item>) {
    let error = HallError::ReadOnly { stream: stream.clone(), seq: *seq, kind: kind.clone() };
    items.into_iter().for_each(|item| item.answer(Err(error.clone())));
}

/// What a stream's turns cost up to a position, or to the first event that this version does not know.
pub(crate) async fn charges_up_to(log: &dyn EventLog, stream: &StreamId, through: Seq) -> Result<Vec<Charge>, HallError> {
    let mut state = Conversation::new(stream.clone());
    let (mut charges, mut after) = (Vec::new(), Seq(0));
    loop {
        let page = log.read(stream, after, LOAD_PAGE).await?;
        let known = |seq: Seq| seq <= through && page.newer.as_ref().is_none_or(|(newer, _)| seq < *newer);
        for event in page.events.iter().filter(|event| known(event.seq)) {
            charges.extend(state.charge_of(event.ts, &event.event));
            state.apply(event);
        }
        if page.newer.is_some() || page.through <= after || page.through >= through {
            return Ok(charges);
        }
        after = page.through;
    }
}

/// The state of a stream, up to the first event that this version does not know.
async fn fold(log: &dyn EventLog, stream: &StreamId) -> Result<(Conversation, Option<Newer>), HallError> {
    let mut state = Conversation::new(stream.clone());
    let mut after = Seq(0);
    loop {
        let page = log.read(stream, after, LOAD_PAGE).await?;
        let known = |seq: Seq| page.newer.as_ref().is_none_or(|(newer, _)| seq < *newer);
        page.events.iter().filter(|event| known(event.seq)).for_each(|event| state.apply(event));
        if page.newer.is_some() || page.through <= after {
            return Ok((state, page.newer));
        }
        after = page.through;
    }
}
