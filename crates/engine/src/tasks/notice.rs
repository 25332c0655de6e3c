//! Notices to agents about their tasks and conversations.

use std::sync::{Arc, OnceLock};

use moothall_kernel::event::{Event, Guard, Posted, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::task::{Task, TaskStatus};
use moothall_kernel::time::Timestamp;

/// A task, as agents see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// The task's id.
    pub id: StreamId,
    /// The app of the task.
    pub app: String,
    /// The agent that requested the task.
    pub initiator: ParticipantId,
    /// The stage of the task.
    pub status: TaskStatus,
    /// When the manager accepted the task.
    pub started_at: Option<Timestamp>,
    /// When the task ended or failed.
    pub ended_at: Option<Timestamp>,
    /// When the task was requested.
    pub created_at: Timestamp,
}

impl TaskView {
    /// Returns the view of a task in its current state.
    pub fn of(task: &Task) -> Self {
        Self {
            id: task.stream().clone(),
            app: task.app().to_owned(),
            initiator: task.initiator().clone(),
            status: task.status(),
            started_at: task.started_at(),
            ended_at: task.ended_at(),
            created_at: task.created_at(),
        }
    }
}

/// A notice to agents.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A task was accepted.
    TaskCreated(TaskView),
    /// A task was rejected.
    TaskFailed {
        /// The task.
        task: StreamId,
        /// The reason, if one was given.
        reason: Option<String>,
    },
    /// A task ended.
    TaskClosed(TaskView),
    /// A conversation began.
    ConversationCreated {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// The title, if one was given.
        name: Option<String>,
        /// The participants named in the request.
        participants: Vec<ParticipantId>,
    },
    /// A conversation was archived: it takes no more messages.
    ConversationArchived {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// When it was archived.
        at: Timestamp,
    },
    /// A conversation was opened again after it was archived.
    ConversationUnarchived {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
    },
    /// A guard holds a conversation. The words of its agents wait until a person continues.
    ConversationHeld {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// The guard that holds.
        guard: Guard,
    },
    /// An agent joined a conversation.
    ParticipantAdded {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// The agent that joined.
        agent: ParticipantId,
    },
    /// An agent left a conversation, or was removed.
    ParticipantRemoved {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// The agent that left.
        agent: ParticipantId,
        /// True if the agent left by itself, false if it was removed.
        left: bool,
    },
    /// A message was sent.
    Received {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// The message: an [`Event::Posted`].
        message: Box<RecordedEvent>,
    },
    /// An agent connected or disconnected.
    Presence {
        /// The agent.
        agent: ParticipantId,
        /// True if the agent is connected.
        online: bool,
    },
}

impl Notice {
    /// Returns the approximate size in bytes.
    fn weight(&self) -> usize {
        const REST: usize = 512;
        let words = match self {
            Notice::Received { message, .. } => message.event.body().map_or(0, str::len),
            Notice::ConversationCreated { participants, .. } => 40 * participants.len(),
            _ => 0,
        };
        REST + words
    }

    /// Returns the conversation that the notice is about, if any.
    pub fn conversation(&self) -> Option<&StreamId> {
        match self {
            Notice::ConversationCreated { conversation, .. }
            | Notice::ConversationArchived { conversation, .. }
            | Notice::ConversationUnarchived { conversation, .. }
            | Notice::ConversationHeld { conversation, .. }
            | Notice::ParticipantAdded { conversation, .. }
            | Notice::ParticipantRemoved { conversation, .. }
            | Notice::Received { conversation, .. } => Some(conversation),
            Notice::TaskCreated(_)
            | Notice::TaskFailed { .. }
            | Notice::TaskClosed(_)
            | Notice::Presence { .. } => None,
        }
    }

    /// Returns the content of a message, if the notice is about one.
    pub fn posted(&self) -> Option<&Posted> {
        match self {
            Notice::Received { message, .. } => match &message.event {
                Event::Posted(posted) => Some(posted),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A notice for several agents. All of them share its serialised form, which is made at the first
/// use.
#[derive(Debug)]
pub struct SharedNotice {
    notice: Notice,
    weight: usize,
    written: OnceLock<Arc<str>>,
}

impl SharedNotice {
    pub(crate) fn new(notice: Notice) -> Arc<Self> {
        Arc::new(Self { weight: notice.weight(), notice, written: OnceLock::new() })
    }

    /// Returns the notice.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the serialised form. The first caller's `write` makes it.
    pub fn written(&self, write: impl FnOnce(&Notice) -> String) -> Arc<str> {
        self.written.get_or_init(|| Arc::from(write(&self.notice))).clone()
    }
}
