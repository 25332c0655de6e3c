//! The caller of a session's token, which is the session's program.

use std::sync::Arc;

use moothall_kernel::participant::Kind;

use super::{Access, Caller, Principal, Proof, Scope, Scopes, TokenId};
use crate::sessions::Resident;

/// The scopes of a session: what an agent needs for its work, without any decision that is a
/// person's.
const OF_SESSION: Scopes = Scopes::of(&[
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ParticipantsInvite,
    Scope::SessionsDrive,
]);

impl Access {
    /// Returns the uid as which the program of a session runs, if `presented` is that session's
    /// token. `None` if the program runs as the server's own user, and for all other credentials.
    pub fn user_of_session(&self, presented: &str) -> Option<u32> {
        self.hall.inner.residents.by_token(presented)?.run_as.map(|user| user.uid)
    }

    /// Returns the caller for the token of a living session: an agent under the session's name.
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
