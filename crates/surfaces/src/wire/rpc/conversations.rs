//! Conversations in a task, and who takes part in them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DateTime, Limit, Name, Participants, Uuid};

/// A conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conversation {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The agent that made it.
    pub created_by: Uuid,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ConversationMetadata>,
    /// When something was said in it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message_timestamp: Option<DateTime>,
    /// When it was made.
    pub created_at: DateTime,
    /// When it changed last.
    pub updated_at: DateTime,
    /// Since when it is archived; absent where it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<DateTime>,
}

/// What else is known of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationMetadata {
    /// Words of its manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<BTreeMap<String, String>>>,
}

/// Parameters of `task/conversation/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationCreate {
    /// The task that it belongs to.
    pub task_id: Uuid,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Who takes part: agents that were admitted to the task.
    pub participants: Participants,
}

/// Result of `task/conversation/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationMade {
    /// The conversation.
    pub conversation: Conversation,
}

/// Parameters of `task/conversation/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationList {
    /// How many conversations; 50 where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Result of `task/conversation/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationPage {
    /// The conversations in which the caller takes part, archived ones too.
    pub items: Vec<ConversationEntry>,
    /// Where this page ended; absent where there are no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A conversation in which the caller takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationEntry {
    /// The task that it belongs to.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation: Conversation,
    /// Who takes part.
    pub participants: Vec<Uuid>,
}

/// Parameters of `task/conversation/archive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationArchive {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
}

/// Parameters of `task/conversation/unarchive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationUnarchive {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
}

/// Parameters of `task/conversation/participants/add`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantAdd {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The agent that shall take part.
    pub agent_id: Uuid,
}

/// Parameters of `task/conversation/participants/remove`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantRemove {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The agent that is taken out.
    pub agent_id: Uuid,
}

/// Payload of `task/conversation/created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationCreated {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Who takes part, as they were given.
    pub participants: Vec<Uuid>,
}

/// Payload of `task/conversation/archived`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationArchived {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// Since when it is archived.
    pub archived_at: DateTime,
}

/// Payload of `task/conversation/held`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationHeld {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The guard: `exchanges`, `pair` or `repeat`, or `stopped` after a person's Stop.
    pub guard: String,
}

/// Payload of `task/conversation/unarchived`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationUnarchived {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
}

/// Payload of `task/conversation/participants/added`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantAdded {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The agent that takes part now.
    pub added_agent_id: Uuid,
    /// Who added it.
    pub by_agent_or_tm: TaskManager,
}

/// Who adds participants: the manager of the task, and nobody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskManager {
    /// The manager of the task.
    Tm,
}

/// Payload of `task/conversation/participants/removed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParticipantRemoved {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The agent that takes part no more.
    pub removed_agent_id: Uuid,
    /// Why it does not.
    pub reason: RemovalReason,
}

/// Why an agent takes part no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// The manager of the task took it out.
    TmRemove,
    /// It left the task.
    TaskLeave,
}
