//! Adapter for runtimes that do a turn's work in one future. Repeated calls do the work only one
//! time, and a cancel stops the work.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::PermissionId;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};
use moothall_kernel::time::Millis;
use tokio::task::AbortHandle;

use crate::runtime::agent::{
    Agent, CallCost, Job, PermissionAnswer, Probe, Report, Reporter, TurnKey, WINDOW_LEN,
};
use crate::runtime::places::{ProgramSlot, ProgramSlots};

/// A turn's work as a future. The future is dropped when the turn is cancelled, so drop guards have
/// to release everything that must not outlive it.
#[async_trait]
pub trait Work: Send + Sync + 'static {
    /// Does the work. The caller reports `Started` and `Finished`; deltas, progress and permissions
    /// go to `out`.
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage);
    /// Returns the kind of runtime, as a word for people.
    fn runtime(&self) -> Runtime;
    /// Returns the abilities of its participants. By default they take turns, answer by the reply
    /// that the runtime reports, and have no memory.
    fn abilities(&self) -> Abilities {
        Abilities::PLAIN
    }
    /// Returns the handling of a running turn that a restart lost.
    fn on_lost(&self) -> OnLost {
        OnLost::Rerun
    }
    /// Returns the bytes of transcript for which its prompts have room.
    fn room(&self) -> usize {
        TRANSCRIPT_BYTES
    }
    /// Returns the number of newest messages in its jobs.
    fn window(&self) -> usize {
        WINDOW_LEN
    }
    /// Returns its own time limit for a turn.
    fn timeout(&self) -> Option<Millis> {
        None
    }
    /// Returns the maximum cost of a turn, which is reserved before it begins.
    fn call_cost(&self) -> CallCost {
        CallCost::Nothing
    }
    /// Takes a person's answer to a permission.
    fn permit(
        &self,
        _key: &TurnKey,
        _permission: &PermissionId,
        _given: Option<&PermissionAnswer>,
    ) {
    }
    /// True if the work starts a program. The number of programs is limited.
    fn needs_a_place(&self) -> bool {
        false
    }
}

/// An [`Agent`] that does each turn's [`Work`] only one time.
///
/// Work that never waits is done when `ensure` returns, without a task of its own. Dropping the
/// agent ends all work.
pub struct RunOnce<W: Work> {
    work: Arc<W>,
    going: Arc<ActiveTasks>,
    places: OnceLock<Arc<ProgramSlots>>,
}

/// The turns that run.
#[derive(Default)]
struct ActiveTasks(Mutex<HashMap<TurnKey, ActiveRun>>);

/// One run of a turn, with the handle to abort it; `None` before its future has waited.
struct ActiveRun {
    run: Arc<()>,
    abort: Option<AbortHandle>,
    /// The newest job and reporter, while the turn waits for a program slot.
    waits_with: Option<Assignment>,
}

/// A turn's job, and the receiver of its reports.
type Assignment = (Job, Arc<dyn Reporter>);

impl ActiveTasks {
    fn lock(&self) -> MutexGuard<'_, HashMap<TurnKey, ActiveRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the job of a turn that waits for a program slot. Returns true if the turn waits.
    fn renew(&self, job: &Job, reporter: &Arc<dyn Reporter>) -> bool {
        let mut going = self.lock();
        let waits = going.get_mut(&job.key).and_then(|slot| slot.waits_with.as_mut());
        waits.map(|assignment| *assignment = (job.clone(), reporter.clone())).is_some()
    }

    /// Notes the job of a turn that waits for a program slot.
    fn wait_with(&self, listed: &ActiveEntry, assignment: Assignment) {
        if let Some(slot) =
            self.lock().get_mut(&listed.key).filter(|slot| Arc::ptr_eq(&slot.run, &listed.run))
        {
            slot.waits_with = Some(assignment);
        }
    }

    /// Removes and returns the job of a turn that waited for a slot. `None` if another run has
    /// replaced its entry, or the turn was cancelled.
    fn assign(&self, listed: &ActiveEntry) -> Option<Assignment> {
        self.lock()
            .get_mut(&listed.key)
            .filter(|slot| Arc::ptr_eq(&slot.run, &listed.run))?
            .waits_with
            .take()
    }

    /// Adds a turn. Returns `None` if it runs already.
    fn enter(self: &Arc<Self>, key: &TurnKey) -> Option<ActiveEntry> {
        match self.lock().entry(key.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(slot) => {
                let run = slot
                    .insert(ActiveRun { run: Arc::default(), abort: None, waits_with: None })
                    .run
                    .clone();
                Some(ActiveEntry { going: self.clone(), key: key.clone(), run })
            }
        }
    }
}

/// The entry of a running turn. Dropping it removes the turn, when the future of the turn ends by
/// its result, by a panic or by being dropped.
struct ActiveEntry {
    going: Arc<ActiveTasks>,
    key: TurnKey,
    run: Arc<()>,
}

impl Drop for ActiveEntry {
    fn drop(&mut self) {
        let mut going = self.going.lock();
        // A cancelled run may end after the same turn was started again.
        if going.get(&self.key).is_some_and(|slot| Arc::ptr_eq(&slot.run, &self.run)) {
            going.remove(&self.key);
        }
    }
}

/// Reports the end of a turn. If the work panicked, it reports a fault, so that the turn does not
/// wait for its time limit.
struct Ending {
    reporter: Arc<dyn Reporter>,
    owed: bool,
}

impl Ending {
    fn report(mut self, result: Result<String, Fault>, usage: Usage) {
        self.owed = false;
        self.reporter.report(Report::Finished { result, usage });
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.owed && std::thread::panicking() {
            let fault = Fault::new("panicked", "The agent's runtime stopped unexpectedly.");
            self.reporter.report(Report::Finished { result: Err(fault), usage: Usage::default() });
        }
    }
}

impl<W: Work> RunOnce<W> {
    /// Makes an agent that does this work.
    pub fn new(work: W) -> Self {
        Self { work: Arc::new(work), going: Arc::default(), places: OnceLock::new() }
    }

    /// Returns the work with which the agent was made.
    pub fn work(&self) -> &W {
        &self.work
    }

    /// Returns the work of one turn as a future. The future waits for a program slot and for money,
    /// reports the start, does the work, and reports the result. A turn that is cancelled while it
    /// waits reports no end.
    fn future(
        &self,
        job: Job,
        reporter: Arc<dyn Reporter>,
        listed: ActiveEntry,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let work = self.work.clone();
        let places = self.places.get().filter(|_| work.needs_a_place()).cloned();
        Box::pin(async move {
            let (place, (job, reporter)) = match seated(places, &listed, (job, reporter)).await {
                Some(seated) => seated,
                None => return,
            };
            if let Err(fault) = reporter.reserve(work.call_cost()).await {
                drop((listed, place));
                let (result, usage) = (Err(fault), Usage::default());
                return reporter.report(Report::Finished { result, usage });
            }
            reporter.report(Report::Started { through: job.through });
            let ending = Ending { reporter: reporter.clone(), owed: true };
            let (result, usage) = work.run(&job, &*reporter).await;
            // The slot is released before the report, so that the next turn finds it free.
            drop((listed, place));
            ending.report(result, usage);
        })
    }
}

/// Waits for a program slot if the work needs one, and reports that wait as progress. The job may
/// be replaced during the wait. Returns `None` if the turn was cancelled.
async fn seated(
    places: Option<Arc<ProgramSlots>>,
    listed: &ActiveEntry,
    assignment: Assignment,
) -> Option<(Option<ProgramSlot>, Assignment)> {
    let Some(places) = places else { return Some((None, assignment)) };
    if let Some(place) = places.free_one() {
        return Some((Some(place), assignment));
    }
    assignment.1.report(Report::Progress(places.wait_reason()));
    let waiting = places.wait(&assignment.0.key);
    listed.going.wait_with(listed, assignment);
    let place = waiting.place().await;
    Some((place, listed.going.assign(listed)?))
}

impl<W: Work> Drop for RunOnce<W> {
    fn drop(&mut self) {
        // The handles are collected first, because a dropped future locks the same map in
        // `ActiveEntry::drop`.
        let aborts: Vec<_> = self.going.lock().drain().filter_map(|(_, slot)| slot.abort).collect();
        aborts.iter().for_each(AbortHandle::abort);
    }
}

#[async_trait]
impl<W: Work> Agent for RunOnce<W> {
    fn runtime(&self) -> Runtime {
        self.work.runtime()
    }

    fn abilities(&self) -> Abilities {
        self.work.abilities()
    }

    fn on_lost(&self) -> OnLost {
        self.work.on_lost()
    }

    fn room(&self) -> usize {
        self.work.room()
    }

    fn window(&self) -> usize {
        self.work.window()
    }

    fn timeout(&self) -> Option<Millis> {
        self.work.timeout()
    }

    /// Starts the work of a turn, unless it runs already. If the turn waits for a program slot, it
    /// gets the newer job. The work is polled once here, and gets a task of its own only if it has
    /// to wait.
    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        if self.going.renew(&job, &reporter) {
            return;
        }
        let key = job.key.clone();
        let Some(listed) = self.going.enter(&key) else { return };
        let run = listed.run.clone();
        let mut future = self.future(job, reporter, listed);
        // `Ending` has reported a panic already. It must not end the conversation's task.
        let first = catch_unwind(AssertUnwindSafe(|| {
            future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        }));
        if !matches!(first, Ok(Poll::Pending)) {
            return;
        }
        // The spawned task polls again, so that the waker it needs replaces the one of the first
        // poll.
        let abort = tokio::spawn(future).abort_handle();
        match self.going.lock().get_mut(&key).filter(|slot| Arc::ptr_eq(&slot.run, &run)) {
            Some(slot) => slot.abort = Some(abort),
            // The turn has ended or was cancelled since the first poll.
            None => abort.abort(),
        }
    }

    fn waits(&self) -> bool {
        self.work.needs_a_place() && self.places.get().is_some()
    }

    fn share(&self, places: &Arc<ProgramSlots>) {
        // The first call sets the program slots; later calls are ignored.
        let _ = self.places.set(places.clone());
    }

    async fn probe(&self, key: &TurnKey) -> Probe {
        match self.going.lock().get(key) {
            Some(ActiveRun { waits_with: Some(_), .. }) => Probe::Waiting,
            Some(ActiveRun { waits_with: None, .. }) => Probe::Running,
            None => Probe::Unknown,
        }
    }

    fn cancel(&self, key: &TurnKey) {
        let abort = self.going.lock().remove(key).and_then(|slot| slot.abort);
        if let Some(abort) = abort {
            abort.abort();
        }
    }

    fn permit(&self, key: &TurnKey, permission: &PermissionId, given: Option<&PermissionAnswer>) {
        self.work.permit(key, permission, given);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use moothall_kernel::compose::Prompt;
    use moothall_kernel::event::{Event, RecordedEvent, TurnKind, TurnReason};
    use moothall_kernel::ids::{Seq, TurnNo};
    use moothall_kernel::participant::Profile;
    use moothall_kernel::time::Timestamp;
    use tokio::sync::Notify;

    /// The behaviour of the work in these tests.
    enum Act {
        Answer,
        Wait,
        Panic,
    }

    struct Actor {
        act: Act,
        begun: Arc<AtomicUsize>,
        dropped: Arc<Notify>,
        program: bool,
    }

    struct DropNotice(Arc<Notify>);

    impl Drop for DropNotice {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }

    #[async_trait]
    impl Work for Actor {
        async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
            self.begun.fetch_add(1, Ordering::SeqCst);
            let _told = DropNotice(self.dropped.clone());
            match self.act {
                Act::Answer => (Ok("done".into()), Usage::default()),
                Act::Wait => std::future::pending().await,
                Act::Panic => panic!("as planned"),
            }
        }
        fn runtime(&self) -> Runtime {
            Runtime::SCRIPT
        }
        fn needs_a_place(&self) -> bool {
            self.program
        }
    }

    #[derive(Default)]
    struct Notes(Mutex<Vec<Report>>);

    impl Reporter for Notes {
        fn report(&self, report: Report) {
            self.0.lock().unwrap().push(report);
        }
    }

    fn job() -> Job {
        Job {
            key: TurnKey { stream: "s".into(), turn: TurnNo(1), attempt: 1 },
            participant: "a".into(),
            name: "a".into(),
            address: None,
            folder: None,
            profile: Profile::default(),
            why: TurnReason::Forced,
            kind: TurnKind::Reply,
            may_pass: false,
            prompt: Prompt::default(),
            trigger: RecordedEvent {
                seq: Seq(1),
                ts: Timestamp::default(),
                event: Event::RoundClosed,
            },
            window: Vec::new(),
            through: Seq(1),
            limit: Millis::from_secs(1),
        }
    }

    fn agent(act: Act) -> (RunOnce<Actor>, Arc<Notes>) {
        let actor = Actor { act, begun: Arc::default(), dropped: Arc::default(), program: false };
        (RunOnce::new(actor), Arc::default())
    }

    fn started() -> Report {
        Report::Started { through: job().through }
    }

    #[test]
    fn work_that_does_not_wait_is_over_at_once_without_a_task() {
        let (agent, notes) = agent(Act::Answer);
        agent.ensure(job(), notes.clone());
        let finished = Report::Finished { result: Ok("done".into()), usage: Usage::default() };
        assert_eq!(*notes.0.lock().unwrap(), [started(), finished]);
        assert!(agent.going.lock().is_empty());
    }

    #[tokio::test]
    async fn asked_twice_it_works_once() {
        let (agent, notes) = agent(Act::Wait);
        agent.ensure(job(), notes.clone());
        agent.ensure(job(), notes.clone());
        assert_eq!(agent.work().begun.load(Ordering::SeqCst), 1);
        assert_eq!(agent.probe(&job().key).await, Probe::Running);
        assert_eq!(*notes.0.lock().unwrap(), [started()]);
    }

    #[tokio::test]
    async fn a_cancelled_turn_drops_its_work_and_reports_no_more() {
        let (agent, notes) = agent(Act::Wait);
        agent.ensure(job(), notes.clone());
        agent.cancel(&job().key);
        agent.work().dropped.notified().await;
        assert_eq!(agent.probe(&job().key).await, Probe::Unknown);
        assert_eq!(*notes.0.lock().unwrap(), [started()]);
    }

    fn job_of(turn: u64, through: u64) -> Job {
        let key = TurnKey { turn: TurnNo(turn), ..job().key };
        Job { key, through: Seq(through), ..job() }
    }

    #[tokio::test]
    async fn programs_beyond_their_number_wait_in_line_and_say_so() {
        let places = ProgramSlots::new(1);
        let agents: Vec<_> = (0..2)
            .map(|_| {
                RunOnce::new(Actor {
                    act: Act::Wait,
                    begun: Arc::default(),
                    dropped: Arc::default(),
                    program: true,
                })
            })
            .collect();
        agents.iter().for_each(|agent| agent.share(&places));
        let notes: Vec<Arc<Notes>> = (0..4).map(|_| Arc::default()).collect();
        agents[0].ensure(job_of(1, 1), notes[0].clone());
        // Both kinds of programs wait in the same line.
        agents[1].ensure(job_of(2, 2), notes[1].clone());
        agents[0].ensure(job_of(3, 3), notes[2].clone());
        let said = |of: usize| notes[of].0.lock().unwrap().clone();
        assert_eq!(said(0), [Report::Started { through: Seq(1) }]);
        let waits = Report::Progress("waits for a free slot: 1 program is running".into());
        assert_eq!((said(1), said(2)), (vec![waits.clone()], vec![waits.clone()]));
        assert_eq!(
            (agents[1].probe(&job_of(2, 2).key).await, places.counts()),
            (Probe::Waiting, (1, 2))
        );
        assert!(
            places.is_waiting(&"s".into(), TurnNo(3)) && !places.is_waiting(&"s".into(), TurnNo(1))
        );
        // The job is replaced while the turn waits.
        agents[1].ensure(job_of(2, 9), notes[3].clone());

        agents[0].cancel(&job_of(1, 1).key);
        agents[0].work().dropped.notified().await;
        while said(3).is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            (said(3), said(1)),
            (vec![Report::Started { through: Seq(9) }], vec![waits.clone()])
        );
        assert_eq!(said(2), [waits], "it came later");
        agents[0].cancel(&job_of(3, 3).key);
        while places.counts() != (1, 0) {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            agents[0].work().begun.load(Ordering::SeqCst),
            1,
            "it was cancelled before its time came"
        );
    }

    #[tokio::test]
    async fn work_ends_with_its_agent() {
        let (agent, notes) = agent(Act::Wait);
        let dropped = agent.work().dropped.clone();
        agent.ensure(job(), notes);
        drop(agent);
        dropped.notified().await;
    }

    #[test]
    fn a_panic_ends_the_turn_and_nothing_else() {
        let (agent, notes) = agent(Act::Panic);
        agent.ensure(job(), notes.clone());
        let notes = notes.0.lock().unwrap();
        assert!(
            matches!(&notes[..], [Report::Started { .. }, Report::Finished { result: Err(fault), .. }] if fault.code == "panicked")
        );
        assert!(agent.going.lock().is_empty());
    }
}
