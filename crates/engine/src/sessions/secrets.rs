//! The secret in the environment of a session's program, which says whose program it is.

use uuid::Uuid;

use super::{SessionId, Sessions, UnixUser};

impl Sessions {
    /// The living session whose environment holds this secret.
    pub fn by_token(&self, token: &str) -> Option<SessionId> {
        let hash = hash_of(token);
        self.list(false).into_iter().find(|status| status.session.token_hash == hash).map(|status| status.session.id)
    }

    /// The user that the program of the living session runs as whose secret this is, where that is not the server's own.
    pub(crate) fn user_by_token(&self, token: &str) -> Option<UnixUser> {
        self.seat_of(&self.by_token(token)?)?.session().run_as
    }
}

pub(super) fn hash_of(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

/// A secret that cannot be guessed: the hash of more than 256 random bits.
pub(super) fn fresh_token() -> String {
    let random = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
    format!("ses_{}", blake3::hash(&random).to_hex())
}
