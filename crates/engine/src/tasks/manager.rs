//! The task manager of an app: a connection that registered for it, and what it is asked.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::message_part::MessagePart;
use moothall_kernel::task::NewConversation;
use moothall_kernel::time::Timestamp;

use super::attendance::AgentLine;
use super::notice::TaskView;

/// What an app says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppManifest {
    /// Its id.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Most agents of one task, where it says so.
    pub participants_max: Option<u32>,
    /// What its manager wants to be asked.
    pub hooks: ManagerHooks,
}

/// What the manager of an app wants to be asked, and for how long it may think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManagerHooks {
    /// Whether there shall be a task, in milliseconds.
    pub task_ms: Option<u64>,
    /// Whom a message is for, in milliseconds.
    pub message_ms: Option<u64>,
}

/// A task that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProposal {
    /// The task, which waits.
    pub task: TaskView,
    /// Who would be admitted beside the one who asks.
    pub invited: Vec<ParticipantId>,
    /// The conversation that it would begin with.
    pub first: Option<NewConversation>,
    /// The number of words that its agents may exchange before a person has to go on, if one was
    /// asked for.
    pub exchanges_max: Option<u32>,
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// The task of its conversation.
    pub task: StreamId,
    /// The app of the task.
    pub app: String,
    /// The conversation.
    pub conversation: StreamId,
    /// An id by which it can be talked about; the message gets its own when it is kept.
    pub draft: String,
    /// Who sends it.
    pub sender: ParticipantId,
    /// What is said.
    pub parts: Vec<MessagePart>,
    /// When it came.
    pub at: Timestamp,
    /// Who is in the conversation: nobody else can be told of it.
    pub members: Vec<ParticipantId>,
}

/// Reaches the manager of an app.
#[async_trait]
pub trait TaskManager: Send + Sync + 'static {
    /// Whether there shall be this task; the reason where not.
    async fn wants(&self, wish: TaskProposal) -> Result<(), Option<String>>;
    /// For whom a message is; the reason where it is for nobody and is not kept.
    async fn forwards(&self, message: Forwarding) -> Result<Vec<ParticipantId>, Option<String>>;
}

/// An app whose manager is connected.
#[derive(Clone)]
pub(crate) struct App {
    /// The connection.
    pub(crate) line: u64,
    /// The agent that it is of.
    pub(crate) agent: ParticipantId,
    pub(crate) manifest: AppManifest,
    pub(crate) manager: Arc<dyn TaskManager>,
}

/// An app that a connection manages.
pub(crate) fn app_of(own: &AgentLine, manifest: AppManifest, manager: Arc<dyn TaskManager>) -> App {
    App { line: own.id(), agent: own.agent().clone(), manifest, manager }
}
