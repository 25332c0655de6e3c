//! Decides tasks: their admitted agents, their manager and their conversations. The conversations
//! carry out the orders in `orders`.
//!
//! The right to manage is checked before anything else about a task, so that other callers do not
//! learn who is admitted. (Ruling 37.)

use std::collections::BTreeSet;

use crate::decide::Decision;
use crate::decide::control::PARTICIPANTS_MAX;
use crate::model::command::{Command, EngineCommand, Refusal, Rejection};
use crate::model::event::{Event, RecordedEvent};
use crate::model::ids::{ParticipantId, Seq, StreamId};
use crate::model::task::{NewConversation, Task, TaskEvent, TaskStatus, TaskTerms};
use crate::model::task_command::TaskCommand;
use crate::model::time::{Millis, Timestamp};

/// Most agents of one task. Each of its conversations takes at most [`PARTICIPANTS_MAX`].
pub const TASK_AGENTS_MAX: usize = 1000;
/// Most conversations of one task.
pub const TASK_CONVERSATIONS_MAX: usize = 1000;

impl Task {
    /// Decides a command and applies its events to `self` before it returns them.
    pub fn decide(&mut self, now: Timestamp, command: Command) -> Decision {
        let mut decider = TaskDecider { now: now.max(self.last_ts), state: self, out: Vec::new() };
        let outcome = match command {
            Command::Task(command) => decider.decide(command),
            Command::Engine(EngineCommand::Tick) => {
                decider.tick();
                Ok(())
            }
            // A manager's deadline is not moved by the server's downtime: the manager could not be
            // asked again.
            Command::Engine(_) => Ok(()),
            Command::Client(_) => Err(no_task("This is a task, not a conversation.")),
        };
        let events = decider.out;
        Decision { events, outcome, charges: Vec::new(), unkept: None }
    }

    /// Returns the manager's deadline while the task waits for an answer.
    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        self.until.filter(|_| self.status == TaskStatus::Waiting)
    }

    /// Rejects every agent but the task's manager. The manager may use any connection, because the
    /// task names an agent.
    ///
    /// # Errors
    /// `unknown_task`, `task_over` or `not_manager`, in this order.
    pub fn check_manager(&self, by: &ParticipantId) -> Result<(), Rejection> {
        if self.head == Seq(0) {
            return Err(no_task("Task not found"));
        }
        let over = matches!(self.status, TaskStatus::Failed | TaskStatus::Closed);
        if over || self.closing.is_some() {
            let message = "Task is not open for mutation";
            return Err(Rejection::new(Refusal::Forbidden, "task_over", message));
        }
        if self.manager() == Some(by) {
            return Ok(());
        }
        let message = "Caller is not the registered task manager for this task";
        Err(Rejection::new(Refusal::Forbidden, "not_manager", message))
    }

    /// Rejects an agent that is not admitted.
    ///
    /// # Errors
    /// `not_admitted`.
    pub fn check_admitted(&self, agent: &ParticipantId) -> Result<(), Rejection> {
        if self.admitted.contains_key(agent) {
            return Ok(());
        }
        let message = format!("Agent {agent} is not admitted to task {}", self.stream);
        Err(Rejection::new(Refusal::Forbidden, "not_admitted", message).about(agent))
    }

    /// Rejects words in the task's conversations while the task takes none. The app's manager may
    /// speak at any time.
    ///
    /// # Errors
    /// `task_closed`.
    pub fn check_takes_words(&self, by: &ParticipantId) -> Result<(), Rejection> {
        if self.takes_words() || self.app_manager() == Some(by) {
            return Ok(());
        }
        Err(Rejection::new(Refusal::Conflict, "task_closed", "Task is closed"))
    }
}

/// The invited agents of a requested task, and its first conversation.
struct Admission {
    invited: Vec<ParticipantId>,
    first: Option<NewConversation>,
}

/// A decision about a task in progress.
struct TaskDecider<'a> {
    state: &'a mut Task,
    now: Timestamp,
    out: Vec<RecordedEvent>,
}

impl TaskDecider<'_> {
    /// Decides a task's command. Any command but a request is rejected if the task does not exist.
    fn decide(&mut self, command: TaskCommand) -> Result<(), Rejection> {
        if let TaskCommand::Request { app, by, manager, invited, first, terms, within } = command {
            let Admission { invited, first } = self.admission(&by, invited, first, terms)?;
            let until = within.map(|within| self.now + within);
            let initiator = by;
            self.emit(TaskEvent::Requested {
                app,
                initiator,
                manager,
                invited,
                first,
                terms,
                until,
            });
            if until.is_none() {
                self.accept();
            }
            return Ok(());
        }
        if self.state.head == Seq(0) {
            return Err(no_task("Task not found"));
        }
        match command {
            TaskCommand::Request { .. } => {}
            TaskCommand::Answer { refusal } => self.answer(refusal),
            TaskCommand::Admit { by, agent } => return self.admit(&by, agent),
            TaskCommand::Remove { by, agent } => {
                self.state.check_manager(&by)?;
                if self.state.admitted.contains_key(&agent) {
                    self.emit(TaskEvent::Removed { agent });
                }
            }
            TaskCommand::Leave { agent } => self.leave(agent),
            TaskCommand::Open { by, conversation } => {
                self.state.check_manager(&by)?;
                return self.open(by, conversation);
            }
            TaskCommand::Close { by } => {
                self.state.check_manager(&by)?;
                self.close(by);
            }
            TaskCommand::Settle { conversation } => self.settle(conversation),
            TaskCommand::Entrust { manager, by } => return self.entrust(manager, by),
        }
        Ok(())
    }

    fn emit(&mut self, event: TaskEvent) {
        let first = self.state.head == Seq(0);
        let ts = if first { self.now } else { self.now.max(self.state.last_ts + Millis(1)) };
        let recorded = RecordedEvent { seq: self.state.head.next(), ts, event: Event::Task(event) };
        self.state.apply(&recorded);
        self.out.push(recorded);
    }

    /// Checks the agents of a requested task and removes duplicates.
    fn admission(
        &self,
        by: &ParticipantId,
        invited: Vec<ParticipantId>,
        first: Option<NewConversation>,
        terms: TaskTerms,
    ) -> Result<Admission, Rejection> {
        if self.state.head != Seq(0) {
            return Err(Rejection::new(Refusal::Conflict, "exists", "This task exists already."));
        }
        let mut invited = distinct(invited);
        invited.retain(|agent| agent != by);
        check_room(terms, invited.len() + 1)?;
        let first = first
            .map(|first| NewConversation { participants: distinct(first.participants), ..first });
        for agent in first.iter().flat_map(|first| &first.participants) {
            if agent != by && !invited.contains(agent) {
                let message =
                    format!("Agent {agent} is not admitted to task {}", self.state.stream);
                return Err(
                    Rejection::new(Refusal::Forbidden, "not_admitted", message).about(agent)
                );
            }
        }
        check_capacity(first.as_ref(), by)?;
        Ok(Admission { invited, first })
    }

    /// Accepts or rejects a waiting task. A second or late answer changes nothing.
    fn answer(&mut self, refusal: Option<Option<String>>) {
        if self.state.status != TaskStatus::Waiting {
            return;
        }
        match refusal {
            None => self.accept(),
            Some(reason) => self.emit(TaskEvent::Rejected { reason }),
        }
    }

    /// Accepts the task and opens its first conversation without the agents that left in the
    /// meantime. If the initiator left, the conversation is not opened. If all left, the task
    /// closes immediately.
    fn accept(&mut self) {
        self.emit(TaskEvent::Accepted);
        if self.state.admitted.is_empty() {
            return self.emit(TaskEvent::Closed);
        }
        let is_here = |agent: &ParticipantId| self.state.admitted.contains_key(agent);
        let by = self.state.initiator.clone();
        if let Some(mut first) = self.state.first.clone().filter(|_| is_here(&by)) {
            first.participants.retain(is_here);
            self.open_conversation(first, by, true);
        }
    }

    /// Rejects a task that its manager did not answer in time.
    fn tick(&mut self) {
        if self.state.wake_at().is_some_and(|until| until <= self.now) {
            self.emit(TaskEvent::Rejected { reason: Some("timeout".into()) });
        }
    }

    /// Admits an agent for the manager, within the task's limit. An agent that is admitted already
    /// is recorded again.
    fn admit(&mut self, by: &ParticipantId, agent: ParticipantId) -> Result<(), Rejection> {
        self.state.check_manager(by)?;
        let again = self.state.admitted.contains_key(&agent);
        if !again {
            check_room(self.state.terms, self.state.admitted.len() + 1)?;
        }
        self.emit(TaskEvent::Admitted { agent, again });
        Ok(())
    }

    /// Removes an agent that leaves. The last one to leave closes the task; its conversations stay
    /// as they are.
    fn leave(&mut self, agent: ParticipantId) {
        if !self.state.admitted.contains_key(&agent) {
            return;
        }
        let conversations = self.conversations();
        self.emit(TaskEvent::Left { agent, conversations });
        let goes_on = self.state.status == TaskStatus::Active && self.state.closing.is_none();
        if goes_on && self.state.admitted.is_empty() {
            self.emit(TaskEvent::Closed);
        }
    }

    /// Opens a conversation of admitted agents for the manager. Changes nothing if the task has it
    /// already. Rejects it while the task waits, or is full.
    fn open(&mut self, by: ParticipantId, given: NewConversation) -> Result<(), Rejection> {
        if self.state.status == TaskStatus::Waiting {
            let message = "Task is not open for mutation";
            return Err(Rejection::new(Refusal::Forbidden, "task_over", message));
        }
        let conversation = NewConversation { participants: distinct(given.participants), ..given };
        conversation.participants.iter().try_for_each(|agent| self.state.check_admitted(agent))?;
        check_capacity(Some(&conversation), &by)?;
        if self.state.conversations.len() >= TASK_CONVERSATIONS_MAX {
            let message = format!("A task has at most {TASK_CONVERSATIONS_MAX} conversations.");
            return Err(too_many(message));
        }
        if !self.state.owns(&conversation.id) {
            self.open_conversation(conversation, by, false);
        }
        Ok(())
    }

    fn open_conversation(&mut self, conversation: NewConversation, by: ParticipantId, first: bool) {
        let exchanges_max = self.state.terms.exchanges_max;
        self.emit(TaskEvent::ConversationOpened { conversation, by, first, exchanges_max });
    }

    /// Begins to close the task. It closes when each of its conversations is settled.
    fn close(&mut self, by: ParticipantId) {
        let conversations = self.conversations();
        self.emit(TaskEvent::Closing { by, conversations });
        self.end_when_settled();
    }

    /// Records that a conversation of a closing task is settled. The last one closes the task.
    fn settle(&mut self, conversation: StreamId) {
        let is_open = |open: &BTreeSet<StreamId>| open.contains(&conversation);
        if self.state.closing.as_ref().is_some_and(is_open) {
            self.emit(TaskEvent::ConversationSettled { conversation });
            self.end_when_settled();
        }
    }

    /// Sets or removes the manager. Changes nothing if the manager is the same or the task has
    /// ended.
    fn entrust(
        &mut self,
        manager: Option<ParticipantId>,
        by: ParticipantId,
    ) -> Result<(), Rejection> {
        if self.state.is_of_default_app() {
            let message = "A task of the built-in app is managed by the agent that asked for it.";
            return Err(Rejection::new(Refusal::Forbidden, "built_in_app", message));
        }
        let over = matches!(self.state.status, TaskStatus::Failed | TaskStatus::Closed);
        if !over && self.state.manager != manager {
            let from = self.state.manager.clone();
            self.emit(TaskEvent::Entrusted { manager, from, by });
        }
        Ok(())
    }

    /// Closes a closing task if all its conversations are settled.
    fn end_when_settled(&mut self) {
        if self.state.closing.as_ref().is_some_and(BTreeSet::is_empty) {
            self.emit(TaskEvent::Closed);
        }
    }

    fn conversations(&self) -> Vec<StreamId> {
        self.state.conversations.iter().cloned().collect()
    }
}

/// Rejects a number of agents above the task's limit.
fn check_room(terms: TaskTerms, agents: usize) -> Result<(), Rejection> {
    let most = terms.agents_max.map_or(TASK_AGENTS_MAX, |most| TASK_AGENTS_MAX.min(most as usize));
    if agents <= most {
        return Ok(());
    }
    Err(too_many(format!("A task of this app admits at most {most} agents")))
}

/// Returns each agent once, in the order given.
fn distinct(agents: Vec<ParticipantId>) -> Vec<ParticipantId> {
    let mut seen = BTreeSet::new();
    agents.into_iter().filter(|agent| seen.insert(agent.clone())).collect()
}

/// Rejects a conversation that has more than [`PARTICIPANTS_MAX`] participants with its creator.
fn check_capacity(
    conversation: Option<&NewConversation>,
    by: &ParticipantId,
) -> Result<(), Rejection> {
    let others = |new: &NewConversation| new.participants.iter().filter(|id| *id != by).count();
    if conversation.map_or(0, others) + 1 > PARTICIPANTS_MAX {
        let message = format!("Group cannot exceed {PARTICIPANTS_MAX} participants");
        return Err(Rejection::new(Refusal::Conflict, "conversation_full", message));
    }
    Ok(())
}

fn too_many(message: String) -> Rejection {
    Rejection::new(Refusal::Conflict, "task_full", message)
}

fn no_task(message: &str) -> Rejection {
    Rejection::new(Refusal::NotFound, "unknown_task", message)
}
