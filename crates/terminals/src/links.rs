//! Links: conversations in which sessions get each other's words at the end of every turn.
//!
//! The keys that conversations hold show which are links.
//! [`moothall_engine::reach::ReachableStreams`] lists the conversations of a session. Their
//! intersection is the links of a session, so no other conversation is queried.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{MutexGuard, PoisonError};

use moothall_engine::answers::HallError;
use moothall_engine::computers::RemoteMember;
use moothall_engine::outbox::{OutboxEntry, StreamCommand};
use moothall_engine::ports::Claim;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{
    ADDRESS, Asker, ConversationPlan, JoiningSession, Link, LinkState, Member, NewLink, Session,
    SessionError, SessionId, SessionSource, address_of, is_session,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::event::{Change, Event, RecordedEvent};
use moothall_kernel::gathering::MEMBER_KEY;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::{Address, TerminalReach};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::state::LINK_KEY;

use crate::directory::Sessions;
use crate::faults::log_error;
use crate::links_elsewhere::{invite_elsewhere, key_of, remote_address};
use crate::naming::nickname_as;
use crate::rooms::changes;

/// Minimum number of members of a link.
pub(crate) const MEMBERS_MIN: usize = 2;

impl Sessions {
    fn links_known(&self) -> MutexGuard<'_, BTreeSet<StreamId>> {
        self.shared.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the links of a newly opened hall by the keys they hold. An archived link holds none.
    pub(super) async fn find_links(&self, hall: &ResidentHall) -> Result<(), HallError> {
        let held = hall.store().log.claims(namespace(), hall.now()).await?;
        self.links_known().extend(held.iter().map(|claim| claim.stream.clone()));
        // The server may have stopped between a change of members and the change of the key.
        let members = self.members_known();
        let is_anothers = |claim: &&Claim| {
            let ids = |here: &BTreeSet<SessionId>| here.iter().map(ToString::to_string).collect();
            members.get(&claim.stream).is_some_and(|here| key_of(&ids(here)) != claim.key)
        };
        held.iter().filter(is_anothers).for_each(|claim| self.begin_rekey(&claim.stream));
        Ok(())
    }

    /// Returns the living sessions of each conversation, as far as tracked.
    fn members_known(&self) -> BTreeMap<StreamId, BTreeSet<SessionId>> {
        let mut members: BTreeMap<StreamId, BTreeSet<SessionId>> = BTreeMap::new();
        for session in self.list(false).into_iter().map(|status| status.session.id) {
            let rooms = self.handle_of(&session).map(|handle| handle.rooms().now());
            for room in rooms.iter().flat_map(|rooms| rooms.iter()) {
                members.entry(room.clone()).or_default().insert(session.clone());
            }
        }
        members
    }

    /// Returns the reason why a conversation cannot be deleted, and the way forward, if there is
    /// one.
    pub(crate) fn deletion_obstacle(&self, stream: &StreamId) -> Option<String> {
        if let Ok(handle) = self.living(stream) {
            let name = handle.session().name;
            return Some(format!(
                "This is the home of the live session {name}; end it first, with \
                 `POST /sessions/{name}/end`."
            ));
        }
        let carries = self.links_known().contains(stream);
        carries.then(|| {
            format!("This is an open link; close it first, with `POST /links/{stream}/close`.")
        })
    }

    /// Tracks links by the events of a conversation. `state` is the conversation before them.
    pub(super) fn note_link(
        &self,
        stream: &StreamId,
        state: &Conversation,
        events: &[RecordedEvent],
    ) {
        for recorded in events {
            let opened = state.is_link() && matches!(recorded.event, Event::Unarchived { .. });
            if matches!(recorded.event, Event::Archived { .. }) {
                self.links_known().remove(stream);
            } else if opened || changes(recorded).iter().any(binds_link) {
                self.links_known().insert(stream.clone());
            }
        }
        let moves =
            |change: &Change| matches!(change, Change::Invited { .. } | Change::Uninvited { .. });
        if self.links_known().contains(stream) && events.iter().flat_map(changes).any(moves) {
            self.begin_rekey(stream);
        }
    }

    /// Starts a task that updates the key of a link to its members.
    fn begin_rekey(&self, stream: &StreamId) {
        let Ok(hall) = self.hall() else { return };
        let (own, stream) = (self.clone(), stream.clone());
        hall.spawn(async move {
            if let Err(error) = own.rekey(&stream).await {
                // The next search for a link of one of its members retries this.
                tracing::warn!(%stream, %error, "the key of a link does not match its members");
            }
        });
    }

    /// Updates the key of a link to its current members. If these members already have a link of
    /// their own, their own link stays and `stream` is closed. (Ruling 27.)
    async fn rekey(&self, stream: &StreamId) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let keys = hall.view(stream, |state| {
            let held: Vec<String> = state
                .bindings()
                .filter(|target| target.starts_with(LINK_KEY))
                .map(str::to_owned)
                .collect();
            let members = session_addresses(state).map(Address::full_id);
            let members: BTreeSet<String> = members.collect();
            (!state.is_archived() && !held.is_empty() && !members.is_empty())
                .then(|| (held, bound(&key_of(&members))))
        });
        let Some((held, own)) = keys.await?.filter(|(held, own)| *held != [own.clone()]) else {
            return Ok(());
        };
        let by = Actor::human(ParticipantId::moothall());
        let controls = held.into_iter().map(Control::Release).chain([Control::Hold(own)]).collect();
        match hall.submit(stream, ClientCommand::Control { by: by.clone(), controls }, None).await {
            Err(HallError::Rejected(refused)) if refused.code == "taken" => {
                hall.submit(stream, ClientCommand::Archive { on: true, by }, None).await?;
                self.notify_of_sessions();
                return Ok(());
            }
            rekeyed => drop(rekeyed?),
        }
        self.retitle(stream, by).await
    }

    /// Removes the names of departed sessions from the title of a link, if the title consists of
    /// names.
    async fn retitle(&self, stream: &StreamId, by: Actor) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let read = |state: &Conversation| {
            let members = state.participants().iter().map(|one| one.id.to_string());
            (state.name().to_owned(), members.collect::<Vec<_>>())
        };
        let (title, members) = hall.view(stream, read).await?;
        let sessions = self.list(true);
        let is_session =
            |name: &&str| sessions.iter().any(|status| status.session.name.as_str() == *name);
        let (still, left): (Vec<&str>, Vec<&str>) =
            title.split(BETWEEN_NAMES).partition(|name| members.iter().any(|one| one == name));
        if left.is_empty() || still.is_empty() || !left.iter().all(is_session) {
            return Ok(());
        }
        let name = still.join(BETWEEN_NAMES);
        hall.submit(stream, ClientCommand::Rename { name, by }, None).await?;
        Ok(())
    }

    /// Makes a link, or returns the one with exactly these members.
    ///
    /// # Errors
    /// [`SessionError`]. No link was made then, unless only a step after its creation failed.
    pub async fn link(&self, new: NewLink) -> Result<(Link, LinkState), SessionError> {
        let _making = self.shared.making.lock().await;
        let sessions = self.members_of(&new)?;
        match new.elsewhere.is_empty() {
            true => self.link_here(new, &sessions).await,
            false => self.link_across(new, &sessions).await,
        }
    }

    /// Makes a link that lives on this computer, or returns the one with exactly these members.
    pub(crate) async fn link_here(
        &self,
        new: NewLink,
        sessions: &[Session],
    ) -> Result<(Link, LinkState), SessionError> {
        let hall = self.hall()?;
        // Retries keys that could not be updated. The links of one member suffice, since the wanted
        // link has all members.
        for link in sessions.first().map(|first| self.links_with(&first.id)).unwrap_or_default() {
            self.rekey(&link).await?;
        }
        let here = sessions.iter().map(|session| address_of(session).full_id());
        let there = new.elsewhere.iter().map(|member| remote_address(member).full_id());
        let key = key_of(&here.chain(there).collect());
        if let Some(stream) = self.link_with_key(&key).await? {
            return Ok((self.link_of(&stream).await?, LinkState::Reused));
        }
        // A link that all members on its own computer have left may have exactly these members.
        if let Some(first) = sessions.first()
            && let Some(link) = self.joined_of(&first.id, &key).await?
        {
            return Ok((link, LinkState::Reused));
        }
        let by = self.actor(&new.by)?;
        let title = new.title.clone().unwrap_or_else(|| title_of(sessions, &new.elsewhere));
        let others = new.elsewhere.iter().map(invite_elsewhere).collect();
        let elsewhere = new.elsewhere.clone();
        let usual = (*hall.defaults()).clone();
        let max_exchanges_without_human =
            new.exchanges_max.unwrap_or(usual.max_exchanges_without_human);
        let policy = Policy { name: PolicyName::LINK, max_exchanges_without_human, ..usual };
        let joining = new.members.into_iter().map(|member| {
            let who = SessionSource::Living(member.session.clone());
            let own = self.clone();
            JoiningSession {
                who,
                invite: Box::new(move |session| {
                    let invite = invite_as(own.invite_of(session), session, &member);
                    Invite { reach: Some(TerminalReach::Drivers), ..invite }
                }),
            }
        });
        let stream = self
            .convene(ConversationPlan {
                title,
                policy,
                by,
                joining: joining.collect(),
                others,
                claims: vec![bound(&key)],
                gathering: None,
                keep: false,
            })
            .await?;
        for session in sessions {
            self.forget_waits_of(&session.id, &elsewhere).await?;
        }
        self.notify_of_sessions();
        Ok((self.link_of(&stream).await?, LinkState::Created))
    }

    /// Returns the link of this computer that holds a key.
    ///
    /// # Errors
    /// [`SessionError`] if the keys cannot be read.
    pub(crate) async fn link_with_key(&self, key: &str) -> Result<Option<StreamId>, SessionError> {
        let hall = self.hall()?;
        let claim = hall.store().log.claim(namespace(), key, hall.now()).await;
        Ok(claim.map_err(log_error)?.map(|claim| claim.stream))
    }

    /// Returns the sessions of the members, in their order. Returns an error if one of them does
    /// not live or is named twice, if there are fewer than [`MEMBERS_MIN`], or if two have the same
    /// number.
    fn members_of(&self, new: &NewLink) -> Result<Vec<Session>, SessionError> {
        let sessions: Vec<Session> = new
            .members
            .iter()
            .map(|member| Ok(self.living(&member.session)?.session()))
            .collect::<Result<_, SessionError>>()?;
        let distinct: BTreeSet<&SessionId> = sessions.iter().map(|session| &session.id).collect();
        let elsewhere: BTreeSet<Address> = new.elsewhere.iter().map(remote_address).collect();
        let is_distinct =
            distinct.len() == sessions.len() && elsewhere.len() == new.elsewhere.len();
        if distinct.len() + elsewhere.len() < MEMBERS_MIN || !is_distinct {
            return Err(SessionError::Invalid(
                "A link needs at least two different sessions.".into(),
            ));
        }
        let members = new.members.iter().chain(new.elsewhere.iter().map(|far| &far.member));
        let numbers: Vec<u32> = members.filter_map(|member| member.number).collect();
        if numbers.iter().collect::<BTreeSet<_>>().len() != numbers.len() {
            return Err(SessionError::Invalid(
                "Two members of a link have the same number.".into(),
            ));
        }
        Ok(sessions)
    }

    /// Returns the actor that a conversation records for the asker.
    pub(super) fn actor(&self, asker: &Asker) -> Result<Actor, SessionError> {
        match asker {
            Asker::Actor(actor) => Ok(actor.clone()),
            Asker::Session(id) => Ok(Actor::named(self.living(id)?.session().name)),
        }
    }

    /// Returns the active links, of one session or of all.
    ///
    /// # Errors
    /// [`SessionError`] if a link cannot be read.
    pub async fn links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError> {
        let streams = match of {
            Some(session) => self.links_with(session),
            None => self.links_known().iter().cloned().collect(),
        };
        let mut links = Vec::new();
        for stream in streams {
            links.extend(Some(self.link_of(&stream).await?).filter(|link| link.active));
        }
        links.extend(self.links_elsewhere(of).await?);
        Ok(links)
    }

    /// Returns the conversations of a session's links.
    pub(super) fn links_with(&self, session: &SessionId) -> Vec<StreamId> {
        let Some(rooms) = self.handle_of(session).map(|handle| handle.rooms().now()) else {
            return Vec::new();
        };
        rooms.intersection(&self.links_known()).cloned().collect()
    }

    /// Returns a link, active or closed.
    ///
    /// # Errors
    /// [`SessionError::NoLink`] if the conversation is not a link.
    pub async fn link_of(&self, id: &StreamId) -> Result<Link, SessionError> {
        let read = self.hall()?.view(id, |state| state.is_link().then(|| link_in(state))).await;
        match read {
            Ok(Some(link)) => Ok(Link { waits_for: self.waits_of_link(&link), ..link }),
            Ok(None) => Err(SessionError::NoLink),
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => self.link_elsewhere(id).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Closes a link for all its members. A person or any member may do so. Words whose turns are
    /// granted are still delivered, and running turns continue; a message that waits in the queue
    /// gets no turn any more. (Ruling 27.)
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn close_link(&self, id: &StreamId, by: &Asker) -> Result<Link, SessionError> {
        let link = self.link_of(id).await?;
        if !link.active {
            return Err(SessionError::NoLink);
        }
        if !self.links_known().contains(id) {
            return self.close_elsewhere(id, by).await;
        }
        let by = match by {
            Asker::Actor(actor) => actor.clone(),
            Asker::Session(session) => {
                let own = self.member_id(id, session).await?;
                Actor::named(own.ok_or_else(|| {
                    SessionError::Conflict("Only a member may close a link.".into())
                })?)
            }
        };
        self.hall()?.submit(id, ClientCommand::Archive { on: true, by }, None).await?;
        self.notify_of_sessions();
        Ok(Link { active: false, ..link })
    }

    /// Returns the name of a session in a conversation, if it is a member.
    pub(super) async fn member_id(
        &self,
        stream: &StreamId,
        session: &SessionId,
    ) -> Result<Option<ParticipantId>, SessionError> {
        let session = session.clone();
        let own = move |state: &Conversation| {
            state
                .participants()
                .iter()
                .find(|participant| is_session(participant, &session))
                .map(|participant| participant.id.clone())
        };
        Ok(self.hall()?.view(stream, own).await?)
    }

    /// Returns the gathering that a session takes part in.
    async fn gathering_of(&self, session: &SessionId) -> Result<Option<StreamId>, SessionError> {
        let hall = self.hall()?;
        let namespace = MEMBER_KEY.trim_end_matches(':');
        let claim = hall.store().log.claim(namespace, session.as_str(), hall.now()).await;
        Ok(claim.map_err(log_error)?.map(|claim| claim.stream))
    }

    /// Records the end of a session: it leaves its links and its gathering, its home is archived,
    /// its open requests are withdrawn, and all waits for it and by it are removed.
    pub(super) async fn leave(&self, session: &Session) -> Result<(), SessionError> {
        let leave = StreamCommand::Leave { at: address_of(session) };
        let gathering = self.gathering_of(&session.id).await?;
        let left = self.links_with(&session.id).into_iter().chain(gathering);
        let mut owed: Vec<OutboxEntry> =
            left.map(|stream| OutboxEntry::to_stream(&stream, &leave)).collect();
        owed.extend(self.leaving_elsewhere(&session.id).await?);
        let by = Actor::human(ParticipantId::moothall());
        self.hall()?
            .submit_owing(&session.id, ClientCommand::Archive { on: true, by }, None, owed)
            .await?;
        self.withdraw_requests(&session.id).await;
        // Saved last: after a crash in between, the session still counts as living and is ended
        // again.
        self.keep(session).await?;
        self.forget_listeners(&session.id).await
    }
}

/// True if a change makes its conversation a link.
fn binds_link(change: &Change) -> bool {
    matches!(change, Change::Bound { target } if target.starts_with(LINK_KEY))
}

fn namespace() -> &'static str {
    LINK_KEY.trim_end_matches(':')
}

/// Returns the addresses of the participants that are sessions, on any computer.
fn session_addresses(state: &Conversation) -> impl Iterator<Item = &Address> {
    let addresses = state.participants().iter().filter_map(|one| one.address.as_ref());
    addresses.filter(|address| address.kind == ADDRESS)
}

/// Returns a key in the form in which a conversation holds it.
fn bound(key: &str) -> String {
    format!("{LINK_KEY}{key}")
}

/// The separator of names in the title of a link.
const BETWEEN_NAMES: &str = " ↔ ";

fn title_of(sessions: &[Session], elsewhere: &[RemoteMember]) -> String {
    let here = sessions.iter().map(|session| session.name.to_string());
    let there = elsewhere.iter().map(|far| format!("{}@{}", far.session.name, far.computer.name));
    here.chain(there).collect::<Vec<_>>().join(BETWEEN_NAMES)
}

pub(crate) fn invite_as(invite: Invite, session: &Session, member: &Member) -> Invite {
    nickname_as(invite, session.name.as_str(), member)
}

/// Reads a conversation as a link. The participants that are sessions are its members. The caller
/// fills `waits_for`.
fn link_in(state: &Conversation) -> Link {
    let members = state.participants().iter().filter_map(|participant| {
        let address = participant.address.as_ref().filter(|address| address.kind == ADDRESS)?;
        Some(Member {
            session: SessionId::new(address.local_id.as_str()),
            computer: address.computer.clone(),
            name: Some(participant.name().to_owned()),
            number: participant.number,
            role: participant.profile.roles().first().cloned(),
        })
    });
    Link {
        id: state.stream().clone(),
        title: state.name().to_owned(),
        members: members.collect(),
        created_at: state.created_at(),
        active: !state.is_archived(),
        waits_for: Vec::new(),
    }
}
