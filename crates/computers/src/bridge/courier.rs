//! Carries the rows of this log to other computers. Each row waits until it is the next one and has
//! room, and is sent. It is done when its receiver has acknowledged it.

use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::access::RemoteRight;
use moothall_engine::agent::{Report, TurnKey};
use moothall_engine::crash;
use moothall_engine::outbox::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome, PostCommand};
use moothall_engine::ports::{COMPUTER_FORGOTTEN, Delivery, Target};
use moothall_engine::residents::ResidentHall;
use moothall_kernel::event::{Fault, Usage};

use super::compose::Composer;
use super::outgoing::RowStep;
use super::run::PostLink;
use crate::channel::WINDOW_ROWS;

/// Time after which the rows of a computer that is away are tried again. When the computer comes
/// back, they are tried immediately.
const AWAY: Duration = Duration::from_secs(60);

/// Carries rows to all computers.
pub(super) struct PostCourier(pub(super) Weak<PostLink>);

fn away() -> Outcome {
    Outcome::Later { why: "the computer is away".into(), after: Some(AWAY) }
}

/// Ends the turn that a row offers, because its computer was forgotten.
fn end_offer(hall: &ResidentHall, row: &Delivery) {
    if let Ok(PostCommand::Turn { turn, attempt, .. }) = row.carried() {
        let fault = Fault::new("unknown_computer", COMPUTER_FORGOTTEN);
        let key = TurnKey { stream: row.stream.clone(), turn, attempt };
        hall.report(&key, Report::Finished { result: Err(fault), usage: Usage::default() });
    }
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
            let Some(hall) = link.hall.weak().enter() else { return away() };
            let Some(pair) = pair else {
                end_offer(&hall, row);
                return Outcome::Failed(COMPUTER_FORGOTTEN.into());
            };
            match link.outgoing.step(pair.id, number) {
                RowStep::Taken => {
                    crash::point("row_acknowledged");
                    return Outcome::Done("taken".into());
                }
                RowStep::Away => return away(),
                RowStep::Compose => {
                    let own = link.pairs.own().id.to_string();
                    let caller = link.caller(&pair);
                    let may_answer = caller.must(RemoteRight::Permissions).is_ok();
                    let (hall, to) = (&hall, caller.computer);
                    let composer = Composer { hall, own: &own, to, may_answer };
                    match composer.compose(row).await {
                        Ok(body) => link.outgoing.push(pair.id, number, body),
                        Err(error) => return Outcome::later(error.to_string()),
                    }
                }
                RowStep::Wait(changed) => {
                    // The post can end during the wait, so the wait holds no reference to it.
                    drop((link, hall));
                    // The channel closes if the pair ends, which the next step sees.
                    let _ = changed.await;
                }
            }
        }
    }
}
