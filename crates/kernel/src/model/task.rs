//! Tasks, which admit agents and own conversations among them. A task is a stream of its own. Its
//! conversations are ordinary ones that follow its orders. The rules are in `decide::tasks`.
//! (`docs/decisions/0043-a-task-decides-and-its-conversations-follow.md`)

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::event::{Event, RecordedEvent};
use crate::model::ids::{ParticipantId, Seq, StreamId};
pub use crate::model::task_event::{NewConversation, TaskEvent, TaskTerms};
use crate::model::time::Timestamp;

/// The built-in app. The agent that begins such a task is its task manager.
pub const DEFAULT_APP: &str = "e12fe562-ed1f-4d2d-bed5-68b8edfa41cb";

/// The status of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TaskStatus {
    /// The manager has not accepted or rejected the task yet.
    #[default]
    Waiting,
    /// The task is under way.
    Active,
    /// The manager rejected the task.
    Failed,
    /// The task ended.
    Closed,
}

/// The state of a task. Only [`Task::apply`] changes it, and applying cannot fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub(crate) stream: StreamId,
    pub(crate) head: Seq,
    pub(crate) last_ts: Timestamp,
    pub(crate) created_at: Timestamp,
    pub(crate) app: String,
    pub(crate) terms: TaskTerms,
    pub(crate) initiator: ParticipantId,
    /// The agent that manages its app, if the log names one.
    pub(crate) manager: Option<ParticipantId>,
    pub(crate) status: TaskStatus,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    /// The reason for the failure.
    pub(crate) reason: Option<String>,
    /// Time until which the manager may answer.
    pub(crate) until: Option<Timestamp>,
    /// The conversation that the task begins with, until it has begun.
    pub(crate) first: Option<NewConversation>,
    /// Admitted agents, with the time of their admission.
    pub(crate) admitted: BTreeMap<ParticipantId, Timestamp>,
    pub(crate) conversations: BTreeSet<StreamId>,
    /// Conversations still to be archived before the task ends; set while it is ending.
    pub(crate) closing: Option<BTreeSet<StreamId>>,
}

impl Task {
    /// Returns the state of a stream without events.
    pub fn new(stream: StreamId) -> Self {
        Self {
            stream,
            head: Seq(0),
            last_ts: Timestamp::default(),
            created_at: Timestamp::default(),
            app: String::new(),
            terms: TaskTerms::default(),
            initiator: ParticipantId::new(""),
            manager: None,
            status: TaskStatus::Waiting,
            started_at: None,
            ended_at: None,
            reason: None,
            until: None,
            first: None,
            admitted: BTreeMap::new(),
            conversations: BTreeSet::new(),
            closing: None,
        }
    }

    /// Applies an event. Other events than a task's only move the position.
    pub fn apply(&mut self, recorded: &RecordedEvent) {
        (self.head, self.last_ts) = (recorded.seq, recorded.ts);
        let Event::Task(event) = &recorded.event else { return };
        match event {
            TaskEvent::Requested { app, initiator, manager, invited, first, terms, until } => {
                self.created_at = recorded.ts;
                self.app.clone_from(app);
                self.terms = *terms;
                self.initiator = initiator.clone();
                self.manager.clone_from(manager);
                self.first.clone_from(first);
                self.until = *until;
                let all = invited.iter().chain([initiator]);
                self.admitted.extend(all.map(|agent| (agent.clone(), recorded.ts)));
            }
            TaskEvent::Accepted => {
                (self.status, self.until) = (TaskStatus::Active, None);
                self.started_at = Some(recorded.ts);
            }
            TaskEvent::Rejected { reason } => {
                (self.status, self.until, self.first) = (TaskStatus::Failed, None, None);
                self.reason.clone_from(reason);
                self.ended_at = Some(recorded.ts);
            }
            TaskEvent::Admitted { agent, .. } => {
                self.admitted.insert(agent.clone(), recorded.ts);
            }
            TaskEvent::Removed { agent } | TaskEvent::Left { agent, .. } => {
                self.admitted.remove(agent);
            }
            TaskEvent::ConversationOpened { conversation, .. } => {
                self.first.take_if(|first| first.id == conversation.id);
                self.conversations.insert(conversation.id.clone());
            }
            TaskEvent::Closing { conversations, .. } => {
                self.closing = Some(conversations.iter().cloned().collect());
            }
            TaskEvent::ConversationSettled { conversation } => {
                if let Some(open) = &mut self.closing {
                    open.remove(conversation);
                }
            }
            TaskEvent::Closed => {
                self.status = TaskStatus::Closed;
                (self.until, self.first, self.closing) = (None, None, None);
                self.ended_at = Some(recorded.ts);
            }
            TaskEvent::Entrusted { manager, .. } => self.manager.clone_from(manager),
        }
    }

    /// Returns the state after all events of a stream, from its beginning.
    pub fn fold<'a>(stream: StreamId, events: impl IntoIterator<Item = &'a RecordedEvent>) -> Self {
        let mut state = Self::new(stream);
        events.into_iter().for_each(|recorded| state.apply(recorded));
        state
    }

    /// Returns the task's id.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Returns the position of the newest event; 0 before the first.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// Returns the time of the newest event.
    pub fn last_ts(&self) -> Timestamp {
        self.last_ts
    }

    /// Returns the time of the request.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// Returns the app of the task.
    pub fn app(&self) -> &str {
        &self.app
    }

    /// Returns the terms that the app asked for.
    pub fn terms(&self) -> TaskTerms {
        self.terms
    }

    /// Returns the agent that asked for the task.
    pub fn initiator(&self) -> &ParticipantId {
        &self.initiator
    }

    /// Returns the manager: the initiator of a task of [`DEFAULT_APP`], otherwise the agent that
    /// the log names. If the log names none, the task has no manager until a person appoints one:
    /// any agent could falsely claim to have managed it.
    pub fn manager(&self) -> Option<&ParticipantId> {
        if self.is_of_default_app() { Some(&self.initiator) } else { self.manager.as_ref() }
    }

    /// True if the task belongs to the built-in app.
    pub fn is_of_default_app(&self) -> bool {
        self.app == DEFAULT_APP
    }

    /// Returns the agent that manages the task for an app. It reads all words in the task without
    /// being admitted.
    pub fn app_manager(&self) -> Option<&ParticipantId> {
        self.manager.as_ref().filter(|_| !self.is_of_default_app())
    }

    /// Returns the status. An ending task is still active.
    pub fn status(&self) -> TaskStatus {
        self.status
    }

    /// True if the admitted agents may speak in its conversations.
    pub fn takes_words(&self) -> bool {
        self.status == TaskStatus::Active && self.closing.is_none()
    }

    /// Returns the time of the acceptance.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// Returns the time of the end, or of the rejection.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }

    /// Returns the reason for a failure, if one was given.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Returns the time until which the manager may accept or reject the task; `None` if no answer
    /// is awaited.
    pub fn answer_by(&self) -> Option<Timestamp> {
        self.until
    }

    /// Returns the conversation that the task begins with, until it has begun.
    pub fn first(&self) -> Option<&NewConversation> {
        self.first.as_ref()
    }

    /// Returns the time at which an agent was admitted, if it is.
    pub fn admitted_at(&self, agent: &ParticipantId) -> Option<Timestamp> {
        self.admitted.get(agent).copied()
    }

    /// Returns the admitted agents, sorted.
    pub fn admitted(&self) -> impl Iterator<Item = &ParticipantId> {
        self.admitted.keys()
    }

    /// True if the conversation belongs to the task.
    pub fn owns(&self, conversation: &StreamId) -> bool {
        self.conversations.contains(conversation)
    }

    /// Returns the task's conversations, sorted.
    pub fn conversations(&self) -> impl Iterator<Item = &StreamId> {
        self.conversations.iter()
    }
}
