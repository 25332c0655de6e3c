//! Links that live on other computers, and links of this computer with members on others.
//!
//! A link lives on one computer, its home ([`home_of`]). Another computer knows the link only from
//! its own sessions: the home conversation of each records that the session has joined the link.
//! (Rulings 34 and 35.)

use std::collections::BTreeSet;

use moothall_engine::computers::{
    ComputerDirectory, ComputerError, PairedComputer, ProposedLink, ProposedMember, RemoteAnswer,
    RemoteMember, RemoteQuestion, RemoteSession,
};
use moothall_engine::outbox::{OutboxEntry, PostCommand};
use moothall_engine::sessions::{
    ADDRESS, Asker, Link, LinkState, Member, NewLink, Session, SessionError, SessionId, address_of,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{EngineCommand, Invite};
use moothall_kernel::ids::{ComputerId, StreamId};
use moothall_kernel::link::{FarMember, JoinedConversation, PartReason, home_of};
use moothall_kernel::participant::{Address, TerminalReach};

use crate::directory::Sessions;
use crate::naming::nickname_as;

/// A session here that has joined a link.
pub(crate) struct JoinedMember {
    pub(crate) session: SessionId,
    pub(crate) joined: JoinedConversation,
}

impl JoinedMember {
    /// Returns the link as surfaces show it.
    fn link(&self) -> Link {
        let member = |member: &FarMember| Member {
            session: SessionId::new(member.address.local_id.as_str()),
            computer: member.address.computer.clone(),
            name: Some(member.name.clone()),
            number: member.number,
            role: None,
        };
        let JoinedConversation { stream, title, created_at, members, .. } = &self.joined;
        Link {
            id: stream.clone(),
            title: title.clone(),
            members: members.iter().map(member).collect(),
            created_at: *created_at,
            active: true,
            waits_for: Vec::new(),
        }
    }
}

impl Sessions {
    /// Returns the links of other computers that a session has joined.
    ///
    /// # Errors
    /// [`SessionError`] if its home cannot be read.
    pub(crate) async fn joined_links(
        &self,
        session: &SessionId,
    ) -> Result<Vec<JoinedConversation>, SessionError> {
        let hall = self.hall()?;
        let links = hall.view(session, |state| {
            state.joined().filter(|joined| joined.link).cloned().collect::<Vec<_>>()
        });
        Ok(links.await?)
    }

    fn has_computers(&self) -> Result<bool, SessionError> {
        Ok(self.hall()?.computers().is_some_and(|all| !all.paired().is_empty()))
    }

    /// Returns the memberships of living sessions in links of other computers: of one session, or
    /// of all.
    async fn joined_members(
        &self,
        of: Option<&SessionId>,
    ) -> Result<Vec<JoinedMember>, SessionError> {
        // Without paired computers, the homes of all sessions need not be read. The home of one
        // given session is read always, because its reports may come before the computers are
        // opened.
        if of.is_none() && !self.has_computers()? {
            return Ok(Vec::new());
        }
        let living = self.list(false).into_iter().map(|status| status.session.id);
        let wanted = living.filter(|session| of.is_none_or(|of| of == session));
        let mut members = Vec::new();
        for session in wanted {
            for joined in self.joined_links(&session).await? {
                members.push(JoinedMember { session: session.clone(), joined });
            }
        }
        Ok(members)
    }

    /// Returns the links of other computers, each once: those of one session, or of all.
    ///
    /// # Errors
    /// [`SessionError`] if the home of a session cannot be read.
    pub(crate) async fn links_elsewhere(
        &self,
        of: Option<&SessionId>,
    ) -> Result<Vec<Link>, SessionError> {
        let mut links: Vec<Link> = Vec::new();
        for member in self.joined_members(of).await? {
            if links.iter().all(|link| link.id != member.joined.stream) {
                links.push(member.link());
            }
        }
        Ok(links)
    }

    /// Returns a link of another computer.
    ///
    /// # Errors
    /// [`SessionError::NoLink`] if no session here has joined it.
    pub(crate) async fn link_elsewhere(&self, id: &StreamId) -> Result<Link, SessionError> {
        let links = self.links_elsewhere(None).await?;
        links.into_iter().find(|link| link.id == *id).ok_or(SessionError::NoLink)
    }

    /// Ends a link of another computer for all its members. On this computer the link ends
    /// immediately: nothing more of it is typed. The home of the link learns of the end later.
    /// (Ruling 35.)
    ///
    /// # Errors
    /// [`SessionError`].
    pub(crate) async fn close_elsewhere(
        &self,
        id: &StreamId,
        by: &Asker,
    ) -> Result<Link, SessionError> {
        let mut members = self.joined_members(None).await?;
        members.retain(|member| member.joined.stream == *id);
        let Some(first) = members.first() else { return Err(SessionError::NoLink) };
        let link = Link { active: false, ..first.link() };
        if let Asker::Session(session) = by {
            let Some(own) = members.iter().position(|member| member.session == *session) else {
                return Err(SessionError::Conflict("Only a member may close a link.".into()));
            };
            // The home of the link takes the member in the first message as the one that closes the
            // link.
            members.swap(0, own);
        }
        for member in &members {
            let close = PostCommand::Close { link: id.clone(), session: member.session.clone() };
            self.part(member, PartReason::Closed, close).await?;
        }
        self.notify_of_sessions();
        Ok(link)
    }

    /// Ends a session's membership in a link of another computer, and owes that computer the
    /// message `row`, in one append.
    async fn part(
        &self,
        member: &JoinedMember,
        why: PartReason,
        row: PostCommand,
    ) -> Result<(), SessionError> {
        let JoinedConversation { computer, stream, .. } = &member.joined;
        let part = EngineCommand::Part { computer: computer.clone(), stream: stream.clone(), why };
        let owed = vec![row.entry(computer)];
        self.hall()?.submit_owing(&member.session, part, None, owed).await?;
        Ok(())
    }

    /// Returns the messages to other computers by which a session that ends leaves their links.
    pub(crate) async fn leaving_elsewhere(
        &self,
        session: &SessionId,
    ) -> Result<Vec<OutboxEntry>, SessionError> {
        let rows = self.joined_links(session).await?.into_iter().map(|joined| {
            PostCommand::Leave { link: joined.stream, session: session.clone() }
                .entry(&joined.computer)
        });
        Ok(rows.collect())
    }

    /// Makes a link with members on other computers, or returns the one with exactly these members.
    /// The home of the link, which may be this computer, makes it.
    ///
    /// # Errors
    /// [`SessionError`]; no link was made then, as far as this computer knows.
    pub(crate) async fn link_across(
        &self,
        new: NewLink,
        sessions: &[Session],
    ) -> Result<(Link, LinkState), SessionError> {
        let directory = self.hall()?.computers().ok_or(ComputerError::Absent)?;
        let own = directory.own().ok_or(ComputerError::Absent)?;
        let Some(first) = sessions.first() else {
            let why = "A link needs a member on this computer: make it on one of theirs.";
            return Err(SessionError::Invalid(why.into()));
        };
        let addresses: Vec<Address> = sessions
            .iter()
            .map(address_of)
            .chain(new.elsewhere.iter().map(remote_address))
            .collect();
        let id = home_of(own.id.as_str(), addresses.iter());
        let home = new.elsewhere.iter().find(|member| member.computer.id.as_str() == id);
        let Some(home) = home.map(|member| member.computer.clone()) else {
            return self.link_here(new, sessions).await;
        };
        let key = key_of(&addresses.iter().map(Address::full_id).collect());
        if let Some(link) = self.joined_of(&first.id, &key).await? {
            return Ok((link, LinkState::Reused));
        }
        self.propose(&*directory, (own, home), (new, key), sessions).await
    }

    /// Returns the link of another computer with exactly the members of a key, if the session has
    /// joined one.
    ///
    /// # Errors
    /// [`SessionError`] if the home of the session cannot be read.
    pub(crate) async fn joined_of(
        &self,
        session: &SessionId,
        key: &str,
    ) -> Result<Option<Link>, SessionError> {
        if !self.has_computers()? {
            return Ok(None);
        }
        let links = self.joined_members(Some(session)).await?;
        let alike = links.into_iter().find(|member| key_of_joined(&member.joined) == key);
        Ok(alike.map(|member| member.link()))
    }

    /// Starts a task that ends the links of other computers that a session has joined and that are
    /// doubles: members left such a link, and the remaining members have another link already.
    /// Among the computers of the remaining members, the one with the smallest id decides, because
    /// a new link of these members would live there. The link that lives on the deciding computer
    /// stays. Without such a link, the oldest one stays. (Ruling 34.)
    pub(crate) fn begin_ending_doubles(&self, session: &SessionId) {
        let Ok(hall) = self.hall() else { return };
        let (own, session) = (self.clone(), session.clone());
        hall.spawn(async move {
            if let Err(error) = own.end_doubles(&session).await {
                // The next change of a link that the session has joined retries this.
                tracing::warn!(%session, %error, "a second link of the same members stays open");
            }
        });
    }

    /// Ends the doubles for which this computer decides: see [`Sessions::begin_ending_doubles`].
    async fn end_doubles(&self, session: &SessionId) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let Some(own) = hall.computers().and_then(|directory| directory.own()) else {
            return Ok(());
        };
        let members = self.joined_members(Some(session)).await?;
        for member in &members {
            let joined = &member.joined;
            let addresses = joined.members.iter().map(|far| &far.address);
            if home_of(own.id.as_str(), addresses) != own.id.as_str() {
                continue;
            }
            let key = key_of_joined(joined);
            let age = |link: &JoinedConversation| {
                (link.created_at, link.computer.clone(), link.stream.clone())
            };
            let is_older = |other: &JoinedMember| {
                key_of_joined(&other.joined) == key && age(&other.joined) < age(joined)
            };
            if self.link_with_key(&key).await?.is_some() || members.iter().any(is_older) {
                let close =
                    PostCommand::Close { link: joined.stream.clone(), session: session.clone() };
                self.part(member, PartReason::Closed, close).await?;
                self.notify_of_sessions();
            }
        }
        Ok(())
    }

    /// Asks the home of a link to make it, and waits until the sessions here have joined it. `key`
    /// is the key of the link's members.
    async fn propose(
        &self,
        directory: &dyn ComputerDirectory,
        (own, home): (PairedComputer, PairedComputer),
        (new, key): (NewLink, String),
        sessions: &[Session],
    ) -> Result<(Link, LinkState), SessionError> {
        let NewLink { members, elsewhere, title, exchanges_max, .. } = new;
        let mut proposed = Vec::new();
        for member in &members {
            let session = RemoteSession::from(&self.find(member.session.as_str())?);
            proposed.push(proposed_member(&own.id, session, member));
        }
        let far = elsewhere.into_iter().map(|RemoteMember { computer, session, member }| {
            proposed_member(&computer.id, session, &member)
        });
        proposed.extend(far);
        let question =
            RemoteQuestion::Propose(ProposedLink { title, exchanges_max, members: proposed });
        let answer = directory.ask(&home, question).await?;
        let RemoteAnswer::Linked { stream, created } = answer else {
            return Err(ComputerError::unfit(&home, &answer).into());
        };
        let hall = self.hall()?;
        for session in sessions {
            let (computer, stream, key) = (home.id.clone(), stream.clone(), key.clone());
            // A link that members left may live on a computer that has no member any more.
            let is_in = move |state: &Conversation| {
                state.joined_on(&computer, &stream).is_some()
                    || state.joined().any(|it| it.stream == stream && key_of_joined(it) == key)
            };
            if !hall.comes_about(&session.id, is_in).await? {
                return Err(ComputerError::Away { name: home.name, since: None }.into());
            }
        }
        self.notify_of_sessions();
        let state = if created { LinkState::Created } else { LinkState::Reused };
        Ok((self.link_elsewhere(&stream).await?, state))
    }

    /// Returns the members of a link except `but`. A session of this computer is named by its id, a
    /// session of another computer as `name@computer`, with the name that this computer has for the
    /// other.
    pub(crate) fn recipients(&self, link: &Link, but: &SessionId) -> Vec<SessionId> {
        let directory = self.hall().ok().and_then(|hall| hall.computers());
        let label = |computer: &str| directory.as_ref()?.with_id(&ComputerId::new(computer));
        let word = |member: &Member| match label(&member.computer) {
            Some(computer) => {
                let name = member.name.as_deref().unwrap_or(member.session.as_str());
                let name = name.strip_suffix(&format!(".{}", computer.name)).unwrap_or(name);
                SessionId::new(format!("{name}@{}", computer.name))
            }
            None => member.session.clone(),
        };
        link.members.iter().filter(|member| member.session != *but).map(word).collect()
    }

    /// True if a session shares a link with a session of another computer. `word` is the other
    /// session's id, or its name on that computer.
    ///
    /// # Errors
    /// [`SessionError`] if a conversation cannot be read.
    pub(crate) async fn meets_elsewhere(
        &self,
        session: &SessionId,
        computer: &ComputerId,
        word: &str,
    ) -> Result<bool, SessionError> {
        let links = self.links(Some(session)).await?;
        let mut members = links.iter().flat_map(|link| &link.members);
        Ok(members.any(|member| is_elsewhere(member, computer, word)))
    }
}

/// True if a member is the session with this id or name on another computer. In a link of this
/// computer its name is `name.computer`.
pub(crate) fn is_elsewhere(member: &Member, computer: &ComputerId, word: &str) -> bool {
    let name = member.name.as_deref().unwrap_or_default();
    let is_named =
        name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('.'));
    member.computer == computer.as_str() && (member.session.as_str() == word || is_named)
}

/// Returns the key of a set of members, within the namespace of links. Each is named by its full
/// id, which for a session of this computer is its id alone.
pub(crate) fn key_of(members: &BTreeSet<String>) -> String {
    let set = members.iter().map(String::as_str).collect::<Vec<_>>().join(",");
    // Hashed, because many ids would exceed the length of a claim.
    blake3::hash(set.as_bytes()).to_hex().to_string()
}

/// Returns the key of the members of a link of another computer.
fn key_of_joined(joined: &JoinedConversation) -> String {
    key_of(&joined.members.iter().map(|member| member.address.full_id()).collect())
}

/// Returns the address of a member of another computer.
pub(crate) fn remote_address(member: &RemoteMember) -> Address {
    Address {
        computer: member.computer.id.to_string(),
        kind: ADDRESS.to_owned(),
        local_id: member.session.id.clone(),
    }
}

fn proposed_member(
    computer: &ComputerId,
    session: RemoteSession,
    member: &Member,
) -> ProposedMember {
    let Member { name, number, role, .. } = member.clone();
    ProposedMember { computer: computer.to_string(), session, name, number, role }
}

/// Returns the invitation of a member of another computer.
pub(crate) fn invite_elsewhere(member: &RemoteMember) -> Invite {
    let invite = member.session.invitation(&member.computer);
    let own_name = invite.participant.clone();
    let invite = nickname_as(invite, &own_name, &member.member);
    Invite { reach: Some(TerminalReach::Drivers), ..invite }
}
