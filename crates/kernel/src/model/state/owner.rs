//! The task that a conversation belongs to, if any.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::state::Conversation;

/// The task that a conversation belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The stream of the task.
    pub task: StreamId,
    /// True if the title was given. Otherwise it is made of the participants' names.
    pub titled: bool,
    /// The task manager that began it.
    pub by: ParticipantId,
}

impl Conversation {
    /// Returns the task that owns the conversation, if any.
    pub fn task(&self) -> Option<&StreamId> {
        self.owner.as_ref().map(|owner| &owner.task)
    }

    /// Returns the agent that began the conversation for its task.
    pub fn task_manager(&self) -> Option<&ParticipantId> {
        self.owner.as_ref().map(|owner| &owner.by)
    }

    /// True if the title was given; always true outside of tasks.
    pub fn is_titled(&self) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner.titled)
    }

    /// Returns the ids whose words can stand here, with their names: participants, those who left,
    /// and the local user.
    pub fn known_speakers(&self) -> impl Iterator<Item = (ParticipantId, &str)> {
        let here = self.participants.iter().map(|one| (one.id.clone(), one.name()));
        let gone = self.departed().map(|(id, name)| (id.clone(), name));
        here.chain(gone).chain([(ParticipantId::new(ParticipantId::USER), ParticipantId::USER)])
    }
}
