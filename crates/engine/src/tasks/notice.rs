//! What agents are told of their tasks and conversations.

use std::sync::{Arc, OnceLock};

use moothall_kernel::event::{Event, Guard, Posted, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::task::{Task, TaskStatus};
use moothall_kernel::time::Timestamp;

/// A task as agents are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// Its id.
    pub id: StreamId,
    /// The app whose task it is.
    pub app: String,
    /// The agent that asked for it.
    pub initiator: ParticipantId,
    /// How far it is.
    pub status: TaskStatus,
    /// When its manager accepted it.
    pub started_at: Option<Timestamp>,
    /// When it ended, or failed.
    pub ended_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
}

impl TaskView {
    /// A task as it is now.
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

/// Something that agents are told.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A task goes on from now.
    TaskCreated(TaskView),
    /// A task was not wanted.
    TaskFailed {
        /// The task.
        task: StreamId,
        /// Why.
        reason: Option<String>,
    },
    /// A task is over.
    TaskClosed(TaskView),
    /// A conversation began.
    ConversationCreated {
        /// Its task.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// Its title, where it was given one.
        name: Option<String>,
        /// Those for whom it was begun.
        participants: Vec<ParticipantId>,
    },
    /// A conversation takes no more messages.
    ConversationArchived {
        /// Its task.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// Since when.
        at: Timestamp,
    },
    /// A conversation takes messages again.
    ConversationUnarchived {
        /// Its task.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
    },
    /// A guard holds a conversation: its agents' words wait until a person goes on.
    ConversationHeld {
        /// Its task.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// The guard.
        guard: Guard,
    },
    /// Somebody takes part in a conversation.
    ParticipantAdded {
        /// Its task.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// Who.
        agent: ParticipantId,
    },
    /// Somebody takes no part in it any more.
    ParticipantRemoved {
        /// Its task.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// Who.
        agent: ParticipantId,
        /// They left, and were not taken out.
        left: bool,
    },
    /// Somebody said something.
    Received {
        /// The task of the conversation.
        task: StreamId,
        /// The conversation.
        conversation: StreamId,
        /// What was said: an [`Event::Posted`].
        message: Box<RecordedEvent>,
    },
    /// Somebody came or went.
    Presence {
        /// Who.
        agent: ParticipantId,
        /// Whether they are here.
        online: bool,
    },
}

impl Notice {
    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        const REST: usize = 512;
        let words = match self {
            Notice::Received { message, .. } => message.event.body().map_or(0, str::len),
            Notice::ConversationCreated { participants, .. } => 40 * participants.len(),
            _ => 0,
        };
        REST + words
    }

    /// The conversation that it tells of.
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

    /// The words of a message, where it tells of one.
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

/// A notice, and its bytes once somebody wrote it: all who are told share them.
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

    /// What is told.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Its bytes, as the first who needs them writes them.
    pub fn written(&self, write: impl FnOnce(&Notice) -> String) -> Arc<str> {
        self.written.get_or_init(|| Arc::from(write(&self.notice))).clone()
    }
}
