//! Commands to a task, and the orders of a task to its conversations.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::settings::Policy;
use crate::model::task_event::{NewConversation, TaskTerms};
use crate::model::time::Millis;

/// A request to a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskCommand {
    /// Creates the task; the first command of every task.
    Request {
        /// The app of the task.
        app: String,
        /// The agent that asks.
        by: ParticipantId,
        /// The agent that manages the app. A fact, found before the decision.
        manager: Option<ParticipantId>,
        /// Other agents to admit.
        invited: Vec<ParticipantId>,
        /// The conversation that the task begins with.
        first: Option<NewConversation>,
        /// The terms that the app asks for.
        terms: TaskTerms,
        /// Time for the app manager's answer; `None` if the manager is not asked.
        within: Option<Millis>,
    },
    /// The app's manager accepts or rejects the task.
    Answer {
        /// `None` accepts. `Some` rejects, with a reason if the manager gave one.
        refusal: Option<Option<String>>,
    },
    /// Admits an agent.
    Admit {
        /// The caller.
        by: ParticipantId,
        /// The agent.
        agent: ParticipantId,
    },
    /// Removes an agent from the task. It stays in the task's conversations.
    Remove {
        /// The caller.
        by: ParticipantId,
        /// The agent.
        agent: ParticipantId,
    },
    /// Leaves the task and all its conversations.
    Leave {
        /// The agent that leaves.
        agent: ParticipantId,
    },
    /// Begins a conversation.
    Open {
        /// The caller.
        by: ParticipantId,
        /// The conversation.
        conversation: NewConversation,
    },
    /// Ends the task.
    Close {
        /// The caller.
        by: ParticipantId,
    },
    /// Reports that a conversation was archived because the task ends, or was deleted.
    Settle {
        /// The conversation.
        conversation: StreamId,
    },
    /// Transfers the task to another manager, or to none. Only people may send this.
    Entrust {
        /// The new manager.
        manager: Option<ParticipantId>,
        /// The person.
        by: ParticipantId,
    },
}

/// An agent that is invited to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedAgent {
    /// The agent.
    pub agent: ParticipantId,
    /// The name that people read, if it is free there.
    pub name: String,
}

/// An order of a task to one of its own conversations. A conversation rejects orders of other
/// tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskOrder {
    /// Creates the conversation; the first command of such a conversation.
    Begin {
        /// The title, if one was given.
        name: Option<String>,
        /// The task manager.
        by: ParticipantId,
        /// Participants for whom the conversation begins, in the order given.
        participants: Vec<ParticipantId>,
        /// True if the conversation begins together with the task.
        first: bool,
        /// Agents to invite: the participants and the task manager.
        agents: Vec<NamedAgent>,
        /// The policy, with its settings.
        policy: Box<Policy>,
    },
    /// Invites an agent.
    Add {
        /// The task manager.
        by: ParticipantId,
        /// The agent.
        agent: NamedAgent,
    },
    /// Removes an agent.
    Remove {
        /// The task manager.
        by: ParticipantId,
        /// The agent.
        agent: ParticipantId,
    },
    /// Takes an agent out that leaves the task.
    Part {
        /// The agent.
        agent: ParticipantId,
    },
    /// Archives the conversation, or reopens it.
    Archive {
        /// The task manager.
        by: ParticipantId,
        /// True to archive, false to reopen.
        on: bool,
    },
}

impl TaskOrder {
    /// Returns the agents that the order invites.
    pub(crate) fn brings(&self) -> &[NamedAgent] {
        match self {
            TaskOrder::Begin { agents, .. } => agents,
            TaskOrder::Add { agent, .. } => std::slice::from_ref(agent),
            TaskOrder::Remove { .. } | TaskOrder::Part { .. } | TaskOrder::Archive { .. } => &[],
        }
    }
}
