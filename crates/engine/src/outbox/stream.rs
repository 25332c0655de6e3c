//! Carries commands from one stream to another of the same hall.

use std::sync::Weak;

use async_trait::async_trait;
use moothall_kernel::ids::StreamId;

use super::command::Carried;
use super::{Courier, Outcome, StreamCommand};
use crate::answers::{HallError, Idempotency};
use crate::hall::inner::Inner;
use crate::ports::{COMMANDER, Delivery};
use crate::stream::Owing;

/// Submits the command of a delivery to its target, under a claim that lasts until the delivery is
/// settled.
pub(crate) struct StreamCourier(pub(crate) Weak<Inner>);

#[async_trait]
impl Courier for StreamCourier {
    /// The claim says whether it was decided before.
    fn repeats(&self) -> bool {
        true
    }

    async fn carry(&self, delivery: &Delivery) -> Outcome {
        let Some(hall) = self.0.upgrade() else {
            return Outcome::Later("the hall is closed".into());
        };
        let Carried::<StreamCommand> { hops, command } = match delivery.in_chain() {
            Ok(carried) => carried,
            Err(error) => {
                return Outcome::Failed(format!("this version cannot read the command: {error}"));
            }
        };
        let target = delivery.target.split_once(':').map_or("", |(_, stream)| stream);
        let target = StreamId::new(target);
        let command = match hall.view(&target, move |state| command.in_conversation(state)).await {
            Ok(Some(command)) => command,
            Ok(None) => return Outcome::Done("whom it is about is not there".into()),
            Err(error) => return outcome(&error),
        };
        let fingerprint = format!("{}/{}", delivery.stream, delivery.through_seq);
        let once =
            Idempotency { principal: COMMANDER.into(), key: delivery.id.to_string(), fingerprint };
        match hall
            .submit_owing(&target, command, Some(once), Owing { hops, owed: Vec::new() })
            .await
        {
            Ok(answer) => Outcome::Done(
                answer.event.map_or(String::new(), |event| format!("event {}", event.seq)),
            ),
            Err(error) => outcome(&error),
        }
    }
}

/// What a refusal is for the delivery: whether the same command could be taken another time.
fn outcome(error: &HallError) -> Outcome {
    match error {
        HallError::Rejected(_)
        | HallError::NotFound(_)
        | HallError::Deleted(_)
        | HallError::KeyReused
        | HallError::ReadOnly { .. }
        | HallError::Broken { .. }
        | HallError::Damaged(_) => Outcome::Failed(error.to_string()),
        HallError::Overloaded
        | HallError::DiskFull
        | HallError::Unreadable(_)
        | HallError::ShuttingDown
        | HallError::Failed(_) => Outcome::Later(error.to_string()),
    }
}
