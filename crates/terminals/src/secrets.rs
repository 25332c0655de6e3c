//! The secret in the environment of a session's program, which says whose program it is.

use uuid::Uuid;

pub(super) fn hash_of(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

/// A secret that cannot be guessed: the hash of more than 256 random bits.
pub(super) fn fresh_token() -> String {
    let random = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
    format!("ses_{}", blake3::hash(&random).to_hex())
}
