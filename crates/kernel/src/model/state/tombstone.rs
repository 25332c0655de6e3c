//! What a conversation remembers of a participant that was taken out or left.

use serde::{Deserialize, Serialize};

use crate::model::participant::Participant;
use crate::model::time::Timestamp;

/// A participant that is not here any more: history keeps its name, and its id stays the client's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    /// Its name as people read it.
    pub(crate) name: String,
    /// The client that it was.
    pub(crate) client: Option<String>,
    /// The number that it had in a link or gathering.
    pub(crate) number: Option<u32>,
    /// When it left.
    pub(crate) left_at: Timestamp,
}

impl Tombstone {
    pub(crate) fn of(gone: &Participant, left_at: Timestamp) -> Self {
        Self {
            name: gone.name().to_owned(),
            client: gone.profile.client.clone(),
            number: gone.number,
            left_at,
        }
    }
}
