//! What a program reports, and whose words they are: they go to the conversation that asked, to the
//! links of the session, or to its home. (Rulings 24 and 25.)
//!
//! What a report changes is drawn up first, kept outside, and takes effect here only then: one that
//! could not be kept is brought again.

use moothall_engine::ports::DeliveryState;
use moothall_engine::sessions::{Hook, HookNews, ReportOutcome, SessionError};
use moothall_kernel::event::Fault;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::asks::ReportedQuestion;
use super::io::{Around, KeptItem, Output, Reply, RequestId};
use super::machine::{Machine, OPEN, Wait, not_now};
use super::stage::{Current, Draft, LateTurn, PromptSource, Stage};
use crate::tags::tags_in;

/// Said of a turn whose prompt came together with another.
const MIXED: &str = "Its program took this together with words of an earlier turn; look at the terminal, and ask again if it was not answered.";

/// The outstanding turns whose prompt the program took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TakenPrompts {
    current: bool,
    late: bool,
}

impl Machine {
    /// Takes a report in.
    pub(super) fn hear(&mut self, around: &Around<'_>, request: RequestId, hook: Hook) {
        let Some(native) = self.own(&hook) else {
            self.reply(Some(request), Reply::Heard(Ok(ReportOutcome::Nothing)));
            return self.advance();
        };
        let mut draft = self.draft(Some(request));
        if let Some(native) = native {
            draft.keep(&hook.id, KeptItem::Native(native.clone()));
            // What another conversation was asked before does not count.
            (draft.native, draft.inputs_seen) = (Some(native), None);
            (self.retold, self.reported, self.seen_turn) = (None, None, None);
        }
        let id = hook.id;
        match hook.news {
            HookNews::Began | HookNews::Ended => {}
            HookNews::Asks { action, partial } => {
                self.questions.reported(ReportedQuestion { action, partial });
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

    /// Whether a report is of the program's own conversation with its user, and the id of that one
    /// where it is another now. Programs have others in the background. One in which a prompt of
    /// this session was taken is its own, even if the program does not say that it began.
    fn own(&self, hook: &Hook) -> Option<Option<String>> {
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
            HookNews::Asks { .. } | HookNews::Ended => false,
        };
        (rebinds || known == Some(native)).then(|| rebinds.then(|| native.clone()))
    }

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

    /// The program took a prompt: a turn's, or a person's.
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
            // The record told it.
            TakenPrompts { current: false, late: false }
                if self.retold.as_deref() == Some(text) => {}
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

    /// Returns the outstanding turns whose tags stand in a prompt, at whatever place.
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

    /// Whether a tag is that of the turn that has the terminal.
    fn is_currents(&self, tag: &str) -> bool {
        let is_own = |current: &Current| {
            (current.tag == tag || planted::has(Bug::AnyTagAccepted))
                && current.stage >= Stage::Begun
        };
        self.current.as_ref().is_some_and(is_own)
    }

    /// Programs that report their prompts only with the answer report all of them each time.
    fn take_inputs(&mut self, around: &Around<'_>, draft: &mut Draft, id: &str, inputs: &[String]) {
        let own = |input: &String| self.takes(input).current;
        // After a restart nobody knows what was reported before: the turn's own prompt, or the last
        // one, is what is new.
        let last = inputs.len().saturating_sub(1);
        let seen = draft.inputs_seen.filter(|seen| *seen <= inputs.len());
        let seen = seen.unwrap_or_else(|| inputs.iter().position(own).unwrap_or(last));
        for (at, input) in inputs.iter().enumerate().skip(seen) {
            self.prompted(around, draft, &format!("{id}/{at}"), input);
        }
        let last = inputs.last().filter(|input| self.takes(input) == TakenPrompts::default());
        let is_retold = last.is_some() && last == self.retold.as_ref();
        let over = last.and_then(|input| tags_in(input).last().map(str::to_owned));
        draft.is_over = over.or_else(|| self.retold.clone().filter(|_| is_retold));
        // Reports come in their order, so that of a turn that was told does not come any more.
        self.retold.take_if(|_| last.is_some() && !is_retold);
        (self.reported, self.seen_turn) = (inputs.last().cloned(), None);
        (self.is_unexplained, self.was_idle) = (false, false);
        (draft.inputs_seen, draft.heard) = (Some(inputs.len()), ReportOutcome::Yes);
    }

    /// The program is done: it said something, or nothing, or could not go on.
    pub(super) fn stopped(
        &mut self,
        draft: &mut Draft,
        id: &str,
        ended: Result<Option<String>, Fault>,
    ) {
        let text = ended.clone().ok().flatten();
        if let Some(over) = draft.is_over.take() {
            // It came late, and the record may have told it already. The current turn goes on.
            let told = [&mut self.settled, &mut self.retold];
            let is_told = told.into_iter().any(|told| told.take_if(|told| *told == over).is_some());
            if let Some(text) = text.filter(|_| !is_told) {
                draft.keep(id, KeptItem::Home(text));
            }
            return;
        }
        // Nothing was said because somebody said no.
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
            // The record has told it already.
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

    /// Words that answer nothing any more: those of a turn whose time was over are said unasked,
    /// those of one that somebody ended are kept with it, others only at home.
    fn said_late(&self, draft: &Draft, text: String) -> KeptItem {
        let is_lates = |late: &&LateTurn| !draft.is_mixed && (late.is_taken || draft.accepted_late);
        match self.late.as_ref().filter(is_lates) {
            Some(late) if late.lapsed => KeptItem::Late { key: late.key.clone(), text },
            Some(late) => KeptItem::Result { key: late.key.clone(), result: Ok(text) },
            None => KeptItem::Home(text),
        }
    }

    /// The screen of a program without reports shows what it said.
    pub(super) fn stopped_by_screen(&mut self, id: &str, text: Option<String>) {
        let mut draft = self.draft(None);
        self.stopped(&mut draft, id, Ok(text));
        self.keep(draft);
    }

    pub(super) fn keep(&mut self, mut draft: Draft) {
        let steps = std::mem::take(&mut draft.steps);
        if steps.is_empty() {
            self.apply(draft);
        } else {
            self.ask(Output::Keep { steps }, Wait::Keep(Box::new(draft)));
        }
    }

    pub(super) fn kept(&mut self, around: &Around<'_>, result: Result<(), SessionError>) {
        match self.answered() {
            Wait::Keep(draft) => match result {
                Ok(()) => self.apply(*draft),
                Err(error) => {
                    let is_of_record =
                        draft.request.is_none() && draft.typed == PromptSource::Person;
                    self.is_unexplained |= is_of_record;
                    if is_of_record {
                        (self.retold, self.seen_turn) = (None, None);
                    }
                    self.not_kept(around, draft.request, error);
                }
            },
            other => self.put_back(other),
        }
    }

    fn not_kept(&mut self, around: &Around<'_>, request: Option<RequestId>, error: SessionError) {
        if request.is_none() {
            // Nobody brings again what a screen shows, so it is looked at again.
            tracing::warn!(session = %self.session.id, %error, "what a screen shows could not be kept");
            self.look_at = Some(around.after(Millis::from_secs(1)));
        }
        self.reply(request, not_now(error));
    }

    /// Everything that follows from a report is kept.
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

    /// One prompt had the words of two turns, so nothing says whose its answer is.
    fn lose_both(&mut self) {
        self.late = None;
        let Some(current) = self.current.take() else { return };
        self.mark(&current, &OPEN, DeliveryState::Unknown, MIXED);
        let fault = Fault::new("delivery_unknown", MIXED);
        self.fail(&current.key, Fault { prompt_delivered: true, ..fault });
    }

    /// The program took the prompt.
    pub(super) fn accept(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        current.stage = Stage::Accepted;
        let before = [DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent];
        self.mark(&current, &before, DeliveryState::Accepted, "");
        self.current = Some(current);
    }

    /// The program is done with what it worked on; with the current turn, if it took that one.
    fn is_done(&mut self, accepted: bool) {
        let is_taken = |current: &mut Current| accepted || current.stage == Stage::Accepted;
        if let Some(current) = self.current.take_if(is_taken) {
            self.note_over(&current.key);
            self.mark(&current, &OPEN, DeliveryState::Done, "");
        }
        // One whose prompt it did not report yet may be what it works on now.
        self.late.take_if(|late| late.is_taken);
        self.typed = PromptSource::Nothing;
        match &mut self.current {
            // It is done with something of which it did not say what it was.
            Some(current) => current.is_doubtful = true,
            None => self.questions.clear(&mut self.out),
        }
    }
}
