//! What a screen says: whether the program works, waits, asks, or has nothing more to say.

use moothall_engine::ports::DeliveryState;
use moothall_engine::sessions::{PaneState, View};
use moothall_kernel::event::Fault;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::io::{Around, Output, Reply, RequestId, Seen};
use super::machine::{Machine, Wait};
use super::record::{GRACE, interrupted};
use super::stage::{Current, Patience, PromptSource, Stage, UnreadableScreen};

/// The time of [`GRACE`] for a prompt that the program may not have taken.
const GRACE_UNSEEN: Millis = Millis::from_secs(15);
/// How long something has to stand there before people are told of it: programs draw a while when
/// they begin.
const UNREAD_FOR: Millis = Millis::from_secs(15);
/// Lines of it that people are shown.
const UNREAD_LINES: usize = 24;
/// Lines of a terminal in which an answer is looked for.
const ANSWER_LINES: usize = 4000;

impl Machine {
    /// The terminal was looked at.
    pub(super) fn looked(
        &mut self,
        around: &Around<'_>,
        seen: Option<Seen>,
        patient: bool,
        looker: Option<RequestId>,
    ) {
        let Some(seen) = seen else { return self.reply(looker, Reply::Looked) };
        if self.settle_typing(around, &seen, looker) {
            return;
        }
        self.judge(around, seen.view, patient, looker);
    }

    fn judge(&mut self, around: &Around<'_>, view: View, patient: bool, looker: Option<RequestId>) {
        self.drawn |= matches!(view.state, PaneState::Idle | PaneState::Busy | PaneState::Asking);
        self.note_unread(around, &view);
        match view.state {
            // A program may be a script that has not given its place to the real one yet.
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

    /// What stands there for a while and can be read, or answered, by nobody but a person at the
    /// terminal, people are told of once.
    fn note_unread(&mut self, around: &Around<'_>, view: &View) {
        let is_held_up = self.has_draft && self.has_next();
        let is_unread = match view.state {
            PaneState::Starting => !view.text.trim().is_empty(),
            // What cannot be answered from here has no card.
            PaneState::Asking => view.dialog.is_none(),
            PaneState::Idle => is_held_up,
            PaneState::Busy | PaneState::Shell | PaneState::Gone => false,
        };
        if !is_unread {
            self.unread = None;
            return;
        }
        let now = around.now.steady;
        let mut unread = self.unread.unwrap_or(UnreadableScreen { since: now, told: false });
        let due = Millis(unread.since.0.saturating_add(UNREAD_FOR.0));
        if !unread.told && due <= now {
            unread.told = true;
            let name = self.session.name.as_str();
            let text = if is_held_up { held_up(name) } else { to_be_read(name, &view.text) };
            self.out.push(Output::Tell { text });
        } else if !unread.told {
            self.look_at = Some(self.look_at.map_or(due, |at| at.min(due)));
        }
        self.unread = Some(unread);
    }

    /// True if the composer of an idle program holds words that were not typed for a turn.
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

    /// A program that does not report its prompts shows by working that it took one. Whether it was
    /// this one, a report of its end says.
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

    /// A program that reports prompts only with the end of their turn works on what a person typed.
    pub(super) fn seen_own_work(&mut self, around: &Around<'_>) {
        let reports = around.reports;
        let is_owed = self.sent_stage().is_some() || self.late.is_some();
        // It draws a turn that it has reported for a moment more.
        let is_new = self.was_idle && !is_owed && self.session.native.is_some();
        self.is_unexplained |= reports.turns && !reports.prompts && is_new;
    }

    fn seen_idle(&mut self, around: &Around<'_>, view: &View) {
        self.questions.forget_report();
        self.was_idle = true;
        if self.send_again(view.composer.as_deref().unwrap_or_default()) {
            self.grace = None;
            return;
        }
        self.idle_for_now(around, view);
        if !self.is_waiting() {
            self.advance_on(view);
        }
    }

    /// The program waits for input. Where something is owed still, it may come in a moment.
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
        let is_told_alone = around.reports.turns && around.reports.prompts;
        // Without reports nothing else tells the end, and the record may be written a moment later.
        let is_first = self.grace.is_none() || !around.reports.turns;
        if is_told_alone || stage.is_none() || !is_first || !self.look_up(view, Patience::Soon) {
            self.wait_out(around);
        }
    }

    /// The stage of a turn whose prompt was sent off.
    fn sent_stage(&self) -> Option<Stage> {
        self.current.as_ref().map(|current| current.stage).filter(|stage| *stage >= Stage::Sent)
    }

    /// Gives what is owed its time.
    pub(super) fn wait_out(&mut self, around: &Around<'_>) {
        let is_unseen = self.sent_stage() == Some(Stage::Sent);
        self.grace.get_or_insert(around.after(if is_unseen { GRACE_UNSEEN } else { GRACE }));
    }

    /// The program sits idle and has reported nothing: its record may say why.
    pub(super) fn grace_is_over(&mut self, seen: Option<Seen>) {
        let Some(Seen { view, .. }) = seen.filter(|seen| seen.view.state == PaneState::Idle) else {
            return;
        };
        if !self.look_up(&view, Patience::Over) && !self.look_up_newest(&view) {
            self.nothing_came(&view);
        }
    }

    /// Looks at the screen of a program that keeps no record for the turn's words.
    pub(super) fn harvest(&mut self) {
        self.ask(Output::See { lines: Some(ANSWER_LINES) }, Wait::Harvest);
    }

    /// Neither a report nor the record says how it ended: somebody interrupted it, or refused what
    /// it asked, or its prompt never arrived.
    pub(super) fn nothing_came(&mut self, view: &View) {
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
            // It was sent off: telling it once more would be to type it twice.
            self.fail(&current.key, Fault { prompt_delivered: true, ..fault });
            self.questions.clear(&mut self.out);
        }
        self.advance_on(view);
    }

    /// Ends a turn of a program without reports, which is done: the words below its prompt are its
    /// answer. A prompt that nothing follows may not have been taken.
    pub(super) fn harvested(&mut self, seen: Option<Seen>) {
        let (Some(current), Some(Seen { view, tail })) = (&self.current, seen) else { return };
        let text = below(&tail.unwrap_or_default(), &current.tag);
        let id = format!("screen:{}", current.tag);
        match (current.stage < Stage::Accepted, &text) {
            (true, None) => return self.nothing_came(&view),
            (true, Some(_)) => self.accept(),
            (false, _) => {}
        }
        self.stopped_by_screen(&id, text);
    }
}

/// What people are told of a screen that they have to look at.
fn to_be_read(name: &str, screen: &str) -> String {
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

/// Tells people of a draft that something waits behind.
fn held_up(name: &str) -> String {
    format!(
        "A draft is in the composer of {name}, and what was said to it waits until that is sent off or deleted, at its terminal: `moothall attach {name}`"
    )
}

/// Why a turn is over of which the program says nothing.
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

/// What stands below the line with a tag, without the composer at the end.
fn below(screen: &str, tag: &str) -> Option<String> {
    let at = screen.rfind(tag)? + tag.len();
    let lines: Vec<&str> = screen[at..].lines().skip(1).map(str::trim_end).collect();
    let prompt = lines.iter().rposition(|line| is_composer(line)).unwrap_or(lines.len());
    let text = lines[..prompt].join("\n");
    let text = text.trim_matches('\n').trim_end();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// A line that only invites input.
fn is_composer(line: &str) -> bool {
    matches!(line.trim(), "›" | ">" | "$" | "❯" | "%" | "#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_the_tag_is_the_answer() {
        let screen = "› hello\n[moothall:0a1b2c3d]\n\nfirst line\n\n  second\n›\n";
        assert_eq!(below(screen, "[moothall:0a1b2c3d]").as_deref(), Some("first line\n\n  second"));
        assert_eq!(below("[moothall:0a1b2c3d]\n›", "[moothall:0a1b2c3d]"), None);
        assert_eq!(below("nothing here", "[moothall:0a1b2c3d]"), None);
    }
}
