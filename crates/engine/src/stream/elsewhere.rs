//! Turns of participants that are sessions of other computers: each is offered to its computer by a
//! row, which carries the newest prompt at the moment it is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use moothall_kernel::ids::ComputerId;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};

use super::mail::NoticeRouter;
use super::remote_effects::MemberElsewhere;
use crate::runtime::agent::{Agent, Job, Probe, Reporter, TurnKey};
use crate::sessions::fail_turn;

/// The jobs of turns that are offered to other computers. A job is dropped when its turn ends or
/// must not run, so an offer without one is not sent.
#[derive(Debug, Default)]
pub(crate) struct Offers(Mutex<BTreeMap<TurnKey, Job>>);

impl Offers {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<TurnKey, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest job of a turn.
    pub(crate) fn job(&self, key: &TurnKey) -> Option<Job> {
        self.jobs().get(key).cloned()
    }

    /// True if a turn is offered.
    pub(crate) fn has(&self, key: &TurnKey) -> bool {
        self.jobs().contains_key(key)
    }

    /// Keeps a job in place of an older one. Returns true if there was none.
    fn keep(&self, job: Job) -> bool {
        self.jobs().insert(job.key.clone(), job).is_none()
    }

    /// Returns the turns that are offered to a computer.
    pub(crate) fn of_computer(&self, computer: &ComputerId) -> Vec<TurnKey> {
        let is_theirs = |job: &&Job| {
            let member = job.address.as_ref().and_then(MemberElsewhere::at);
            member.is_some_and(|member| member.computer == *computer)
        };
        self.jobs().values().filter(is_theirs).map(|job| job.key.clone()).collect()
    }

    fn drop_job(&self, key: &TurnKey) {
        self.jobs().remove(key);
    }
}

/// The agent of all participants that are sessions of other computers.
pub(super) struct AgentElsewhere {
    offers: Arc<Offers>,
    streams: Weak<dyn NoticeRouter>,
}

impl AgentElsewhere {
    pub(super) fn new(offers: Arc<Offers>, streams: Weak<dyn NoticeRouter>) -> Self {
        Self { offers, streams }
    }
}

#[async_trait]
impl Agent for AgentElsewhere {
    fn runtime(&self) -> Runtime {
        Runtime::TERMINAL
    }

    fn abilities(&self) -> Abilities {
        Abilities::TERMINAL
    }

    fn on_lost(&self) -> OnLost {
        OnLost::Fail
    }

    fn waits(&self) -> bool {
        true
    }

    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        let Some(to) = job.address.as_ref().and_then(MemberElsewhere::at) else {
            return fail_turn(&*reporter, "the participant's address has no session");
        };
        let key = job.key.clone();
        if self.offers.keep(job)
            && let Some(streams) = self.streams.upgrade()
        {
            streams.offer(key, to);
        }
    }

    /// A running turn runs on: its computer reports the end, and says after a restart of this
    /// server if it has lost the turn.
    async fn probe(&self, _key: &TurnKey) -> Probe {
        Probe::Running
    }

    /// Drops the job. The end of the turn itself is owed to its computer in the append that
    /// records it.
    fn cancel(&self, key: &TurnKey) {
        self.offers.drop_job(key);
    }
}
