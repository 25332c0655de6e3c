//! Links that another computer asks this one to make.

use std::time::Duration;

use moothall_kernel::command::Actor;
use moothall_kernel::ids::{ComputerId, ParticipantId, StreamId};
use moothall_kernel::link::home_of;
use moothall_kernel::names;
use moothall_kernel::participant::Address;

use super::remote::{RemoteCaller, RemoteRight};
use super::warrant::AuthorizedRequest;
use crate::computers::{
    ComputerError, PairedComputer, ProposedLink, ProposedMember, RemoteMember, RemoteRefusal,
    RemoteRefusalKind, RemoteSession,
};
use crate::hall::Hall;
use crate::sessions::{ADDRESS, Asker, LINK_EXCHANGES_MAX, LinkState, Member, NewLink, SessionId};

/// Longest wait for a third computer. The computer that proposes the link waits during that time.
const THIRD_WITHIN: Duration = Duration::from_secs(3);

/// The members of a link that another computer proposes.
#[derive(Default)]
struct CheckedMembers {
    here: Vec<Member>,
    elsewhere: Vec<RemoteMember>,
}

impl Hall {
    /// Makes a link that another computer proposes, or finds the existing one. Returns its
    /// conversation, and true if it was made now.
    ///
    /// # Errors
    /// The refusal for that computer; no link was made then.
    pub(super) async fn link_for_remote(
        &self,
        caller: &RemoteCaller,
        link: ProposedLink,
    ) -> Result<(StreamId, bool), RemoteRefusal> {
        caller.must(RemoteRight::Link)?;
        let ProposedLink { title, exchanges_max, members } = link;
        let own = self.own_computer().ok_or_else(|| invalid("This computer has no id."))?;
        let addresses: Vec<Address> = members.iter().map(address).collect();
        if home_of(own.id.as_str(), addresses.iter()) != own.id.as_str() {
            return Err(invalid("A link of these members lives on another computer."));
        }
        if exchanges_max.is_some_and(|most| !(1..=LINK_EXCHANGES_MAX).contains(&most)) {
            return Err(invalid("The number of exchanges is not one that a link can have."));
        }
        let mut checked = CheckedMembers::default();
        for member in members {
            self.check_member(caller, &own, member, &mut checked).await?;
        }
        let CheckedMembers { here, elsewhere } = checked;
        if here.is_empty() || elsewhere.is_empty() {
            return Err(invalid("A link across has members on this computer and on others."));
        }
        // The link is made in the server's name. The members' addresses show that another computer
        // takes part.
        let by = Asker::Actor(Actor::human(ParticipantId::moothall()));
        let new = NewLink { members: here, elsewhere, title, by, exchanges_max };
        let (link, state) = self.sessions()?.link(AuthorizedRequest::new(new)).await?;
        Ok((link.id, state == LinkState::Created))
    }

    /// Checks one proposed member, a session of this computer, of the caller or of a third
    /// computer, and adds it to `checked`.
    async fn check_member(
        &self,
        caller: &RemoteCaller,
        own: &PairedComputer,
        proposed: ProposedMember,
        checked: &mut CheckedMembers,
    ) -> Result<(), RemoteRefusal> {
        let ProposedMember { computer, session, name, number, role } = proposed;
        let id = SessionId::new(session.id.as_str());
        let at = Member { session: id, computer, name, number, role };
        if at.computer == own.id.as_str() {
            let session = self.living_for_remote(&session.id)?.session.id;
            checked.here.push(Member { session, computer: String::new(), ..at });
            return Ok(());
        }
        if [&session.id, &session.name].iter().any(|name| names::check_id(name).is_err()) {
            return Err(invalid("The name or the id of a session is not one."));
        }
        let (computer, session) = if at.computer == caller.computer.as_str() {
            let computer =
                PairedComputer { id: caller.computer.clone(), name: caller.name.clone() };
            (computer, session.cleaned())
        } else {
            self.member_of_third(&at.computer, &session).await?
        };
        checked.elsewhere.push(RemoteMember { computer, session, member: at });
        Ok(())
    }

    /// Asks a third computer for its session, and returns the answer. The word of the proposing
    /// computer is not enough: this computer and the third one have to be paired, and the third one
    /// has to allow this one the link.
    async fn member_of_third(
        &self,
        computer: &str,
        session: &RemoteSession,
    ) -> Result<(PairedComputer, RemoteSession), RemoteRefusal> {
        let directory = self.directory_of_computers().map_err(refusal_of_third)?;
        let Some(third) = directory.with_id(&ComputerId::new(computer)) else {
            let own = directory.own().map(|own| own.name).unwrap_or_default();
            return Err(invalid(&format!(
                "A link of these members lives on {own}, which is not paired with the computer of \
                 {name}. Pair the two: `moothall computers invite` on one of them.",
                name = session.name
            )));
        };
        let asked = directory.find(&third, &session.id, true);
        match tokio::time::timeout(THIRD_WITHIN, asked).await {
            Ok(found) => Ok((third.clone(), found.map_err(refusal_of_third)?)),
            Err(_) => {
                let away = ComputerError::Away { name: third.name, since: None };
                Err(refusal_of_third(away))
            }
        }
    }
}

/// Returns the refusal of a proposed link, because a third computer did not confirm its session.
fn refusal_of_third(error: ComputerError) -> RemoteRefusal {
    match error {
        ComputerError::Refused { name, refusal: RemoteRefusal { kind, message } } => {
            RemoteRefusal { kind, message: format!("{name} refused it: {message}") }
        }
        other => RemoteRefusal { kind: RemoteRefusalKind::Other, message: other.to_string() },
    }
}

fn address(member: &ProposedMember) -> Address {
    Address {
        computer: member.computer.clone(),
        kind: ADDRESS.to_owned(),
        local_id: member.session.id.clone(),
    }
}

fn invalid(why: &str) -> RemoteRefusal {
    RemoteRefusal { kind: RemoteRefusalKind::Invalid, message: why.to_owned() }
}
