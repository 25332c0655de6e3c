//! The end of a turn without a report, read from the program's own record. A missing report proves
//! nothing.
//!
//! A report may be too long to be delivered, its hook may fail, and some programs report no error.
//! So before an idle screen counts as the end of a turn, the machine looks up the prompt with the
//! turn's tag in the record. An entry with the turn's end counts like a report.

use moothall_engine::sessions::{Activity, NewestTurn, Record, RecordEnd, RecordQuery, View};
use moothall_kernel::event::Fault;
use moothall_kernel::time::Millis;

use super::io::{Around, KeptItem, Output};
use super::machine::Machine;
use super::stage::{Patience, PromptSource, Stage};
use super::wait::Wait;
use crate::tags::tags_in;

/// Time on an idle screen before the record is read without waiting longer for a report. Programs
/// write reports before they draw the screen.
pub(super) const GRACE: Millis = Millis::from_secs(3);

/// The record of a program without reports is read again after this time.
const READ_AGAIN: Millis = Millis::from_secs(1);

impl Machine {
    /// Looks up the turn that owes an answer: the current turn if its prompt was sent, otherwise
    /// the late turn. Returns false if there is neither.
    pub(super) fn look_up(&mut self, view: &View, patience: Patience) -> bool {
        let Some(tag) = self.owed_tag() else { return false };
        let query =
            RecordQuery { native: self.session.native.clone(), tag: Some(tag), uses: false };
        let view = Box::new(view.clone());
        self.ask(Output::LookUp { query }, Wait::LookUp { view, patience });
        true
    }

    /// Returns the query for the tool that the program uses. Returns `None` while the program does
    /// nothing, or if neither its conversation nor the tag of a turn is known.
    pub(crate) fn tool_query(&self) -> Option<RecordQuery> {
        let is_at_work = matches!(self.doing(), Activity::Busy | Activity::Asking);
        let (native, tag) = (self.session.native.clone(), self.owed_tag());
        (is_at_work && (native.is_some() || tag.is_some())).then_some(RecordQuery {
            native,
            tag,
            uses: true,
        })
    }

    fn owed_tag(&self) -> Option<String> {
        let sent = self.current.as_ref().filter(|current| current.stage >= Stage::Sent);
        let late = || self.late.as_ref().map(|late| late.tag.clone());
        sent.map(|current| current.tag.clone()).or_else(late)
    }

    /// Handles the record that was looked up, by the purpose of the look. For a turn that owes an
    /// answer, an entry with its end counts like a report. The report itself gets time to arrive
    /// first.
    pub(super) fn looked_up(&mut self, around: &Around<'_>, record: Option<Record>) {
        let (view, patience) = match self.answered() {
            Wait::LookUp { view, patience } => (view, patience),
            Wait::Untraced { looker } => return self.untraced(record.as_ref(), looker),
            Wait::LookUpNewest { view } => return self.looked_up_newest(around, &view, record),
            other => return self.put_back(other),
        };
        // A report is more exact than the record, so it gets time to arrive first.
        let may_come = around.reports.turns && patience == Patience::Soon;
        match record {
            Some(Record { native, end: Some(end), .. }) if !may_come => {
                self.take_recorded_end(native, end);
            }
            Some(_) if may_come || self.is_unaccepted() => {
                if self.is_unaccepted() {
                    self.accept();
                }
                self.grace = Some(around.after(GRACE));
                if !may_come {
                    self.look_at = Some(around.after(READ_AGAIN));
                }
                self.advance_on(&view);
            }
            Some(_) | None => self.without_record(around, &view, patience),
        }
    }

    fn is_unaccepted(&self) -> bool {
        let sent = |stage: Stage| stage >= Stage::Sent && stage < Stage::Accepted;
        self.current.as_ref().is_some_and(|current| sent(current.stage))
    }

    /// Decides from the screen because the record has no end of the turn.
    fn without_record(&mut self, around: &Around<'_>, view: &View, patience: Patience) {
        let is_accepted =
            self.current.as_ref().is_some_and(|current| current.stage == Stage::Accepted);
        match patience {
            Patience::Soon => {
                self.wait_out(around);
                if !around.reports.turns {
                    self.look_at = Some(around.after(READ_AGAIN));
                }
                self.advance_on(view);
            }
            Patience::Over if !around.reports.turns && (is_accepted || self.is_shown(view)) => {
                self.harvest();
            }
            Patience::Over => self.fail_unanswered(view),
        }
    }

    /// True if the prompt of the current turn stands on the screen.
    fn is_shown(&self, view: &View) -> bool {
        self.current.as_ref().is_some_and(|current| view.text.contains(&current.tag))
    }

    /// Takes the end of a turn as a report of the program would be taken.
    fn take_recorded_end(&mut self, native: Option<String>, end: RecordEnd) {
        let Some(tag) = self.owed_tag() else { return };
        let (id, mut draft) = (format!("record:{tag}"), self.draft(None));
        if let Some(native) = native.filter(|native| self.session.native.as_ref() != Some(native)) {
            draft.keep(&id, KeptItem::Native(native.clone()));
            draft.native = Some(native);
        }
        // The missing report would have counted the prompts.
        draft.inputs_seen = None;
        draft.accepted = self.current.as_ref().is_some_and(|current| current.tag == tag);
        draft.accepted_late = !draft.accepted;
        draft.typed = PromptSource::Nothing;
        self.reported = Some(tag.clone());
        let ended = match end {
            RecordEnd::Said(text) => Ok(text),
            RecordEnd::Failed(message) => {
                let fault = Fault::new("program_failed", message);
                Err(Fault { prompt_delivered: true, ..fault })
            }
            // A refused permission is recorded as an interruption too.
            RecordEnd::Interrupted => Err(self.questions.refusal().unwrap_or_else(interrupted)),
        };
        self.stopped(&mut draft, &id, ended);
        self.settled = Some(tag);
        self.keep(draft);
    }
}

impl Machine {
    /// Looks up the newest turn if no report has explained the program's work. Returns false if the
    /// record is not looked up.
    pub(super) fn look_up_newest(&mut self, view: &View) -> bool {
        let asks = std::mem::take(&mut self.is_unexplained) && self.typed == PromptSource::Nothing;
        if asks {
            let query = RecordQuery { native: self.session.native.clone(), tag: None, uses: false };
            let view = Box::new(view.clone());
            self.ask(Output::LookUp { query }, Wait::LookUpNewest { view });
        }
        asks
    }

    /// Takes the newest turn of the record like a report, if a person began that turn at the
    /// terminal and the machine has not handled it before.
    fn looked_up_newest(&mut self, around: &Around<'_>, view: &View, record: Option<Record>) {
        self.grace = None;
        let turn = record.and_then(|record| Some((record.newest?, record.end?)));
        let is_news = turn.as_ref().is_some_and(|(turn, _)| self.is_news(turn));
        if let Some((turn, _)) = &turn {
            self.seen_turn = Some(turn.turn.clone());
        }
        let Some((NewestTurn { turn, prompts }, end)) = turn.filter(|_| is_news) else {
            return self.advance_on(view);
        };
        let (id, mut draft) = (format!("record:{turn}"), self.draft(None));
        (draft.inputs_seen, self.recorded_prompt) = (None, None);
        for (at, prompt) in prompts.iter().enumerate() {
            self.prompted(around, &mut draft, &format!("{id}/{at}"), prompt);
        }
        let ended = match end {
            RecordEnd::Said(text) => Ok(text),
            RecordEnd::Failed(_) | RecordEnd::Interrupted => Ok(None),
        };
        self.stopped(&mut draft, &id, ended);
        self.recorded_prompt = prompts.last().cloned();
        self.is_unexplained = false;
        self.keep(draft);
    }

    /// True if a person began the newest turn of the record and the machine has not handled it
    /// before. Turns are compared by their ids, because a person may type the same words twice. A
    /// report does not name its turn, so the first turn after a report is compared by its words. At
    /// the start of this process the turn counts as handled, because an earlier process may have
    /// handled it.
    fn is_news(&self, newest: &NewestTurn) -> bool {
        let last = newest.prompts.last().filter(|last| tags_in(last).next().is_none());
        let is_known = match &self.seen_turn {
            Some(seen) => *seen == newest.turn,
            None => self.reported.as_ref().is_none_or(|reported| Some(reported) == last),
        };
        last.is_some() && !is_known
    }
}

/// Returns the fault of a turn that a person interrupted.
pub(super) fn interrupted() -> Fault {
    let fault = Fault::new("interrupted", "It was interrupted at its terminal.");
    Fault { prompt_delivered: true, ..fault }
}
