//! Sessions that ended and run again: under their names, in their homes, with their links, and
//! with what their programs remember.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use moothall_engine::answers::HallError;
use moothall_engine::crash;
use moothall_engine::sessions::{
    Launch, LeftLink, Member, Origin, Resumed, Session, SessionError, SessionHost, SessionId,
    Starter, Status, session_of,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::TerminalReach;
use tokio::time::timeout;

use crate::directory::Sessions;
use crate::faults::log_error;
use crate::links::{MEMBERS_MIN, invite_as};
use crate::mail::Mail;
use crate::reserved::ReservedName;
use crate::secrets::{fresh_token, hash_of};

/// How long links are waited for that sessions just left.
const LEAVING_MAX: Duration = Duration::from_secs(5);

/// A session that comes back to a link, and its place there.
type Comer = (Session, LeftLink);

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
        let _reserved = self.reserve_again(host.as_ref(), &session).await?;
        tracing::info!(session = %session.id, by = %by.id, "resumed");
        let memory = session.memory.as_deref();
        let again = host.resume_args(&session.client, &session.args, memory);
        let (remembers, left_out, token) = (again.resumes, again.left_out, fresh_token());
        let session = self.revive(session, &token).await?;
        let env = [("MOOTHALL_SESSION", session.id.to_string()), ("MOOTHALL_SESSION_TOKEN", token)];
        let launch = Launch {
            session: session.id.clone(),
            name: session.name.to_string(),
            client: session.client.clone(),
            args: again.args,
            cwd: session.cwd.clone(),
            exact: !matches!(session.started_by, Some(Starter::Person(_)) | None),
            env: env.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            run_as: session.run_as.clone(),
        };
        let status = match host.start(&launch).await {
            Ok(pane) => {
                crash::point("program_in_terminal");
                // Only now, so that a start that failed is tried again with the others.
                let mut living = Session { lost: false, ..session.clone() };
                self.register_session(&mut living, pane).await?
            }
            Err(fault) => {
                let failed = self.abort_start(session.clone(), fault).await;
                self.seat_again(&session.id).await?;
                let links = Vec::new();
                return failed.map(|status| Resumed { status, remembers, links, left_out });
            }
        };
        self.find_rooms(&self.hall()?, &session.id).await?;
        let back = self.rejoin().await.into_iter();
        let own = back.filter(|(_, members)| members.contains(&session.id));
        let links = own.map(|(link, _)| link).collect();
        Ok(Resumed { status, remembers, links, left_out })
    }

    /// Reserves the name of a session that can be resumed.
    async fn reserve_again(
        &self,
        host: &dyn SessionHost,
        session: &Session,
    ) -> Result<ReservedName, SessionError> {
        let _making = self.shared.making.lock().await;
        self.check_resume(host, session)?;
        Ok(self.shared.reserved.reserve(&session.name))
    }

    fn check_resume(&self, host: &dyn SessionHost, session: &Session) -> Result<(), SessionError> {
        let name = &session.name;
        let conflict = |why: String| Err(SessionError::Conflict(why));
        if session.ended.is_none() {
            return conflict(format!("{name} lives; `moothall attach {name}` shows it."));
        }
        if session.origin == Origin::Observed {
            let why = "was started by somebody else, so it is not resumed: adopt its pane again";
            return conflict(format!("{name} {why}."));
        }
        if self.is_in_use(name.as_str()) {
            return conflict(format!(
                "Another session called {name} lives; end it first, with `POST /sessions/{name}/end`."
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
        let session = Session { pane, native, until, token_hash, ended: None, ..ended.clone() };
        // Kept first: the home of a session that ended takes no words.
        self.keep(&session).await?;
        crash::point("session_revived");
        let by = Actor::human(ParticipantId::moothall());
        let open = ClientCommand::Archive { on: false, by };
        let Err(error) = self.hall()?.submit(&session.id, open, None).await else {
            return Ok(session);
        };
        self.keep(&ended).await?;
        Err(match error {
            HallError::NotFound(_) | HallError::Deleted(_) => SessionError::Conflict(format!(
                "The home of {} was deleted; start another session.",
                session.name
            )),
            error => error.into(),
        })
    }

    /// Shows of a session what is kept of it.
    async fn seat_again(&self, id: &SessionId) -> Result<(), SessionError> {
        let kept = self.hall()?.store().sessions.all().await.map_err(log_error)?;
        if let Some(session) = kept.into_iter().find(|session| session.id == *id) {
            self.seat(session);
        }
        Ok(())
    }

    /// Returns the places of a session in its links.
    pub(crate) async fn places_in_links(&self, id: &SessionId) -> Vec<LeftLink> {
        let mut places = Vec::new();
        let Some(rooms) = self.seat_of(id).map(|seat| seat.rooms().now()) else { return places };
        for stream in rooms.iter().cloned() {
            let Ok(link) = self.link_of(&stream).await else { continue };
            // A link that closed because the others ended before keeps its last member.
            if !link.active && link.members.len() >= MEMBERS_MIN {
                continue;
            }
            let is_own = |member: &&Member| member.session == *id;
            let Some(own) = link.members.iter().find(is_own).cloned() else { continue };
            let Member { name, number, role, .. } = own;
            places.push(LeftLink { link: stream, name, number, role });
        }
        places
    }

    /// Forgets the place of a living session in a link, if it has one there.
    pub(crate) fn use_place(&self, session: &SessionId, link: &StreamId) {
        let Some(seat) = self.seat_of(session) else { return };
        if place_in(&seat.session(), link).is_some() {
            seat.send(Mail::PlaceUsed(link.clone()));
        }
    }

    /// Brings those links back whose members live again. Returns them with all their members.
    pub(crate) async fn rejoin(&self) -> BTreeMap<StreamId, BTreeSet<SessionId>> {
        let wanted = || -> BTreeSet<StreamId> {
            let places = self.list(false).into_iter().flat_map(|status| status.session.left);
            places.map(|place| place.link).collect()
        };
        // A session that ended just now may not have left its links yet.
        if let Ok(hall) = self.hall() {
            let carried = async {
                for link in wanted() {
                    hall.carried(&link).await;
                }
            };
            let _ = timeout(LEAVING_MAX, carried).await;
        }
        let _making = self.shared.making.lock().await;
        let wanted = wanted();
        let mut back = BTreeMap::new();
        for link in wanted {
            match self.reopen(&link).await {
                Ok(Some(members)) => drop(back.insert(link, members)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%link, %error, "a link of a session that was resumed stays closed");
                }
            }
        }
        back
    }

    /// Brings a link back to the living sessions that have a place in it. Returns its members;
    /// nothing if it stays as it is.
    async fn reopen(&self, link: &StreamId) -> Result<Option<BTreeSet<SessionId>>, SessionError> {
        let hall = self.hall()?;
        let read = |state: &Conversation| {
            let here = state.participants().iter().filter_map(session_of).collect::<BTreeSet<_>>();
            (state.is_archived(), here)
        };
        let (is_archived, here) = match hall.view(link, read).await {
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => (true, None),
            read => read.map(|(is_archived, here)| (is_archived, Some(here)))?,
        };
        let is_closed = here.as_ref().is_none_or(|here| is_archived && here.len() >= MEMBERS_MIN);
        let here = here.unwrap_or_default();
        let Some((comers, goers)) = self.who_moves(link, &here, is_closed) else { return Ok(None) };
        let is_going = |id: &&SessionId| goers.iter().any(|session| session.id == **id);
        let stay = here.iter().filter(|id| !is_going(id)).cloned();
        let members: BTreeSet<_> =
            stay.chain(comers.iter().map(|(session, _)| session.id.clone())).collect();
        if is_closed || comers.is_empty() || members.len() < MEMBERS_MIN {
            return Ok(None);
        }
        let by = Actor::human(ParticipantId::moothall());
        if is_archived {
            let open = ClientCommand::Archive { on: false, by: by.clone() };
            hall.submit(link, open, None).await?;
            crash::point("link_reopened");
        }
        let invites = comers.iter().map(|(session, place)| self.invite_again(session, place));
        let goers = goers.iter().map(|session| Control::Uninvite(session.name.to_string()));
        let controls = invites.chain(goers).collect();
        hall.submit(link, ClientCommand::Control { by, controls }, None).await?;
        crash::point("link_rejoined");
        self.notify_of_sessions();
        Ok(Some(members))
    }

    /// Returns the sessions that come back to a link, with their places, and the members that were
    /// ended and leave it. Nothing if the link waits for others.
    fn who_moves(
        &self,
        link: &StreamId,
        here: &BTreeSet<SessionId>,
        is_closed: bool,
    ) -> Option<(Vec<Comer>, Vec<Session>)> {
        let (mut comers, mut goers, mut waits) = (Vec::new(), Vec::new(), false);
        for Status { session, .. } in self.list(true) {
            let is_here = here.contains(&session.id);
            // One without a terminal is on its way to its end.
            let lives = session.ended.is_none() && session.pane.is_some();
            match (place_in(&session, link), lives) {
                (Some(_), true) if is_closed || is_here => self.use_place(&session.id, link),
                (Some(place), true) => comers.push((session, place)),
                // A link that ended with the computer waits for all its members.
                (Some(_), false) => waits |= is_here || session.lost,
                (None, false) if is_here => goers.push(session),
                (None, _) => {}
            }
        }
        (!waits).then_some((comers, goers))
    }

    fn invite_again(&self, session: &Session, place: &LeftLink) -> Control {
        let LeftLink { name, number, role, .. } = place.clone();
        let (session_id, computer) = (session.id.clone(), String::new());
        let member = Member { session: session_id, computer, name, number, role };
        let invite = invite_as(self.invite_of(session), session, &member);
        Control::Invite(Invite { reach: Some(TerminalReach::Drivers), ..invite })
    }
}

fn place_in(session: &Session, link: &StreamId) -> Option<LeftLink> {
    session.left.iter().find(|place| place.link == *link).cloned()
}
