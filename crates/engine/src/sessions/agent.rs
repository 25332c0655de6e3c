//! Sessions as what takes turns: every question goes to the task of the session that the participant is.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::command::{Actor, Command, Control, Invite};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{ParticipantId, PermissionId};
use moothall_kernel::participant::{Abilities, OnLost, Profile, Runtime};
use moothall_kernel::time::Millis;
use tokio::sync::oneshot;

use super::runner::Mail;
use super::{NewSession, SessionError, SessionId, Sessions};
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
        let sessions = self.0.clone();
        let Some(address) = &job.address else {
            let of = (job.key.stream.clone(), job.participant.clone());
            if sessions.begin_housing(of.clone()) {
                tokio::spawn(async move {
                    house(&sessions, job, reporter).await;
                    sessions.end_housing(&of);
                });
            }
            return;
        };
        if let Err(why) = hand_over(&sessions, &SessionId::new(&address.local_id), job) {
            fail(&*reporter, &why);
        }
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

    fn lapsed(&self, key: &TurnKey) {
        self.tell_all(|| Mail::Lapse(key.clone()));
    }

    fn permit(&self, _key: &TurnKey, permission: &PermissionId, option: Option<&str>) {
        self.tell_all(|| Mail::Permit(permission.clone(), option.map(str::to_owned)));
    }
}

/// Starts a session for a participant that has none yet, and takes its turn there. It is the participant's from now on.
async fn house(sessions: &Sessions, job: Job, reporter: Arc<dyn Reporter>) {
    let moved = async {
        let client = job.profile.client.clone().unwrap_or_default();
        let by = Actor::human(ParticipantId::moothall());
        let name = job.participant.to_string();
        let name = if sessions.is_free(&name).await { Some(name) } else { None };
        let new = NewSession { client, cwd: PathBuf::new(), args: Vec::new(), name, by: by.clone(), session: None };
        let session = sessions.start(new).await?.session;
        let invite = Invite { participant: job.participant.to_string(), profile: Profile::default(), ..sessions.invite(&session.id)? };
        let controls = vec![Control::Invite(invite)];
        sessions.hall()?.submit(&job.key.stream, Command::Control { by, controls }, None).await?;
        Ok::<SessionId, SessionError>(session.id)
    };
    let handed = match moved.await {
        Ok(session) => hand_over(sessions, &session, job),
        Err(error) => Err(error.to_string()),
    };
    if let Err(why) = handed {
        fail(&*reporter, &why);
    }
}

fn hand_over(sessions: &Sessions, session: &SessionId, job: Job) -> Result<(), String> {
    let seat = sessions.living(session).map_err(|error| error.to_string())?;
    if seat.send(Mail::Ensure(Box::new(job))) { Ok(()) } else { Err("its session has ended".to_owned()) }
}

fn fail(reporter: &dyn Reporter, why: &str) {
    reporter.report(Report::Finished { result: Err(Fault::new("session_ended", why)), usage: Usage::default() });
}

/// A registry entry whose participants get a session of their own with their first turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Housed {
    /// Its time limit for a turn.
    pub timeout: Option<Millis>,
}

#[async_trait]
impl Agent for Housed {
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

    /// The hall gives the turns of terminals to their sessions; without terminals there is nobody to take them.
    fn ensure(&self, _job: Job, reporter: Arc<dyn Reporter>) {
        fail(&*reporter, "this server was started without terminals");
    }

    async fn probe(&self, _key: &TurnKey) -> Probe {
        Probe::Unknown
    }

    fn cancel(&self, _key: &TurnKey) {}
}
