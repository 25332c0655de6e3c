//! A program in a terminal: its screen, its input and its reports.

use moothall_engine::sessions::{
    Dialog, Field, HookNews, HostFault, Key, NewestTurn, PaneState, Picture, Record, RecordEnd,
    Reports, View,
};
use moothall_kernel::permission::{OptionKind, PermissionOption};

use super::super::rng::Rng;
use super::spool::Spool;

/// The prompt that the program works on.
#[derive(Clone, Debug)]
struct Work {
    prompt: String,
    done_at: i64,
    /// Time at which the program asks a question, if it does.
    asks_at: Option<i64>,
    /// True if the program puts the prompt back instead of taking it.
    puts_back: bool,
    /// Time at which its hook has reported the prompt. The program reacts to nothing before.
    reported_at: i64,
}

/// The program that runs in the terminal.
pub(super) struct Program {
    pub(super) reports: Reports,
    pub(super) composer: String,
    work: Option<Work>,
    pub(super) dialog: Option<Dialog>,
    /// The output since the screen was cleared.
    history: String,
    /// All prompts that it took, for reports that contain all of them.
    inputs: Vec<String>,
    /// Its own record: prompts and the ends of their turns.
    record: Vec<(String, Option<RecordEnd>)>,
    /// Time until which its screen is not readable.
    blank_until: i64,
    questions: u64,
    is_dead: bool,
    /// True if there is something new on the screen.
    pub(super) has_drawn: bool,
}

impl Program {
    pub(super) fn new(reports: Reports) -> Self {
        Self {
            reports,
            composer: String::new(),
            work: None,
            dialog: None,
            history: String::new(),
            inputs: Vec::new(),
            record: Vec::new(),
            blank_until: 0,
            questions: 0,
            is_dead: false,
            has_drawn: true,
        }
    }

    pub(super) fn state(&self, now: i64) -> PaneState {
        match (&self.work, &self.dialog) {
            _ if self.is_dead => PaneState::Gone,
            _ if now < self.blank_until => PaneState::Starting,
            (_, Some(_)) => PaneState::Asking,
            (Some(_), None) => PaneState::Busy,
            (None, None) => PaneState::Idle,
        }
    }

    pub(super) fn view(&self, now: i64) -> View {
        let state = self.state(now);
        let dialog = self.dialog.clone().filter(|_| state == PaneState::Asking);
        let (composer, text) = (Some(self.composer.clone()), String::new());
        View { state, composer, dialog, text, picture: Picture::default() }
    }

    pub(super) fn tail(&self) -> String {
        format!("{}\n› {}", self.history, self.composer)
    }

    /// Returns the program's own record of the prompt with a tag, or of its newest turn.
    pub(super) fn recorded(&self, tag: Option<&str>) -> Option<Record> {
        let is_meant = |prompt: &str| tag.is_none_or(|tag| prompt.contains(tag));
        let (at, (prompt, end)) =
            self.record.iter().enumerate().rfind(|(_, (prompt, _))| is_meant(prompt))?;
        let newest = NewestTurn { turn: at.to_string(), prompts: vec![prompt.clone()] };
        let newest = tag.is_none().then_some(newest);
        Some(Record { end: end.clone(), newest, ..Record::default() })
    }

    fn record_end(&mut self, end: RecordEnd) {
        if let Some((_, open)) = self.record.last_mut() {
            *open = Some(end);
        }
    }

    /// Puts text into the composer if the program is idle and the composer empty.
    pub(super) fn paste(&mut self, now: i64, text: &str) -> Result<(), HostFault> {
        if self.state(now) != PaneState::Idle || !self.composer.is_empty() {
            return Err(HostFault::Refused("it is not free".into()));
        }
        self.composer = text.to_owned();
        self.has_drawn = true;
        Ok(())
    }

    /// Handles a key.
    pub(super) fn press(&mut self, rng: &mut Rng, spool: &mut Spool, now: i64, key: Key) {
        self.has_drawn = true;
        match key {
            Key::Escape => {
                self.interrupted(now);
            }
            Key::Enter if rng.chance(8) => {}
            Key::Enter if self.work.is_none() && !self.composer.is_empty() => {
                self.take(rng, spool, now)
            }
            Key::Enter => {}
        }
    }

    fn interrupted(&mut self, now: i64) {
        if let Some(work) = self.work.take_if(|work| work.reported_at <= now) {
            self.dialog = None;
            self.record_end(RecordEnd::Interrupted);
            self.history.push_str(&format!("› {}\n■ interrupted\n", work.prompt));
        }
    }

    /// Takes the text of the composer as a prompt.
    fn take(&mut self, rng: &mut Rng, spool: &mut Spool, now: i64) {
        let prompt = std::mem::take(&mut self.composer);
        let puts_back = rng.chance(10);
        let done_at = now + [200, 3_000, 40_000][rng.weighted(&[5, 4, 1])] + rng.below(500) as i64;
        let asks_at = rng.chance(25).then(|| now + rng.below(2_000) as i64);
        let reported_at = now + slowness(rng);
        if !puts_back {
            self.inputs.push(prompt.clone());
            self.record.push((prompt.clone(), None));
            self.history.push_str(&format!("› {prompt}\n"));
            if self.reports.prompts {
                if rng.chance(5) {
                    spool.write(now, HookNews::Prompt { text: self.earlier_prompt(rng) });
                }
                spool.write(reported_at, HookNews::Prompt { text: prompt.clone() });
            }
        }
        let done_at = if puts_back { now + 400 } else { done_at.max(reported_at) };
        let asks_at = asks_at.map(|at| at.max(reported_at));
        self.work = Some(Work { prompt, done_at, asks_at, puts_back, reported_at });
    }

    /// Returns an earlier prompt, for a false report.
    fn earlier_prompt(&self, rng: &mut Rng) -> String {
        let before = self.inputs.len().saturating_sub(1);
        rng.pick(&self.inputs[..before])
            .cloned()
            .unwrap_or_else(|| "done\n\n[moothall:00000000]".into())
    }

    /// A person types a line of their own.
    pub(super) fn typed(&mut self, rng: &mut Rng, spool: &mut Spool, now: i64) {
        if self.state(now) == PaneState::Idle && self.composer.is_empty() {
            self.composer = "by hand".into();
            self.take(rng, spool, now);
            self.has_drawn = true;
        }
    }

    /// A person at the terminal answers a question or interrupts.
    pub(super) fn touched(&mut self, rng: &mut Rng, now: i64) {
        self.has_drawn = true;
        match rng.below(3) {
            0 => self.interrupted(now),
            // The program asks its next question at once.
            1 if self.dialog.is_some() => self.dialog = Some(self.question(rng)),
            _ => self.dialog = None,
        }
    }

    /// A person clears the unsent text in the composer.
    pub(super) fn tidied(&mut self) {
        self.composer.clear();
        self.has_drawn = true;
    }

    /// Ends the program. Its terminal says so, as the host of a real one does.
    pub(super) fn die(&mut self) {
        (self.is_dead, self.has_drawn) = (true, true);
    }

    pub(super) fn redraw(&mut self, rng: &mut Rng, now: i64) {
        self.blank_until = now + rng.below(600) as i64;
        self.history.clear();
        self.has_drawn = true;
    }

    /// Chooses options of exactly this dialog.
    pub(super) fn choose(
        &mut self,
        now: i64,
        dialog: &Dialog,
        chosen: &[usize],
    ) -> Result<(), HostFault> {
        if !self.dialog.as_ref().is_some_and(|shown| shown.is_same(dialog)) {
            return Err(HostFault::Refused("something else stands there".into()));
        }
        let is_no = chosen.iter().any(|at| dialog.options[*at].kind == OptionKind::RejectOnce);
        self.dialog = None;
        self.has_drawn = true;
        if is_no {
            self.interrupted(now);
        }
        Ok(())
    }

    /// Returns the time at which something happens by itself.
    pub(super) fn next_at(&self, now: i64) -> Option<i64> {
        let blank = Some(self.blank_until).filter(|at| *at > now);
        let work = self.work.as_ref().filter(|_| self.dialog.is_none());
        let work =
            work.map(|work| work.asks_at.map_or(work.done_at, |asks| asks.min(work.done_at)));
        [blank, work].into_iter().flatten().min().filter(|_| !self.is_dead)
    }

    /// Does the work that is due.
    pub(super) fn go_on(&mut self, rng: &mut Rng, spool: &mut Spool, now: i64) {
        if self.blank_until != 0 && self.blank_until <= now {
            (self.blank_until, self.has_drawn) = (0, true);
        }
        if self.dialog.is_some() || self.is_dead {
            return;
        }
        let Some(work) = &mut self.work else { return };
        if work.asks_at.take_if(|at| *at <= now).is_some() && !work.puts_back {
            self.dialog = Some(self.question(rng));
            self.has_drawn = true;
        } else if work.done_at <= now
            && let Some(work) = self.work.take()
        {
            self.done(rng, spool, now, work);
        }
    }

    fn question(&mut self, rng: &mut Rng) -> Dialog {
        self.questions += 1;
        let number = if rng.chance(30) { 1 } else { self.questions };
        let options = vec![
            PermissionOption::new("y", "Yes", OptionKind::AllowOnce),
            PermissionOption::new("n", "No", OptionKind::RejectOnce),
        ];
        let mut dialog = Dialog {
            action: format!("touch {number}"),
            partial: false,
            options,
            field: None,
            pointer: None,
            whole: false,
            checked: None,
            confirms: false,
        };
        if number % 3 == 0 {
            dialog
                .options
                .push(PermissionOption::new("w", "In words", OptionKind::Other).taking_text());
            dialog.field = Some(Field { option: 2, is_focused: false, words: String::new() });
        }
        dialog
    }

    fn done(&mut self, rng: &mut Rng, spool: &mut Spool, now: i64, work: Work) {
        self.has_drawn = true;
        if work.puts_back {
            self.composer = work.prompt;
            return;
        }
        let text = format!("answer to {}", work.prompt.lines().next().unwrap_or_default());
        self.history.push_str(&format!("{text}\n"));
        self.record_end(RecordEnd::Said(Some(text.clone())));
        // A report that is too long for its channel is lost.
        if self.reports.turns && !rng.chance(5) {
            let inputs = (!self.reports.prompts).then(|| self.inputs.clone());
            spool.write(
                now,
                HookNews::Stopped { text: Some(text), inputs, interrupted: !self.reports.prompts },
            );
        }
        if rng.chance(35) {
            self.redraw(rng, now);
        }
    }

    /// Falsely reports an end, with an empty result.
    pub(super) fn lie(&self, spool: &mut Spool, now: i64) {
        if self.reports.turns {
            spool.write(
                now,
                HookNews::Stopped { text: Some("a lie".into()), inputs: None, interrupted: false },
            );
        }
    }
}

/// Returns the duration of a hook, mostly 0.
fn slowness(rng: &mut Rng) -> i64 {
    [0, 300, 5_000][rng.weighted(&[12, 4, 1])]
}
