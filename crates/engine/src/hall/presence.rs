//! Who is here right now: ephemeral, never logged, gone with the process.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};

/// How long a presence counts.
pub const PRESENCE_TTL: Millis = Millis::from_secs(120);

/// A participant's presence in one conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Presence {
    /// The participant whose presence it is.
    pub participant: ParticipantId,
    /// `listening`, `thinking`, `typing`, `idle`, or the client's own word.
    pub state: String,
    /// When it was last said.
    pub updated_at: Timestamp,
    /// What the client adds; kept when an update has none.
    pub details: Option<Map<String, Value>>,
}

impl Presence {
    /// Whether it is too old to count.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        now.since(self.updated_at) >= PRESENCE_TTL
    }
}
