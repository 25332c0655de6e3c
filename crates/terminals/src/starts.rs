//! Programs that agents ask to start: the question to people, and the start once a person allows
//! it.

use std::path::Path;

use moothall_engine::answers::Idempotency;
use moothall_engine::sessions::{Asker, FirstWords, Message, NewSession, SessionError, Status};
use moothall_kernel::command::Actor;
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::names;
use moothall_kernel::request::Request;
use moothall_kernel::start::{StartOutcome, StartRequest};

use crate::directory::{Sessions, StartLookup};
use crate::requests::request_key;

impl Sessions {
    /// Asks people to allow the start of a program, in the home of the asking session or, for
    /// another agent, in its conversation `thread`. Returns the conversation and the permission; a
    /// repeated request that still waits gets the same permission.
    ///
    /// # Errors
    /// [`SessionError`]. No question is asked then, unless only the reading of its id failed.
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
                let why = "A person has to allow this. Give 'thread': one of your conversations, \
                           in which a person is asked.";
                return Err(SessionError::Invalid(why.into()));
            }
        };
        let by = match &new.session {
            Some(own) => self.name_at_home(own).await?,
            None => new.by.clone(),
        };
        self.ask_people(room, by, Request::Start(start)).await
    }

    /// Returns the request as people see it, fully resolved, so that its meaning cannot change
    /// afterwards.
    async fn request_of(
        &self,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<StartRequest, SessionError> {
        let folder = whole(&self.check_start(new)?)?;
        // The name is checked for use only when a person allows the start: before that, an agent
        // must not learn which names exist.
        if let Some(name) = &new.name {
            names::check_chosen_id(name).map_err(|fault| {
                SessionError::Invalid(format!("The name {name:?} {}.", fault.explain()))
            })?;
        }
        let (client, args, name) = (new.client.clone(), new.args.clone(), new.name.clone());
        Ok(StartRequest { client, args, folder, name, message: first.text, direct: first.direct })
    }

    /// Starts a program that a person allowed, and posts the first words to it. If only the words
    /// fail, the outcome is still `Started`, with the reason.
    pub(crate) async fn start_allowed(
        &self,
        stream: &StreamId,
        allowed: &AllowedRequest,
        request: &StartRequest,
    ) -> Result<StartOutcome, SessionError> {
        let AllowedRequest { permission, participant, .. } = allowed;
        let session = self.asker_of(stream, participant).await?;
        let by = Actor::named(participant.clone());
        let new = NewSession {
            client: request.client.clone(),
            cwd: request.folder.clone().into(),
            args: request.args.clone(),
            name: request.name.clone(),
            by: by.clone(),
            session: session.clone(),
            place: None,
        };
        let key = |what: &str| Some(request_key(permission, what));
        // A program that an earlier process started runs, even if its folder has changed since.
        let status = match self.started_before(key("start")).await? {
            StartLookup::Lives(status) => *status,
            StartLookup::No(_) => {
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

    /// Posts the first words; returns the reason if that failed. The session runs either way.
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
}

/// Returns an error if the folder that people allowed now leads elsewhere.
fn check_folder(folder: &str) -> Result<(), SessionError> {
    if whole(Path::new(folder))? == folder {
        return Ok(());
    }
    Err(SessionError::Conflict(format!(
        "{folder} now leads to another folder than when the start was requested."
    )))
}

/// Returns a canonical folder as text.
fn whole(folder: &Path) -> Result<String, SessionError> {
    let found = std::fs::canonicalize(folder)
        .map_err(|error| SessionError::Invalid(format!("{}: {error}.", folder.display())))?;
    found
        .into_os_string()
        .into_string()
        .map_err(|_| SessionError::Invalid("The folder's path is not valid UTF-8.".into()))
}
