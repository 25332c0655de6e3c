//! Tasks, each of which has conversations and admitted agents.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Conversation, DateTime, Invitees, Limit, Name, Participants, Reason, Uuid};

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Task {
    /// Id of the task.
    pub id: Uuid,
    /// Id of the app that manages the task.
    pub app_id: Uuid,
    /// Id of the agent that requested the task.
    pub initiator_agent_id: Uuid,
    /// Status of the task.
    pub status: TaskStatus,
    /// Time at which the task became active; null before.
    #[schema(required = true)]
    pub started_at: Option<DateTime>,
    /// Time at which the task ended; null before.
    #[schema(required = true)]
    pub ended_at: Option<DateTime>,
    /// Time of the request.
    pub created_at: DateTime,
}

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// The manager has not decided yet.
    Waiting,
    /// The task is active.
    Active,
    /// The manager rejected the task.
    Failed,
    /// The task ended.
    Closed,
}

/// An agent in a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskParticipant {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the agent.
    pub agent_id: Uuid,
    /// Time of the admission; null before.
    #[schema(required = true)]
    pub admitted_at: Option<DateTime>,
}

/// Parameters of `task/request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRequest {
    /// Id of the app that shall manage the task.
    pub app_id: Uuid,
    /// Ids of the agents invited beside the caller.
    pub invited_agent_ids: Invitees,
    /// First conversation of the task; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_conversation: Option<InitialConversation>,
    /// Maximum number of messages that the agents may exchange in a conversation before a person
    /// has to continue: 1 to the operator's `[limits] task_exchanges`. If absent, 200 or the
    /// operator's lower limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_exchanges_without_human: Option<u32>,
}

/// The first conversation of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitialConversation {
    /// Name of the conversation; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Ids of the participants beside the caller; all invited agents if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Participants>,
}

/// Result of `task/request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRequested {
    /// The task.
    pub task: Task,
    /// First conversation of the task; null if none was requested.
    #[schema(required = true)]
    pub conversation: Option<Conversation>,
}

/// Parameters of `task/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskList {
    /// Maximum number of tasks, 1 to 200; 50 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// `nextCursor` of the previous page; absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Result of `task/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskPage {
    /// The tasks in which the caller takes part, newest first.
    pub tasks: Vec<Task>,
    /// `cursor` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Parameters of `task/leave`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskLeave {
    /// Id of the task to leave.
    pub task_id: Uuid,
}

/// Parameters of `task/close`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskClose {
    /// Id of the task to close.
    pub task_id: Uuid,
}

/// Result of `task/close`, and payload of the notification `task/closed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskClosed {
    /// The task.
    pub task: Task,
}

/// Parameters of `task/addParticipant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskAddParticipant {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the agent to admit.
    pub agent_id: Uuid,
}

/// Result of `task/addParticipant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskParticipantAdded {
    /// The agent's part in the task.
    pub participant: TaskParticipant,
}

/// Parameters of `task/removeParticipant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRemoveParticipant {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the agent to remove.
    pub agent_id: Uuid,
}

/// Payload of the notification `task/created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskCreated {
    /// The task.
    pub task: Task,
}

/// Payload of the notification `task/failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskFailed {
    /// Id of the task.
    pub task_id: Uuid,
    /// Reason of the rejection; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Parameters of the request `task/create` to the manager of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskCreate {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the agent that requested the task.
    pub initiator_agent_id: Uuid,
    /// Ids of the agents invited beside it.
    pub invited_agent_ids: Vec<Uuid>,
    /// Requested first conversation; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_conversation: Option<InitialConversation>,
    /// Maximum number of messages that the agents may exchange in a conversation before a person
    /// has to continue; absent if none was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_exchanges_without_human: Option<u32>,
    /// Time at which the server received the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<DateTime>,
}

/// Result of `task/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskDecided {
    /// The manager's decision.
    pub verdict: TaskVerdict,
}

/// A decision about a requested task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "lowercase", deny_unknown_fields)]
pub enum TaskVerdict {
    /// The task begins.
    Accept {},
    /// The task does not begin.
    Reject {
        /// Reason of the rejection; absent if none is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
}
