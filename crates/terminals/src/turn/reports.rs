//! Reports of a program. Their words go to the conversation that asked, to the links of the
//! session, or to its home. (Rulings 24 and 25.)
//!
//! The changes of a report are drafted first, committed outside, and applied to the machine only
//! then. A report that could not be committed is delivered again.

use moothall_engine::ports::DeliveryState;
use moothall_engine::sessions::{Hook, HookNews, ReportOutcome, SessionError};
use moothall_kernel::event::Fault;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::io::{Around, KeptItem, Output, Reply, RequestId};
use super::machine::{Machine, OPEN, not_now};
use super::stage::{Current, Draft, LateTurn, PromptSource, Stage};
use super::wait::Wait;
use crate::tags::tags_in;

/// Tells people that a prompt was taken together with another.
const MIXED: &str = "Its program took this together with words of an earlier turn; look at the terminal, and ask again if it was not answered.";

/// The outstanding turns whose prompt the program took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TakenPrompts {
    current: bool,
    late: bool,
}

impl Machine {
    /// Handles a report.
    pub(super) fn hear(&mut self, around: &Around<'_>, request: RequestId, hook: Hook) {
        let Some(native) = self.native_id_change(&hook) else {
            self.reply(Some(request), Reply::Heard(Ok(ReportOutcome::Nothing)));
            return self.advance();
        };
        let mut draft = self.draft(Some(request));
        if let Some(native) = native {
            draft.keep(&hook.id, KeptItem::Native(native.clone()));
            // Prompts counted in another of the program's conversations do not count here.
            (draft.native, draft.inputs_seen) = (Some(native), None);
            (self.recorded_prompt, self.reported, self.seen_turn) = (None, None, None);
        }
        let id = hook.id;
        match hook.news {
            // The use of a tool is noted without the machine.
            HookNews::Began | HookNews::Uses(_) | HookNews::Ended => {}
            HookNews::Asks(asks) => {
                self.questions.reported(asks);
                draft.looks = true;
            }
            HookNews::Prompt { text } => self.prompted(around, &mut draft, &id, &text),
            HookNews::Stopped { text, inputs, .. } => {
                inputs
                    .into_iter()
                    .for_each(|inputs| self.take_inputs(around, &mut draft, &id, &inputs));
                self.stopped(&mut draft, &id, Ok(text.filter(|text| !text.trim().is_empty())));
            }
            HookNews::Failed { message } => {
                self.stopped(
                    &mut draft,
                    &id,
                    Err(Fault { prompt_delivered: true, ..Fault::new("program_failed", message) }),
                );
            }
        }
        self.keep(draft);
    }

    /// Returns `None` if a report is about one of the program's background conversations, which is
    /// ignored. Otherwise returns the new native id, if it changed. A conversation that took a
    /// prompt of this session is the main one, even without a report of its start.
    fn native_id_change(&self, hook: &Hook) -> Option<Option<String>> {
        let Some(native) = &hook.native else { return Some(None) };
        let known = self.session.native.as_ref();
        let rebinds = match &hook.news {
            HookNews::Began | HookNews::Prompt { .. } => known != Some(native),
            HookNews::Stopped { inputs, .. } => {
                let last = inputs.as_ref().and_then(|inputs| inputs.last());
                let is_ours =
                    last.is_some_and(|prompt| self.takes(prompt) != TakenPrompts::default());
                known.is_none() || known != Some(native) && is_ours
            }
            HookNews::Failed { .. } => known.is_none(),
            HookNews::Asks(_) | HookNews::Uses(_) | HookNews::Ended => false,
        };
        (rebinds || known == Some(native)).then(|| rebinds.then(|| native.clone()))
    }

    /// Returns a draft without changes, for a report that is yet to be read.
    pub(super) fn draft(&self, request: Option<RequestId>) -> Draft {
        let (typed, inputs_seen, steps) = (self.typed, self.inputs_seen, Vec::new());
        Draft {
            request,
            heard: ReportOutcome::Yes,
            native: None,
            accepted: false,
            accepted_late: false,
            is_mixed: false,
            is_over: None,
            typed,
            inputs_seen,
            ended: false,
            looks: false,
            steps,
        }
    }

    /// Records a prompt that the program took: a turn's, a person's, or a checkpoint. A prompt with
    /// the tag of any other turn changes nothing.
    pub(super) fn prompted(
        &mut self,
        around: &Around<'_>,
        draft: &mut Draft,
        id: &str,
        text: &str,
    ) {
        match self.takes(text) {
            TakenPrompts { current: true, late: true } => draft.is_mixed = true,
            TakenPrompts { current: true, late: false } => draft.accepted = true,
            TakenPrompts { current: false, late: true } => draft.accepted_late = true,
            TakenPrompts { current: false, late: false } if tags_in(text).next().is_some() => {
                draft.heard = ReportOutcome::Nothing
            }
            // This prompt was read from the record already.
            TakenPrompts { current: false, late: false }
                if self.recorded_prompt.as_deref() == Some(text) => {}
            TakenPrompts { current: false, late: false } if around.checkpoints.include(text) => {
                draft.typed = PromptSource::Checkpoint
            }
            TakenPrompts { current: false, late: false } => {
                draft
                    .keep(id, KeptItem::Cross { text: text.to_owned(), except: None, typed: true });
                draft.typed = PromptSource::Person;
                self.settled = None;
            }
        }
    }

    /// Returns the outstanding turns whose tags stand anywhere in a prompt.
    fn takes(&self, prompt: &str) -> TakenPrompts {
        let mut taken = TakenPrompts::default();
        for tag in tags_in(prompt) {
            match &self.late {
                _ if self.is_currents(tag) => taken.current = true,
                Some(late) if late.tag == tag => taken.late = true,
                Some(_) | None => {}
            }
        }
        taken
    }

    /// True if a tag belongs to the turn that has the terminal.
    fn is_currents(&self, tag: &str) -> bool {
        let is_own = |current: &Current| {
            (current.tag == tag || planted::has(Bug::AnyTagAccepted))
                && current.stage >= Stage::Begun
        };
        self.current.as_ref().is_some_and(is_own)
    }

    /// Handles the prompts of a program that reports all of them each time, with its answer.
    fn take_inputs(&mut self, around: &Around<'_>, draft: &mut Draft, id: &str, inputs: &[String]) {
        let own = |input: &String| self.takes(input).current;
        // After a restart the count of reported prompts is unknown. The new prompts then begin with
        // the turn's own prompt; without that, only the last prompt is new.
        let last = inputs.len().saturating_sub(1);
        let seen = draft.inputs_seen.filter(|seen| *seen <= inputs.len());
        let seen = seen.unwrap_or_else(|| inputs.iter().position(own).unwrap_or(last));
        for (at, input) in inputs.iter().enumerate().skip(seen) {
            self.prompted(around, draft, &format!("{id}/{at}"), input);
        }
        let last = inputs.last().filter(|input| self.takes(input) == TakenPrompts::default());
        let is_recorded = last.is_some() && last == self.recorded_prompt.as_ref();
        let over = last.and_then(|input| tags_in(input).last().map(str::to_owned));
        draft.is_over = over.or_else(|| self.recorded_prompt.clone().filter(|_| is_recorded));
        // Reports arrive in order, so the report of a turn that was read from the record cannot
        // come after this one.
        self.recorded_prompt.take_if(|_| last.is_some() && !is_recorded);
        (self.reported, self.seen_turn) = (inputs.last().cloned(), None);
        (self.is_unexplained, self.was_idle) = (false, false);
        (draft.inputs_seen, draft.heard) = (Some(inputs.len()), ReportOutcome::Yes);
    }

    /// Handles the end of the program's work: words, silence, or a fault.
    pub(super) fn stopped(
        &mut self,
        draft: &mut Draft,
        id: &str,
        ended: Result<Option<String>, Fault>,
    ) {
        let text = ended.clone().ok().flatten();
        if let Some(over) = draft.is_over.take() {
            // The report is about an earlier turn, which perhaps was read from the record already.
            // The current turn continues.
            let known = [&mut self.settled, &mut self.recorded_prompt];
            let is_known =
                known.into_iter().any(|slot| slot.take_if(|prompt| *prompt == over).is_some());
            if let Some(text) = text.filter(|_| !is_known) {
                draft.keep(id, KeptItem::Home(text));
            }
            return;
        }
        // The program was silent because a person refused its request.
        let ended = match (ended, self.questions.refusal()) {
            (Ok(None), Some(fault)) => Err(fault),
            (ended, _) => ended,
        };
        let is_taken = |current: &&Current| {
            !draft.is_mixed && (draft.accepted || current.stage == Stage::Accepted)
        };
        let taken = self.current.as_ref().filter(is_taken).map(|current| current.key.clone());
        if let Some(key) = taken.clone() {
            draft.keep(id, KeptItem::Result { key, result: ended.map(Option::unwrap_or_default) });
        }
        draft.ended = true;
        if taken.is_none() && draft.typed == PromptSource::Nothing && self.settled.take().is_some()
        {
            // This end was read from the record already.
            return;
        }
        let except = taken.as_ref().map(|key| key.stream.clone());
        match (text, draft.typed) {
            (Some(text), PromptSource::Person) => {
                draft.keep(id, KeptItem::Cross { text, except, typed: false })
            }
            (Some(text), PromptSource::Nothing) if taken.is_none() => {
                let step = self.said_late(draft, text);
                draft.keep(id, step);
            }
            (
                Some(_) | None,
                PromptSource::Person | PromptSource::Nothing | PromptSource::Checkpoint,
            ) => {}
        }
        if taken.is_some() || draft.typed != PromptSource::Checkpoint {
            draft.keep(id, KeptItem::Listeners);
        }
    }

    /// Returns the step for words that do not answer the current turn. If they answer the late
    /// turn, they are posted outside a turn after a timeout, and become the turn's result after any
    /// other end. Other words go only to the home.
    fn said_late(&self, draft: &Draft, text: String) -> KeptItem {
        let is_lates = |late: &&LateTurn| !draft.is_mixed && (late.is_taken || draft.accepted_late);
        match self.late.as_ref().filter(is_lates) {
            Some(late) if late.lapsed => KeptItem::Late { key: late.key.clone(), text },
            Some(late) => KeptItem::Result { key: late.key.clone(), result: Ok(text) },
            None => KeptItem::Home(text),
        }
    }

    /// Ends the work of a program without reports, with the words on its screen.
    pub(super) fn stopped_by_screen(&mut self, id: &str, text: Option<String>) {
        let mut draft = self.draft(None);
        self.stopped(&mut draft, id, Ok(text));
        self.keep(draft);
    }

    /// Commits the steps of a report, which is applied after that. A report without steps is
    /// applied immediately.
    pub(super) fn keep(&mut self, mut draft: Draft) {
        let steps = std::mem::take(&mut draft.steps);
        if steps.is_empty() {
            self.apply(draft);
        } else {
            self.ask(Output::Keep { steps }, Wait::Keep(Box::new(draft)));
        }
    }

    /// Applies a report if all its steps are committed. Otherwise a report of a hook is to be
    /// delivered again, and a screen or record is to be read again.
    pub(super) fn handle_keep_result(
        &mut self,
        around: &Around<'_>,
        result: Result<(), SessionError>,
    ) {
        match self.answered() {
            Wait::Keep(draft) => match result {
                Ok(()) => self.apply(*draft),
                Err(error) => {
                    let is_of_record =
                        draft.request.is_none() && draft.typed == PromptSource::Person;
                    // Unlike a report, a record is not delivered again: the next look asks anew.
                    self.is_unexplained |= is_of_record;
                    if is_of_record {
                        (self.recorded_prompt, self.seen_turn) = (None, None);
                    }
                    self.not_kept(around, draft.request, error);
                }
            },
            other => self.put_back(other),
        }
    }

    /// Answers a report whose steps could not be committed, so that it is delivered again. Without
    /// a request, looks at the screen again later.
    fn not_kept(&mut self, around: &Around<'_>, request: Option<RequestId>, error: SessionError) {
        if request.is_none() {
            // A screen's words are not delivered again, so the screen is read again.
            tracing::warn!(session = %self.session.id, %error, "the content of a screen could not \
                                                                be stored");
            self.look_at = Some(around.after(Millis::from_secs(1)));
        }
        self.reply(request, not_now(error));
    }

    /// Applies a report whose steps are all committed.
    fn apply(&mut self, draft: Draft) {
        self.session.native = draft.native.or(self.session.native.take());
        (self.typed, self.inputs_seen) = (draft.typed, draft.inputs_seen);
        self.late.iter_mut().for_each(|late| late.is_taken |= draft.accepted_late);
        if draft.is_mixed {
            self.lose_both();
        }
        match (draft.accepted, draft.ended) {
            (accepted, true) => self.is_done(accepted),
            (true, false) => self.accept(),
            (false, false) => {}
        }
        self.reply(draft.request, Reply::Heard(Ok(draft.heard)));
        if draft.looks {
            self.look(true, None);
        } else {
            self.advance();
        }
    }

    /// Ends both turns whose words were in one prompt: the answer cannot be attributed.
    fn lose_both(&mut self) {
        self.late = None;
        let Some(current) = self.current.take() else { return };
        self.mark(&current, &OPEN, DeliveryState::Unknown, MIXED);
        let fault = Fault::new("delivery_unknown", MIXED);
        self.fail(&current.key, Fault { prompt_delivered: true, ..fault });
    }

    /// Marks the current turn's prompt as taken.
    pub(super) fn accept(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        current.stage = Stage::Accepted;
        let before = [DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent];
        self.mark(&current, &before, DeliveryState::Accepted, "");
        self.current = Some(current);
    }

    /// Ends the program's work, and the current turn with it if its prompt was taken.
    fn is_done(&mut self, accepted: bool) {
        let is_taken = |current: &mut Current| accepted || current.stage == Stage::Accepted;
        if let Some(current) = self.current.take_if(is_taken) {
            self.note_over(&current.key);
            self.mark(&current, &OPEN, DeliveryState::Done, "");
        }
        // The program may now be working on a late turn whose prompt it has not reported.
        self.late.take_if(|late| late.is_taken);
        self.typed = PromptSource::Nothing;
        match &mut self.current {
            // The program finished work without naming its prompt.
            Some(current) => current.is_doubtful = true,
            None => self.questions.clear(&mut self.out),
        }
    }
}
