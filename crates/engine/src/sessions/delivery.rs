//! How a turn gets into a terminal: every step is kept before the next, so that after a crash it is known what may be done again.

use super::directory::target;
use super::host::{HostFault, Key, PaneState};
use super::runner::{Current, Runner, Stage};
use super::tags::{tag_of, tagged};
use crate::agent::TurnKey;
use crate::crash;
use crate::ports::{Deliveries, Delivery, DeliveryState};

/// What programs show in place of a long paste.
const PASTED: &str = "[Pasted ";
/// Lines of a terminal that are searched for a tag.
const SEARCHED_LINES: usize = 2000;

/// What is said of a prompt when the server died in the middle of it.
const CUT_OFF: &str = "The server stopped while this was being typed; look at the terminal, and ask again if it is not there.";

/// How far a prompt did not come.
enum Untyped {
    /// It is not in the composer.
    Pasting(HostFault),
    /// It is there, and was not sent off.
    Sending(HostFault),
}

impl Runner {
    /// Types the turn that has the session, and sends it off.
    pub(super) async fn deliver(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        match self.type_in(&mut current).await {
            Ok(()) => {
                current.stage = Stage::Sent;
                self.current = Some(current);
            }
            Err(Untyped::Pasting(HostFault::Refused(why))) => {
                tracing::debug!(session = %self.session.id, why, "not now");
                self.mark(&current, &[DeliveryState::Sending], DeliveryState::Pending, &why).await;
                self.current = Some(current);
            }
            Err(Untyped::Pasting(fault)) => {
                let message = fault.to_string();
                self.mark(&current, &[DeliveryState::Pending, DeliveryState::Sending], DeliveryState::Failed, &message).await;
                self.fail(&current.key, "terminal_failed", &message);
            }
            Err(Untyped::Sending(fault)) => {
                self.give_up(current, &format!("{fault} Look at the terminal: send off what stands in its composer, or clear it.")).await;
            }
        }
    }

    async fn type_in(&self, current: &mut Current) -> Result<(), Untyped> {
        let (Some(pane), Some(job)) = (&self.session.pane, &current.job) else { return Ok(()) };
        if current.delivery.is_none() {
            current.delivery = self.row_of(&current.key).await.map(|row| row.id);
        }
        self.mark(current, &[DeliveryState::Pending], DeliveryState::Sending, "").await;
        crash::point("delivery_sending");
        self.host.paste(pane, &self.session.client, &tagged(&job.prompt.text, &current.tag)).await.map_err(Untyped::Pasting)?;
        crash::point("paste_done");
        self.host.press(pane, Key::Enter).await.map_err(Untyped::Sending)?;
        crash::point("enter_pressed");
        self.mark(current, &[DeliveryState::Sending], DeliveryState::Sent, "").await;
        Ok(())
    }

    /// A program that was not ready yet puts a prompt back: it is sent off once more, and never typed again. A note of some paste may
    /// be a person's.
    pub(super) async fn send_again(&mut self, composer: &str) -> bool {
        let came_back = |current: &Current| current.stage == Stage::Sent && !current.sent_again && composer.contains(&current.tag);
        let Some(current) = self.current.as_mut().filter(|current| came_back(current)) else { return false };
        current.sent_again = true;
        self.press(Key::Enter).await.is_ok()
    }

    async fn row_of(&self, key: &TurnKey) -> Option<Delivery> {
        let hall = self.hall()?;
        let rows = hall.log.deliveries()?.of_target(&target(&self.session.id), 16).await.ok()?;
        rows.into_iter().find(|row| row.stream == key.stream && row.turn == Some(key.turn) && row.attempt == key.attempt)
    }

    /// Moves the row of a delivery on, from whichever of these states it is in.
    pub(super) async fn mark(&self, current: &Current, from: &[DeliveryState], to: DeliveryState, evidence: &str) {
        let (Some(id), Some(hall)) = (current.delivery, self.hall()) else { return };
        let Some(deliveries) = hall.log.deliveries() else { return };
        if let Err(error) = advance(deliveries, id, from, to, evidence).await {
            tracing::error!(session = %self.session.id, %error, "the state of a delivery could not be kept");
        }
    }

    /// The program took the prompt.
    pub(super) async fn accept(&mut self) {
        let Some(current) = &mut self.current else { return };
        current.stage = Stage::Accepted;
        let Some(current) = &self.current else { return };
        self.mark(current, &[DeliveryState::Sending, DeliveryState::Sent], DeliveryState::Accepted, "").await;
        crash::point("delivery_accepted");
    }

    /// After a restart: what became of the delivery that was on its way.
    pub(super) async fn recover(&mut self) {
        let Some(hall) = self.hall() else { return };
        let Some(deliveries) = hall.log.deliveries() else { return };
        let own = target(&self.session.id);
        let heads = deliveries.heads().await.unwrap_or_default();
        let Some(row) = heads.into_iter().find(|row| row.target == own) else { return };
        let Some(turn) = row.turn else { return };
        let key = TurnKey { stream: row.stream.clone(), turn, attempt: row.attempt };
        let mut current = Current { tag: tag_of(&key), key, stage: Stage::Begun, delivery: Some(row.id), job: None, sent_again: false };
        match row.state {
            DeliveryState::Pending => {}
            DeliveryState::Sending => current.stage = Stage::Typing,
            DeliveryState::Sent => current.stage = Stage::Sent,
            DeliveryState::Accepted => current.stage = Stage::Accepted,
            DeliveryState::Done | DeliveryState::Failed | DeliveryState::Unknown => return,
        }
        let turn = current.key.turn;
        let open = hall.view(&current.key.stream, move |state| state.turn(turn).map(|turn| turn.permissions().cloned().collect()));
        self.questions.remember(open.await.ok().flatten().unwrap_or_default());
        self.current = Some(current);
    }

    /// The server died between typing and sending off: the screen says how far it had come, once it can be seen.
    pub(super) async fn settle_typing(&mut self) {
        if self.current.as_ref().is_none_or(|current| current.stage != Stage::Typing) {
            return;
        }
        let (Some(pane), Some(view)) = (self.session.pane.clone(), self.view().await) else { return };
        let Ok(tail) = self.host.tail(&pane, SEARCHED_LINES).await else { return };
        let Some(mut current) = self.current.take() else { return };
        let composer = view.composer.unwrap_or_default();
        let idle = view.state == PaneState::Idle;
        let seen = tail.contains(&current.tag);
        // A program may show a paste of several lines as a note that there is one.
        let typed = composer.contains(&current.tag) || composer.contains(PASTED) || (seen && !composer.trim().is_empty());
        let pressed = idle && typed && self.press(Key::Enter).await.is_ok();
        current.stage = match (pressed, seen, idle && composer.trim().is_empty()) {
            (true, _, _) | (false, true, _) => Stage::Sent,
            (false, false, true) => Stage::Begun,
            (false, false, false) => return self.give_up(current, CUT_OFF).await,
        };
        let state = if current.stage == Stage::Sent { DeliveryState::Sent } else { DeliveryState::Pending };
        self.mark(&current, &[DeliveryState::Sending], state, "found again after a restart").await;
        self.current = Some(current);
    }

    /// Nobody can say whether it arrived: it is shown, and never blindly repeated.
    async fn give_up(&self, current: Current, message: &str) {
        self.mark(&current, &[DeliveryState::Sending], DeliveryState::Unknown, message).await;
        self.fail_told(&current.key, "delivery_unknown", message);
    }
}

async fn advance(
    deliveries: &dyn Deliveries,
    id: u64,
    from: &[DeliveryState],
    to: DeliveryState,
    evidence: &str,
) -> Result<(), crate::ports::LogError> {
    for from in from {
        if deliveries.advance(id, *from, to, evidence).await? {
            return Ok(());
        }
    }
    Ok(())
}
