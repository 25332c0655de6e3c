//! The kinds of streams. A host works with this enum, and looks at the kind only if the kind makes
//! a difference.

use crate::decide::Decision;
use crate::model::command::{Command, Facts};
use crate::model::event::RecordedEvent;
use crate::model::ids::{Seq, StreamId};
use crate::model::invariants::{BrokenRule, check_next};
use crate::model::state::Conversation;
use crate::model::task::Task;
use crate::model::time::Timestamp;
use crate::read::duties::Duties;

/// The kind of a conversation, as it is stored.
pub const CONVERSATION: &str = "conversation";
/// The kind of a task, as it is stored.
pub const TASK: &str = "task";

/// The state of a stream of any kind.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a stream's state is held once or twice; boxing the common kind would cost more"
)]
pub enum Aggregate {
    /// A conversation: its messages and turns, and the rules for who may speak.
    Conversation(Conversation),
    /// A task, which admits agents and owns conversations among them.
    Task(Task),
}

impl From<Task> for Aggregate {
    fn from(task: Task) -> Self {
        Aggregate::Task(task)
    }
}

impl From<Conversation> for Aggregate {
    fn from(conversation: Conversation) -> Self {
        Aggregate::Conversation(conversation)
    }
}

impl Aggregate {
    /// Returns an empty stream of this kind, or `None` if this version does not know the kind.
    pub fn new(kind: &str, stream: StreamId) -> Option<Self> {
        match kind {
            CONVERSATION => Some(Conversation::new(stream).into()),
            TASK => Some(Task::new(stream).into()),
            _ => None,
        }
    }

    /// Returns the kind as it is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Aggregate::Conversation(_) => CONVERSATION,
            Aggregate::Task(_) => TASK,
        }
    }

    /// Returns the conversation, if the stream is one.
    pub fn conversation(&self) -> Option<&Conversation> {
        match self {
            Aggregate::Conversation(conversation) => Some(conversation),
            Aggregate::Task(_) => None,
        }
    }

    /// Returns the task, if the stream is one.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Aggregate::Conversation(_) => None,
            Aggregate::Task(task) => Some(task),
        }
    }

    /// Returns the id of the stream.
    pub fn stream(&self) -> &StreamId {
        match self {
            Aggregate::Conversation(conversation) => conversation.stream(),
            Aggregate::Task(task) => task.stream(),
        }
    }

    /// Returns the position of the newest event.
    pub fn head(&self) -> Seq {
        match self {
            Aggregate::Conversation(conversation) => conversation.head(),
            Aggregate::Task(task) => task.head(),
        }
    }

    /// Returns the time of the newest event.
    pub fn last_ts(&self) -> Timestamp {
        match self {
            Aggregate::Conversation(conversation) => conversation.last_ts(),
            Aggregate::Task(task) => task.last_ts(),
        }
    }

    /// Applies an event. This cannot fail and decides nothing.
    pub fn apply(&mut self, recorded: &RecordedEvent) {
        match self {
            Aggregate::Conversation(conversation) => conversation.apply(recorded),
            Aggregate::Task(task) => task.apply(recorded),
        }
    }

    /// Decides a command at this time and applies its events.
    pub fn decide(&mut self, now: Timestamp, command: Command, facts: &Facts) -> Decision {
        match self {
            Aggregate::Conversation(conversation) => conversation.decide(now, command, facts),
            Aggregate::Task(task) => task.decide(now, command),
        }
    }

    /// Returns the work that the engine has to do for this state.
    pub fn duties(&self) -> Duties {
        match self {
            Aggregate::Conversation(conversation) => conversation.duties(),
            Aggregate::Task(task) => task.duties(),
        }
    }

    /// Checks the rules that every state keeps.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn check_invariants(&self) -> Result<(), BrokenRule> {
        match self {
            Aggregate::Conversation(conversation) => conversation.check_invariants(),
            Aggregate::Task(task) => task.check_invariants(),
        }
    }

    /// Checks the order of events that follow this state.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn check_next(&self, events: &[RecordedEvent]) -> Result<(), BrokenRule> {
        check_next((self.head(), self.last_ts()), events)
    }

    /// Returns the state as bytes for [`Aggregate::from_bytes`] of the same
    /// [`STATE_VERSION`](crate::STATE_VERSION), or `None` if it cannot be serialised.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Aggregate::Conversation(conversation) => conversation.to_bytes(),
            Aggregate::Task(task) => task.to_bytes(),
        }
    }

    /// Reads the state of a stream of this kind, or returns `None` if the bytes are not such a
    /// state.
    pub fn from_bytes(kind: &str, bytes: &[u8]) -> Option<Self> {
        match kind {
            CONVERSATION => Conversation::from_bytes(bytes).map(Self::from),
            TASK => Task::from_bytes(bytes).map(Self::from),
            _ => None,
        }
    }
}
