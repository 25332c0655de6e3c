//! Sessions that ended and run again: under their names, in their homes, with their links, and
//! with what their programs remember.

use std::collections::{BTreeMap, BTreeSet};

use moothall_engine::answers::HallError;
use moothall_engine::sessions::{
    Launch, LeftLink, Member, Origin, Resumed, Session, SessionError, SessionHost, SessionId,
    Starter, Status, session_of,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::names;
use moothall_kernel::participant::TerminalReach;

use crate::directory::Sessions;
use crate::faults::log_error;
use crate::links::invite_as;
use crate::secrets::{fresh_token, hash_of};

impl Sessions {
    /// Runs the program of a session that ended again. The program goes on with what it remembers,
    /// if it can; the links come back whose other members live.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
    pub async fn resume(&self, id: &SessionId, by: &Actor) -> Result<Resumed, SessionError> {
        let seat = self.seat_of(id).ok_or_else(|| SessionError::NotFound(id.to_string()))?;
        let session = seat.session();
        let of = (session.id.clone(), session.name.clone());
        if !self.begin_start_for(of.clone()) {
            return Err(SessionError::Conflict(format!("{} is being resumed.", session.name)));
        }
        let (own, by) = (self.clone(), by.clone());
        // The caller may go away: a program whose session is not known would run on for no purpose.
        let resumed = tokio::spawn(async move {
            let resumed = own.resume_now(session, &by).await;
            own.end_housing(&of);
            resumed
        });
        resumed.await.unwrap_or(Err(SessionError::Hall(HallError::ShuttingDown)))
    }

    async fn resume_now(&self, session: Session, by: &Actor) -> Result<Resumed, SessionError> {
        let host = self.host()?;
        self.check_resume(host.as_ref(), &session)?;
        tracing::info!(session = %session.id, by = %by.id, "resumed");
        let own_words = session
            .memory
            .as_deref()
            .and_then(|native| host.resume_args(&session.client, &session.args, native));
        let (remembers, token) = (own_words.is_some(), fresh_token());
        let session = self.revive(session, &token).await?;
        let env = [("MOOTHALL_SESSION", session.id.to_string()), ("MOOTHALL_SESSION_TOKEN", token)];
        let launch = Launch {
            session: session.id.clone(),
            name: session.name.to_string(),
            client: session.client.clone(),
            args: own_words.unwrap_or_else(|| session.args.clone()),
            cwd: session.cwd.clone(),
            exact: !matches!(session.started_by, Some(Starter::Person(_)) | None),
            env: env.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            run_as: session.run_as.clone(),
        };
        let status = match host.start(&launch).await {
            Ok(pane) => {
                // Only now, so that a start that failed is tried again with the others.
                let mut living = Session { lost: false, ..session.clone() };
                self.register_session(&mut living, pane).await?
            }
            Err(fault) => {
                let failed = self.abort_start(session.clone(), fault).await;
                self.seat_again(&session.id).await?;
                return failed.map(|status| Resumed { status, remembers, links: Vec::new() });
            }
        };
        self.find_rooms(&self.hall()?, &session.id).await?;
        let links = self.rejoin(&status.session).await;
        Ok(Resumed { status, remembers, links })
    }

    fn check_resume(&self, host: &dyn SessionHost, session: &Session) -> Result<(), SessionError> {
        let name = &session.name;
        let conflict = |why: String| Err(SessionError::Conflict(why));
        if session.ended.is_none() {
            return conflict(format!("{name} lives; `moothall attach {name}` shows it."));
        }
        if session.origin == Origin::Observed {
            let why = "was started by somebody else, so it is taken over again, not resumed";
            return conflict(format!("{name} {why}: POST /sessions with 'adopt'."));
        }
        let lives = |status: &Status| names::are_alike(status.session.name.as_str(), name.as_str());
        if self.list(false).iter().any(lives) {
            return conflict(format!(
                "Another session called {name} lives; end it first, with `moothall end {name}`."
            ));
        }
        if !session.cwd.is_dir() {
            let folder = session.cwd.display();
            return conflict(format!("{folder}, the folder of {name}, is not there any more."));
        }
        let mut programs = host.programs().into_iter();
        if !programs.any(|(client, _)| client == session.client) {
            let client = &session.client;
            return conflict(format!("The program of {name}, {client}, is not set up any more."));
        }
        self.check_room()
    }

    /// Keeps that a session lives again, and opens its home. A crash before its program runs ends
    /// it once more.
    async fn revive(&self, ended: Session, token: &str) -> Result<Session, SessionError> {
        let token_hash = hash_of(token);
        let (pane, native, until) = (None, None, None);
        let session = Session { pane, native, until, token_hash, ended: None, ..ended };
        let by = Actor::human(ParticipantId::moothall());
        let open = ClientCommand::Archive { on: false, by };
        match self.hall()?.submit(&session.id, open, None).await {
            Ok(_) => {}
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => {
                return Err(SessionError::Conflict(format!(
                    "The home of {} was deleted; start another session.",
                    session.name
                )));
            }
            Err(error) => return Err(error.into()),
        }
        self.keep(&session).await?;
        Ok(session)
    }

    /// Shows of a session what is kept of it.
    async fn seat_again(&self, id: &SessionId) -> Result<(), SessionError> {
        let kept = self.hall()?.store().sessions.all().await.map_err(log_error)?;
        if let Some(session) = kept.into_iter().find(|session| session.id == *id) {
            self.seat(session);
        }
        Ok(())
    }

    /// Returns the seats of a session in its links, to be taken again.
    pub(crate) async fn seats_in_links(&self, id: &SessionId) -> Vec<LeftLink> {
        let mut left = Vec::new();
        let Some(rooms) = self.seat_of(id).map(|seat| seat.rooms().now()) else { return left };
        for stream in rooms.iter().cloned() {
            // A link that closed because the others ended before is remembered too.
            let link = self.link_of(&stream).await;
            let Ok(link) = link else { continue };
            if !link.active && link.members.len() >= 2 {
                continue;
            }
            let is_own = |member: &&Member| member.session == *id;
            let Some(own) = link.members.iter().find(is_own).cloned() else { continue };
            left.push(LeftLink {
                link: stream,
                name: own.name,
                number: own.number,
                role: own.role,
                others: others(&link.members, id),
            });
        }
        left
    }

    /// Brings a session back into the links that it left, if all others of them live. Returns those
    /// links.
    async fn rejoin(&self, session: &Session) -> Vec<StreamId> {
        let living = self.list(false);
        let mut wanted: BTreeSet<StreamId> =
            session.left.iter().map(|left| left.link.clone()).collect();
        // The last that ended may not remember who ended before it.
        let with_it = living.iter().flat_map(|status| &status.session.left);
        wanted.extend(
            with_it.filter(|left| left.others.contains(&session.id)).map(|left| left.link.clone()),
        );
        let mut links = Vec::new();
        for link in wanted {
            match self.reopen(&link, &living).await {
                Ok(true) => links.push(link),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%link, %error, "a link of a session that was resumed stays closed");
                }
            }
        }
        links
    }

    /// Brings a link back when all who were in it live; true if it carries words with all of them.
    /// A link that was closed while two were in it stays closed.
    async fn reopen(&self, link: &StreamId, living: &[Status]) -> Result<bool, SessionError> {
        let hall = self.hall()?;
        let read = |state: &Conversation| {
            let here = state.participants().iter().filter_map(session_of).collect::<BTreeSet<_>>();
            (state.is_archived(), here)
        };
        let (is_archived, here) = hall.view(link, read).await?;
        let of_link =
            |status: &Status| status.session.left.iter().find(|left| left.link == *link).cloned();
        let all = self.list(true);
        let remembered: BTreeSet<SessionId> =
            all.iter().filter_map(of_link).flat_map(|left| left.others).collect();
        let left: BTreeMap<_, _> = living
            .iter()
            .filter(|status| !here.contains(&status.session.id))
            .filter_map(|status| Some((&status.session.id, (&status.session, of_link(status)?))))
            .collect();
        let lives = |id: &SessionId| living.iter().any(|status| status.session.id == *id);
        let was_closed = is_archived && here.len() >= 2;
        let comes_back = |id: &SessionId| here.contains(id) || left.contains_key(id);
        if was_closed
            || !here.iter().all(lives)
            || !remembered.iter().all(|id| lives(id) && comes_back(id))
        {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(!is_archived);
        }
        let by = Actor::human(ParticipantId::moothall());
        if is_archived {
            let open = ClientCommand::Archive { on: false, by: by.clone() };
            hall.submit(link, open, None).await?;
        }
        let invites = left.values().map(|(session, left)| {
            let member = Member {
                session: session.id.clone(),
                computer: String::new(),
                name: left.name.clone(),
                number: left.number,
                role: left.role.clone(),
            };
            let invite = invite_as(self.invite_of(session), session, &member);
            Control::Invite(Invite { reach: Some(TerminalReach::Drivers), ..invite })
        });
        let controls = invites.collect();
        hall.submit(link, ClientCommand::Control { by, controls }, None).await?;
        self.notify_of_sessions();
        Ok(true)
    }
}

fn others(members: &[Member], own: &SessionId) -> Vec<SessionId> {
    members.iter().map(|member| member.session.clone()).filter(|id| id != own).collect()
}
