//! The secret in the environment of a session's program, which identifies the session.

use uuid::Uuid;

pub(super) fn hash_of(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

/// Returns a new secret: the hash of three random UUIDs.
pub(super) fn fresh_token() -> String {
    let random = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
    format!("ses_{}", blake3::hash(&random).to_hex())
}
