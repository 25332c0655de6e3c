//! What a conversation remembers of the task that it belongs to, where it belongs to one.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::state::Conversation;

/// The task that a conversation belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The stream of the task.
    pub task: StreamId,
    /// Its title was given, and is not made of the names of those in it.
    pub titled: bool,
    /// The task manager that began it.
    pub by: ParticipantId,
}

impl Conversation {
    /// The task that owns it, where one does.
    pub fn task(&self) -> Option<&StreamId> {
        self.owner.as_ref().map(|owner| &owner.task)
    }

    /// Who began it for its task.
    pub fn task_manager(&self) -> Option<&ParticipantId> {
        self.owner.as_ref().map(|owner| &owner.by)
    }

    /// Whether somebody gave it its title.
    pub fn is_titled(&self) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner.titled)
    }

    /// Whose words there may be, and how they are called: those in it, those who were, and the
    /// person at the computer, who is in no list.
    pub fn known(&self) -> impl Iterator<Item = (ParticipantId, &str)> {
        let here = self.participants.iter().map(|one| (one.id.clone(), one.name()));
        let gone = self.left().map(|(id, name)| (id.clone(), name));
        here.chain(gone).chain([(ParticipantId::new(ParticipantId::USER), ParticipantId::USER)])
    }
}
