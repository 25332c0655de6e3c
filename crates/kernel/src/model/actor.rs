//! The caller of a command: its id, and the proof of it.

use crate::model::ids::ParticipantId;

/// The caller of a command, with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The id that the caller's words carry.
    pub id: ParticipantId,
    /// True if the caller is a human principal.
    pub human: bool,
    /// True if a credential proves the id, or the server itself acts. Otherwise only the client
    /// gives the id.
    pub proven: bool,
}

impl Actor {
    /// Returns a proven caller that is not known as a person to the server. The conversation may
    /// know it as one.
    pub fn named(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: false, proven: true }
    }

    /// Returns a person that the server knows.
    pub fn human(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: true, proven: true }
    }

    /// Returns a caller whose id only the client gives.
    pub fn unproven(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: false, proven: false }
    }
}
