//! Links that another computer asks this one to make.

use moothall_kernel::command::Actor;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::link::home_of;
use moothall_kernel::names;
use moothall_kernel::participant::Address;

use super::remote::{RemoteCaller, RemoteRight};
use super::warrant::AuthorizedRequest;
use crate::computers::{
    PairedComputer, ProposedLink, ProposedMember, RemoteMember, RemoteRefusal, RemoteRefusalKind,
};
use crate::hall::Hall;
use crate::sessions::{ADDRESS, Asker, LINK_EXCHANGES_MAX, LinkState, Member, NewLink, SessionId};

/// The members of a link that another computer proposes.
#[derive(Default)]
struct CheckedMembers {
    here: Vec<Member>,
    elsewhere: Vec<RemoteMember>,
}

impl Hall {
    /// Makes a link that another computer proposes, or finds it. Returns its conversation, and true
    /// if it was made.
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
            self.check_member(caller, &own, member, &mut checked)?;
        }
        let CheckedMembers { here, elsewhere } = checked;
        if here.is_empty() || elsewhere.is_empty() {
            return Err(invalid("A link of two computers has members on both."));
        }
        // The members say by their addresses that another computer takes part.
        let by = Asker::Actor(Actor::human(ParticipantId::moothall()));
        let new = NewLink { members: here, elsewhere, title, by, exchanges_max };
        let (link, state) = self.sessions()?.link(AuthorizedRequest::new(new)).await?;
        Ok((link.id, state == LinkState::Created))
    }

    /// Adds a member that is a session here or of the caller.
    fn check_member(
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
        } else if at.computer == caller.computer.as_str() {
            let names = [&session.id, &session.name];
            if names.iter().any(|name| names::check_id(name).is_err()) {
                return Err(invalid("The name or the id of a session is not one."));
            }
            let computer =
                PairedComputer { id: caller.computer.clone(), name: caller.name.clone() };
            let session = session.cleaned();
            checked.elsewhere.push(RemoteMember { computer, session, member: at });
        } else {
            return Err(invalid("A link has members on two computers at most, in this version."));
        }
        Ok(())
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
