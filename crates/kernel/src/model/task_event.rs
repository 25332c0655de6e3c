//! The events of tasks. Logs store them, so variants and fields are only ever added.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::time::Timestamp;

/// A conversation that a task begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewConversation {
    /// The id of the conversation.
    pub id: StreamId,
    /// The title, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Agents for whom the conversation begins. The agent that begins it takes part as well.
    pub participants: Vec<ParticipantId>,
}

/// Terms of a task that its app set at the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTerms {
    /// Maximum number of admitted agents, if the app sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_max: Option<u32>,
    /// True if the app's manager chooses the readers of each message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moderated: bool,
    /// Maximum number of agents' contributions in a conversation without a person's, if the
    /// initiator asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges_max: Option<u32>,
}

/// An event of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TaskEvent {
    /// An agent asked for the task. It and the invited agents are admitted.
    Requested {
        /// The app of the task.
        app: String,
        /// The agent that asked.
        initiator: ParticipantId,
        /// The agent that manages the app. A task of [`DEFAULT_APP`](super::task::DEFAULT_APP) is
        /// managed by its initiator and names no other agent here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manager: Option<ParticipantId>,
        /// The other agents, in the order given.
        invited: Vec<ParticipantId>,
        /// The conversation that the task begins with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<NewConversation>,
        /// The terms that the app asked for.
        #[serde(default)]
        terms: TaskTerms,
        /// Time until which the manager may answer; `None` if it is not asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The manager accepted the task.
    Accepted,
    /// The manager rejected the task, or did not answer in time.
    Rejected {
        /// The reason, for the agent that asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An agent was admitted to the task's conversations.
    Admitted {
        /// The agent.
        agent: ParticipantId,
        /// True if it had been admitted already.
        again: bool,
    },
    /// The manager removed an agent from the task. The agent stays in the task's conversations.
    Removed {
        /// The agent.
        agent: ParticipantId,
    },
    /// An agent left the task and all its conversations.
    Left {
        /// The agent.
        agent: ParticipantId,
        /// The conversations of the task.
        conversations: Vec<StreamId>,
    },
    /// A conversation of the task began.
    ConversationOpened {
        /// The conversation, and the agents for whom it begins.
        conversation: NewConversation,
        /// The task manager, who takes part.
        by: ParticipantId,
        /// True if the conversation begins together with the task.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        first: bool,
        /// Maximum number of agents' contributions there without a person's, if the task has one of
        /// its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchanges_max: Option<u32>,
    },
    /// The task is ending: its conversations take no more words of admitted agents, and are being
    /// archived.
    Closing {
        /// The task manager.
        by: ParticipantId,
        /// The conversations of the task.
        conversations: Vec<StreamId>,
    },
    /// A conversation of the ending task was archived or deleted.
    ConversationSettled {
        /// The conversation.
        conversation: StreamId,
    },
    /// The task ended.
    Closed,
    /// A person gave the task to another manager, or took it from its manager.
    Entrusted {
        /// The new manager. Without one, only people can change the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manager: Option<ParticipantId>,
        /// The previous manager, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<ParticipantId>,
        /// The person.
        by: ParticipantId,
    },
}
