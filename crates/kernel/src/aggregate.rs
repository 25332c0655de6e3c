//! What a stream can be. Whoever hosts streams knows this enum, and each of its kinds only where
//! what it is makes a difference.

use crate::decide::Decision;
use crate::model::command::{Command, Facts};
use crate::model::event::RecordedEvent;
use crate::model::ids::{Seq, StreamId};
use crate::model::invariants::{BrokenRule, check_next};
use crate::model::state::Conversation;
use crate::model::task::Task;
use crate::model::time::Timestamp;
use crate::read::duties::Duties;

/// The word for conversations, where the kinds of streams are kept.
pub const CONVERSATION: &str = "conversation";
/// The word for tasks.
pub const TASK: &str = "task";

/// The state of a stream, of whichever kind.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a stream's state is held once or twice; boxing the common kind would cost more"
)]
pub enum Aggregate {
    /// What was said and decided, and the rules for who may speak.
    Conversation(Conversation),
    /// What admits agents, and owns conversations among them.
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
    /// A stream of a kind in which nothing has happened yet; nothing for a kind that this version
    /// does not know.
    pub fn new(kind: &str, stream: StreamId) -> Option<Self> {
        match kind {
            CONVERSATION => Some(Conversation::new(stream).into()),
            TASK => Some(Task::new(stream).into()),
            _ => None,
        }
    }

    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Aggregate::Conversation(_) => CONVERSATION,
            Aggregate::Task(_) => TASK,
        }
    }

    /// The conversation, if it is one.
    pub fn conversation(&self) -> Option<&Conversation> {
        match self {
            Aggregate::Conversation(conversation) => Some(conversation),
            Aggregate::Task(_) => None,
        }
    }

    /// The task, if it is one.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Aggregate::Conversation(_) => None,
            Aggregate::Task(task) => Some(task),
        }
    }

    /// Its name.
    pub fn stream(&self) -> &StreamId {
        match self {
            Aggregate::Conversation(conversation) => conversation.stream(),
            Aggregate::Task(task) => task.stream(),
        }
    }

    /// Its newest event.
    pub fn head(&self) -> Seq {
        match self {
            Aggregate::Conversation(conversation) => conversation.head(),
            Aggregate::Task(task) => task.head(),
        }
    }

    /// When that came.
    pub fn last_ts(&self) -> Timestamp {
        match self {
            Aggregate::Conversation(conversation) => conversation.last_ts(),
            Aggregate::Task(task) => task.last_ts(),
        }
    }

    /// Takes an event in. This cannot fail and decides nothing.
    pub fn apply(&mut self, recorded: &RecordedEvent) {
        match self {
            Aggregate::Conversation(conversation) => conversation.apply(recorded),
            Aggregate::Task(task) => task.apply(recorded),
        }
    }

    /// Decides about a command at a time; the events of it are applied.
    pub fn decide(&mut self, now: Timestamp, command: Command, facts: &Facts) -> Decision {
        match self {
            Aggregate::Conversation(conversation) => conversation.decide(now, command, facts),
            Aggregate::Task(task) => task.decide(now, command),
        }
    }

    /// What should be going on now.
    pub fn duties(&self) -> Duties {
        match self {
            Aggregate::Conversation(conversation) => conversation.duties(),
            Aggregate::Task(task) => task.duties(),
        }
    }

    /// The rules that every state keeps.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check_invariants(&self) -> Result<(), BrokenRule> {
        match self {
            Aggregate::Conversation(conversation) => conversation.check_invariants(),
            Aggregate::Task(task) => task.check_invariants(),
        }
    }

    /// The rules about events that follow this state.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check_next(&self, events: &[RecordedEvent]) -> Result<(), BrokenRule> {
        check_next((self.head(), self.last_ts()), events)
    }

    /// As bytes, which [`Aggregate::from_bytes`] of the same
    /// [`STATE_VERSION`](crate::STATE_VERSION) reads. Nothing where it cannot be written.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Aggregate::Conversation(conversation) => conversation.to_bytes(),
            Aggregate::Task(task) => task.to_bytes(),
        }
    }

    /// From bytes of a stream of this kind; nothing where they are not those of a state.
    pub fn from_bytes(kind: &str, bytes: &[u8]) -> Option<Self> {
        match kind {
            CONVERSATION => Conversation::from_bytes(bytes).map(Self::from),
            TASK => Task::from_bytes(bytes).map(Self::from),
            _ => None,
        }
    }
}
