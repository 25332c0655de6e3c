//! A conversation's state as bytes, so that it need not be folded again. Bytes of another version
//! are worth nothing. (`docs/decisions/0030-a-store-is-a-bundle.md`)

use crate::model::state::Conversation;
use crate::model::task::Task;
use crate::planted::{self, Bug};

#[cfg(test)]
mod tests;

/// What a state's bytes mean. Whoever changes what a conversation remembers, or what an event makes
/// of it, raises this: bytes of another version are folded anew.
pub const STATE_VERSION: u32 = 13;

impl Conversation {
    /// As bytes, which [`Conversation::from_bytes`] of the same [`STATE_VERSION`] reads. Nothing
    /// where it cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// From bytes; nothing where they are not those of a state.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut state: Self = serde_json::from_slice(bytes).ok()?;
        if planted::has(Bug::SnapshotForgets) {
            state.guards.recent.clear();
        }
        Some(state)
    }
}

impl Task {
    /// As bytes, which [`Task::from_bytes`] of the same [`STATE_VERSION`] reads. Nothing where it
    /// cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// From bytes; nothing where they are not those of a state.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
