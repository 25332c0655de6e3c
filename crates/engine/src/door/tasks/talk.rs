//! Messages in the conversations of tasks: sending and reading.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command, Post, Refusal, Rejection};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId};
use moothall_kernel::message_part::MessagePart;
use moothall_kernel::pass::{PASS, is_pass};
use moothall_kernel::task::Task;
use moothall_kernel::time::Millis;
use moothall_kernel::view::{Viewer, visible};

use super::{ConversationView, missing, not_found};
use crate::access::PermittedCommand;
use crate::answers::{Answer, HallError};
use crate::door::{Action, Door};
use crate::hall::inner::fresh_id;
use crate::ports::PAGE_BYTES_MAX;
use crate::stream::{Condition, Consent, ConsentAsker};
use crate::tasks::{AgentLine, Forwarding, TaskError, TaskManager};

/// The reason of a block if a manager is offline or does not answer in time.
const UNREACHABLE: &str = "tm_unreachable";
/// Number of messages or events in one read.
const PAGE: usize = 200;

/// A message to send in a conversation of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// The task.
    pub task: StreamId,
    /// The conversation.
    pub conversation: StreamId,
    /// The content: at least one part.
    pub parts: Vec<MessagePart>,
    /// The message that it replies to.
    pub reply_to: Option<EventId>,
}

/// Messages of a conversation, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskMessages {
    /// The messages; each is an [`Event::Posted`].
    pub messages: Vec<RecordedEvent>,
    /// True if there are more: newer ones after a `since`, otherwise older ones.
    pub has_more: bool,
    /// True if the reader manages the app, and may see the readers of each message.
    pub with_readers: bool,
}

impl Door {
    /// Sends a message in a conversation of a task. Answers when the message is committed.
    ///
    /// # Errors
    /// [`TaskError`]; nothing is committed then.
    pub async fn say_in_task(
        &self,
        own: &AgentLine,
        sending: OutgoingMessage,
    ) -> Result<RecordedEvent, TaskError> {
        self.may(Action::SayInTask)?;
        let OutgoingMessage { task, conversation, parts, reply_to } = sending;
        let (view, is_in) = self.conversation_of(own, &task, &conversation).await?;
        is_in?;
        let agent = own.agent().clone();
        let moderator = self.view_task(&task, move |task: &Task| {
            task.check_takes_words(&agent).map(|()| Moderator::of(task, &agent))
        });
        let moderator = moderator.await??;
        if view.archived_at.is_some() {
            return Err(archived().into());
        }
        let reply_to = match reply_to {
            None => None,
            Some(id) => {
                let cause = self.hall.cause(&conversation, id).await?;
                Some(cause.ok_or_else(|| not_found("Reply target"))?)
            }
        };
        let actor = Actor::named(own.agent().clone());
        let credential = self.caller.token().map(ToString::to_string);
        let post = Post { reply_to, credential, ..Post::of_parts(actor, &parts) };
        if is_pass(&post.body) {
            // A pass would end a turn without a message, and this call promises a message.
            let reason = format!("'parts' must contain more than {PASS}, which would be a pass");
            return Err(TaskError::Invalid(reason));
        }
        let said = ClientCommand::Post(post);
        let said = self.hall.permit(&self.caller, &conversation, said).await?;
        let answer = match self.moderation(&moderator) {
            // The manager chooses the readers of a message and is offline: reject.
            Moderation::Away => {
                let draft = fresh_id(self.hall.now()).to_string();
                return Err(TaskError::Blocked { draft, reason: UNREACHABLE.into() });
            }
            Moderation::None => self.submit(said, None).await?,
            Moderation::By(manager, within) => {
                let app = moderator.app;
                let (draft, at) = (fresh_id(self.hall.now()).to_string(), self.hall.now());
                let sender = own.agent().clone();
                let members = view.participants;
                let message =
                    Forwarding { task, app, conversation, draft, sender, parts, at, members };
                self.send_if_forwarded(message, said, manager, within).await?
            }
        };
        let posted = answer.event.filter(|event| matches!(event.event, Event::Posted(_)));
        Ok(posted.ok_or_else(|| HallError::Failed("the message was not stored".into()))?)
    }

    /// Returns the way in which the readers of the message are decided. The manager's own message
    /// needs no consent. A connected manager decides if its hook for messages is set. Without a
    /// connection, the message is rejected if the task is moderated.
    fn moderation(&self, moderator: &Moderator) -> Moderation {
        let Moderator { app, manager, is_sender, moderated } = moderator;
        if *is_sender {
            return Moderation::None;
        }
        let app = manager.as_ref().and_then(|agent| self.hall.inner.tasks.app(app, agent));
        match app {
            None if *moderated => Moderation::Away,
            None => Moderation::None,
            Some(app) => match app.manifest.hooks.message_ms {
                None => Moderation::None,
                Some(within) => Moderation::By(app.manager, Millis(within)),
            },
        }
    }

    /// Submits a message if the manager of the task forwards it in time. Otherwise returns
    /// [`TaskError::Blocked`] with the reason.
    async fn send_if_forwarded(
        &self,
        message: Forwarding,
        said: PermittedCommand,
        manager: Arc<dyn TaskManager>,
        within: Millis,
    ) -> Result<Answer, TaskError> {
        let (conversation, command) = said.into_parts();
        let condition = Condition { principal: message.app.clone(), within };
        let draft = message.draft.clone();
        let asker = Arc::new(ManagerAsker { manager, message, refusal: OnceLock::new() });
        let sent =
            self.hall.submit_if_agreed(&conversation, command, None, condition, asker.clone());
        match sent.await {
            Err(HallError::Rejected(no)) if no.code == "not_agreed" => {
                let said = asker.refusal.get().cloned().flatten();
                let reason = said.unwrap_or_else(|| "blocked".into());
                Err(TaskError::Blocked { draft, reason })
            }
            Err(HallError::Rejected(no)) if no.code == "unanswered" => {
                Err(TaskError::Blocked { draft, reason: UNREACHABLE.into() })
            }
            sent => Ok(sent?),
        }
    }

    /// Returns the messages of a conversation: those after `since`, or the newest. The app's
    /// manager reads all of them. Another agent has to be in the conversation, and to be the task's
    /// requester or admitted to the task. It reads the messages that it may see.
    ///
    /// # Errors
    /// [`TaskError`]; `Invalid` if `since` is neither a position nor the id of a message there.
    pub async fn task_messages(
        &self,
        own: &AgentLine,
        task: &StreamId,
        conversation: &StreamId,
        since: Option<&str>,
        limit: usize,
    ) -> Result<TaskMessages, TaskError> {
        self.may(Action::ReadTask)?;
        let (_, is_in) = self.conversation_of(own, task, conversation).await?;
        let agent = own.agent().clone();
        let (manages, reads) = self
            .view_task(task, move |task: &Task| {
                let admitted = task.admitted_at(&agent).is_some();
                let manages = task.app_manager() == Some(&agent);
                (manages, *task.initiator() == agent || admitted)
            })
            .await?;
        if !manages {
            if !reads {
                return Err(forbidden("Caller is not a participant of this task").into());
            }
            is_in?;
        }
        let eyes = match manages {
            true => Viewer::Operator,
            false => Viewer::Participant(own.agent().clone()),
        };
        let sees = |recorded: &RecordedEvent| {
            recorded.event.is_in_prompts() && visible(&recorded.event, &eyes)
        };
        let (messages, has_more) = match since {
            None => self.newest_messages(conversation, limit, sees).await?,
            Some(since) => {
                let after = self.position(conversation, since).await?;
                self.said_after(conversation, after, limit, sees).await?
            }
        };
        Ok(TaskMessages { messages, has_more, with_readers: manages })
    }

    /// Returns the newest messages that `sees` selects, oldest first, at most `limit` and about one
    /// page of bytes; and true if there may be earlier ones.
    async fn newest_messages(
        &self,
        conversation: &StreamId,
        limit: usize,
        sees: impl Fn(&RecordedEvent) -> bool,
    ) -> Result<(Vec<RecordedEvent>, bool), TaskError> {
        // The search begins at the highest position. Stores write positions as signed numbers.
        let (mut found, mut before) = (Vec::new(), Seq(u64::MAX >> 1));
        // A message beyond the limit shows that there are more.
        while found.len() <= limit {
            if weight(&found) >= PAGE_BYTES_MAX {
                found.truncate(limit);
                found.reverse();
                return Ok((found, true));
            }
            let page = self.hall.messages_before(conversation, before, PAGE).await?;
            let Some(oldest) = page.last() else { break };
            before = oldest.seq;
            found.extend(page.into_iter().filter(&sees));
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        found.reverse();
        Ok((found, has_more))
    }

    /// Returns the messages after a position that `sees` selects, oldest first, at most `limit` and
    /// about one page of bytes; and true if there may be later ones.
    async fn said_after(
        &self,
        conversation: &StreamId,
        mut after: Seq,
        limit: usize,
        sees: impl Fn(&RecordedEvent) -> bool,
    ) -> Result<(Vec<RecordedEvent>, bool), TaskError> {
        let mut found: Vec<RecordedEvent> = Vec::new();
        // Stop at the size of one answer. The client continues after the last message.
        while found.len() <= limit && weight(&found) < PAGE_BYTES_MAX {
            let page = self.hall.page(conversation, after, PAGE).await?;
            if page.through <= after {
                return Ok((found, false));
            }
            after = page.through;
            found.extend(page.events.into_iter().filter(&sees));
        }
        found.truncate(limit);
        Ok((found, true))
    }

    /// Parses a position: a number, or the id of a message.
    async fn position(&self, conversation: &StreamId, since: &str) -> Result<Seq, TaskError> {
        if let Ok(number) = since.parse::<u64>() {
            return Ok(Seq(number));
        }
        let invalid = || {
            TaskError::Invalid("'sinceSeq' takes the id of a message of the conversation".into())
        };
        let id: EventId = since.parse().map_err(|()| invalid())?;
        let cause = self.hall.cause(conversation, id).await?;
        Ok(cause.ok_or_else(invalid)?.seq)
    }

    /// True if the task lists this conversation as its own.
    async fn is_owned(&self, task: &StreamId, conversation: &StreamId) -> bool {
        let conversation = conversation.clone();
        self.view_task(task, move |task| task.owns(&conversation)).await.unwrap_or(false)
    }

    /// Returns a conversation of this task, and the result of checking that the agent may speak in
    /// it.
    async fn conversation_of(
        &self,
        own: &AgentLine,
        task: &StreamId,
        conversation: &StreamId,
    ) -> Result<(ConversationView, Result<(), Rejection>), TaskError> {
        let agent = own.agent().clone();
        let look = move |state: &Conversation| {
            Some((ConversationView::of(state)?, state.check_in_task(&agent)))
        };
        let mut seen = self.hall.view(conversation, look.clone()).await;
        if matches!(seen, Err(HallError::NotFound(_))) && self.is_owned(task, conversation).await {
            // The task announces a conversation before the outbox has begun it: wait for the
            // outbox.
            self.wait_for_outbox([conversation]).await;
            seen = self.hall.view(conversation, look).await;
        }
        let seen = seen.map_err(|error| missing(error, "Conversation"))?;
        let (view, is_in) = seen.ok_or_else(|| not_found("Conversation"))?;
        if view.task == *task {
            return Ok((view, is_in));
        }
        Err(forbidden("Conversation does not belong to the specified task").into())
    }
}

/// The terms of a task for the moderation of one message.
struct Moderator {
    app: String,
    /// The agent that manages the task for the app.
    manager: Option<ParticipantId>,
    /// True if that agent sends the message itself; it is not asked then.
    is_sender: bool,
    /// True if messages are rejected while the manager is offline.
    moderated: bool,
}

impl Moderator {
    /// Returns the terms under which this agent sends a message in the task.
    fn of(task: &Task, sender: &ParticipantId) -> Self {
        Self {
            app: task.app().to_owned(),
            manager: task.app_manager().cloned(),
            is_sender: task.app_manager() == Some(sender),
            moderated: task.terms().moderated,
        }
    }
}

/// The way in which the readers of a message are decided.
enum Moderation {
    /// All participants read the message.
    None,
    /// This manager decides, within this time.
    By(Arc<dyn TaskManager>, Millis),
    /// The manager would decide, but is offline.
    Away,
}

/// Returns the size of the messages in bytes, to stop at the size of one answer.
fn weight(found: &[RecordedEvent]) -> usize {
    found.iter().filter_map(|one| one.event.body()).map(str::len).sum()
}

fn forbidden(message: &str) -> Rejection {
    Rejection::new(Refusal::Forbidden, "not_of_task", message)
}

fn archived() -> Rejection {
    Rejection::new(Refusal::Conflict, "thread_archived", "Conversation is archived")
}

/// Asks the manager of an app for consent to a message.
struct ManagerAsker {
    manager: Arc<dyn TaskManager>,
    message: Forwarding,
    /// The reason of the manager's refusal. Empty until the manager refuses.
    refusal: OnceLock<Option<String>>,
}

#[async_trait]
impl ConsentAsker for ManagerAsker {
    /// Asks the manager for the readers of the message. The reason of a refusal is noted, because
    /// the error of the request has it only within a sentence.
    async fn ask(&self, _: &str, _: &Command) -> Consent {
        match self.manager.forwards(self.message.clone()).await {
            Ok(readers) => Consent::GivenFor(readers),
            Err(reason) => {
                let said = self.refusal.get_or_init(|| reason);
                Consent::Refused(said.clone().unwrap_or_default())
            }
        }
    }
}
