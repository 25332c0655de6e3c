//! Reading of the screen: the program works, waits, asks, or has finished.

use moothall_engine::ports::DeliveryState;
use moothall_engine::sessions::{PaneState, View};
use moothall_kernel::event::Fault;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::io::{Around, Output, PaneContent, Reply, RequestId};
use super::machine::Machine;
use super::record::{GRACE, interrupted};
use super::stage::{Current, Patience, PromptSource, Stage, UnreadableScreen};
use super::wait::Wait;

/// Replaces [`GRACE`] for a prompt that the program perhaps has not taken.
const GRACE_UNSEEN: Millis = Millis::from_secs(15);
/// Time that content must stay before people are told of it: programs keep drawing for a while at
/// their start.
const UNREAD_FOR: Millis = Millis::from_secs(15);
/// Number of screen lines that people are shown.
const UNREAD_LINES: usize = 24;
/// Number of terminal lines that are searched for an answer.
const ANSWER_LINES: usize = 4000;

impl Machine {
    /// Handles a look at the terminal.
    pub(super) fn handle_look(
        &mut self,
        around: &Around<'_>,
        seen: Option<PaneContent>,
        patient: bool,
        looker: Option<RequestId>,
    ) {
        let Some(seen) = seen else { return self.reply(looker, Reply::Looked) };
        if self.settle_typing(around, &seen, looker) {
            return;
        }
        self.judge(around, seen.view, patient, looker);
    }

    /// Acts on the state of the program that the screen shows, and answers the looker. A missing
    /// terminal, or a shell after the program has drawn, means that the program may have ended.
    fn judge(&mut self, around: &Around<'_>, view: View, patient: bool, looker: Option<RequestId>) {
        self.drawn |= matches!(view.state, PaneState::Idle | PaneState::Busy | PaneState::Asking);
        self.note_unread(around, &view);
        match view.state {
            // A start script perhaps has not replaced itself with the program yet.
            PaneState::Shell if !self.drawn => {}
            PaneState::Shell => self.out.push(Output::Missing { died: false }),
            PaneState::Gone => self.out.push(Output::Missing { died: true }),
            PaneState::Starting => {
                self.seen_at_work();
                self.seen_unreadable(around, patient);
                self.seen_working(around, PaneState::Starting);
            }
            PaneState::Busy => {
                self.seen_at_work();
                self.seen_own_work(around);
                self.seen_no_dialog();
                self.seen_working(around, PaneState::Busy);
            }
            PaneState::Asking => {
                self.seen_at_work();
                self.seen_working(around, PaneState::Asking);
                if let Some(dialog) = view.dialog {
                    self.seen_dialog(around, dialog, patient);
                }
            }
            PaneState::Idle => {
                self.out.push(Output::There);
                self.seen_no_dialog();
                self.reply(looker, Reply::Looked);
                return self.seen_idle(around, &view);
            }
        }
        self.reply(looker, Reply::Looked);
    }

    /// Tells people once about content that stays and that only a person at the terminal can read
    /// or answer.
    fn note_unread(&mut self, around: &Around<'_>, view: &View) {
        let is_held_up = self.has_draft && self.has_next();
        let is_unread = match view.state {
            PaneState::Starting => !view.text.trim().is_empty(),
            // A dialog that cannot be answered from here has no card.
            PaneState::Asking => view.dialog.is_none(),
            PaneState::Idle => is_held_up,
            PaneState::Busy | PaneState::Shell | PaneState::Gone => false,
        };
        if !is_unread {
            self.unread = None;
            return;
        }
        let now = around.now.steady;
        let mut unread = self.unread.unwrap_or(UnreadableScreen { since: now, announced: false });
        let due = Millis(unread.since.0.saturating_add(UNREAD_FOR.0));
        if !unread.announced && due <= now {
            unread.announced = true;
            let name = self.session.name.as_str();
            let text =
                if is_held_up { draft_notice(name) } else { unreadable_notice(name, &view.text) };
            self.out.push(Output::Tell { text });
        } else if !unread.announced {
            self.look_at = Some(self.look_at.map_or(due, |at| at.min(due)));
        }
        self.unread = Some(unread);
    }

    /// True if the composer of an idle program holds words that the server did not type for the
    /// current turn, such as a person's draft.
    pub(super) fn is_drafted(&self, view: &View) -> bool {
        let composer = view.composer.as_deref().unwrap_or_default().trim();
        let is_ours = |current: &Current| {
            current.stage >= Stage::Typing || current.is_pasted || composer.contains(&current.tag)
        };
        view.state == PaneState::Idle
            && !composer.is_empty()
            && !self.current.as_ref().is_some_and(is_ours)
    }

    fn seen_at_work(&mut self) {
        self.grace = None;
        self.out.push(Output::There);
    }

    /// Records that a program works after the turn's prompt was sent. If it does not report the
    /// ends of turns, it counts as having taken the prompt. If it reports the ends but not the
    /// prompts, it works on some prompt, and the report of the end will show whether that was the
    /// turn's.
    fn seen_working(&mut self, around: &Around<'_>, state: PaneState) {
        let reports = around.reports;
        let sent = self.current.as_mut().filter(|current| current.stage == Stage::Sent);
        match (sent, reports.turns, state) {
            (Some(_), false, _) => self.accept(),
            (Some(current), true, PaneState::Busy | PaneState::Asking) if !reports.prompts => {
                current.stage = Stage::Working
            }
            (Some(_) | None, _, _) => {}
        }
    }

    /// Notes work that no report has explained: a program that reports prompts only at the end of
    /// their turn works on a person's words, because no turn owes an answer.
    pub(super) fn seen_own_work(&mut self, around: &Around<'_>) {
        let reports = around.reports;
        let is_owed = self.sent_stage().is_some() || self.late.is_some();
        // The program may draw a turn for a moment after reporting its end.
        let is_new = self.was_idle && !is_owed && self.session.native.is_some();
        self.is_unexplained |= reports.turns && !reports.prompts && is_new;
    }

    /// Handles an idle screen: sends a prompt that came back into the composer, otherwise begins to
    /// wait for an owed answer, and types the next prompt if nothing else is outstanding.
    fn seen_idle(&mut self, around: &Around<'_>, view: &View) {
        self.questions.forget_report();
        self.was_idle = true;
        if !self.is_taken && self.send_again(view.composer.as_deref().unwrap_or_default()) {
            self.grace = None;
            return;
        }
        self.idle_for_now(around, view);
        if !self.is_waiting() {
            self.advance_on(view);
        }
    }

    /// Handles an idle program. If an answer is owed, or work is unexplained, the grace period for
    /// its report begins. If reports alone do not suffice, the program's record is read first.
    pub(super) fn idle_for_now(&mut self, around: &Around<'_>, view: &View) {
        let stage = self.sent_stage();
        if stage.is_none() && self.typed == PromptSource::Nothing && self.late.is_none() {
            if self.is_unexplained {
                self.wait_out(around);
            } else {
                self.grace = None;
            }
            return;
        }
        let reports_suffice = around.reports.turns && around.reports.prompts;
        // Without reports only the record has the end, which may be written a moment later.
        let is_first = self.grace.is_none() || !around.reports.turns;
        if reports_suffice || stage.is_none() || !is_first || !self.look_up(view, Patience::Soon) {
            self.wait_out(around);
        }
    }

    /// Returns the current turn's stage if its prompt was sent.
    fn sent_stage(&self) -> Option<Stage> {
        self.current.as_ref().map(|current| current.stage).filter(|stage| *stage >= Stage::Sent)
    }

    /// Starts the grace period, unless it runs: if the program is still idle at its end, no report
    /// is expected any more. The period is longer while it is not certain that the program has
    /// taken the prompt.
    pub(super) fn wait_out(&mut self, around: &Around<'_>) {
        let is_unseen = self.sent_stage() == Some(Stage::Sent);
        // A running grace period stays: a redraw must not extend it.
        self.grace.get_or_insert(around.after(if is_unseen { GRACE_UNSEEN } else { GRACE }));
    }

    /// Reads the record of a program that is still idle after the grace period, without a report.
    pub(super) fn grace_is_over(&mut self, seen: Option<PaneContent>) {
        let Some(PaneContent { view, .. }) = seen.filter(|seen| seen.view.state == PaneState::Idle)
        else {
            return;
        };
        if !self.look_up(&view, Patience::Over) && !self.look_up_newest(&view) {
            self.fail_unanswered(&view);
        }
    }

    /// Reads the screen and its history for the answer of a turn, because the program neither
    /// reports nor records the end of turns.
    pub(super) fn harvest(&mut self) {
        self.ask(Output::See { lines: Some(ANSWER_LINES) }, Wait::Harvest);
    }

    /// Ends a turn that has no report and no record: it was interrupted, its request was refused,
    /// or its prompt never arrived. Stops the wait for a late turn and for a person's prompt too.
    pub(super) fn fail_unanswered(&mut self, view: &View) {
        (self.late, self.typed) = (None, PromptSource::Nothing);
        if planted::has(Bug::TypedAgain)
            && self.current.as_ref().is_some_and(|current| current.stage == Stage::Sent)
        {
            return self.paste();
        }
        if let Some(current) = self.current.take_if(|current| current.stage >= Stage::Sent) {
            let was_taken = current.stage >= Stage::Working;
            let fault = self.questions.refusal().unwrap_or_else(|| silent(was_taken));
            let end = if was_taken { DeliveryState::Failed } else { DeliveryState::Unknown };
            self.mark(
                &current,
                &[DeliveryState::Sent, DeliveryState::Accepted],
                end,
                &fault.message,
            );
            // The prompt was sent: a retry would type it twice.
            self.fail(&current.key, Fault { prompt_delivered: true, ..fault });
            self.questions.clear(&mut self.out);
        }
        self.advance_on(view);
    }

    /// Ends a finished turn of a program without reports: the words below its prompt are its
    /// answer. A prompt that was not accepted may still be in the composer, above a status line. So
    /// the words below such a prompt count only if an empty composer is below them.
    pub(super) fn harvested(&mut self, seen: Option<PaneContent>) {
        let (Some(current), Some(PaneContent { view, tail })) = (&self.current, seen) else {
            return;
        };
        let (text, is_composer_below) = below(&tail.unwrap_or_default(), &current.tag);
        let id = format!("screen:{}", current.tag);
        if current.stage < Stage::Accepted {
            if text.is_none() || !is_composer_below {
                return self.fail_unanswered(&view);
            }
            self.accept();
        }
        self.stopped_by_screen(&id, text);
    }
}

/// Returns the notice about a screen that the server cannot interpret, with its last lines.
fn unreadable_notice(name: &str, screen: &str) -> String {
    let lines: Vec<&str> =
        screen.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let shown = lines[lines.len().saturating_sub(UNREAD_LINES)..]
        .iter()
        .map(|line| format!("    {line}\n"));
    let shown: String = shown.collect();
    format!(
        "{name} shows something that only you can read or answer, at its terminal: `moothall attach {name}`\n\n{shown}"
    )
}

/// Returns the notice about a draft that holds up other words.
fn draft_notice(name: &str) -> String {
    format!(
        "A draft is in the composer of {name}, and what was said to it waits until that is sent off or deleted, at its terminal: `moothall attach {name}`"
    )
}

/// Returns the fault of a turn without any report.
fn silent(was_taken: bool) -> Fault {
    if was_taken {
        interrupted()
    } else {
        Fault::new(
            "delivery_unknown",
            "Its program did not say that it took the prompt; look at its terminal.",
        )
    }
}

/// Returns the text below the line with a tag, without the composer at the end, and true if an
/// empty composer stands there.
fn below(screen: &str, tag: &str) -> (Option<String>, bool) {
    let Some(at) = screen.rfind(tag) else { return (None, false) };
    let lines: Vec<&str> = screen[at + tag.len()..].lines().skip(1).map(str::trim_end).collect();
    let composer = lines.iter().rposition(|line| is_composer(line));
    let text = lines[..composer.unwrap_or(lines.len())].join("\n");
    let text = text.trim_matches('\n').trim_end();
    ((!text.trim().is_empty()).then(|| text.to_owned()), composer.is_some())
}

/// True if a line is an empty input prompt.
fn is_composer(line: &str) -> bool {
    matches!(line.trim(), "›" | ">" | "$" | "❯" | "%" | "#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_the_tag_is_the_answer() {
        let tag = "[moothall:0a1b2c3d]";
        let screen = "› hello\n[moothall:0a1b2c3d]\n\nfirst line\n\n  second\n›\n";
        assert_eq!(below(screen, tag), (Some("first line\n\n  second".to_owned()), true));
        assert_eq!(below("[moothall:0a1b2c3d]\n›", tag), (None, true));
        assert!(!below("[moothall:0a1b2c3d]\n no sandbox", tag).1);
        assert_eq!(below("nothing here", tag), (None, false));
    }
}
