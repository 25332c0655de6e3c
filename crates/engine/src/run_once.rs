//! For runtimes that do a turn's work in one future: asked twice they work once, cancelled they stop.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::PermissionId;
use moothall_kernel::participant::{OnLost, Runtime};
use moothall_kernel::time::Millis;
use tokio::task::AbortHandle;

use crate::agent::{Agent, Job, Probe, Report, Reporter, TurnKey};

/// One turn's work as a future. It is dropped when the turn is cancelled: whatever must not outlive it belongs into drop guards.
#[async_trait]
pub trait Work: Send + Sync + 'static {
    /// Does the work. `Started` and `Finished` are reported around it; deltas, progress and permissions go to `out`.
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage);
    /// How it runs.
    fn runtime(&self) -> Runtime;
    /// What to do when a restart lost a running turn.
    fn on_lost(&self) -> OnLost {
        OnLost::Rerun
    }
    /// Its own time limit for a turn.
    fn timeout(&self) -> Option<Millis> {
        None
    }
    /// Hands over a person's answer to a permission.
    fn permit(&self, _key: &TurnKey, _permission: &PermissionId, _option: Option<&str>) {}
}

/// An [`Agent`] that does each turn's [`Work`] once.
///
/// Work that never waits is over when `ensure` returns, without a task of its own. Dropping this ends all work.
pub struct RunOnce<W: Work> {
    work: Arc<W>,
    going: Arc<Going>,
}

/// The turns that run.
#[derive(Default)]
struct Going(Mutex<HashMap<TurnKey, Slot>>);

/// One run of a turn, with the way to stop it once it waits for something.
struct Slot {
    run: Arc<()>,
    abort: Option<AbortHandle>,
}

impl Going {
    fn lock(&self) -> MutexGuard<'_, HashMap<TurnKey, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a turn, unless it runs already.
    fn enter(self: &Arc<Self>, key: &TurnKey) -> Option<Listed> {
        match self.lock().entry(key.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(slot) => {
                let run = slot.insert(Slot { run: Arc::default(), abort: None }).run.clone();
                Some(Listed { going: self.clone(), key: key.clone(), run })
            }
        }
    }
}

/// Forgets a turn however its future ends: by its result, by a panic or by being dropped.
struct Listed {
    going: Arc<Going>,
    key: TurnKey,
    run: Arc<()>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut going = self.going.lock();
        // A cancelled run may end after the same turn was begun anew.
        if going.get(&self.key).is_some_and(|slot| Arc::ptr_eq(&slot.run, &self.run)) {
            going.remove(&self.key);
        }
    }
}

/// Reports a fault in place of work that panicked, so that its turn does not wait for its time limit.
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
    /// An agent that does this work.
    pub fn new(work: W) -> Self {
        Self { work: Arc::new(work), going: Arc::default() }
    }

    /// The work.
    pub fn work(&self) -> &W {
        &self.work
    }

    fn future(&self, job: Job, reporter: Arc<dyn Reporter>, listed: Listed) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let work = self.work.clone();
        Box::pin(async move {
            let ending = Ending { reporter: reporter.clone(), owed: true };
            let (result, usage) = work.run(&job, &*reporter).await;
            drop(listed);
            ending.report(result, usage);
        })
    }
}

impl<W: Work> Drop for RunOnce<W> {
    fn drop(&mut self) {
        let aborts: Vec<_> = self.going.lock().drain().filter_map(|(_, slot)| slot.abort).collect();
        aborts.iter().for_each(AbortHandle::abort);
    }
}

#[async_trait]
impl<W: Work> Agent for RunOnce<W> {
    fn runtime(&self) -> Runtime {
        self.work.runtime()
    }

    fn on_lost(&self) -> OnLost {
        self.work.on_lost()
    }

    fn timeout(&self) -> Option<Millis> {
        self.work.timeout()
    }

    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        let key = job.key.clone();
        let Some(listed) = self.going.enter(&key) else { return };
        let run = listed.run.clone();
        reporter.report(Report::Started { through: job.through });
        let mut future = self.future(job, reporter, listed);
        // A panic was already reported by `Ending`, and must not take the conversation down with it.
        let first = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop()))));
        if !matches!(first, Ok(Poll::Pending)) {
            return;
        }
        // The spawned task polls again, so that the waker it needs replaces the one of the first poll.
        let abort = tokio::spawn(future).abort_handle();
        match self.going.lock().get_mut(&key).filter(|slot| Arc::ptr_eq(&slot.run, &run)) {
            Some(slot) => slot.abort = Some(abort),
            None => abort.abort(),
        }
    }

    async fn probe(&self, key: &TurnKey) -> Probe {
        if self.going.lock().contains_key(key) { Probe::Running } else { Probe::Unknown }
    }

    fn cancel(&self, key: &TurnKey) {
        let abort = self.going.lock().remove(key).and_then(|slot| slot.abort);
        if let Some(abort) = abort {
            abort.abort();
        }
    }

    fn permit(&self, key: &TurnKey, permission: &PermissionId, option: Option<&str>) {
        self.work.permit(key, permission, option);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use moothall_kernel::compose::Prompt;
    use moothall_kernel::event::{Event, Recorded, TurnKind, Why};
    use moothall_kernel::ids::{Seq, TurnNo};
    use moothall_kernel::participant::Profile;
    use moothall_kernel::time::Timestamp;
    use tokio::sync::Notify;

    /// What the work of these tests does.
    enum Act {
        Answer,
        Wait,
        Panic,
    }

    struct Actor {
        act: Act,
        begun: Arc<AtomicUsize>,
        dropped: Arc<Notify>,
    }

    struct Told(Arc<Notify>);

    impl Drop for Told {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }

    #[async_trait]
    impl Work for Actor {
        async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
            self.begun.fetch_add(1, Ordering::SeqCst);
            let _told = Told(self.dropped.clone());
            match self.act {
                Act::Answer => (Ok("done".into()), Usage::default()),
                Act::Wait => std::future::pending().await,
                Act::Panic => panic!("as planned"),
            }
        }
        fn runtime(&self) -> Runtime {
            Runtime::Script
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
            profile: Profile::default(),
            why: Why::Forced,
            kind: TurnKind::Reply,
            may_pass: false,
            prompt: Prompt::default(),
            trigger: Recorded { seq: Seq(1), ts: Timestamp::default(), event: Event::RoundClosed },
            window: Vec::new(),
            through: Seq(1),
            limit: Millis::from_secs(1),
        }
    }

    fn agent(act: Act) -> (RunOnce<Actor>, Arc<Notes>) {
        let actor = Actor { act, begun: Arc::default(), dropped: Arc::default() };
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
        assert!(matches!(&notes[..], [Report::Started { .. }, Report::Finished { result: Err(fault), .. }] if fault.code == "panicked"));
        assert!(agent.going.lock().is_empty());
    }
}
