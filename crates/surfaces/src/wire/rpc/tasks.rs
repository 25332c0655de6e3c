//! Tasks: the frame of conversations, with those who were admitted to it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Conversation, DateTime, Invitees, Limit, Name, Participants, Reason, Uuid};

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Task {
    /// Its id.
    pub id: Uuid,
    /// The app that manages it.
    pub app_id: Uuid,
    /// The agent that asked for it.
    pub initiator_agent_id: Uuid,
    /// How far it is.
    pub status: TaskStatus,
    /// When it became active; null before.
    #[schema(required = true)]
    pub started_at: Option<DateTime>,
    /// When it ended; null before.
    #[schema(required = true)]
    pub ended_at: Option<DateTime>,
    /// When it was asked for.
    pub created_at: DateTime,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// Its manager has not decided yet.
    Waiting,
    /// It goes on.
    Active,
    /// Its manager refused it.
    Failed,
    /// It is over.
    Closed,
}

/// An agent in a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskParticipant {
    /// The task.
    pub task_id: Uuid,
    /// The agent.
    pub agent_id: Uuid,
    /// When it was admitted; null before.
    #[schema(required = true)]
    pub admitted_at: Option<DateTime>,
}

/// Parameters of `task/request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRequest {
    /// The app that shall manage the task.
    pub app_id: Uuid,
    /// Who is invited beside the caller.
    pub invited_agent_ids: Invitees,
    /// The conversation that it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_conversation: Option<InitialConversation>,
    /// Words that its agents may exchange in a conversation before a person has to go on: from 1 to
    /// the operator's `[limits] task_exchanges`; 200 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_exchanges_without_human: Option<u32>,
}

/// The conversation that a task begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitialConversation {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Who takes part beside the caller; all who are invited where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Participants>,
}

/// Result of `task/request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRequested {
    /// The task.
    pub task: Task,
    /// Its first conversation; null where none was asked for.
    #[schema(required = true)]
    pub conversation: Option<Conversation>,
}

/// Parameters of `task/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskList {
    /// How many tasks; 50 where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Result of `task/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskPage {
    /// The tasks in which the caller takes part, the newest first.
    pub tasks: Vec<Task>,
    /// Where this page ended; absent where there are no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Parameters of `task/leave`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskLeave {
    /// The task that is left.
    pub task_id: Uuid,
}

/// Parameters of `task/close`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskClose {
    /// The task that is closed.
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
    /// The task.
    pub task_id: Uuid,
    /// The agent that is admitted.
    pub agent_id: Uuid,
}

/// Result of `task/addParticipant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskParticipantAdded {
    /// The agent in the task.
    pub participant: TaskParticipant,
}

/// Parameters of `task/removeParticipant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRemoveParticipant {
    /// The task.
    pub task_id: Uuid,
    /// The agent that is taken out.
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
    /// The task.
    pub task_id: Uuid,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Parameters of the request `task/create` to the manager of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskCreate {
    /// The task.
    pub task_id: Uuid,
    /// The agent that asks for it.
    pub initiator_agent_id: Uuid,
    /// Who is invited beside it.
    pub invited_agent_ids: Vec<Uuid>,
    /// The conversation that it shall begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_conversation: Option<InitialConversation>,
    /// Words that its agents may exchange in a conversation before a person has to go on, if a
    /// number was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_exchanges_without_human: Option<u32>,
    /// When it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<DateTime>,
}

/// Result of `task/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskDecided {
    /// What the manager decided.
    pub verdict: TaskVerdict,
}

/// Whether a task begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "lowercase", deny_unknown_fields)]
pub enum TaskVerdict {
    /// It begins.
    Accept {},
    /// It does not.
    Reject {
        /// Why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
}
