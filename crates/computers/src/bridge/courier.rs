//! Carries the rows of this log to other computers: each waits for its turn, is sent, and is done
//! once its receiver has taken it.

use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::crash;
use moothall_engine::outbox::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome};
use moothall_engine::ports::{COMPUTER_FORGOTTEN, Delivery, Target};

use super::compose::compose;
use super::outgoing::RowStep;
use super::run::PostLink;
use crate::channel::WINDOW_ROWS;

/// Time after which the rows of a computer that is away are tried again. It is tried at once when
/// the computer comes back.
const AWAY: Duration = Duration::from_secs(60);

/// Carries rows to all computers.
pub(super) struct PostCourier(pub(super) Weak<PostLink>);

fn away() -> Outcome {
    Outcome::Later { why: "the computer is away".into(), after: Some(AWAY) }
}

#[async_trait]
impl DeliveryHandler for PostCourier {
    /// Always repeats: the receiver's mark makes a second row harmless.
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Repeats
    }

    fn window(&self) -> usize {
        usize::try_from(WINDOW_ROWS).unwrap_or(usize::MAX)
    }

    async fn carry(&self, row: &Delivery, _: &DeliveryNotes<'_>) -> Outcome {
        let (Target::Computer(target), Some(number)) = (&row.target, row.number) else {
            return Outcome::Failed(format!("{} is not a computer", row.target));
        };
        loop {
            let Some(link) = self.0.upgrade() else { return away() };
            let pair = target.as_str().parse().ok().and_then(|id| link.pairs.get(id));
            let Some(pair) = pair else { return Outcome::Failed(COMPUTER_FORGOTTEN.into()) };
            match link.outgoing.step(pair.id, number) {
                RowStep::Taken => {
                    crash::point("row_acknowledged");
                    return Outcome::Done("taken".into());
                }
                RowStep::Away => return away(),
                RowStep::Compose => link.outgoing.push(pair.id, number, compose(row)),
                RowStep::Wait(changed) => {
                    // The post may end meanwhile, so it is not held.
                    drop(link);
                    // The channel closes if the pair ends, which the next step sees.
                    let _ = changed.await;
                }
            }
        }
    }
}
