//! Agents whose participants get a session of their own with their first turn.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::participant::{Abilities, OnLost, Runtime};
use moothall_kernel::time::Millis;

use crate::runtime::agent::{Agent, Job, Probe, Report, Reporter, TurnKey};

/// A registry entry whose participants get a session of their own with their first turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnDemand {
    /// The time limit for a turn.
    pub timeout: Option<Millis>,
}

#[async_trait]
impl Agent for OnDemand {
    fn runtime(&self) -> Runtime {
        Runtime::TERMINAL
    }

    fn abilities(&self) -> Abilities {
        Abilities::TERMINAL
    }

    fn on_lost(&self) -> OnLost {
        OnLost::Fail
    }

    fn timeout(&self) -> Option<Millis> {
        self.timeout
    }

    /// Fails the turn. The hall gives turns to sessions, so this function is called only on a
    /// server without terminals.
    fn ensure(&self, _job: Job, reporter: Arc<dyn Reporter>) {
        fail_turn(&*reporter, "this server was started without terminals");
    }

    async fn probe(&self, _key: &TurnKey) -> Probe {
        Probe::Unknown
    }

    fn cancel(&self, _key: &TurnKey) {}
}

/// Ends a turn with the fault `session_ended`, because no session takes it.
pub fn fail_turn(reporter: &dyn Reporter, why: &str) {
    reporter.report(Report::Finished {
        result: Err(Fault::new("session_ended", why)),
        usage: Usage::default(),
    });
}
