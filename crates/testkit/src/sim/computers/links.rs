//! Links between the sessions of two computers, made and ended as the real sessions do it.

use moothall_engine::answers::HallError;
use moothall_engine::computers::{
    ComputerError, PairedComputer, ProposedLink, ProposedMember, RemoteAnswer, RemoteMember,
    RemoteQuestion, RemoteSession,
};
use moothall_engine::outbox::{OutboxEntry, PostCommand, StreamCommand};
use moothall_engine::ports::Session;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{
    ADDRESS, Asker, Link, LinkState, Member, NewLink, SessionDirectory as _, SessionError,
    SessionId, address_of,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Invite, Post};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::link::{JoinedConversation, PartReason, home_of};
use moothall_kernel::participant::{Address, TerminalReach};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::state::LINK_KEY;
use moothall_kernel::time::Timestamp;

use super::hall::once;
use super::sessions::{PRESENT, Residence, invite_of};

/// Number of answers that the members of a link may exchange before a person has to look.
const EXCHANGES_MAX: u32 = 3;

/// A link of the living session, as its computer knows it.
pub(super) enum KnownLink {
    /// It lives here.
    Here(StreamId),
    /// It lives on another computer.
    Joined(JoinedConversation),
}

fn address(member: &RemoteMember) -> Address {
    Address {
        computer: member.computer.id.to_string(),
        kind: ADDRESS.to_owned(),
        local_id: member.session.id.clone(),
    }
}

fn member(session: &Session) -> Member {
    Member {
        session: session.id.clone(),
        computer: String::new(),
        name: None,
        number: None,
        role: None,
    }
}

fn link(id: StreamId) -> Link {
    Link {
        id,
        title: String::new(),
        members: Vec::new(),
        created_at: Timestamp::default(),
        active: true,
        waits_for: Vec::new(),
    }
}

/// Returns the streams of the links that live on this computer and are open.
pub(super) async fn links_here(hall: &ResidentHall) -> Result<Vec<StreamId>, HallError> {
    let held = hall.store().log.claims(LINK_KEY.trim_end_matches(':'), hall.now()).await?;
    Ok(held.into_iter().map(|claim| claim.stream).collect())
}

impl Residence {
    /// Makes a link with the session of another computer, or finds it.
    pub(super) async fn link_with(&self, computer: PairedComputer) -> Result<(), SessionError> {
        let own = self.living().ok_or(SessionError::NoLink)?;
        let directory = self.hall_now()?.computers().ok_or(ComputerError::Absent)?;
        let session = directory.find(&computer, PRESENT, true).await?;
        let far = Member {
            session: SessionId::new(session.id.as_str()),
            computer: computer.id.to_string(),
            ..member(&own)
        };
        let elsewhere = vec![RemoteMember { computer, session, member: far }];
        let by = Asker::Session(own.id.clone());
        let members = vec![member(&own)];
        let new = NewLink { members, elsewhere, title: None, by, exchanges_max: None };
        self.make_link(new).await.map(drop)
    }

    /// Makes a link, or returns the one of these members.
    pub(super) async fn make_link(&self, new: NewLink) -> Result<(Link, LinkState), SessionError> {
        let _making = self.making.lock().await;
        let hall = self.hall_now()?;
        let own = self.living().ok_or(SessionError::NoLink)?;
        let far = new.elsewhere.first().cloned().ok_or(SessionError::NoLink)?;
        let directory = hall.computers().ok_or(ComputerError::Absent)?;
        let here = directory.own().ok_or(ComputerError::Absent)?;
        let addresses = [address_of(&own), address(&far)];
        if home_of(here.id.as_str(), addresses.iter()) == here.id.as_str() {
            return self.make_here(&hall, &own, &far).await;
        }
        let proposed = |computer: &PairedComputer, session| ProposedMember {
            computer: computer.id.to_string(),
            session,
            name: None,
            number: None,
            role: None,
        };
        let status = self.find(own.id.as_str())?;
        let members = vec![
            proposed(&here, RemoteSession::from(&status)),
            proposed(&far.computer, far.session.clone()),
        ];
        let question =
            RemoteQuestion::Propose(ProposedLink { title: None, exchanges_max: None, members });
        let answer = directory.ask(&far.computer, question).await?;
        let RemoteAnswer::Linked { stream, .. } = answer else {
            return Err(ComputerError::unfit(&far.computer, &answer).into());
        };
        let (computer, wanted) = (far.computer.id.clone(), stream.clone());
        let is_in = move |state: &Conversation| state.joined_on(&computer, &wanted).is_some();
        hall.comes_about(&own.id, is_in).await?;
        Ok((link(stream), LinkState::Created))
    }

    async fn make_here(
        &self,
        hall: &ResidentHall,
        own: &Session,
        far: &RemoteMember,
    ) -> Result<(Link, LinkState), SessionError> {
        let mut members = [address_of(own).full_id(), address(far).full_id()];
        members.sort();
        let key = format!("{LINK_KEY}{}", members.join(","));
        let (space, name) = key.split_once(':').unwrap_or_default();
        let held = hall.store().log.claim(space, name, hall.now()).await;
        if let Some(claim) = held.map_err(HallError::from)? {
            return Ok((link(claim.stream), LinkState::Reused));
        }
        let by = Actor::human(ParticipantId::MOOTHALL);
        let policy = Policy {
            name: PolicyName::LINK,
            max_exchanges_without_human: EXCHANGES_MAX,
            ..Policy::default()
        };
        let stream = hall.create("Link".into(), policy, by.clone(), None).await?.stream;
        let invite = far.session.invitation(&far.computer);
        let theirs = Invite { reach: Some(TerminalReach::Drivers), ..invite };
        let controls =
            vec![Control::Invite(invite_of(own)), Control::Invite(theirs), Control::Hold(key)];
        hall.submit(&stream, ClientCommand::Control { by, controls }, None).await?;
        Ok((link(stream), LinkState::Created))
    }

    fn hall_now(&self) -> Result<ResidentHall, SessionError> {
        let hall = self.hall.get().and_then(|hall| hall.enter());
        hall.ok_or_else(|| HallError::ShuttingDown.into())
    }

    /// Returns the open links of the living session.
    pub(super) async fn known_links(
        &self,
        hall: &ResidentHall,
    ) -> Result<Vec<KnownLink>, HallError> {
        let Some(own) = self.living() else { return Ok(Vec::new()) };
        let joined = |state: &Conversation| {
            state.joined().filter(|joined| joined.link).cloned().collect::<Vec<_>>()
        };
        let joined = hall.view(&own.id, joined).await?;
        let mut links: Vec<KnownLink> = joined.into_iter().map(KnownLink::Joined).collect();
        for stream in links_here(hall).await? {
            let at = address_of(&own);
            let is_in = move |state: &Conversation| {
                state.agents().any(|one| one.address.as_ref() == Some(&at))
            };
            if hall.view(&stream, is_in).await? {
                links.push(KnownLink::Here(stream));
            }
        }
        Ok(links)
    }

    /// Says words in a link as the living session.
    pub(super) async fn say_in(
        &self,
        hall: &ResidentHall,
        link: &KnownLink,
        (serial, text): (u64, String),
    ) -> Result<(), HallError> {
        let Some(own) = self.living() else { return Ok(()) };
        match link {
            KnownLink::Here(stream) => {
                let post = Post::new(Actor::named(own.name), text);
                hall.submit(stream, ClientCommand::Post(post), None).await?;
            }
            KnownLink::Joined(joined) => {
                let words = PostCommand::Words {
                    link: joined.stream.clone(),
                    session: own.id.clone(),
                    text,
                    typed: false,
                    elsewhere: Vec::new(),
                };
                let once = once(format!("words/{serial}"));
                hall.owe(&own.id, vec![words.entry(&joined.computer)], once).await?;
            }
        }
        Ok(())
    }

    /// Closes a link for both members.
    pub(super) async fn close(
        &self,
        hall: &ResidentHall,
        link: &KnownLink,
    ) -> Result<(), HallError> {
        let Some(own) = self.living() else { return Ok(()) };
        match link {
            KnownLink::Here(stream) => {
                let by = Actor::named(own.name);
                hall.submit(stream, ClientCommand::Archive { on: true, by }, None).await?;
            }
            KnownLink::Joined(JoinedConversation { computer, stream, .. }) => {
                let close = PostCommand::Close { link: stream.clone(), session: own.id.clone() };
                let (computer, stream) = (computer.clone(), stream.clone());
                let owed = vec![close.entry(&computer)];
                let part = EngineCommand::Part { computer, stream, why: PartReason::Closed };
                hall.submit_owing(&own.id, part, None, owed).await?;
            }
        }
        Ok(())
    }

    /// Returns what is owed when a session ends: it leaves its links.
    pub(super) async fn leaving(
        &self,
        hall: &ResidentHall,
        session: &Session,
    ) -> Result<Vec<OutboxEntry>, HallError> {
        let links = self.known_links(hall).await?.into_iter().map(|link| match link {
            KnownLink::Here(stream) => {
                let leave = StreamCommand::Leave { at: address_of(session) };
                OutboxEntry::to_stream(&stream, &leave)
            }
            KnownLink::Joined(JoinedConversation { computer, stream, .. }) => {
                PostCommand::Leave { link: stream, session: session.id.clone() }.entry(&computer)
            }
        });
        Ok(links.collect())
    }
}
