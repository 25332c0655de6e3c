//! Sessions as agents: all calls about a turn go to the task of its participant's session.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use moothall_engine::agent::{Agent, Job, PermissionAnswer, Probe, Reporter, TurnKey};
use moothall_engine::ports::Session;
use moothall_engine::sessions::{
    JoiningSession, NewSession, SessionError, SessionId, SessionSource, fail_turn, named_by,
};
use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::ids::{ParticipantId, PermissionId};
use moothall_kernel::participant::{Abilities, Address, OnLost, Profile, Runtime};
use tokio::sync::oneshot;

use crate::directory::Sessions;
use crate::mail::Mail;

/// The agent of one participant that lives in a terminal.
pub(super) struct Terminal {
    sessions: Sessions,
    place: Arc<Mutex<TurnTarget>>,
}

/// The destination of a participant's turns.
struct TurnTarget {
    /// The session that the participant's address names, or that was started for the participant.
    session: Option<SessionId>,
    /// A turn that was taken back before its session existed.
    taken_back: Option<TurnKey>,
}

impl Terminal {
    pub(super) fn new(sessions: Sessions, address: Option<&Address>) -> Self {
        let place = TurnTarget { session: address.and_then(named_by), taken_back: None };
        Self { sessions, place: Arc::new(Mutex::new(place)) }
    }

    /// Sends mail to the session of the participant. Without a session, the mail is dropped.
    fn tell(&self, mail: Mail) {
        if let Some(handle) =
            lock(&self.place).session.as_ref().and_then(|session| self.sessions.handle_of(session))
        {
            // An ended session has already failed its turns.
            let _ = handle.send(mail);
        }
    }

    fn take_back(&self, key: &TurnKey, mail: Mail) {
        lock(&self.place).taken_back = Some(key.clone());
        self.tell(mail);
    }
}

fn lock(place: &Mutex<TurnTarget>) -> MutexGuard<'_, TurnTarget> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Agent for Terminal {
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

    /// Hands the turn to the session in the job's address. Without an address, starts a session for
    /// it.
    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        if job.address.is_none() {
            return self.house(job, reporter);
        }
        let mut place = lock(&self.place);
        place.session = job.address.as_ref().and_then(named_by);
        if let Err(why) = hand_over(&self.sessions, &place, job) {
            fail_turn(&*reporter, &why);
        }
    }

    fn confirm_start(&self, key: &TurnKey, delivery: Option<u64>) {
        self.tell(Mail::Begun(key.clone(), delivery));
    }

    async fn probe(&self, key: &TurnKey) -> Probe {
        let (reply, answer) = oneshot::channel();
        self.tell(Mail::Probe(key.clone(), reply));
        answer.await.unwrap_or(Probe::Unknown)
    }

    fn cancel(&self, key: &TurnKey) {
        self.take_back(key, Mail::Cancel(key.clone()));
    }

    fn lapsed(&self, key: &TurnKey) {
        self.take_back(key, Mail::Lapse(key.clone()));
    }

    fn permit(&self, _key: &TurnKey, permission: &PermissionId, given: Option<&PermissionAnswer>) {
        self.tell(Mail::Permit(permission.clone(), given.cloned()));
    }
}

impl Terminal {
    /// Starts a session for a participant without one, and hands over its turn. The participant
    /// keeps that session.
    fn house(&self, job: Job, reporter: Arc<dyn Reporter>) {
        let of = (job.key.stream.clone(), job.participant.clone());
        if !self.sessions.begin_start_for(of.clone()) {
            return;
        }
        let (sessions, place) = (self.sessions.clone(), self.place.clone());
        tokio::spawn(async move {
            let started = start_for(&sessions, &job).await.map_err(|error| error.to_string());
            let handed = started.and_then(|session| {
                let mut place = lock(&place);
                place.session = Some(session);
                hand_over(&sessions, &place, job)
            });
            if let Err(why) = handed {
                fail_turn(&*reporter, &why);
            }
            sessions.end_housing(&of);
        });
    }
}

/// Starts a session for the participant of a job and brings it into the job's conversation under
/// that participant's name. The session has that name too, if it is free. After an error the
/// started program is ended again.
async fn start_for(sessions: &Sessions, job: &Job) -> Result<SessionId, SessionError> {
    let client = job.profile.client.clone().unwrap_or_default();
    let by = Actor::human(ParticipantId::moothall());
    let name = job.participant.to_string();
    let name = if sessions.is_free(&name).await { Some(name) } else { None };
    let new = NewSession {
        cwd: sessions.host()?.home(&client, job.folder.as_deref().map(Path::new)),
        client,
        args: Vec::new(),
        name,
        by: by.clone(),
        session: None,
        place: None,
    };
    let participant = job.participant.to_string();
    let own = sessions.clone();
    let invite = move |session: &Session| Invite {
        participant: participant.clone(),
        profile: Profile::default(),
        ..own.invite_of(session)
    };
    let session = JoiningSession { who: SessionSource::Started(new), invite: Box::new(invite) };
    let brought = sessions.bring_in(&job.key.stream, by, vec![session]).await?;
    brought
        .into_iter()
        .next()
        .map(|session| session.id)
        .ok_or_else(|| SessionError::NotFound(job.participant.to_string()))
}

/// Hands a job to the task of its session, unless the turn was taken back. The caller holds the
/// lock of `place`, so that a cancel of the turn cannot overtake the job.
fn hand_over(sessions: &Sessions, place: &TurnTarget, job: Job) -> Result<(), String> {
    if place.taken_back.as_ref() == Some(&job.key) {
        return Ok(());
    }
    let session = place.session.as_ref().ok_or("the participant's address has no session")?;
    let handle = sessions.living(session).map_err(|error| match error {
        // The reason may hold lines of the screen, and all members of the conversation read this.
        SessionError::Ended { name, .. } => format!(
            "session {name} has ended. To bring it back: `moothall resume {name}`; to leave it \
             out: `moothall uninvite`"
        ),
        error => error.to_string(),
    })?;
    if handle.send(Mail::Ensure(Box::new(job))) {
        Ok(())
    } else {
        Err("its session has ended".to_owned())
    }
}
