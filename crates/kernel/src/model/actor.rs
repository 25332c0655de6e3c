//! Who asks for something, and what the server knows of them.

use crate::model::ids::ParticipantId;

/// Who asks: an id, whether the server knows it to be a person, and whether anything proves that it
/// is who it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The id the words will carry.
    pub id: ParticipantId,
    /// A human principal stands behind it.
    pub human: bool,
    /// A credential stands behind it, or the server itself; otherwise the id is the client's word.
    pub proven: bool,
}

impl Actor {
    /// Somebody who is who they say; whether that is a person, only the conversation knows.
    pub fn named(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: false, proven: true }
    }

    /// A person whom the server knows.
    pub fn human(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: true, proven: true }
    }

    /// Somebody of whom there is only a client's word.
    pub fn unproven(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: false, proven: false }
    }
}
