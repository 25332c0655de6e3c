//! Sessions that ended and run again: with their names, homes, links, and the memory of their
//! programs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use moothall_engine::answers::HallError;
use moothall_engine::crash;
use moothall_engine::sessions::{
    Activity, Launch, LeftLink, Link, Member, Origin, ResumedSession, Session, SessionError,
    SessionHost, SessionId, Starter, Status, session_of,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::TerminalReach;
use tokio::time::timeout;

use crate::directory::{SessionHandle, Sessions};
use crate::faults::log_error;
use crate::links::{MEMBERS_MIN, invite_as};
use crate::mail::Mail;
use crate::reserved::ReservedName;
use crate::secrets::{fresh_token, hash_of};

/// Maximum wait for links that sessions have just left.
const LEAVING_MAX: Duration = Duration::from_secs(5);

/// A session that returns to a link, with its place there.
type ReturningMember = (Session, LeftLink);

impl Sessions {
    /// Runs the program of an ended session again. The program resumes its memory, if it can. The
    /// links whose other members live are reopened.
    ///
    /// # Errors
    /// [`SessionError`]. The program does not run then, unless only a step after its start failed.
    pub async fn resume(&self, id: &SessionId, by: &Actor) -> Result<ResumedSession, SessionError> {
        let handle = self.handle_of(id).ok_or_else(|| SessionError::NotFound(id.to_string()))?;
        let of = self.begin_change_of(&handle)?;
        // Read after the guard is taken: the session may have been ended before.
        let session = handle.session();
        let (own, by) = (self.clone(), by.clone());
        // The caller may cancel: a task of its own finishes the start, so that no program runs
        // without a known session.
        let resumed = tokio::spawn(async move {
            let resumed = own.resume_now(session, &by).await;
            own.end_housing(&of);
            resumed
        });
        resumed.await.unwrap_or(Err(SessionError::Hall(HallError::ShuttingDown)))
    }

    /// Reserves the session's name, records the session as living, starts its program, and reopens
    /// its links, in this order. If the program does not start, the session is ended again and the
    /// fault returned.
    async fn resume_now(
        &self,
        session: Session,
        by: &Actor,
    ) -> Result<ResumedSession, SessionError> {
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
                // Cleared only now, so that a failed start can be retried together with the other
                // lost sessions.
                let mut living = Session { lost: false, ..session.clone() };
                self.register_session(&mut living, pane).await?
            }
            Err(fault) => {
                let failed = self.abort_start(session.clone(), fault).await;
                self.restart_runner(&session.id).await?;
                let links = Vec::new();
                return failed.map(|status| ResumedSession { status, remembers, links, left_out });
            }
        };
        self.find_rooms(&self.hall()?, &session.id).await?;
        let back = self.rejoin().await.into_iter();
        let own = back.filter(|(_, members)| members.contains(&session.id));
        let links = own.map(|(link, _)| link).collect();
        Ok(ResumedSession { status, remembers, links, left_out })
    }

    /// Guards an ended session against a concurrent resume or end, until [`Sessions::end_housing`].
    fn begin_change_of(
        &self,
        handle: &SessionHandle,
    ) -> Result<(StreamId, ParticipantId), SessionError> {
        let Session { id, name, .. } = handle.session();
        if self.begin_start_for((id.clone(), name.clone())) {
            return Ok((id, name));
        }
        Err(SessionError::Conflict(format!("{name} is being resumed or ended; try again.")))
    }

    /// Gives up the places in links of a session that ended by itself or with the computer. The
    /// links that waited for this session reopen for the others.
    ///
    /// # Errors
    /// [`SessionError`]; [`SessionError::Ended`] if the session has no places.
    pub(crate) async fn give_up_places(&self, id: &SessionId) -> Result<(), SessionError> {
        let handle = self.handle_of(id).ok_or_else(|| SessionError::NotFound(id.to_string()))?;
        let of = self.begin_change_of(&handle)?;
        let given_up = self.clear_places(&handle).await;
        self.end_housing(&of);
        given_up?;
        self.rejoin().await;
        Ok(())
    }

    /// Removes an ended session from the links in which it was the last member, and makes it forget
    /// its places in all others. Returns an error if it runs again, or ended without a place to
    /// give up.
    async fn clear_places(&self, handle: &SessionHandle) -> Result<(), SessionError> {
        let session = handle.session();
        match &session.ended {
            Some(_) if session.lost || !session.left.is_empty() => {}
            Some((_, why)) => {
                let (name, why) = (session.name.clone(), why.clone());
                return Err(SessionError::Ended { name, why });
            }
            None => {
                let why = format!("{} is running again; end it again.", session.name);
                return Err(SessionError::Conflict(why));
            }
        }
        self.take_out_of_closed(&session).await?;
        let session = Session { lost: false, left: Vec::new(), ..session };
        self.keep(&session).await?;
        handle.update(&session, Activity::Ended, 0, None);
        self.notify_of_sessions();
        Ok(())
    }

    /// Removes a session from the links in which it was the last member. Otherwise its next resume
    /// would make it a member there again.
    async fn take_out_of_closed(&self, session: &Session) -> Result<(), SessionError> {
        let (hall, _making) = (self.hall()?, self.shared.making.lock().await);
        let by = Actor::human(ParticipantId::moothall());
        for LeftLink { link, .. } in &session.left {
            let (is_archived, here) = self.standing_of(link).await?;
            if here != Some(BTreeSet::from([session.id.clone()])) {
                continue;
            }
            if is_archived {
                let open = ClientCommand::Archive { on: false, by: by.clone() };
                hall.submit(link, open, None).await?;
            }
            let controls = vec![Control::Uninvite(session.name.to_string())];
            hall.submit(link, ClientCommand::Control { by: by.clone(), controls }, None).await?;
        }
        Ok(())
    }

    /// Returns the links that a living session is not back in, each with the sessions for which the
    /// link waits. Those sessions can be resumed or ended.
    ///
    /// # Errors
    /// [`SessionError`] if a link cannot be read.
    pub async fn waits_of(
        &self,
        id: &SessionId,
    ) -> Result<BTreeMap<StreamId, Vec<SessionId>>, SessionError> {
        let mut waits = BTreeMap::new();
        let Some(session) = self.handle_of(id).map(|handle| handle.session()) else {
            return Ok(waits);
        };
        if session.ended.is_some() {
            return Ok(waits);
        }
        for LeftLink { link, .. } in session.left {
            let (_, here) = self.standing_of(&link).await?;
            let lacks = self.lacks(&link, &here.unwrap_or_default());
            if !lacks.is_empty() {
                waits.insert(link, lacks);
            }
        }
        Ok(waits)
    }

    /// Returns the closed links that living sessions, or one of them, will return to and that wait
    /// for other sessions.
    ///
    /// # Errors
    /// [`SessionError`] if one cannot be read.
    pub async fn waiting_links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError> {
        let sessions = self.list(false).into_iter().map(|status| status.session);
        let sessions = sessions.filter(|session| of.is_none_or(|of| session.id == *of));
        let left = sessions.flat_map(|session| session.left).map(|place| place.link);
        let mut links = Vec::new();
        for link in left.collect::<BTreeSet<_>>() {
            match self.link_of(&link).await {
                Ok(link) if !link.waits_for.is_empty() => links.push(link),
                Ok(_) | Err(SessionError::NoLink) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(links)
    }

    /// Returns the sessions for which a closed link waits; empty if no living session has a place
    /// in it.
    pub(super) fn waits_of_link(&self, link: &Link) -> Vec<SessionId> {
        let has_place = |status: &Status| place_in(&status.session, &link.id).is_some();
        if link.active || !self.list(false).iter().any(has_place) {
            return Vec::new();
        }
        let here = link.members.iter().map(|member| member.session.clone()).collect();
        self.lacks(&link.id, &here)
    }

    /// Returns the sessions that keep a link from coming back.
    fn lacks(&self, link: &StreamId, here: &BTreeSet<SessionId>) -> Vec<SessionId> {
        let all = self.list(true).into_iter().map(|status| status.session);
        all.filter(|session| is_waited_for(session, link, here)).map(|session| session.id).collect()
    }

    /// Returns true if a link is archived or does not exist, and its members if it exists.
    async fn standing_of(
        &self,
        link: &StreamId,
    ) -> Result<(bool, Option<BTreeSet<SessionId>>), SessionError> {
        let read = |state: &Conversation| {
            let here = state.participants().iter().filter_map(session_of).collect::<BTreeSet<_>>();
            (state.is_archived(), here)
        };
        match self.hall()?.view(link, read).await {
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => Ok((true, None)),
            read => Ok(read.map(|(is_archived, here)| (is_archived, Some(here)))?),
        }
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

    /// Returns an error if the session lives or was adopted, if another one has its name, if its
    /// folder or program is missing, or if the server has as many sessions as it may.
    fn check_resume(&self, host: &dyn SessionHost, session: &Session) -> Result<(), SessionError> {
        let name = &session.name;
        let conflict = |why: String| Err(SessionError::Conflict(why));
        if session.ended.is_none() {
            return conflict(format!("{name} is live; `moothall attach {name}` shows it."));
        }
        if session.origin == Origin::Observed {
            let why =
                "was adopted and not started here, so it cannot be resumed; adopt its pane again";
            return conflict(format!("{name} {why}."));
        }
        if self.is_in_use(name.as_str()) {
            return conflict(format!(
                "Another session called {name} is live; end it first, with \
                 `POST /sessions/{name}/end`."
            ));
        }
        if !session.cwd.is_dir() {
            let folder = session.cwd.display();
            return conflict(format!("{folder}, the folder of {name}, does not exist any more."));
        }
        let client = &session.client;
        let offer = host.programs().into_iter().find(|offer| offer.client == *client);
        match offer.map(|offer| offer.missing) {
            None => {
                return conflict(format!(
                    "{client}, the program of {name}, is not configured any more."
                ));
            }
            Some(Some(missing)) => return conflict(missing),
            Some(None) => {}
        }
        self.check_room()
    }

    /// Records that a session lives again, and reopens its home. After a crash before its program
    /// runs, the session is ended again.
    async fn revive(&self, ended: Session, token: &str) -> Result<Session, SessionError> {
        let token_hash = hash_of(token);
        let (pane, native, until) = (None, None, None);
        let session = Session { pane, native, until, token_hash, ended: None, ..ended.clone() };
        // Saved first: the home of an ended session takes no words.
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

    /// Registers a session again from its stored row.
    async fn restart_runner(&self, id: &SessionId) -> Result<(), SessionError> {
        let kept = self.hall()?.store().sessions.all().await.map_err(log_error)?;
        if let Some(session) = kept.into_iter().find(|session| session.id == *id) {
            self.start_runner(session);
        }
        Ok(())
    }

    /// Returns the places of a session in its links.
    pub(crate) async fn places_in_links(&self, id: &SessionId) -> Vec<LeftLink> {
        let mut places = Vec::new();
        let Some(rooms) = self.handle_of(id).map(|handle| handle.rooms().now()) else {
            return places;
        };
        for stream in rooms.iter().cloned() {
            let Ok(link) = self.link_of(&stream).await else { continue };
            // If a link closed because its other members ended first, its last member keeps its
            // place.
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
        let Some(handle) = self.handle_of(session) else { return };
        if place_in(&handle.session(), link).is_some() {
            handle.send(Mail::PlaceUsed(link.clone()));
        }
    }

    /// Reopens the links whose members live again. Returns each with all its members.
    pub(crate) async fn rejoin(&self) -> BTreeMap<StreamId, BTreeSet<SessionId>> {
        let wanted = || -> BTreeSet<StreamId> {
            let places = self.list(false).into_iter().flat_map(|status| status.session.left);
            places.map(|place| place.link).collect()
        };
        // A session that has just ended perhaps has not left its links yet.
        if let Ok(hall) = self.hall() {
            let carried = async {
                for link in wanted() {
                    hall.wait_for_deliveries(&link).await;
                }
            };
            let _ = timeout(LEAVING_MAX, carried).await;
        }
        let _making = self.shared.making.lock().await;
        // Read again: sessions may have ended or been resumed during the wait.
        let wanted = wanted();
        let mut back = BTreeMap::new();
        for link in wanted {
            match self.reopen(&link).await {
                Ok(Some(members)) => drop(back.insert(link, members)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%link, %error, "a link of a resumed session stays closed");
                }
            }
        }
        back
    }

    /// Reopens a link for the living sessions that have a place in it. Returns its members, or
    /// `None` if the link stays as it is.
    async fn reopen(&self, link: &StreamId) -> Result<Option<BTreeSet<SessionId>>, SessionError> {
        let hall = self.hall()?;
        let (is_archived, here) = self.standing_of(link).await?;
        let is_closed = here.as_ref().is_none_or(|here| is_archived && here.len() >= MEMBERS_MIN);
        let here = here.unwrap_or_default();
        let waits = !self.lacks(link, &here).is_empty();
        // The last member of a waiting link still is a member, but not back.
        let are_back = !is_archived || !waits;
        let (joiners, leavers) = self.who_moves(link, &here, is_closed, are_back);
        // Checked after `who_moves`, which forgets used places even if the link still waits.
        if waits {
            return Ok(None);
        }
        let is_going = |id: &&SessionId| leavers.iter().any(|session| session.id == **id);
        let stay = here.iter().filter(|id| !is_going(id)).cloned();
        let members: BTreeSet<_> =
            stay.chain(joiners.iter().map(|(session, _)| session.id.clone())).collect();
        if is_closed || joiners.is_empty() || members.len() < MEMBERS_MIN {
            return Ok(None);
        }
        let by = Actor::human(ParticipantId::moothall());
        if is_archived {
            let open = ClientCommand::Archive { on: false, by: by.clone() };
            hall.submit(link, open, None).await?;
            crash::point("link_reopened");
        }
        let invites = joiners.iter().map(|(session, place)| self.invite_again(session, place));
        let leavers = leavers.iter().map(|session| Control::Uninvite(session.name.to_string()));
        let controls = invites.chain(leavers).collect();
        hall.submit(link, ClientCommand::Control { by, controls }, None).await?;
        crash::point("link_rejoined");
        self.notify_of_sessions();
        Ok(Some(members))
    }

    /// Returns the sessions that return to a link, with their places, and the ended members that
    /// leave it. Forgets places in a closed link, and those of members if they are back.
    fn who_moves(
        &self,
        link: &StreamId,
        here: &BTreeSet<SessionId>,
        is_closed: bool,
        are_back: bool,
    ) -> (Vec<ReturningMember>, Vec<Session>) {
        let (mut joiners, mut leavers) = (Vec::new(), Vec::new());
        for Status { session, .. } in self.list(true) {
            let is_here = here.contains(&session.id);
            match (place_in(&session, link), lives(&session)) {
                (Some(_), true) if is_closed || (is_here && are_back) => {
                    self.use_place(&session.id, link);
                }
                (Some(place), true) if !is_here => joiners.push((session, place)),
                (None, false) if is_here => leavers.push(session),
                (Some(_), _) | (None, _) => {}
            }
        }
        (joiners, leavers)
    }

    fn invite_again(&self, session: &Session, place: &LeftLink) -> Control {
        let LeftLink { name, number, role, .. } = place.clone();
        let (session_id, computer) = (session.id.clone(), String::new());
        let member = Member { session: session_id, computer, name, number, role };
        let invite = invite_as(self.invite_of(session), session, &member);
        Control::Invite(Invite { reach: Some(TerminalReach::Drivers), ..invite })
    }
}

/// True if the program of a session runs. A session without a terminal is about to end.
fn lives(session: &Session) -> bool {
    session.ended.is_none() && session.pane.is_some()
}

/// True if a link waits for a session: its program does not run, it has a place in the link, and it
/// ended with the computer or is still a member, because it was the last one to end.
fn is_waited_for(session: &Session, link: &StreamId, here: &BTreeSet<SessionId>) -> bool {
    let is_due = session.lost || here.contains(&session.id);
    is_due && !lives(session) && place_in(session, link).is_some()
}

fn place_in(session: &Session, link: &StreamId) -> Option<LeftLink> {
    session.left.iter().find(|place| place.link == *link).cloned()
}
