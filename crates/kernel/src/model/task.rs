//! Tasks: what admits agents and owns conversations among them. A task is a stream of its own; its
//! conversations are ordinary ones, and follow what it decides. The rules are in `decide::tasks`.
//! (`docs/decisions/0043-a-task-decides-and-its-conversations-follow.md`)

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::event::{Event, RecordedEvent};
use crate::model::ids::{ParticipantId, Seq, StreamId};
pub use crate::model::task_event::{NewConversation, TaskEvent, TaskTerms};
use crate::model::time::Timestamp;

/// The app of tasks that nobody else manages: whoever begins such a task is its task manager.
pub const DEFAULT_APP: &str = "e12fe562-ed1f-4d2d-bed5-68b8edfa41cb";

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TaskStatus {
    /// Its manager has not said yet whether there shall be such a task.
    #[default]
    Waiting,
    /// It goes on.
    Active,
    /// Its manager did not want it.
    Failed,
    /// It is over.
    Closed,
}

/// What a task remembers. [`Task::apply`] is the only way it changes, and it cannot fail.
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
    /// Why it failed.
    pub(crate) reason: Option<String>,
    /// Until when its manager may say something.
    pub(crate) until: Option<Timestamp>,
    /// The conversation that it begins with, until it does.
    pub(crate) first: Option<NewConversation>,
    /// Who is admitted, and since when.
    pub(crate) admitted: BTreeMap<ParticipantId, Timestamp>,
    pub(crate) conversations: BTreeSet<StreamId>,
    /// The conversations that are still to be archived before it is over, from the moment at which
    /// it is about to end.
    pub(crate) closing: Option<BTreeSet<StreamId>>,
}

impl Task {
    /// A stream in which nothing has happened yet.
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

    /// Lets an event happen. What is no event of a task changes nothing but the position.
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

    /// The state after these events, which are a stream from its beginning.
    pub fn fold<'a>(stream: StreamId, events: impl IntoIterator<Item = &'a RecordedEvent>) -> Self {
        let mut state = Self::new(stream);
        events.into_iter().for_each(|recorded| state.apply(recorded));
        state
    }

    /// The task's id.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The newest event's position.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// The newest event's time.
    pub fn last_ts(&self) -> Timestamp {
        self.last_ts
    }

    /// When it was asked for.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// The app whose task it is.
    pub fn app(&self) -> &str {
        &self.app
    }

    /// What its app asked for.
    pub fn terms(&self) -> TaskTerms {
        self.terms
    }

    /// The agent that asked for it.
    pub fn initiator(&self) -> &ParticipantId {
        &self.initiator
    }

    /// The agent that manages it: the initiator of a task of [`DEFAULT_APP`], otherwise the agent
    /// that the log names. A task of a log that named none has no manager until a person gives it
    /// one: an agent could only claim to be the one that managed it.
    pub fn manager(&self) -> Option<&ParticipantId> {
        if self.is_of_default_app() { Some(&self.initiator) } else { self.manager.as_ref() }
    }

    /// True if its app is [`DEFAULT_APP`].
    pub fn is_of_default_app(&self) -> bool {
        self.app == DEFAULT_APP
    }

    /// The agent that manages it for an app, and so reads what is said in it without being
    /// admitted.
    pub fn app_manager(&self) -> Option<&ParticipantId> {
        self.manager.as_ref().filter(|_| !self.is_of_default_app())
    }

    /// How far it is. One that is about to end goes on as far as anybody is told.
    pub fn status(&self) -> TaskStatus {
        self.status
    }

    /// Whether words may be said in its conversations.
    pub fn takes_words(&self) -> bool {
        self.status == TaskStatus::Active && self.closing.is_none()
    }

    /// When its manager accepted it.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// When it ended, or failed.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }

    /// Why it failed, where a reason was given.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Until when its manager may say whether it wants it; nothing where nobody is waited for.
    pub fn answer_by(&self) -> Option<Timestamp> {
        self.until
    }

    /// The conversation that it begins with, where that has not begun.
    pub fn first(&self) -> Option<&NewConversation> {
        self.first.as_ref()
    }

    /// Since when an agent is admitted, if it is.
    pub fn admitted_at(&self, agent: &ParticipantId) -> Option<Timestamp> {
        self.admitted.get(agent).copied()
    }

    /// Who is admitted, sorted.
    pub fn admitted(&self) -> impl Iterator<Item = &ParticipantId> {
        self.admitted.keys()
    }

    /// Whether a conversation is one of its own.
    pub fn owns(&self, conversation: &StreamId) -> bool {
        self.conversations.contains(conversation)
    }

    /// Its conversations, sorted.
    pub fn conversations(&self) -> impl Iterator<Item = &StreamId> {
        self.conversations.iter()
    }
}
