//! The rows of the overview: the requests that wait for the person, the participants at work, and
//! the conversations.

use jiff::Timestamp;
use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{HallStart, NeedEntry, OccupationEntry, ThreadEntry};

use crate::clock::{age, day_and_time};
use crate::commands::chat::{clip, wrap};
use crate::commands::list::{in_words, is_at_work};
use crate::commands::permit::{PendingPermission, request_of};
use crate::paint::{Printer, Style};

/// Maximum number of rows for the action of a request.
const ACTION_ROWS_MAX: usize = 12;
/// Maximum number of conversations, those with the newest events. `moothall list` shows all.
const THREADS_MAX: usize = 12;
/// The description of the keys, in the last row.
const KEYS: &str = "↑↓ choose · 1–9 answer · Enter open · q quit";

/// An entry that can be chosen.
#[derive(Clone, Debug)]
pub struct OverviewEntry {
    /// Id, which stays the same while the entry exists.
    pub id: String,
    /// Id of the conversation to open.
    pub thread: String,
    /// The request that a digit answers.
    pub asked: Option<PendingPermission>,
}

/// One drawing of the overview.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// The rows, painted.
    pub rows: Vec<String>,
    /// Row of the chosen entry.
    pub row: usize,
    /// True if the chosen request is complete and drawn to its end, so that a digit may allow it.
    /// Also true if the chosen entry is not a request.
    pub is_whole: bool,
}

/// The content of the overview.
#[derive(Debug)]
pub struct Overview {
    /// Address of the server.
    pub server: String,
    /// The server's answer.
    pub start: HallStart,
}

impl Overview {
    /// Returns everything that can be chosen, in the order of the rows.
    pub fn choices(&self) -> Vec<OverviewEntry> {
        let needs = self.start.needs.iter().map(|need| OverviewEntry {
            id: need.id.clone(),
            thread: need.thread.clone(),
            asked: request_of(need),
        });
        let threads = self.threads().map(|thread| OverviewEntry {
            id: thread.id.clone(),
            thread: thread.id.clone(),
            asked: None,
        });
        needs.chain(threads).collect()
    }

    /// Returns the open conversations, the newest first, at most [`THREADS_MAX`].
    fn threads(&self) -> impl Iterator<Item = &ThreadEntry> {
        let mut all: Vec<_> = self.start.threads.iter().filter(|one| !one.archived).collect();
        all.sort_by(|one, other| other.updated_at.cmp(&one.updated_at));
        all.into_iter().take(THREADS_MAX)
    }

    /// Draws all rows, at most `columns` wide. `chosen` is the id of the chosen entry.
    pub fn draw(&self, printer: &Printer, chosen: &str, columns: usize) -> Drawing {
        let mut drawing = Drawing { is_whole: true, ..Drawing::default() };
        let title = format!("Moothall   {}", self.server);
        drawing.rows.push(printer.paint(Style::Dim, &clip(&title, columns)));
        let mut pen = Pen { drawing, printer, chosen, columns };
        pen.heading("Needs you", self.start.needs.len());
        self.start.needs.iter().for_each(|need| pen.need(need));
        let working: Vec<_> = self.start.states.iter().filter(|state| is_at_work(state)).collect();
        pen.heading("At work", working.len());
        working.iter().for_each(|state| pen.state(state, self.title(&state.thread)));
        pen.heading("Conversations", self.threads().count());
        self.threads().for_each(|thread| pen.thread(thread));
        if self.start.threads.is_empty() {
            pen.row(Style::Dim, "  None yet. To start one: moothall new \"A name\"");
        }
        pen.drawing
    }

    fn title(&self, thread: &str) -> &str {
        let found = self.start.threads.iter().find(|one| one.id == thread);
        found.map_or("", |found| found.name.as_str())
    }
}

/// Returns the last row: the message in `whisper`, or the description of the keys.
pub fn keys(printer: &Printer, whisper: Option<&str>, columns: usize) -> String {
    let (style, text) = whisper.map_or((Style::Dim, KEYS), |whisper| (Style::Warn, whisper));
    printer.paint(style, &clip(text, columns))
}

struct Pen<'a> {
    drawing: Drawing,
    printer: &'a Printer,
    chosen: &'a str,
    columns: usize,
}

impl Pen<'_> {
    fn row(&mut self, style: Style, text: &str) {
        let text = clip(&for_terminal(text), self.columns);
        self.drawing.rows.push(self.printer.paint(style, &text));
    }

    /// Draws the title of a part of the overview, unless the part is empty.
    fn heading(&mut self, title: &str, count: usize) {
        if count > 0 {
            self.drawing.rows.push(String::new());
            self.row(Style::Bold, &format!("{title}  {count}"));
        }
    }

    /// Draws the row of an entry that can be chosen. Returns true if the entry is the chosen one.
    fn choice(&mut self, id: &str, style: Style, text: &str) -> bool {
        let is_chosen = self.chosen == id;
        if is_chosen {
            self.drawing.row = self.drawing.rows.len();
        }
        let mark = if is_chosen { "▸ " } else { "  " };
        self.row(if is_chosen { Style::Bold } else { style }, &format!("{mark}{text}"));
        is_chosen
    }

    /// Draws an entry that waits for the person. If it is a request and is chosen, draws the
    /// request below it.
    fn need(&mut self, need: &NeedEntry) {
        let name = need.name.as_deref().or(need.participant.as_deref()).unwrap_or("It");
        let says = match need.kind.as_str() {
            "permission" => "asks for permission".to_owned(),
            "question" => "asks you".to_owned(),
            "mention" => "wrote to you".to_owned(),
            "failure" => "failed".to_owned(),
            "guard" => "waits: a guard holds the floor".to_owned(),
            "piece" => "is yours to speak: you have the piece".to_owned(),
            "harvest" => "waits for your harvest".to_owned(),
            "missed" => "asked while you were away".to_owned(),
            other => other.to_owned(),
        };
        let since = need.since.as_deref().and_then(|since| age(since, Timestamp::now()));
        let since = since.map_or_else(String::new, |age| format!("  {age}"));
        let text = format!("{name} {says}, in {}{since}", need.title);
        let is_chosen = self.choice(&need.id, Style::Warn, &text);
        if let Some(asked) = request_of(need).filter(|_| is_chosen) {
            self.request(&asked);
        }
    }

    /// Draws the action of a request, cut to [`ACTION_ROWS_MAX`] rows, then its remarks and all its
    /// answers.
    fn request(&mut self, asked: &PendingPermission) {
        let rows = wrap(&for_terminal(&asked.shown()), self.columns.saturating_sub(4));
        self.drawing.is_whole = asked.complete && rows.len() <= ACTION_ROWS_MAX;
        for row in rows.iter().take(ACTION_ROWS_MAX) {
            self.row(Style::Plain, &format!("    {row}"));
        }
        if rows.len() > ACTION_ROWS_MAX {
            let more = rows.len() - ACTION_ROWS_MAX;
            self.row(Style::Warn, &format!("    {more} more rows: Enter opens it"));
        }
        // An answer may allow more than its first words say, so answers are not cut.
        for line in asked.remarks().into_iter().chain(asked.answers()) {
            for row in wrap(&for_terminal(&line), self.columns.saturating_sub(6)) {
                self.row(Style::Dim, &format!("    {row}"));
            }
        }
    }

    fn state(&mut self, state: &OccupationEntry, title: &str) {
        let since = state.since.as_deref().and_then(|since| age(since, Timestamp::now()));
        let since = since.map_or_else(String::new, |age| format!("  {age}"));
        self.row(Style::Plain, &format!("  {}, in {title}{since}", in_words(state)));
    }

    fn thread(&mut self, thread: &ThreadEntry) {
        let last = day_and_time(&thread.updated_at).unwrap_or_default();
        let unread = thread.unread.filter(|unread| *unread > 0);
        let unread = unread.map_or_else(String::new, |unread| format!("  {unread} new"));
        self.choice(&thread.id, Style::Plain, &format!("{}{unread}  {last}", thread.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ColorChoice;
    use serde_json::json;

    #[test]
    fn no_answer_to_a_request_is_cut() {
        let scope = "Always allow Bash(cargo test:*), in this project, and rm -rf with it";
        let content = json!({"event": "requested", "permission": "p", "turn": null,
            "participant": "ada", "action": "ls", "complete": true, "expires": null,
            "options": [{"id": "always", "label": scope, "kind": "allow_always"}]});
        let event = json!({"id": "e", "seq": 7, "thread": "t", "type": "permission", "from": "moothall",
            "to": "all", "ts": "2026-11-28T10:00:00Z", "content": content, "meta": {}});
        let need = json!({"id": "n", "kind": "permission", "thread": "t", "title": "Plan", "event": event});
        let start = json!({"session": {"mode": "local", "principal": null, "scopes": []}, "threads": [],
            "next": null, "states": [], "needs": [need]});
        let start = serde_json::from_value(start).unwrap();
        let overview = Overview { server: "http://127.0.0.1:1".into(), start };
        let drawing = overview.draw(&Printer::new(ColorChoice::Never, false), "n", 30);
        let text = drawing.rows.iter().map(|row| row.trim()).collect::<Vec<_>>().join(" ");
        assert!(text.contains(scope) && drawing.is_whole, "{text}");
        assert!(drawing.rows.iter().all(|row| row.chars().count() <= 30), "{text}");
    }
}
