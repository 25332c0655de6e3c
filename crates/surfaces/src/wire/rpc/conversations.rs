//! Conversations in a task, and their participants.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DateTime, Limit, Name, Participants, Uuid};

/// A conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conversation {
    /// Id of the conversation.
    pub id: Uuid,
    /// Name of the conversation; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Id of the agent that created the conversation.
    pub created_by: Uuid,
    /// Further facts about the conversation; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ConversationMetadata>,
    /// Time of the last message; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message_timestamp: Option<DateTime>,
    /// Time of the creation.
    pub created_at: DateTime,
    /// Time of the last change.
    pub updated_at: DateTime,
    /// Time of the archiving; absent for an open conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<DateTime>,
}

/// Further facts about a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationMetadata {
    /// Tags from the task's manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<BTreeMap<String, String>>>,
}

/// Parameters of `task/conversation/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationCreate {
    /// Id of the conversation's task.
    pub task_id: Uuid,
    /// Name of the conversation; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Ids of the participants, all admitted to the task.
    pub participants: Participants,
}

/// Result of `task/conversation/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationMade {
    /// The new conversation.
    pub conversation: Conversation,
}

/// Parameters of `task/conversation/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationList {
    /// Maximum number of conversations, 1 to 200; 50 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// `nextCursor` of the previous page; absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Result of `task/conversation/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationPage {
    /// The conversations in which the caller takes part, including archived ones.
    pub items: Vec<ConversationEntry>,
    /// `cursor` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A conversation in which the caller takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationEntry {
    /// Id of the conversation's task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation: Conversation,
    /// Ids of the participants.
    pub participants: Vec<Uuid>,
}

/// Parameters of `task/conversation/archive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationArchive {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
}

/// Parameters of `task/conversation/unarchive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationUnarchive {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
}

/// Parameters of `task/conversation/participants/add`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantAdd {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Id of the agent to add.
    pub agent_id: Uuid,
}

/// Parameters of `task/conversation/participants/remove`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantRemove {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Id of the agent to remove.
    pub agent_id: Uuid,
}

/// Payload of `task/conversation/created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationCreated {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Name of the conversation; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Ids of the participants, as given at the creation.
    pub participants: Vec<Uuid>,
}

/// Payload of `task/conversation/archived`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationArchived {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Time of the archiving.
    pub archived_at: DateTime,
}

/// Payload of `task/conversation/held`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationHeld {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// The guard: `exchanges`, `pair` or `repeat`, or `stopped` after a person's Stop.
    pub guard: String,
}

/// Payload of `task/conversation/unarchived`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationUnarchived {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
}

/// Payload of `task/conversation/participants/added`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantAdded {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Id of the added agent.
    pub added_agent_id: Uuid,
    /// The actor that added the agent.
    pub by_agent_or_tm: TaskManager,
}

/// The only actor that adds participants: the task's manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskManager {
    /// The task's manager.
    Tm,
}

/// Payload of `task/conversation/participants/removed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantRemoved {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Id of the removed agent.
    pub removed_agent_id: Uuid,
    /// Reason of the removal.
    pub reason: RemovalReason,
}

/// The reason why an agent was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// The task's manager removed the agent.
    TmRemove,
    /// The agent left the task.
    TaskLeave,
}
