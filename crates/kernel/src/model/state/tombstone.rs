//! Participants that left or were removed.

use serde::{Deserialize, Serialize};

use crate::model::participant::Participant;
use crate::model::time::Timestamp;

/// A participant that left or was removed. History keeps its name, and agents cannot invite another
/// client under its id. (Ruling 3.)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    /// The name that people read.
    pub(crate) name: String,
    /// The client in its profile.
    pub(crate) client: Option<String>,
    /// Its number in a link or gathering.
    pub(crate) number: Option<u32>,
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
