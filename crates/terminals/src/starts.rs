//! Programs that agents ask to start: the question that people are asked, and what is done once one
//! of them allows it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::sessions::{
    Asker, FirstWords, Message, NewSession, SessionError, Status, is_session, session_of,
};
use moothall_kernel::command::{Actor, EngineCommand};
use moothall_kernel::duties::Start;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::start::{StartOutcome, StartRequest};
use moothall_kernel::time::Millis;
use uuid::Uuid;

use crate::directory::{Begun, Sessions};

/// How long people have to answer. Nothing stands still meanwhile.
const ASK_MAX: Millis = Millis::from_secs(24 * 3600);
/// Pause before what could not be kept is told again.
const RETRY: Duration = Duration::from_secs(1);
/// Whose keys those of allowed starts are.
const PRINCIPAL: &str = "moothall:start";

impl Sessions {
    /// Asks people whether a program may be started, in the home of the session that asks, or in
    /// `thread`, where another agent takes part. The answer is the conversation and the permission;
    /// the same request that waits already is the same permission.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is asked then.
    pub async fn ask_start(
        &self,
        thread: Option<&StreamId>,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        let start = self.request_of(new, first).await?;
        let room = match (&new.session, thread) {
            (Some(own), _) => own.clone(),
            (None, Some(thread)) => thread.clone(),
            (None, None) => {
                let why = "A person has to allow this. Say in 'thread' where one shall be asked: a conversation in which you take part.";
                return Err(SessionError::Invalid(why.into()));
            }
        };
        let hall = self.hall()?;
        let by = match &new.session {
            Some(own) => self.name_at_home(own).await?,
            None => new.by.clone(),
        };
        let permission = PermissionId::new(Uuid::new_v4().simple().to_string());
        let (asker, wanted) = (by.id.clone(), start.clone());
        let ask =
            EngineCommand::AskStart { permission, by, start: Box::new(start), within: ASK_MAX };
        hall.submit(&room, ask, None).await?;
        let asked =
            hall.view(&room, move |state| state.start_asked(&asker, &wanted).cloned()).await?;
        let asked = asked.ok_or_else(|| {
            SessionError::Conflict("It was answered just now; look at what was said.".into())
        })?;
        Ok((room, asked))
    }

    /// The request as people are asked it: nothing that changes its meaning afterwards is left
    /// open.
    async fn request_of(
        &self,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<StartRequest, SessionError> {
        let folder = whole(&self.check_start(new)?)?;
        if let Some(name) = &new.name {
            self.free_name(&new.client, Some(name)).await?;
        }
        let (client, args, name) = (new.client.clone(), new.args.clone(), new.name.clone());
        Ok(StartRequest { client, args, folder, name, message: first.text, direct: first.direct })
    }

    /// The participant that a session is in its own home.
    async fn name_at_home(&self, own: &StreamId) -> Result<Actor, SessionError> {
        let wanted = own.clone();
        let hall = self.hall()?;
        let here = hall.view(own, move |state| {
            let found = state.participants().iter().find(|one| is_session(one, &wanted));
            found.map(|one| one.id.clone())
        });
        let id = here.await?.ok_or_else(|| {
            SessionError::Conflict("The session is no longer in its own home.".into())
        })?;
        Ok(Actor::named(id))
    }

    /// Carries out what a person allowed, once however often it is asked, and tells the
    /// conversation what came of it.
    pub(crate) fn begin_start(&self, stream: &StreamId, start: &Start) {
        if !self.starting().insert(start.permission.clone()) {
            return;
        }
        let (own, stream, start) = (self.clone(), stream.clone(), start.clone());
        tokio::spawn(async move {
            let outcome = match own.start_allowed(&stream, &start).await {
                Ok(outcome) => outcome,
                Err(error) => StartOutcome::Failed { why: error.to_string() },
            };
            // A program that runs has to be known.
            own.tell_until_kept(
                &stream,
                EngineCommand::StartDone { permission: start.permission.clone(), outcome },
            )
            .await;
            own.starting().remove(&start.permission);
        });
    }

    fn starting(&self) -> MutexGuard<'_, BTreeSet<PermissionId>> {
        self.shared.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn start_allowed(
        &self,
        stream: &StreamId,
        start: &Start,
    ) -> Result<StartOutcome, SessionError> {
        let Start { permission, participant, request } = start;
        let wanted = participant.clone();
        let session =
            self.hall()?.view(stream, move |state| session_of(state.participant(&wanted)?)).await?;
        let by = Actor::named(participant.clone());
        let new = NewSession {
            client: request.client.clone(),
            cwd: request.folder.clone().into(),
            args: request.args.clone(),
            name: request.name.clone(),
            by: by.clone(),
            session: session.clone(),
        };
        let key = |what: &str| {
            let key = format!("{permission}:{what}");
            Some(Idempotency {
                principal: PRINCIPAL.into(),
                key,
                fingerprint: permission.to_string(),
            })
        };
        // What an earlier process began runs, whatever became of its folder since.
        let status = match self.started_before(key("start")).await? {
            Begun::Lives(status) => *status,
            Begun::No(_) => {
                check_folder(&request.folder)?;
                self.start_once(new, key("start")).await?
            }
        };
        let from = session.map_or(Asker::Actor(by), Asker::Session);
        let unsaid = self.say_first(from, request, &status, key("message")).await;
        Ok(StartOutcome::Started {
            session: status.session.id.to_string(),
            name: status.session.name,
            unsaid,
        })
    }

    /// Says the first words; the reason why they did not arrive, if they did not. The session runs
    /// either way.
    async fn say_first(
        &self,
        from: Asker,
        request: &StartRequest,
        status: &Status,
        key: Option<Idempotency>,
    ) -> Option<String> {
        let text = request.message.clone()?;
        let message = Message {
            from,
            to: status.session.id.clone(),
            text,
            direct: request.direct,
            close_link: false,
        };
        self.send_once(message, key).await.err().map(|error| error.to_string())
    }

    /// Tells a conversation something until it is kept, or never can be.
    pub(crate) async fn tell_until_kept(&self, stream: &StreamId, command: EngineCommand) {
        loop {
            let Ok(hall) = self.hall() else { return };
            match hall.submit(stream, command.clone(), None).await {
                Ok(_)
                | Err(
                    HallError::ShuttingDown
                    | HallError::Rejected(_)
                    | HallError::NotFound(_)
                    | HallError::Deleted(_),
                ) => return,
                Err(error) => {
                    tracing::warn!(%stream, %error, "what came of a question is not kept yet")
                }
            }
            drop(hall);
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// A folder that people were asked about has to be that folder still.
fn check_folder(folder: &str) -> Result<(), SessionError> {
    if whole(Path::new(folder))? == folder {
        return Ok(());
    }
    Err(SessionError::Conflict(format!(
        "{folder} leads to another folder now than when it was asked for."
    )))
}

/// A folder as a text, with every link on the way followed.
fn whole(folder: &Path) -> Result<String, SessionError> {
    let found = std::fs::canonicalize(folder)
        .map_err(|error| SessionError::Invalid(format!("{}: {error}.", folder.display())))?;
    found
        .into_os_string()
        .into_string()
        .map_err(|_| SessionError::Invalid("The folder's name is not UTF-8 text.".into()))
}
