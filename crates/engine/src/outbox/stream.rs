//! The delivery handler for commands from one stream to another of the same hall.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use moothall_kernel::command::{ClientCommand, Command, EngineCommand};
use moothall_kernel::ids::StreamId;
use moothall_kernel::task_command::{TaskCommand, TaskOrder};

use super::command::{CommandRecord, CommandTarget, ConversationAction};
use super::handler::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome};
use super::{OutboxEntry, StreamCommand};
use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::inner::Inner;
use crate::ports::{COMMANDER, Delivery, Target};
use crate::stream::{OwedItems, StartMode};

/// Submits the command of a delivery to its target, under a claim that lasts until the delivery is
/// settled.
pub(crate) struct StreamCourier(pub(crate) Weak<Inner>);

#[async_trait]
impl DeliveryHandler for StreamCourier {
    /// A delivery is always repeated, because the claim prevents a second decision.
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Repeats
    }

    /// Submits the command to its stream. A command that this version cannot read fails for good.
    async fn carry(&self, delivery: &Delivery, _: &DeliveryNotes<'_>) -> Outcome {
        let Some(hall) = self.0.upgrade() else {
            return Outcome::later("the hall is closed");
        };
        let CommandRecord::<StreamCommand> { hops, command } = match delivery.in_chain() {
            Ok(carried) => carried,
            Err(error) => {
                return Outcome::Failed(format!("this version cannot read the command: {error}"));
            }
        };
        let Target::Stream(target) = &delivery.target else {
            return Outcome::Failed(format!("{} is not a conversation", delivery.target));
        };
        let fingerprint = format!("{}/{}", delivery.stream, delivery.through_seq);
        let once =
            Idempotency { principal: COMMANDER.into(), key: delivery.id.to_string(), fingerprint };
        match command.into() {
            CommandTarget::Conversation(command) => {
                converse(&hall, target, command, once, hops).await
            }
            CommandTarget::Task(command) => submit(&hall, target, command, once, hops).await,
            CommandTarget::Begin { task, begin: start } => {
                let order = hall.beginning(start).await;
                match order {
                    Ok(order) => begin(&hall, target, task, order, once).await,
                    Err(error) => outcome(&error),
                }
            }
            CommandTarget::Order { task, order, tells } => {
                obey(&hall, target, (task, order), tells, once, hops).await
            }
        }
    }
}

impl Inner {
    /// Returns a command for a conversation, made from its present state. `None` if the participant
    /// is not in it, or if the command is not for a conversation's members.
    pub(crate) async fn command_in(
        self: &Arc<Self>,
        target: &StreamId,
        command: StreamCommand,
    ) -> Result<Option<ClientCommand>, HallError> {
        let CommandTarget::Conversation(action) = command.into() else { return Ok(None) };
        self.view(target, move |state| action.command(state)).await
    }
}

/// Submits a command made from the conversation's present state.
async fn converse(
    hall: &Arc<Inner>,
    target: &StreamId,
    command: ConversationAction,
    once: Idempotency,
    hops: u8,
) -> Outcome {
    match hall.view(target, move |state| command.command(state)).await {
        Ok(Some(command)) => submit(hall, target, command, once, hops).await,
        Ok(None) => Outcome::Done("whom it is about is not there".into()),
        Err(error) => outcome(&error),
    }
}

/// Creates a conversation of a task. If the conversation exists or was deleted, the command was
/// carried out before.
async fn begin(
    hall: &Arc<Inner>,
    target: &StreamId,
    task: StreamId,
    order: TaskOrder,
    once: Idempotency,
) -> Outcome {
    let command = EngineCommand::Obey { task, order: Box::new(order) };
    match hall.find(target).await {
        Ok(_) | Err(HallError::Deleted(_)) => Outcome::Done("it began".into()),
        Err(HallError::NotFound(_)) => done(
            hall.begin(target, StartMode::New, command, Some(once), OwedItems::default()).await,
        ),
        Err(error) => outcome(&error),
    }
}

/// Submits an order of a task to a conversation. If the task waits for the result, a report to the
/// task is committed in the same append. If the conversation does not exist any more, the report is
/// submitted directly.
async fn obey(
    hall: &Arc<Inner>,
    target: &StreamId,
    (task, order): (StreamId, TaskOrder),
    tells: bool,
    once: Idempotency,
    hops: u8,
) -> Outcome {
    let settled = || StreamCommand::Settle { conversation: target.clone() };
    let owed = tells.then(|| OutboxEntry::to_stream(&task, &settled()));
    let command = EngineCommand::Obey { task: task.clone(), order: Box::new(order) };
    let owed = owed.into_iter().collect();
    let sent =
        hall.submit_owing(target, command, Some(once.clone()), OwedItems { hops, owed }).await;
    match sent {
        Err(HallError::NotFound(_) | HallError::Deleted(_)) if tells => {
            let settle = TaskCommand::Settle { conversation: target.clone() };
            submit(hall, &task, settle, once, hops).await
        }
        sent => done(sent),
    }
}

async fn submit(
    hall: &Arc<Inner>,
    target: &StreamId,
    command: impl Into<Command>,
    once: Idempotency,
    hops: u8,
) -> Outcome {
    let owing = OwedItems { hops, owed: Vec::new() };
    done(hall.submit_owing(target, command, Some(once), owing).await)
}

/// Returns the outcome of a submitted command. After a success, it is done, with the number of the
/// event. After an error, see [`outcome`].
fn done(sent: Result<Answer, HallError>) -> Outcome {
    match sent {
        Ok(answer) => Outcome::Done(
            answer.event.map_or(String::new(), |event| format!("event {}", event.seq)),
        ),
        Err(error) => outcome(&error),
    }
}

/// Converts an error to the outcome of the delivery. The delivery is retried if the same command
/// could be accepted later.
fn outcome(error: &HallError) -> Outcome {
    match error {
        HallError::Rejected(refused) if refused.is_held_back() => Outcome::Done(error.to_string()),
        // The command will be accepted when its target has room.
        HallError::Rejected(refused) if refused.wait.is_some() => Outcome::later(error.to_string()),
        HallError::Rejected(_)
        | HallError::NotFound(_)
        | HallError::Deleted(_)
        | HallError::KeyReused
        | HallError::Taken { .. }
        | HallError::ReadOnly { .. }
        | HallError::Broken { .. }
        | HallError::Damaged(_) => Outcome::Failed(error.to_string()),
        HallError::Overloaded
        | HallError::DiskFull
        | HallError::Unreadable(_)
        | HallError::ShuttingDown
        | HallError::Failed(_) => Outcome::later(error.to_string()),
    }
}
