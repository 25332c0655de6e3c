//! The task manager of an app: the connection that registered for the app, and the questions to it.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::message_part::MessagePart;
use moothall_kernel::task::NewConversation;
use moothall_kernel::time::Timestamp;

use super::attendance::AgentLine;
use super::notice::TaskView;

/// The description that an app gives of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppManifest {
    /// The app's id.
    pub id: String,
    /// The app's name, for people.
    pub name: String,
    /// Maximum number of agents in one task, if the app limits it.
    pub participants_max: Option<u32>,
    /// The questions that the manager wants to be asked.
    pub hooks: ManagerHooks,
}

/// The questions that the manager of an app wants to be asked, each with the time for the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManagerHooks {
    /// Time for deciding on a task, in milliseconds. If unset, all tasks are accepted without
    /// asking.
    pub task_ms: Option<u64>,
    /// Time for choosing the readers of a message, in milliseconds. If unset, the manager is not
    /// asked.
    pub message_ms: Option<u64>,
}

/// A request for a task, for the manager to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProposal {
    /// The task, which waits for the decision.
    pub task: TaskView,
    /// The agents to admit in addition to the one that requests the task.
    pub invited: Vec<ParticipantId>,
    /// The conversation that the task would begin with.
    pub first: Option<NewConversation>,
    /// The number of messages that its agents may exchange before a person has to continue, if the
    /// request set one.
    pub exchanges_max: Option<u32>,
}

/// A message for which the manager chooses the readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// The task of its conversation.
    pub task: StreamId,
    /// The app of the task.
    pub app: String,
    /// The conversation.
    pub conversation: StreamId,
    /// A temporary id by which the manager names the message. The message gets its own id when it
    /// is committed.
    pub draft: String,
    /// The agent that sends the message.
    pub sender: ParticipantId,
    /// The content.
    pub parts: Vec<MessagePart>,
    /// When the message arrived.
    pub at: Timestamp,
    /// The participants of the conversation. Only these can be readers.
    pub members: Vec<ParticipantId>,
}

/// The connection to the manager of an app.
#[async_trait]
pub trait TaskManager: Send + Sync + 'static {
    /// Asks the manager to accept a task. The error is the reason for a rejection, if given.
    async fn wants(&self, wish: TaskProposal) -> Result<(), Option<String>>;
    /// Asks the manager for the readers of a message. The error is the reason for a rejection, if
    /// given; the message is not committed then.
    async fn forwards(&self, message: Forwarding) -> Result<Vec<ParticipantId>, Option<String>>;
}

/// An app whose manager is connected.
#[derive(Clone)]
pub(crate) struct App {
    /// The id of the connection.
    pub(crate) line: u64,
    /// The agent that made the connection.
    pub(crate) agent: ParticipantId,
    pub(crate) manifest: AppManifest,
    pub(crate) manager: Arc<dyn TaskManager>,
}

/// Returns an app that is managed over this connection.
pub(crate) fn app_of(own: &AgentLine, manifest: AppManifest, manager: Arc<dyn TaskManager>) -> App {
    App { line: own.id(), agent: own.agent().clone(), manifest, manager }
}
