//! Presence of participants: ephemeral, in memory only.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};

/// Time after which a presence is stale.
pub const PRESENCE_TTL: Millis = Millis::from_secs(120);

/// A participant's presence in one conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Presence {
    /// The participant whose presence it is.
    pub participant: ParticipantId,
    /// `listening`, `thinking`, `typing`, `idle`, or another word of the client.
    pub state: String,
    /// Time of the last update.
    pub updated_at: Timestamp,
    /// Details from the client. An update without details keeps them.
    pub details: Option<Map<String, Value>>,
}

impl Presence {
    /// True if the presence is too old to count.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        now.since(self.updated_at) >= PRESENCE_TTL
    }
}
