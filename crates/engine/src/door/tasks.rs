//! Tasks through the door: asking for a task, managing it, and opening and changing its
//! conversations.
//!
//! If an operation needs the right to manage the task, that right is checked before everything else
//! about the task.

mod talk;
mod agents;
mod apps;

pub use agents::AgentView;
pub use apps::AppView;
pub use talk::{OutgoingMessage, TaskMessages};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::Conversation;
use moothall_kernel::aggregate::{CONVERSATION, TASK};
use moothall_kernel::command::{EngineCommand, Refusal, Rejection};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::task::{DEFAULT_APP, NewConversation, Task, TaskStatus, TaskTerms};
use moothall_kernel::task_command::{TaskCommand, TaskOrder};
use moothall_kernel::time::{Millis, Timestamp};
use tokio::time::timeout;

use super::{Action, Door};
use crate::answers::{Answer, HallError};
use crate::hall::inner::fresh_id;
use crate::ports::Target;
use crate::stream::{OwedItems, StartMode};
use crate::tasks::{AgentLine, Notice, TaskError, TaskManager, TaskProposal, TaskView, wire_id};

/// Time that a request waits for the effects of its decision. Slower effects follow after the
/// answer.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(10);
/// Default time for a manager's answer.
pub const MANAGER_ANSWERS_WITHIN: Millis = Millis::from_secs(10);

/// A conversation of a task, as agents see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationView {
    /// The conversation's id.
    pub id: StreamId,
    /// The task that owns it.
    pub task: StreamId,
    /// The conversation's title, if one was given.
    pub name: Option<String>,
    /// The task manager that opened the conversation.
    pub created_by: ParticipantId,
    /// When the conversation began.
    pub created_at: Timestamp,
    /// Time of the last event.
    pub updated_at: Timestamp,
    /// When the conversation was archived; since then it takes no messages.
    pub archived_at: Option<Timestamp>,
    /// The participants, in the order in which they came.
    pub participants: Vec<ParticipantId>,
}

impl ConversationView {
    /// Returns the conversation as agents see it; `None` if no task owns it.
    fn of(state: &Conversation) -> Option<Self> {
        Some(Self {
            id: state.stream().clone(),
            task: state.task()?.clone(),
            name: state.is_titled().then(|| state.name().to_owned()),
            created_by: state.task_manager()?.clone(),
            created_at: state.created_at(),
            updated_at: state.last_ts(),
            archived_at: state.archived_at(),
            participants: state.participants().iter().map(|one| one.id.clone()).collect(),
        })
    }
}

/// A page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPage<T> {
    /// The entries of the page.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A request for a conversation in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationWish {
    /// The conversation's title.
    pub name: Option<String>,
    /// The agents that take part. The agent that asks takes part as well.
    pub participants: Vec<ParticipantId>,
}

impl Door {
    /// Requests a task. The agent that asks, and those that it invites, are admitted if the app's
    /// manager accepts the task. `exchanges_max` is the number of messages that its agents may
    /// exchange in one of its conversations before a person has to continue; by default
    /// [`TASK_EXCHANGES_MAX`].
    ///
    /// [`TASK_EXCHANGES_MAX`]: crate::tasks::TASK_EXCHANGES_MAX
    ///
    /// # Errors
    /// [`TaskError`]; [`TaskError::NotWanted`] if the task failed.
    pub async fn request_task(
        &self,
        own: &AgentLine,
        app: &str,
        invited: Vec<ParticipantId>,
        first: Option<ConversationWish>,
        exchanges_max: Option<u32>,
    ) -> Result<(TaskView, Option<ConversationView>), TaskError> {
        self.may(Action::BeginTask)?;
        self.known_agents(&invited).await?;
        self.begin_task(own.agent(), app, invited, first, exchanges_max).await
    }

    /// Begins a task for registered agents, given by id or name, with a conversation of all of
    /// them. The first one counts as the agent that asks, so it manages the task.
    ///
    /// # Errors
    /// [`TaskError`]; nothing began if an agent is unknown.
    pub async fn begin_task_for(
        &self,
        agents: &[String],
        name: Option<String>,
    ) -> Result<Option<ConversationView>, TaskError> {
        self.may(Action::BeginTaskFor)?;
        let mut known: Vec<ParticipantId> = Vec::new();
        for word in agents {
            let card = self.hall.card_of(word).await?;
            if !known.contains(&card.id) {
                known.push(card.id);
            }
        }
        let Some((first, others)) = known.split_first() else {
            return Err(TaskError::Invalid("A task needs at least one agent.".into()));
        };
        let wish = ConversationWish { name, participants: known.clone() };
        let begun = self.begin_task(first, DEFAULT_APP, others.to_vec(), Some(wish), None).await?;
        Ok(begun.1)
    }

    /// Begins a task that an agent asks for, with the agents that it invites. If the app has a
    /// manager, it is asked and has limited time. Without its acceptance the task fails.
    async fn begin_task(
        &self,
        by: &ParticipantId,
        app: &str,
        invited: Vec<ParticipantId>,
        first: Option<ConversationWish>,
        exchanges_max: Option<u32>,
    ) -> Result<(TaskView, Option<ConversationView>), TaskError> {
        let inner = &self.hall.inner;
        let id = fresh_id(self.hall.now());
        let first = first.map(|ConversationWish { name, participants }| NewConversation {
            id: fresh_id(self.hall.now()),
            name,
            participants,
        });
        let holder = self.app_holder(app).await?;
        let manager = holder.as_ref().and_then(|agent| inner.tasks.app(app, agent));
        let within = match &manager {
            None if app == DEFAULT_APP => None,
            Some(manager) => manager.manifest.hooks.task_ms.map(Millis),
            None => Some(MANAGER_ANSWERS_WITHIN),
        };
        let manifest = manager.as_ref().map(|app| &app.manifest);
        let terms = TaskTerms {
            agents_max: manifest.and_then(|app| app.participants_max),
            moderated: manifest.is_some_and(|app| app.hooks.message_ms.is_some()),
            exchanges_max,
        };
        let (by, conversation) = (by.clone(), first.clone().map(|first| first.id));
        let request = TaskCommand::Request {
            app: app.to_owned(),
            by,
            manager: holder.clone(),
            invited: invited.clone(),
            first: first.clone(),
            terms,
            within,
        };
        inner.begin(&id, StartMode::NewTask, request, None, OwedItems::default()).await?;
        self.follow_holder(&id, app, holder).await?;
        if let Some(within) = within {
            let task = inner.view_task(&id, TaskView::of).await?;
            let asked = manager.map(|app| app.manager);
            let refusal =
                ask(asked, TaskProposal { task, invited, first, exchanges_max }, within).await;
            inner.submit(&id, TaskCommand::Answer { refusal }, None).await?;
        }
        let (task, reason, conversation) = inner
            .view_task(&id, move |task| {
                // The task may have ended while the manager answered, or its agent may have left
                // it.
                let opened = conversation.filter(|conversation| task.owns(conversation));
                (TaskView::of(task), task.reason().map(str::to_owned), opened)
            })
            .await?;
        if task.status == TaskStatus::Failed {
            return Err(TaskError::NotWanted { task: id, reason });
        }
        match conversation {
            None => Ok((task, None)),
            Some(conversation) => {
                self.wait_for_outbox([&conversation]).await;
                Ok((task, Some(self.conversation_view(&conversation).await?)))
            }
        }
    }

    /// Returns the tasks that an agent is admitted to or manages, newest first.
    ///
    /// # Errors
    /// [`TaskError`]; `Invalid` for a malformed cursor.
    pub async fn tasks(
        &self,
        own: &AgentLine,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<TaskPage<TaskView>, TaskError> {
        self.may(Action::ReadTask)?;
        let inner = &self.hall.inner;
        let mut all = Vec::new();
        let mut tasks: BTreeSet<_> = inner.managed_by(own.agent()).await?.into_iter().collect();
        tasks.extend(inner.memberships_of(own.agent(), Some(TASK)).await?);
        for task in tasks {
            let row = inner.find(&task).await?;
            all.push((row.catalog.created_at, task));
        }
        let (page, next) = paged(all, limit, cursor)?;
        let mut items = Vec::with_capacity(page.len());
        for task in page {
            items.push(inner.view_task(&task, TaskView::of).await?);
        }
        Ok(TaskPage { items, next })
    }

    /// Returns the conversations that an agent is in, and those of tasks that it manages, latest
    /// activity first.
    ///
    /// # Errors
    /// [`TaskError`]; `Invalid` for a malformed cursor.
    pub async fn conversations(
        &self,
        own: &AgentLine,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<TaskPage<ConversationView>, TaskError> {
        self.may(Action::ReadTask)?;
        let inner = &self.hall.inner;
        let mut all = Vec::new();
        let own_ones = inner.memberships_of(own.agent(), Some(CONVERSATION)).await?;
        let mut conversations: BTreeSet<_> = own_ones.into_iter().collect();
        for task in inner.managed_by(own.agent()).await? {
            conversations.extend(inner.view_task(&task, conversations_of).await?);
        }
        for conversation in conversations {
            match inner.find(&conversation).await {
                Ok(row) => all.push((row.last_ts, conversation)),
                // A conversation that was deleted, or that the outbox has not begun yet.
                Err(HallError::NotFound(_) | HallError::Deleted(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let (page, next) = paged(all, limit, cursor)?;
        let mut items = Vec::with_capacity(page.len());
        for conversation in page {
            items.push(self.conversation_view(&conversation).await?);
        }
        Ok(TaskPage { items, next })
    }

    /// Removes the agent from a task and its conversations. Succeeds also for an agent that is not
    /// admitted.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn leave_task(&self, own: &AgentLine, task: &StreamId) -> Result<(), TaskError> {
        self.may(Action::LeaveTask)?;
        let conversations = self.view_task(task, conversations_of).await?;
        let leave = TaskCommand::Leave { agent: own.agent().clone() };
        self.hall.inner.submit(task, leave, None).await?;
        self.wait_for_outbox(&conversations).await;
        Ok(())
    }

    /// Ends a task, after archiving its conversations. If the conversations take too long, returns
    /// the task while it still ends.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn close_task(
        &self,
        own: &AgentLine,
        task: &StreamId,
    ) -> Result<TaskView, TaskError> {
        let by = self.manager(own, task, |_| Ok(())).await?;
        let conversations = self.view_task(task, conversations_of).await?;
        self.hall.inner.submit(task, TaskCommand::Close { by }, None).await?;
        self.wait_for_outbox(&conversations).await;
        self.wait_for_outbox([task]).await;
        self.view_task(task, TaskView::of).await
    }

    /// Admits an agent to a task. Returns the time since which the agent is admitted.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn admit(
        &self,
        own: &AgentLine,
        task: &StreamId,
        agent: ParticipantId,
    ) -> Result<Timestamp, TaskError> {
        let by = self.manager(own, task, |_| Ok(())).await?;
        self.known_agents(std::slice::from_ref(&agent)).await?;
        let answer = self.hall.inner.submit(task, TaskCommand::Admit { by, agent }, None).await?;
        Ok(answer.event.map_or_else(|| self.hall.now(), |event| event.ts))
    }

    /// Removes an agent from a task. The agent stays in the task's conversations.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn remove(
        &self,
        own: &AgentLine,
        task: &StreamId,
        agent: ParticipantId,
    ) -> Result<(), TaskError> {
        let by = self.manager(own, task, |_| Ok(())).await?;
        self.hall.inner.submit(task, TaskCommand::Remove { by, agent }, None).await?;
        Ok(())
    }

    /// Opens a conversation in a task.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn open_conversation(
        &self,
        own: &AgentLine,
        task: &StreamId,
        wish: ConversationWish,
    ) -> Result<ConversationView, TaskError> {
        let all = wish.participants.clone();
        let admitted = move |task: &Task| all.iter().try_for_each(|one| task.check_admitted(one));
        let by = self.manager(own, task, admitted).await?;
        let ConversationWish { name, participants } = wish;
        let id = fresh_id(self.hall.now());
        let conversation = NewConversation { id: id.clone(), name, participants };
        self.hall.inner.submit(task, TaskCommand::Open { by, conversation }, None).await?;
        self.wait_for_outbox([&id]).await;
        self.conversation_view(&id).await
    }

    /// Archives a conversation of a task, or opens it again. The participants are notified, even if
    /// nothing changed.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn archive_conversation(
        &self,
        own: &AgentLine,
        task: &StreamId,
        conversation: &StreamId,
        on: bool,
    ) -> Result<(), TaskError> {
        let by = self.manager(own, task, |_| Ok(())).await?;
        let order = TaskOrder::Archive { by, on };
        if self.give_order(task, conversation, order).await?.event.is_none() {
            let view = self.conversation_view(conversation).await?;
            let (task, conversation) = (task.clone(), conversation.clone());
            self.hall.inner.tasks.tell(&view.participants, || match view.archived_at {
                Some(at) => Notice::ConversationArchived { task, conversation, at },
                None => Notice::ConversationUnarchived { task, conversation },
            });
        }
        Ok(())
    }

    /// Adds an agent to a conversation. The participants are notified, even if the agent was in it
    /// already.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn add_participant(
        &self,
        own: &AgentLine,
        task: &StreamId,
        conversation: &StreamId,
        agent: ParticipantId,
    ) -> Result<(), TaskError> {
        let admitted = agent.clone();
        let by = self.manager(own, task, move |task| task.check_admitted(&admitted)).await?;
        let inner = &self.hall.inner;
        let agent_named = inner.named_agents(std::slice::from_ref(&agent)).await?.remove(0);
        let order = TaskOrder::Add { by, agent: agent_named };
        if self.give_order(task, conversation, order).await?.event.is_none() {
            let view = self.conversation_view(conversation).await?;
            let (task, conversation) = (task.clone(), conversation.clone());
            inner.tasks.tell(&view.participants, || Notice::ParticipantAdded {
                task,
                conversation,
                agent,
            });
        }
        Ok(())
    }

    /// Removes an agent from a conversation. The agent stays in the task.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn remove_participant(
        &self,
        own: &AgentLine,
        task: &StreamId,
        conversation: &StreamId,
        agent: &ParticipantId,
    ) -> Result<(), TaskError> {
        let by = self.manager(own, task, |_| Ok(())).await?;
        let view = self.conversation_view(conversation).await?;
        // The client names a participant by its wire id. The wire id of a participant that is not a
        // registered agent is made of its own id.
        let id = wire_id(agent);
        let here = view.participants.into_iter().find(|one| wire_id(one) == id);
        let agent = here.unwrap_or_else(|| agent.clone());
        self.give_order(task, conversation, TaskOrder::Remove { by, agent }).await.map(drop)
    }

    /// Returns the caller's agent, if it manages the task and `and` holds of the task.
    async fn manager(
        &self,
        own: &AgentLine,
        task: &StreamId,
        and: impl FnOnce(&Task) -> Result<(), Rejection> + Send + 'static,
    ) -> Result<ParticipantId, TaskError> {
        self.may(Action::ManageTask)?;
        let by = own.agent().clone();
        let checked = move |task: &Task| {
            task.check_manager(&by)?;
            and(task).map(|()| by)
        };
        Ok(self.view_task(task, checked).await??)
    }

    async fn view_task<T: Send + 'static>(
        &self,
        task: &StreamId,
        question: impl FnOnce(&Task) -> T + Send + 'static,
    ) -> Result<T, TaskError> {
        self.hall.inner.view_task(task, question).await.map_err(|error| missing(error, "Task"))
    }

    async fn conversation_view(&self, id: &StreamId) -> Result<ConversationView, TaskError> {
        let view = self.hall.view(id, ConversationView::of).await;
        let view = view.map_err(|error| missing(error, "Conversation"))?;
        view.ok_or_else(|| not_found("Conversation").into())
    }

    /// Gives an order of a task to one of its conversations. For agents of tasks, a conversation
    /// without a task does not exist.
    async fn give_order(
        &self,
        task: &StreamId,
        conversation: &StreamId,
        order: TaskOrder,
    ) -> Result<Answer, TaskError> {
        self.conversation_view(conversation).await?;
        let command = EngineCommand::Obey { task: task.clone(), order: Box::new(order) };
        Ok(self.hall.tell(conversation, command, None).await?)
    }

    /// Waits until the outbox has delivered to these streams, for at most ten seconds.
    async fn wait_for_outbox<'a>(&self, streams: impl IntoIterator<Item = &'a StreamId>) {
        let outbox = self.hall.inner.outbox.clone();
        let all = async {
            for stream in streams {
                outbox.wait_for_deliveries(&Target::Stream(stream.clone())).await;
            }
        };
        if timeout(FOLLOWS_WITHIN, all).await.is_err() {
            tracing::warn!("the commands of a task are carried out later");
        }
    }
}

/// Asks the manager of an app about a request for a task. Returns `None` if the manager accepts,
/// otherwise the reason of the refusal. An absent or silent manager refuses.
async fn ask(
    manager: Option<Arc<dyn TaskManager>>,
    wish: TaskProposal,
    within: Millis,
) -> Option<Option<String>> {
    let Some(manager) = manager else { return Some(Some("tm_unreachable".into())) };
    match timeout(Duration::from_millis(within.0), manager.wants(wish)).await {
        Ok(answer) => answer.err(),
        Err(_) => Some(Some("timeout".into())),
    }
}

fn conversations_of(task: &Task) -> Vec<StreamId> {
    task.conversations().cloned().collect()
}

fn not_found(what: &str) -> Rejection {
    Rejection::new(Refusal::NotFound, "unknown_task", format!("{what} not found"))
}

/// Maps a missing or deleted stream to "not found".
fn missing(error: HallError, what: &str) -> TaskError {
    match error {
        HallError::NotFound(_) | HallError::Deleted(_) => not_found(what).into(),
        error => error.into(),
    }
}

/// Returns a page of streams and the cursor of the next page. The latest stream comes first;
/// streams of the same time are in the order of their ids.
fn paged(
    mut all: Vec<(Timestamp, StreamId)>,
    limit: usize,
    cursor: Option<&str>,
) -> Result<(Vec<StreamId>, Option<String>), TaskError> {
    let before = |one: &(Timestamp, StreamId), other: &(Timestamp, StreamId)| {
        other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1))
    };
    all.sort_by(before);
    if let Some(cursor) = cursor {
        let read = || {
            let (millis, id) = cursor.split_once('_')?;
            Some((Timestamp::from_millis(millis.parse().ok()?), StreamId::new(id)))
        };
        let invalid = || {
            TaskError::Invalid("'cursor' takes the value of nextCursor from an earlier page".into())
        };
        let last = read().ok_or_else(invalid)?;
        all.retain(|one| before(&last, one).is_lt());
    }
    let next = all.get(limit).and_then(|_| all.get(limit.checked_sub(1)?));
    let next = next.map(|(at, id)| format!("{}_{id}", at.millis()));
    Ok((all.into_iter().take(limit).map(|(_, stream)| stream).collect(), next))
}
