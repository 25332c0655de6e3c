//! Typing of prompts into a terminal, and recovery of a prompt whose typing a restart interrupted.

use moothall_engine::ports::{DeliveryState, Durability, LogError};
use moothall_engine::sessions::{
    HostFault, Key, PaneState, PasteReport, Record, RecordQuery, View,
};
use moothall_kernel::event::Fault;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::asks::QuestionPlace;
use super::io::{Around, Output, PaneContent, Reply, RequestId, UnfinishedDelivery};
use super::machine::{Machine, OPEN};
use super::stage::{Current, LateTurn, PromptSource, Stage};
use super::wait::Wait;
use crate::tags::tagged;

/// The start of the note that programs show in place of a long paste.
const PASTED: &str = "[Pasted ";
/// Pause before a failed write or keystroke is retried.
const RETRY: Millis = Millis::from_secs(1);
/// Time after which the machine looks for a sent prompt, even if its terminal has not drawn.
const LOOK_AFTER: Millis = Millis::from_secs(3);
/// Maximum time to wait for the reports from before a restart.
const CATCH_UP_MAX: Millis = Millis::from_secs(10);

/// Tells people of a prompt whose typing was cut off by the end of the server.
const CUT_OFF: &str = "The server stopped while this was being typed; look at the terminal, and ask again if it is not there.";

/// Tells people of a prompt that vanished from its composer twice. A program that takes prompts
/// without an Enter would get it repeatedly.
const EMPTIED: &str = "It was typed twice, and stood in the composer no more when it was to be sent off; look at the terminal, and ask again if it is not there.";

/// Tells people that a prompt contained text that its program would obey.
pub(super) const ALTERED: &str =
    "{} written wide in what was just typed here, as ＠ for @: the program would have obeyed it.";

/// Tells people that lines went as a file because the program would have changed them.
pub(super) const FILED: &str = "{} of what was just typed here went as a file, which the prompt names: the program would have changed what stands there.";

/// The screen's evidence of a prompt that was being typed when the server stopped.
enum PromptEvidence {
    /// The prompt stands in the composer of an idle program.
    InComposer,
    /// The prompt was sent.
    SentOff,
    /// The program is idle and shows no trace of the prompt.
    None,
    /// Not decidable yet.
    Unclear,
    /// Other text is in the composer.
    Covered,
}

impl Machine {
    /// Takes over a delivery of an earlier process: resumes an open turn, and closes the row of an
    /// ended one.
    pub(super) fn resume(&mut self, earlier: UnfinishedDelivery) {
        let UnfinishedDelivery { key, delivery, state, is_open, asked } = earlier;
        let stage = match state {
            DeliveryState::Pending => Stage::Begun,
            DeliveryState::Sending => Stage::Typing,
            DeliveryState::Sent => Stage::Sent,
            DeliveryState::Accepted => Stage::Accepted,
            DeliveryState::Done | DeliveryState::Failed | DeliveryState::Unknown => return,
        };
        let (tag, delivery) = (self.tags.tag_of(&key), Some(delivery));
        let current = Current {
            key,
            tag,
            stage,
            delivery,
            job: None,
            sent_again: false,
            is_pasted: false,
            is_anew: false,
            is_doubtful: false,
        };
        if is_open {
            let asked = asked
                .into_iter()
                .map(|permission| (QuestionPlace::Turn(current.key.clone()), permission));
            self.questions.remember(asked);
            self.current = Some(current);
        } else {
            self.settle(current);
        }
    }

    /// Closes the row of an ended turn: the process died before it moved the row.
    fn settle(&mut self, current: Current) {
        let (to, evidence) = match current.stage {
            Stage::Offered | Stage::Begun => {
                (DeliveryState::Failed, "its turn was over before it was typed")
            }
            Stage::Typing | Stage::Sent | Stage::Working => {
                (DeliveryState::Unknown, "its turn was over, and nobody saw what came of it")
            }
            Stage::Accepted => (DeliveryState::Done, ""),
        };
        self.note_over(&current.key);
        self.mark(&current, &OPEN, to, evidence);
        if current.stage >= Stage::Typing {
            self.late = Some(LateTurn::of(&current));
        }
    }

    /// Gives the terminal to the next turn, or types its prompt, if the screen shows that the
    /// terminal is free.
    pub(super) fn advance_on(&mut self, view: &View) {
        if !self.has_next() || self.takes_up(view) || !self.is_free(view) {
            return;
        }
        if self.look_up_newest(view) {
            return;
        }
        match self.current {
            None => self.offer(),
            Some(_) => self.deliver(),
        }
    }

    /// Resumes a prompt that was pasted and not sent. A prompt still in the composer is sent as it
    /// is. It is typed anew, one time, only if neither the composer nor the screen shows it. If it
    /// disappears a second time, the turn is given up. Returns true if the caller has nothing more
    /// to do for the prompt.
    fn takes_up(&mut self, view: &View) -> bool {
        let Some(current) = self.current.as_mut().filter(|_| view.state == PaneState::Idle) else {
            return false;
        };
        let composer = view.composer.as_deref().unwrap_or_default().trim();
        if composer.contains(&current.tag) || (current.is_pasted && composer.contains(PASTED)) {
            current.is_pasted = true;
            let is_free = self.typed == PromptSource::Nothing && self.late.is_none();
            if is_free {
                self.deliver();
            }
            return is_free;
        }
        if !composer.is_empty() || !std::mem::take(&mut current.is_pasted) {
            return false;
        }
        if view.text.contains(&current.tag) {
            self.move_to_sent("it stands among what was said");
            return true;
        }
        let is_again = std::mem::replace(&mut current.is_anew, true);
        if is_again {
            self.give_up(EMPTIED);
        }
        is_again
    }

    /// True if a prompt may be typed: the program is idle, its composer is empty, and no answer is
    /// outstanding.
    fn is_free(&self, view: &View) -> bool {
        let is_empty = view.composer.as_ref().is_none_or(|text| text.trim().is_empty());
        self.typed == PromptSource::Nothing
            && self.late.is_none()
            && view.state == PaneState::Idle
            && is_empty
    }

    /// Records in the log that the prompt is about to be typed. A crash after this write leaves the
    /// delivery in doubt.
    fn deliver(&mut self) {
        let Some(current) = &mut self.current else { return };
        let Some(delivery) = current.delivery else {
            let current = self.current.take();
            let fault = Fault::new(
                "terminal_failed",
                "Its delivery is not in the log, so nobody could tell whether it was typed.",
            );
            return current.into_iter().for_each(|current| self.fail(&current.key, fault.clone()));
        };
        if planted::has(Bug::TypedBeforeKept) {
            return self.paste();
        }
        let (from, to, evidence) =
            (vec![DeliveryState::Pending], DeliveryState::Sending, String::new());
        self.ask(
            Output::Mark { delivery, from, to, evidence, lasting: Durability::Synced },
            Wait::Row,
        );
    }

    /// Handles the result of the write before typing. Only the process that moved the row may type,
    /// so a row that did not move ends the turn.
    pub(super) fn marked(&mut self, around: &Around<'_>, result: Result<bool, LogError>) {
        match self.answered() {
            Wait::Row => match result {
                Ok(true) => self.paste(),
                Ok(false) => self.give_up(CUT_OFF),
                Err(error) => {
                    tracing::error!(session = %self.session.id, %error, "the start of typing a prompt could not be stored");
                    self.retry_at = Some(around.after(RETRY));
                }
            },
            other => self.put_back(other),
        }
    }

    /// Pastes the prompt of the current turn with its tag. If it was pasted before, presses Enter
    /// only.
    pub(super) fn paste(&mut self) {
        if self.current.as_ref().is_some_and(|current| current.is_pasted) {
            return self.ask(Output::Press { key: Key::Enter }, Wait::Enter);
        }
        let words = self.current.as_ref().and_then(|current| {
            let prompt = &current.job.as_ref()?.prompt;
            Some(tagged(&prompt.text, &prompt.bodies, &current.tag))
        });
        if let Some((text, bodies)) = words {
            self.ask(Output::Paste { text, bodies }, Wait::Paste);
        }
    }

    /// Handles the result of the paste: presses Enter, tries again later if the host refused, or
    /// fails the turn after any other fault.
    pub(super) fn pasted(&mut self, around: &Around<'_>, result: Result<PasteReport, HostFault>) {
        match self.answered() {
            Wait::Paste => match result {
                Ok(pasted) => {
                    self.tell_of_altered(&pasted);
                    self.ask(Output::Press { key: Key::Enter }, Wait::Enter);
                }
                Err(HostFault::Refused(why)) => self.not_now(around, &why),
                Err(
                    fault @ (HostFault::Unavailable(_)
                    | HostFault::UnknownProgram(_)
                    | HostFault::Gone(_)
                    | HostFault::Failed(_)),
                ) => self.cannot_type(&fault),
            },
            other => self.put_back(other),
        }
    }

    /// Tells people about the parts of the prompt that were changed.
    fn tell_of_altered(&mut self, pasted: &PasteReport) {
        let altered = match pasted.altered.len() {
            0 => None,
            1 => Some(ALTERED.replace("{}", "A token was")),
            count => Some(ALTERED.replace("{}", &format!("{count} tokens were"))),
        };
        let filed = match pasted.filed {
            0 => None,
            1 => Some(FILED.replace("{}", "A line")),
            count => Some(FILED.replace("{}", &format!("{count} lines"))),
        };
        let notices = altered.into_iter().chain(filed);
        self.out.extend(notices.map(|text| Output::Tell { text }));
    }

    /// Retries later: the host refused the keystrokes.
    fn not_now(&mut self, around: &Around<'_>, why: &str) {
        tracing::debug!(session = %self.session.id, why, "the terminal refused the keystrokes; \
                                                          trying again");
        if let Some(current) = self.current.take() {
            self.mark(&current, &[DeliveryState::Sending], DeliveryState::Pending, why);
            self.current = Some(current);
        }
        self.retry_at = Some(around.after(RETRY));
    }

    /// Fails the current turn, whose prompt was not typed, and goes on with the next turn.
    fn cannot_type(&mut self, fault: &HostFault) {
        let Some(current) = self.current.take() else { return };
        self.mark(
            &current,
            &[DeliveryState::Pending, DeliveryState::Sending],
            DeliveryState::Failed,
            &fault.to_string(),
        );
        self.fail(&current.key, Fault::new("terminal_failed", fault.to_string()));
        self.advance();
    }

    /// Handles the result of the key that sends the prompt. A refused key is pressed again later.
    /// After any other fault it is unknown if the prompt arrived, so the turn ends.
    pub(super) fn handle_send_result(
        &mut self,
        around: &Around<'_>,
        result: Result<(), HostFault>,
    ) {
        match result {
            Ok(()) => {
                self.move_to_sent("");
                self.look_at = Some(around.after(LOOK_AFTER));
            }
            Err(HostFault::Refused(why)) => {
                if let Some(current) = &mut self.current {
                    current.is_pasted = true;
                }
                self.not_now(around, &why);
                // A dialog may have refused the keys, and only a look shows it to people.
                self.look(true, None);
            }
            Err(fault) => self.give_up(&format!(
                "{fault} Look at the terminal: send off what stands in its composer, or clear it."
            )),
        }
    }

    /// Notes that the prompt of the current turn was sent.
    fn move_to_sent(&mut self, evidence: &str) {
        let Some(mut current) = self.current.take() else { return };
        current.stage = Stage::Sent;
        // An earlier turn may have been waiting for its record.
        self.grace = None;
        let from = [DeliveryState::Pending, DeliveryState::Sending];
        self.mark(&current, &from, DeliveryState::Sent, evidence);
        self.current = Some(current);
    }

    /// Ends a turn if it is not known that its prompt arrived. Typing the prompt again could
    /// deliver it twice.
    fn give_up(&mut self, message: &str) {
        let Some(current) = self.current.take() else { return };
        self.mark(&current, &OPEN, DeliveryState::Unknown, message);
        self.late = Some(LateTurn::of(&current));
        self.fail(
            &current.key,
            Fault { prompt_delivered: true, ..Fault::new("delivery_unknown", message) },
        );
        self.look(true, None);
    }

    /// Sends a prompt a second time, without typing it, if a program that was not ready put it back
    /// into the composer. The prompt's tag must be there: the note of a paste may be about a
    /// person's paste. Returns true if the key is being pressed.
    pub(super) fn send_again(&mut self, composer: &str) -> bool {
        let came_back = |current: &&mut Current| {
            matches!(current.stage, Stage::Sent | Stage::Working)
                && !current.sent_again
                && composer.contains(&current.tag)
        };
        let Some(current) = self.current.as_mut().filter(came_back) else { return false };
        // The prompt is in the composer, so the work seen since it was sent was not about this
        // prompt.
        (current.sent_again, current.stage) = (true, Stage::Sent);
        self.ask(Output::Press { key: Key::Enter }, Wait::Again);
        true
    }

    /// Handles a failure of the second Enter. If the host refused the key, because a dialog
    /// appeared or the composer was emptied, the machine looks again after [`RETRY`] and may press
    /// it again. After any other fault the grace period for the answer begins.
    pub(super) fn handle_resend_result(
        &mut self,
        around: &Around<'_>,
        result: &Result<(), HostFault>,
    ) {
        match (&mut self.current, result) {
            (Some(current), Err(HostFault::Refused(_))) => {
                current.sent_again = false;
                self.look_at = Some(around.after(RETRY));
            }
            (Some(_) | None, _) => self.wait_out(around),
        }
    }

    /// Looks again later: the host refused the key for a prompt found in the composer, because a
    /// dialog came first or the composer was emptied.
    pub(super) fn found_covered(&mut self, around: &Around<'_>, looker: Option<RequestId>) {
        self.reply(looker, Reply::Looked);
        self.look_at = Some(around.after(RETRY));
    }

    /// Decides from the screen, after a restart, about a prompt that was being typed. Returns true
    /// if the machine waits for an answer, or if the looker has got its reply.
    pub(super) fn settle_typing(
        &mut self,
        around: &Around<'_>,
        seen: &PaneContent,
        looker: Option<RequestId>,
    ) -> bool {
        let Some(current) = self.current.as_ref().filter(|current| current.stage == Stage::Typing)
        else {
            return false;
        };
        let Some(tail) = &seen.tail else { return false };
        let tag_seen = tail.contains(&current.tag);
        match trace(&seen.view, tag_seen, &current.tag) {
            PromptEvidence::InComposer => {
                self.ask(Output::Press { key: Key::Enter }, Wait::Found { tag_seen, looker });
                return true;
            }
            PromptEvidence::SentOff => self.move_to_sent("found again after a restart"),
            PromptEvidence::None => return self.no_trace(around, looker),
            PromptEvidence::Unclear => {}
            PromptEvidence::Covered => {
                self.give_up(CUT_OFF);
                self.reply(looker, Reply::Looked);
                return true;
            }
        }
        false
    }

    /// Handles an idle screen without a trace of the prompt. The absence is proven only if the
    /// program reports each prompt, all its reports were delivered, none is unexplained, and its
    /// record lacks the prompt: a report may be slow or lost. Returns true if the record is being
    /// read.
    fn no_trace(&mut self, around: &Around<'_>, looker: Option<RequestId>) -> bool {
        let Some(current) = &self.current else { return false };
        if planted::has(Bug::ScreenIsProof) {
            self.was_not_taken();
            return false;
        }
        let is_proven = around.reports.prompts && !current.is_doubtful;
        if is_proven && self.caught_up {
            let (native, tag) = (self.session.native.clone(), current.tag.clone());
            let query = RecordQuery { native, tag: Some(tag), uses: false };
            self.ask(Output::LookUp { query }, Wait::Untraced { looker });
            return true;
        }
        let until = *self.catch_up_by.get_or_insert(around.after(CATCH_UP_MAX));
        if !is_proven || until <= around.now.steady {
            self.give_up(CUT_OFF);
        } else {
            self.look_at = Some(until);
        }
        false
    }

    /// Handles the record of a prompt that the screen does not show.
    pub(super) fn untraced(&mut self, record: Option<&Record>, looker: Option<RequestId>) {
        match record {
            Some(_) => self.move_to_sent("found in the record after a restart"),
            None => self.was_not_taken(),
        }
        self.look(true, looker);
    }

    /// Makes the prompt ready to be typed again: it never arrived.
    fn was_not_taken(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        current.stage = Stage::Begun;
        let from = [DeliveryState::Sending];
        self.mark(&current, &from, DeliveryState::Pending, "not found after a restart");
        self.current = Some(current);
    }

    /// Handles the key for a prompt found in the composer after a restart.
    pub(super) fn found_again(&mut self, is_sent: bool, looker: Option<RequestId>) {
        if is_sent {
            self.move_to_sent("found again after a restart");
            self.look(true, looker);
        } else {
            self.reply(looker, Reply::Looked);
            self.give_up(CUT_OFF);
        }
    }
}

/// Returns the trace of an interrupted prompt on the screen. `tag_seen` is true if the screen or
/// its history shows the prompt's tag.
fn trace(view: &View, tag_seen: bool, tag: &str) -> PromptEvidence {
    let composer = view.composer.as_deref().unwrap_or_default();
    let is_empty = composer.trim().is_empty();
    // A program may show a note in place of a paste of several lines.
    let typed = composer.contains(tag) || composer.contains(PASTED) || (tag_seen && !is_empty);
    match view.state {
        PaneState::Idle if typed => PromptEvidence::InComposer,
        _ if tag_seen => PromptEvidence::SentOff,
        PaneState::Idle if is_empty => PromptEvidence::None,
        PaneState::Idle => PromptEvidence::Covered,
        PaneState::Starting
        | PaneState::Busy
        | PaneState::Asking
        | PaneState::Shell
        | PaneState::Gone => PromptEvidence::Unclear,
    }
}
