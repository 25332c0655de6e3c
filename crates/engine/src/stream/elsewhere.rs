//! Turns of participants that are sessions of other computers. Each turn is offered to the
//! session's computer by a row. The row is sent with the prompt that is the newest at that moment.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use moothall_kernel::ids::ComputerId;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};

use super::mail::NoticeRouter;
use super::remote_effects::MemberElsewhere;
use crate::runtime::agent::{Agent, Job, Probe, Reporter, TurnKey};
use crate::sessions::fail_turn;

/// The turns that other computers have or are offered, with their jobs. A turn is dropped with its
/// job when it ends or must not run, and an offer without a job is not sent. A turn that began
/// before this server started has no job.
#[derive(Debug, Default)]
pub(crate) struct Offers(Mutex<BTreeMap<TurnKey, Option<Job>>>);

impl Offers {
    fn turns(&self) -> MutexGuard<'_, BTreeMap<TurnKey, Option<Job>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest job of a turn.
    pub(crate) fn job(&self, key: &TurnKey) -> Option<Job> {
        self.turns().get(key).cloned().flatten()
    }

    /// True if another computer has a turn, or is offered it.
    pub(crate) fn has(&self, key: &TurnKey) -> bool {
        self.turns().contains_key(key)
    }

    /// Returns all turns.
    pub(crate) fn all(&self) -> Vec<TurnKey> {
        self.turns().keys().cloned().collect()
    }

    /// Stores a job in place of an older one. Returns true if there was none.
    fn keep(&self, job: Job) -> bool {
        self.turns().insert(job.key.clone(), Some(job)).flatten().is_none()
    }

    /// Notes a turn that began before this server started.
    fn note_begun(&self, key: &TurnKey) {
        self.turns().entry(key.clone()).or_default();
    }

    /// Returns the turns that are offered to a computer and have a job.
    pub(crate) fn of_computer(&self, computer: &ComputerId) -> Vec<TurnKey> {
        let is_theirs = |job: &&Job| {
            let member = job.address.as_ref().and_then(MemberElsewhere::at);
            member.is_some_and(|member| member.computer == *computer)
        };
        self.turns().values().flatten().filter(is_theirs).map(|job| job.key.clone()).collect()
    }

    fn drop_turn(&self, key: &TurnKey) {
        self.turns().remove(key);
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

    /// Stores the newest job of a turn. The first job of a turn also inserts the offer as a
    /// delivery.
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

    /// A running turn continues. Its computer reports the end, and after a restart of this server
    /// it reports if it has lost the turn.
    async fn probe(&self, key: &TurnKey) -> Probe {
        self.offers.note_begun(key);
        Probe::Running
    }

    /// Drops the job. The append that records the end of the turn also sends it to the other
    /// computer.
    fn cancel(&self, key: &TurnKey) {
        self.offers.drop_turn(key);
    }
}
