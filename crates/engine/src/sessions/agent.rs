//! Sessions as what takes turns: every question goes to the task of the session that the participant is.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::PermissionId;
use moothall_kernel::participant::{OnLost, Runtime};
use tokio::sync::oneshot;

use super::runner::Mail;
use super::{SessionId, Sessions};
use crate::agent::{Agent, Job, Probe, Report, Reporter, TurnKey};

/// The agent behind every participant that is a session.
pub(super) struct Terminals(pub(super) Sessions);

impl Terminals {
    /// A turn's session is not part of its key, so every session is told; those that do not know the turn ignore it.
    fn tell_all(&self, mail: impl Fn() -> Mail) {
        for status in self.0.list(false) {
            if let Some(seat) = self.0.seat_of(&status.session.id) {
                seat.send(mail());
            }
        }
    }
}

#[async_trait]
impl Agent for Terminals {
    fn runtime(&self) -> Runtime {
        Runtime::Terminal
    }

    fn on_lost(&self) -> OnLost {
        OnLost::Fail
    }

    fn waits(&self) -> bool {
        true
    }

    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        let session = job.address.as_ref().map(|address| SessionId::new(&address.local_id));
        let seat =
            session.ok_or_else(|| "it names no session".to_owned()).and_then(|id| self.0.living(&id).map_err(|error| error.to_string()));
        let fault = match seat {
            Ok(seat) if seat.send(Mail::Ensure(Box::new(job))) => return,
            Ok(_) => "its session has ended".to_owned(),
            Err(why) => why,
        };
        reporter.report(Report::Finished { result: Err(Fault::new("session_ended", fault)), usage: Usage::default() });
    }

    fn begun(&self, key: &TurnKey) {
        self.tell_all(|| Mail::Begun(key.clone()));
    }

    async fn probe(&self, key: &TurnKey) -> Probe {
        for status in self.0.list(false) {
            let Some(seat) = self.0.seat_of(&status.session.id) else { continue };
            let (reply, answer) = oneshot::channel();
            seat.send(Mail::Probe(key.clone(), reply));
            match answer.await {
                Ok(Probe::Unknown) | Err(_) => {}
                Ok(known) => return known,
            }
        }
        Probe::Unknown
    }

    fn cancel(&self, key: &TurnKey) {
        self.tell_all(|| Mail::Cancel(key.clone()));
    }

    fn permit(&self, _key: &TurnKey, permission: &PermissionId, option: Option<&str>) {
        self.tell_all(|| Mail::Permit(permission.clone(), option.map(str::to_owned)));
    }
}
