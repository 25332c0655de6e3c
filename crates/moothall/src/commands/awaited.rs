//! The live rows that a wait for answers shows at a terminal, below the answers so far: the agents
//! at work, for how long, and their words so far. Output to a pipe has none.

use std::io::IsTerminal;
use std::time::Duration;

use jiff::Timestamp;
use moothall_kernel::time::Millis;
use moothall_surfaces::wire::{DeltaSignal, Envelope, OccupationEntry, ThreadStateAnswer};
use tokio::time::Instant;

use super::Context;
use super::chat::{self, ChatView, Live, RenderContext, Screen, screen};
use super::list;
use crate::paint::{Style, is_quiet};

/// Interval between two reads of the states.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The live rows of a wait.
pub(super) struct LiveAnswers<'a> {
    context: &'a Context,
    room: ChatView,
    states: Vec<OccupationEntry>,
    screen: Screen,
    look_at: Instant,
}

impl<'a> LiveAnswers<'a> {
    /// Creates the live rows below the answers on the screen. `None` with `--json` or `--quiet`,
    /// for a pipe, and for a terminal that takes no escape sequences.
    pub(super) fn of(context: &'a Context, state: &ThreadStateAnswer) -> Option<Self> {
        let is_plain = context.printer.json || is_quiet() || chat::wants_plain();
        if is_plain || !std::io::stdout().is_terminal() {
            return None;
        }
        Some(Self {
            context,
            room: ChatView::new(state, context.client.name()),
            states: doing(state),
            screen: Screen::default(),
            look_at: Instant::now() + LOOK_EVERY,
        })
    }

    /// True if the states have to be read again.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.look_at
    }

    /// Stores the new states of the participants. They have to be read again after [`LOOK_EVERY`].
    pub(super) fn update(&mut self, state: &ThreadStateAnswer) {
        self.room.update(state);
        self.states = doing(state);
        self.look_at = Instant::now() + LOOK_EVERY;
    }

    /// Adds a piece of a running answer.
    pub(super) fn add(&mut self, delta: DeltaSignal) {
        self.room.delta(delta);
    }

    /// Applies an event. If the event belongs to a turn, the state of that turn is not shown any
    /// more.
    pub(super) fn hear(&mut self, envelope: &Envelope) {
        self.room.hear(envelope);
        let turn = envelope.meta.turn.as_deref();
        self.states.retain(|one| turn.is_none() || one.turn.as_deref() != turn);
    }

    /// Draws the rows. `is_own` is true for the turns that are about the awaited message.
    pub(super) fn draw(&mut self, is_own: impl Fn(&str) -> bool) {
        let (columns, lines) = screen::size();
        let brush =
            RenderContext { printer: &self.context.printer, faces: &self.room.faces, columns };
        let writing: Vec<_> = self.room.writing().collect();
        let each = (lines / 2).checked_div(writing.len()).unwrap_or_default();
        let mut rows: Vec<String> =
            writing.iter().flat_map(|(from, text)| brush.unfinished(from, text, each)).collect();
        for one in &self.states {
            let own = one.turn.as_deref().is_some_and(&is_own);
            rows.extend(brush.note(&says(one, own, Timestamp::now()), Style::Dim));
        }
        // Rows that do not fit would scroll up again at every change.
        rows.drain(..rows.len().saturating_sub(lines.saturating_sub(2)));
        // The cursor stands below, so that Ctrl-C leaves the prompt of the shell there.
        let row = rows.len();
        rows.push(String::new());
        screen::write(&self.screen.draw(&[], Live { rows, row, column: 0 }, columns));
    }

    /// Removes the rows. Has to be called before anything else is printed.
    pub(super) fn clear(&mut self) {
        screen::write(&self.screen.leave(screen::size().0));
    }
}

impl Drop for LiveAnswers<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Returns the states of the participants that are at work.
fn doing(state: &ThreadStateAnswer) -> Vec<OccupationEntry> {
    let all = state.state.participants.invited.iter().filter_map(|entry| entry.doing.clone());
    all.filter(list::is_at_work).collect()
}

/// Describes the state of a participant: its work, the tool that it uses, the time since it began,
/// and a mark if its turn is not about the awaited message.
fn says(one: &OccupationEntry, own: bool, now: Timestamp) -> String {
    let verb = match one.word.as_str() {
        "thinking" | "writing" | "working" if !one.elsewhere => "is ",
        "queued" => "is ",
        _ => "",
    };
    let mut text = format!("{} {verb}{}", one.name, one.says);
    if let Some(used) = one.line.as_ref().or(one.tool.as_ref()) {
        text.push_str(&format!(": {used}"));
    }
    let since = one.since.as_deref().and_then(|since| since.parse::<Timestamp>().ok());
    if let Some(seconds) =
        since.and_then(|since| u64::try_from(now.as_second() - since.as_second()).ok())
    {
        text.push_str(&format!(", {}", Millis::from_secs(seconds).for_people()));
    }
    if !own && one.turn.is_some() {
        text.push_str(" (another message)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_row_says_what_for_how_long_and_about_what() {
        let said = |more: Value, own| {
            let mut entry = json!({"thread": "t", "participant": "a", "name": "Ada", "word": "thinking",
                "says": "thinking", "since": "2026-11-28T10:00:00.250Z", "turn": "t.1"});
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let now = "2026-11-28T10:00:12Z".parse().unwrap();
            says(&serde_json::from_value(entry).unwrap(), own, now)
        };
        assert_eq!(said(json!({}), true), "Ada is thinking, 12 s");
        assert_eq!(said(json!({}), false), "Ada is thinking, 12 s (another message)");
        let works =
            json!({"word": "working", "says": "working", "tool": "Bash", "line": "cargo test"});
        assert_eq!(said(works, true), "Ada is working: cargo test, 12 s");
        let waits = json!({"word": "waits", "says": "waits for Bob", "since": null});
        assert_eq!(said(waits, true), "Ada waits for Bob");
        let next = json!({"word": "queued", "says": "next", "since": null, "turn": null});
        assert_eq!(said(next, false), "Ada is next");
        let ahead = json!({"since": "2026-11-28T11:00:00Z"});
        assert_eq!(said(ahead, true), "Ada is thinking", "the clocks differ");
    }
}
