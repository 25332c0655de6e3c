//! The program of a session as a caller, by the token of its environment.

use std::sync::Arc;

use moothall_kernel::participant::Kind;

use super::{Access, Caller, Principal, Proof, Scope, Scopes, TokenId};
use crate::sessions::Resident;

/// What a session may do: what people give an agent to work with, and nothing of what they decide
/// themselves.
const OF_SESSION: Scopes = Scopes::of(&[
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ParticipantsInvite,
    Scope::SessionsDrive,
]);

impl Access {
    /// The user of this computer as whom the program of the living session runs whose token this
    /// is, by number. Nothing where it is the server's own user, and for every other credential.
    pub fn user_of_session(&self, presented: &str) -> Option<u32> {
        self.hall.inner.residents.by_token(presented)?.run_as.map(|user| user.uid)
    }

    /// The living session whose token this is. It is an agent under the session's name.
    pub(super) fn of_session(&self, presented: &str) -> Option<Caller> {
        let Resident { session, name, reach, .. } =
            self.hall.inner.residents.by_token(presented)?;
        let principal = Principal { id: name, kind: Kind::Agent };
        let token = TokenId::new(format!("session-{session}"));
        let proof =
            Proof { principal, token, parent: None, expires_at: None, session: Some(session) };
        Some(Caller { proof: Some(Arc::new(proof)), scopes: OF_SESSION, reach })
    }
}
