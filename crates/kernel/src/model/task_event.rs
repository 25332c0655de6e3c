//! What happens to tasks: the events of their streams. They are stored, so a variant or field is
//! only ever added.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::time::Timestamp;

/// A conversation as a task begins it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewConversation {
    /// The id that it will have.
    pub id: StreamId,
    /// Its title, where it was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Those for whom it is begun. Whoever begins it takes part as well.
    pub participants: Vec<ParticipantId>,
}

/// What the app of a task asked for when the task was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTerms {
    /// Most agents that it admits, where the app says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_max: Option<u32>,
    /// Its manager says for whom a message is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moderated: bool,
    /// The number of words that its agents may exchange in a conversation before a person has to
    /// go on, if its initiator asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges_max: Option<u32>,
}

/// What happens to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TaskEvent {
    /// Somebody asked for it. They and those whom they invited are admitted.
    Requested {
        /// The app whose task it is.
        app: String,
        /// The agent that asked.
        initiator: ParticipantId,
        /// The agent that manages its app. A task of [`DEFAULT_APP`](super::task::DEFAULT_APP) is
        /// managed by its initiator and names no other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manager: Option<ParticipantId>,
        /// The others, in the order given.
        invited: Vec<ParticipantId>,
        /// The conversation that it begins with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<NewConversation>,
        /// What its app asked for.
        #[serde(default)]
        terms: TaskTerms,
        /// Until when its manager may say something; nothing where nobody is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Its manager wants it.
    Accepted,
    /// Its manager does not want it, or did not say so in time.
    Rejected {
        /// Why, for the one who asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An agent may take part in its conversations.
    Admitted {
        /// The agent.
        agent: ParticipantId,
        /// It was admitted before, too.
        again: bool,
    },
    /// Its manager took an agent out. It stays in the conversations in which it is.
    Removed {
        /// The agent.
        agent: ParticipantId,
    },
    /// An agent left, and with it each conversation of the task.
    Left {
        /// The agent.
        agent: ParticipantId,
        /// The conversations of the task.
        conversations: Vec<StreamId>,
    },
    /// A conversation begins, which belongs to the task.
    ConversationOpened {
        /// It, and those for whom it is begun.
        conversation: NewConversation,
        /// The task manager, who takes part.
        by: ParticipantId,
        /// It begins together with the task.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        first: bool,
        /// The number of words that agents may exchange there before a person has to go on, if the
        /// task has one of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchanges_max: Option<u32>,
    },
    /// It is about to end: nothing is said in it any more, and its conversations are archived.
    Closing {
        /// The task manager.
        by: ParticipantId,
        /// The conversations of the task.
        conversations: Vec<StreamId>,
    },
    /// One of them is archived, or gone.
    ConversationSettled {
        /// The conversation.
        conversation: StreamId,
    },
    /// It is over.
    Closed,
    /// A person gave it to another manager, or took it from the one it had.
    Entrusted {
        /// The new manager; without one only people change the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manager: Option<ParticipantId>,
        /// The manager before, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<ParticipantId>,
        /// The person.
        by: ParticipantId,
    },
}
