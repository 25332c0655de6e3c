//! Offers of turns to the computers of their participants.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::ids::{ComputerId, StreamId};

use crate::answers::{Answer, HallError, Idempotency};
use crate::crash;
use crate::hall::inner::{Inner, fresh_id};
use crate::outbox::PostCommand;
use crate::ports::{PendingDeliveries, Target};
use crate::runtime::agent::{Job, TurnKey};
use crate::stream::hosting::at_computer;
use crate::stream::remote_effects::MemberElsewhere;

/// First and longest pause before the insertion of an offer is tried again after the log refused
/// it.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

impl Inner {
    /// Inserts the offer of a turn as a delivery, only one time. If the offer was inserted before
    /// this server started, or before a pause, it is not certain that it was sent. Then the turn's
    /// computer is asked for the turn's state, and the answer decides if the turn is offered again.
    pub(crate) async fn keep_offer(self: &Arc<Self>, key: TurnKey, to: MemberElsewhere) {
        let MemberElsewhere { computer, session } = to;
        let TurnKey { stream, turn, attempt } = key.clone();
        let offer = PostCommand::Turn { turn, attempt, session: session.clone() };
        let once = format!("offer/{stream}/{turn}/{attempt}");
        let owed = self.owe_offered(&key, offer, &computer, once).await;
        crash::point("turn_offered");
        if owed.is_some_and(|answer| answer.replayed) {
            self.keep_probe(&key, MemberElsewhere { computer, session }).await;
        }
    }

    /// Inserts a question for the state of a turn as a delivery.
    async fn keep_probe(self: &Arc<Self>, key: &TurnKey, to: MemberElsewhere) {
        let MemberElsewhere { computer, session } = to;
        let probe = PostCommand::Probe { turn: key.turn, attempt: key.attempt, session };
        let once = format!("probe/{}", fresh_id(self.now()));
        self.owe_offered(key, probe, &computer, once).await;
    }

    /// Sends a computer new rows about the turns that were offered to it, because the earlier rows
    /// were perhaps lost on either side when a log was restored. Asks for the state of a turn that
    /// has begun, and offers a turn that has not begun. Leaves out a turn with a row that is still
    /// to be sent.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub(crate) async fn offer_again(
        self: &Arc<Self>,
        computer: &ComputerId,
    ) -> Result<(), HallError> {
        let open = self.owed_offers(computer).await?;
        for key in self.offers.all().into_iter().filter(|key| !open.contains(key)) {
            match self.member_with(&key).await? {
                Some((true, member)) if member.computer == *computer => {
                    self.keep_probe(&key, member).await;
                }
                Some((false, member)) if member.computer == *computer => {
                    self.keep_offer(key, member).await;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the turns for which a row to a computer is still to be sent: an offer, or a question
    /// about the state.
    async fn owed_offers(&self, computer: &ComputerId) -> Result<BTreeSet<TurnKey>, HallError> {
        let (target, mut turns) = (Target::Computer(computer.clone()), BTreeSet::new());
        let mut rows = PendingDeliveries::of(&*self.store.outbox, &target);
        while let Some(row) = rows.next().await? {
            if let Ok(
                PostCommand::Turn { turn, attempt, .. } | PostCommand::Probe { turn, attempt, .. },
            ) = row.carried()
            {
                turns.insert(TurnKey { stream: row.stream, turn, attempt });
            }
        }
        Ok(turns)
    }

    /// Returns the session of another computer that has a turn, and true if the turn has begun.
    /// `None` if the turn is over or the conversation is gone.
    async fn member_with(
        self: &Arc<Self>,
        key: &TurnKey,
    ) -> Result<Option<(bool, MemberElsewhere)>, HallError> {
        let (turn, attempt) = (key.turn, key.attempt);
        let found = self.view(&key.stream, move |state| at_computer(state, turn, attempt));
        match found.await {
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => Ok(None),
            other => other,
        }
    }

    /// Inserts a row for another computer about an offered turn. If the log cannot take it, tries
    /// again after a pause. Returns `None` if the turn is not offered any more, or the row was
    /// refused.
    async fn owe_offered(
        self: &Arc<Self>,
        key: &TurnKey,
        row: PostCommand,
        to: &ComputerId,
        once: String,
    ) -> Option<Answer> {
        let mut pause = PAUSES.0;
        while self.offers.has(key) {
            let principal = "moothall:post".to_owned();
            let once = Idempotency { principal, key: once.clone(), fingerprint: String::new() };
            match self.owe(&key.stream, vec![row.entry(to)], once).await {
                Ok(answer) => return Some(answer),
                Err(HallError::Overloaded | HallError::DiskFull | HallError::Failed(_)) => {
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(PAUSES.1);
                }
                Err(error) => {
                    tracing::warn!(stream = %key.stream, %error, "a turn could not be offered");
                    return None;
                }
            }
        }
        None
    }

    /// Returns the newest job of an offered turn, for its prompt. `None` if the turn is over, or
    /// must not run now. Loads the conversation of the turn if necessary.
    ///
    /// # Errors
    /// [`HallError`] if the conversation cannot be read.
    pub(crate) async fn offered(self: &Arc<Self>, key: &TurnKey) -> Result<Option<Job>, HallError> {
        if let Some(job) = self.offers.job(key) {
            return Ok(Some(job));
        }
        // A stream that is not live offers its turns when it is loaded. It is asked twice, because
        // the work of its first look is done before the second answer.
        for _ in 0..2 {
            if !self.has_turn(&key.stream, key).await? {
                return Ok(None);
            }
        }
        Ok(self.offers.job(key))
    }

    /// True if this attempt of a turn is open. False also if its conversation is gone.
    async fn has_turn(
        self: &Arc<Self>,
        stream: &StreamId,
        key: &TurnKey,
    ) -> Result<bool, HallError> {
        let (turn, attempt) = (key.turn, key.attempt);
        let is_open = self
            .view(stream, move |state| state.turn(turn).is_some_and(|turn| turn.attempt == attempt))
            .await;
        match is_open {
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => Ok(false),
            other => other,
        }
    }
}
