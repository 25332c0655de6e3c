//! States as bytes, so that logs need not be folded again. Bytes of another version are discarded.
//! (`docs/decisions/0030-a-store-is-a-bundle.md`)

use crate::model::state::Conversation;
use crate::model::task::Task;
use crate::planted::{self, Bug};

#[cfg(test)]
mod tests;

/// Version of the state's bytes. Raise it with every change of the fields of a state, or of the
/// effect of an event on it. Streams with bytes of another version are folded anew.
pub const STATE_VERSION: u32 = 19;

impl Conversation {
    /// Returns the state as bytes, to be read by [`Conversation::from_bytes`] of the same
    /// [`STATE_VERSION`]; `None` if it cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// Returns the state from its bytes; `None` if they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut state: Self = serde_json::from_slice(bytes).ok()?;
        if planted::has(Bug::SnapshotForgets) {
            state.guards.recent.clear();
        }
        Some(state)
    }
}

impl Task {
    /// Returns the state as bytes, to be read by [`Task::from_bytes`] of the same
    /// [`STATE_VERSION`]; `None` if it cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// Returns the state from its bytes; `None` if they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
