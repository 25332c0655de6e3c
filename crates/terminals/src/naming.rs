//! Names of sessions. A program speaks under its session's name in every conversation, so living
//! sessions have distinct names, and none may look like another client's name.

use std::collections::BTreeSet;

use moothall_engine::sessions::{Member, SessionError, SessionId};
use moothall_kernel::command::Invite;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::names::{self, NameLook};

use crate::directory::Sessions;
use crate::faults::log_error;

impl Sessions {
    /// Returns the names of the sessions that live, or are being started.
    pub(super) fn names_in_use(&self) -> BTreeSet<ParticipantId> {
        let living = self.list(false).into_iter().map(|status| status.session.name);
        living.chain(self.shared.reserved.all()).collect()
    }

    /// True if a living or starting session has a name that looks like this one.
    pub(super) fn is_in_use(&self, name: &str) -> bool {
        self.names_in_use().iter().any(|used| names::are_alike(used.as_str(), name))
    }

    /// Returns the living session of this name.
    pub(super) fn living_named(&self, name: &ParticipantId) -> Option<SessionId> {
        let named = self.list(false).into_iter().find(|status| status.session.name == *name);
        named.map(|status| status.session.id)
    }

    /// True if any session, living or ended, has or had a name like this.
    pub(crate) fn is_name_used(&self, name: &ParticipantId) -> bool {
        self.list(true)
            .iter()
            .any(|status| names::are_alike(status.session.name.as_str(), name.as_str()))
    }

    /// True if a living session has this name.
    pub(crate) fn has_living(&self, name: &ParticipantId) -> bool {
        self.list(false).iter().any(|status| status.session.name == *name)
    }

    /// True if the name is valid and free.
    pub(super) async fn is_free(&self, name: &str) -> bool {
        self.free_name("", Some(name)).await.is_ok()
    }

    /// Returns the names of all clients that have or had a credential. A session with one of these
    /// names would impersonate that client.
    async fn principals(&self) -> Result<Vec<NameLook>, SessionError> {
        let hall = self.hall()?;
        let names = hall.store().principals.names().await.map_err(log_error)?;
        Ok(names.into_iter().map(|(name, _)| NameLook::of(&name)).collect())
    }

    /// Returns the given name, or an error if the name is invalid or not free. Without a name,
    /// returns the client's name, followed by the first free number if the name alone is taken. A
    /// client whose name is not a valid id gets `session` instead.
    pub(super) async fn free_name(
        &self,
        client: &str,
        name: Option<&str>,
    ) -> Result<ParticipantId, SessionError> {
        let principals = self.principals().await?;
        let lives = |name: &str| self.is_in_use(name);
        let is_principal = |name: &str| {
            let look = NameLook::of(name);
            principals.iter().any(|principal| principal.is_like(&look))
        };
        let taken = |name: &str| lives(name) || is_principal(name);
        if let Some(name) = name {
            names::check_chosen_id(name).map_err(|fault| {
                SessionError::Invalid(format!("The name {name:?} {}.", fault.explain()))
            })?;
            if lives(name) {
                return Err(SessionError::Conflict(format!(
                    "A session called {name} is already live; choose another name."
                )));
            }
            if is_principal(name) {
                let why =
                    "is, or looks like, the name of a principal with a token; choose another name";
                return Err(SessionError::Conflict(format!("{name} {why}.")));
            }
            return Ok(ParticipantId::new(name));
        }
        let stem = if names::check_chosen_id(client).is_ok() { client } else { "session" };
        let numbered = (2..).map(|number: u32| format!("{stem}-{number}"));
        let free = std::iter::once(stem.to_owned()).chain(numbered).find(|name| !taken(name));
        Ok(ParticipantId::new(free.unwrap_or_default()))
    }
}

/// Returns an invitation with the name, number and role of a member. `own` is the session's own
/// name; a member with that name gets no nickname.
pub(crate) fn nickname_as(mut invite: Invite, own: &str, member: &Member) -> Invite {
    invite.profile.nickname = member.name.clone().filter(|name| name != own);
    invite.profile.roles = member.role.clone().map(|role| vec![role]);
    Invite { number: member.number, ..invite }
}
