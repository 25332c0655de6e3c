//! What can be asked of a task, and what a task asks of its conversations.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::settings::Policy;
use crate::model::task_event::{NewConversation, TaskTerms};
use crate::model::time::Millis;

/// A request to a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskCommand {
    /// Begin it; the first command of every task.
    Request {
        /// The app whose task it shall be.
        app: String,
        /// The agent that asks.
        by: ParticipantId,
        /// The agent that manages the app: a fact.
        manager: Option<ParticipantId>,
        /// The others who are admitted.
        invited: Vec<ParticipantId>,
        /// The conversation that it begins with.
        first: Option<NewConversation>,
        /// What its app asks for.
        terms: TaskTerms,
        /// How long the manager of its app may think; nobody is asked where nothing is given.
        within: Option<Millis>,
    },
    /// The manager of its app said whether it wants it.
    Answer {
        /// Nothing where it does; otherwise why not, as far as that was said.
        refusal: Option<Option<String>>,
    },
    /// Admit an agent.
    Admit {
        /// Who asks.
        by: ParticipantId,
        /// The agent.
        agent: ParticipantId,
    },
    /// Take an agent out; it stays in the conversations in which it is.
    Remove {
        /// Who asks.
        by: ParticipantId,
        /// The agent.
        agent: ParticipantId,
    },
    /// Leave it, and its conversations.
    Leave {
        /// The agent that leaves.
        agent: ParticipantId,
    },
    /// Begin a conversation.
    Open {
        /// Who asks.
        by: ParticipantId,
        /// The conversation.
        conversation: NewConversation,
    },
    /// End it.
    Close {
        /// Who asks.
        by: ParticipantId,
    },
    /// One of its conversations was archived because it ends, or is gone.
    Settle {
        /// The conversation.
        conversation: StreamId,
    },
    /// Give it to another manager, or to none. Only people ask for this.
    Entrust {
        /// The new manager.
        manager: Option<ParticipantId>,
        /// The person.
        by: ParticipantId,
    },
}

/// An agent that is brought into a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedAgent {
    /// The agent.
    pub agent: ParticipantId,
    /// The name that people read, where nobody there has it yet.
    pub name: String,
}

/// What a task wants of a conversation that is its own. No conversation obeys another task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskOrder {
    /// Begin; the first command of such a conversation.
    Begin {
        /// Its title, where it was given one.
        name: Option<String>,
        /// The task manager.
        by: ParticipantId,
        /// Those for whom it begins, in the order given.
        participants: Vec<ParticipantId>,
        /// It begins together with the task.
        first: bool,
        /// Who takes part: they, and the task manager.
        agents: Vec<NamedAgent>,
        /// The settings that it begins with.
        policy: Box<Policy>,
    },
    /// Bring an agent in.
    Add {
        /// The task manager.
        by: ParticipantId,
        /// The agent.
        agent: NamedAgent,
    },
    /// Take an agent out.
    Remove {
        /// The task manager.
        by: ParticipantId,
        /// The agent.
        agent: ParticipantId,
    },
    /// Let an agent go that leaves the task.
    Part {
        /// The agent.
        agent: ParticipantId,
    },
    /// Take no more messages, or take them again.
    Archive {
        /// The task manager.
        by: ParticipantId,
        /// Whether it is archived after this.
        on: bool,
    },
}

impl TaskOrder {
    /// Whom it brings into the conversation.
    pub(crate) fn brings(&self) -> &[NamedAgent] {
        match self {
            TaskOrder::Begin { agents, .. } => agents,
            TaskOrder::Add { agent, .. } => std::slice::from_ref(agent),
            TaskOrder::Remove { .. } | TaskOrder::Part { .. } | TaskOrder::Archive { .. } => &[],
        }
    }
}
