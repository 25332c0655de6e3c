//! How a prompt gets into a terminal, and what becomes of one that a restart interrupted on the
//! way.

use moothall_engine::ports::{DeliveryState, Durability, LogError};
use moothall_engine::sessions::{
    HostFault, Key, PaneState, PasteReport, Record, RecordQuery, View,
};
use moothall_kernel::event::Fault;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::asks::QuestionPlace;
use super::io::{Around, Output, Reply, RequestId, Seen, UnfinishedDelivery};
use super::machine::{Machine, OPEN, Wait};
use super::stage::{Current, LateTurn, PromptSource, Stage};
use crate::tags::tagged;

/// What programs show in place of a long paste.
const PASTED: &str = "[Pasted ";
/// Pause before what the log, or the terminal, did not take is tried again.
const RETRY: Millis = Millis::from_secs(1);
/// When a prompt that was sent off is looked after, whether or not its terminal has drawn anything.
const LOOK_AFTER: Millis = Millis::from_secs(3);
/// How long it is waited for what the program reported before a restart.
const CATCH_UP_MAX: Millis = Millis::from_secs(10);

/// What is said of a prompt when the server died in the middle of it.
const CUT_OFF: &str = "The server stopped while this was being typed; look at the terminal, and ask again if it is not there.";

/// Tells people of a prompt that went out of its composer twice. A program that takes prompts
/// without an Enter would get it over and over.
const EMPTIED: &str = "It was typed twice, and stood in the composer no more when it was to be sent off; look at the terminal, and ask again if it is not there.";

/// Tells people of a prompt in which something stood that its program obeys.
pub(super) const ALTERED: &str =
    "{} written wide in what was just typed here, as ＠ for @: the program would have obeyed it.";

/// Tells people of lines of which the program would have changed something.
pub(super) const FILED: &str = "{} of what was just typed here went as a file, which the prompt names: the program would have changed what stands there.";

/// What a screen says about a prompt that was being typed when the server died.
enum PromptEvidence {
    /// It stands in the composer of an idle program.
    InComposer,
    /// It was sent off.
    SentOff,
    /// Nothing of it is there, and the program waits.
    None,
    /// It cannot be told yet.
    Unclear,
    /// Something else stands where it would be.
    Covered,
}

impl Machine {
    /// What an earlier process left: of a turn that goes on, it is found out how far it came; of
    /// one that is over, its row is.
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

    /// The turn of a row is over, and the process died before it moved the row on.
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

    /// The screen was looked at before something is typed: the next turn takes the terminal, if it
    /// is free.
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

    /// Goes on with a prompt that was pasted and not sent off. It is sent off as it stands in the
    /// composer, and typed anew, once, only if it is neither there nor among what was said.
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

    /// Whether something may be typed: the program waits, nobody has begun to type, and nothing is
    /// owed to anybody.
    fn is_free(&self, view: &View) -> bool {
        let is_empty = view.composer.as_ref().is_none_or(|text| text.trim().is_empty());
        self.typed == PromptSource::Nothing
            && self.late.is_none()
            && view.state == PaneState::Idle
            && is_empty
    }

    /// Says in the log that it is about to be typed. From here on a crash leaves a doubt.
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

    /// Whether it is kept that it is about to be typed. Only whoever moved the row may type.
    pub(super) fn marked(&mut self, around: &Around<'_>, result: Result<bool, LogError>) {
        match self.answered() {
            Wait::Row => match result {
                Ok(true) => self.paste(),
                Ok(false) => self.give_up(CUT_OFF),
                Err(error) => {
                    tracing::error!(session = %self.session.id, %error, "that a prompt is about to be typed could not be kept");
                    self.retry_at = Some(around.after(RETRY));
                }
            },
            other => self.put_back(other),
        }
    }

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

    /// People are told of what does not stand in the prompt as it was said.
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
        let told = altered.into_iter().chain(filed);
        self.out.extend(told.map(|text| Output::Tell { text }));
    }

    /// Nothing was typed: somebody else was quicker.
    fn not_now(&mut self, around: &Around<'_>, why: &str) {
        tracing::debug!(session = %self.session.id, why, "not now");
        if let Some(current) = self.current.take() {
            self.mark(&current, &[DeliveryState::Sending], DeliveryState::Pending, why);
            self.current = Some(current);
        }
        self.retry_at = Some(around.after(RETRY));
    }

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

    /// The key that sends it off was pressed.
    pub(super) fn sent_off(&mut self, around: &Around<'_>, result: Result<(), HostFault>) {
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
                self.look(true, None);
            }
            Err(fault) => self.give_up(&format!(
                "{fault} Look at the terminal: send off what stands in its composer, or clear it."
            )),
        }
    }

    fn move_to_sent(&mut self, evidence: &str) {
        let Some(mut current) = self.current.take() else { return };
        current.stage = Stage::Sent;
        // A turn before it may have waited for its record still.
        self.grace = None;
        let from = [DeliveryState::Pending, DeliveryState::Sending];
        self.mark(&current, &from, DeliveryState::Sent, evidence);
        self.current = Some(current);
    }

    /// Nobody can say whether it arrived: it is shown, and never blindly repeated.
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

    /// A program that was not ready yet puts a prompt back: it is sent off once more, and never
    /// typed again. A note of some paste may be a person's.
    pub(super) fn send_again(&mut self, composer: &str) -> bool {
        let came_back = |current: &&mut Current| {
            matches!(current.stage, Stage::Sent | Stage::Working)
                && !current.sent_again
                && composer.contains(&current.tag)
        };
        let Some(current) = self.current.as_mut().filter(came_back) else { return false };
        // What was at work was a question, and not this prompt.
        (current.sent_again, current.stage) = (true, Stage::Sent);
        self.ask(Output::Press { key: Key::Enter }, Wait::Again);
        true
    }

    /// It was not sent off once more. If a question was in the way, that is tried again.
    pub(super) fn not_again(&mut self, around: &Around<'_>, result: &Result<(), HostFault>) {
        match (&mut self.current, result) {
            (Some(current), Err(HostFault::Refused(_))) => {
                current.sent_again = false;
                self.look_at = Some(around.after(RETRY));
            }
            (Some(_) | None, _) => self.wait_out(around),
        }
    }

    /// It stood in the composer after a restart, and a question came before its key: that is seen
    /// first, and then the composer once more.
    pub(super) fn found_covered(&mut self, around: &Around<'_>, looker: Option<RequestId>) {
        self.reply(looker, Reply::Looked);
        self.look_at = Some(around.after(RETRY));
    }

    /// After a restart, what the screen says about a prompt that was being typed. `true` when a
    /// question is outstanding.
    pub(super) fn settle_typing(
        &mut self,
        around: &Around<'_>,
        seen: &Seen,
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

    /// An idle program shows nothing of it. That it never took it is proven if it reports each
    /// prompt it takes, everything that it reported has been brought, none of that is unexplained,
    /// and its record has nothing of it either: a report may be slow, or be lost. `true` when the
    /// record is asked.
    fn no_trace(&mut self, around: &Around<'_>, looker: Option<RequestId>) -> bool {
        let Some(current) = &self.current else { return false };
        if planted::has(Bug::ScreenIsProof) {
            self.was_not_taken();
            return false;
        }
        let is_proven = around.reports.prompts && !current.is_doubtful;
        if is_proven && self.caught_up {
            let (native, tag) = (self.session.native.clone(), current.tag.clone());
            let query = RecordQuery { native, tag: Some(tag) };
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

    /// The record was asked for a prompt of which the screen shows no trace.
    pub(super) fn untraced(&mut self, record: Option<&Record>, looker: Option<RequestId>) {
        match record {
            Some(_) => self.move_to_sent("found in the record after a restart"),
            None => self.was_not_taken(),
        }
        self.look(true, looker);
    }

    /// It never arrived, so it is typed when the program is idle.
    fn was_not_taken(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        current.stage = Stage::Begun;
        let from = [DeliveryState::Sending];
        self.mark(&current, &from, DeliveryState::Pending, "not found after a restart");
        self.current = Some(current);
    }

    /// It stood in the composer after a restart, and was sent off now, unless the key was not
    /// taken.
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

fn trace(view: &View, tag_seen: bool, tag: &str) -> PromptEvidence {
    let composer = view.composer.as_deref().unwrap_or_default();
    let is_empty = composer.trim().is_empty();
    // A program may show a paste of several lines as a note that there is one.
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
