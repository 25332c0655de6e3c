//! A question of Gemini CLI to its user (`ask_user`): tabs if it has several parts, the options,
//! and after them a field for other words. After several parts it shows the answers again.
//!
//! Two kinds are left to the person at the terminal: a question with several choices, of which only
//! three options are drawn at a time, and one for words alone.

use moothall_engine::sessions::{Dialog, Field};
use moothall_kernel::permission::{OptionKind, PermissionOption};

use super::inside;
use crate::terminal::screen::cells::Row;
use crate::terminal::screen::options;

/// The title of the box.
const TITLE: &str = "Answer Questions";
/// The text of an empty field.
const FIELD: &str = "Enter a custom value";
/// The sign before the option that Enter chooses.
const MARK: char = '●';
/// The boxes before tabs: of an open question, and of an answered one.
const OPEN: &str = "□";
const ANSWERED: &str = "✓";
/// The title of the answers shown again; Enter submits them.
const REVIEW: &str = "Review your answers:";
/// The signs around options of which only some are drawn.
const SCROLLS: [&str; 2] = ["▲", "▼"];

/// True if the rows of a box ask the user a question.
pub(super) fn is_question(rows: &[Row]) -> bool {
    rows.iter().map(inside).find(|line| !line.is_empty()).is_some_and(|line| line == TITLE)
}

/// Reads the question in the rows of a box. `None` for a question that scrolls or has words as its
/// only answer: the person at the terminal answers it.
pub(super) fn question(rows: &[Row]) -> Option<Dialog> {
    let lines: Vec<String> = rows.iter().map(inside).collect();
    if lines.iter().any(|line| SCROLLS.contains(&line.as_str())) {
        return None;
    }
    let shown = |lines: &[String]| {
        let about = lines.iter().filter(|line| !line.is_empty() && *line != TITLE);
        about.cloned().collect::<Vec<_>>()
    };
    let asks = |about: Vec<String>, options| Dialog {
        action: about.join("\n"),
        partial: false,
        options,
        field: None,
        pointer: None,
        whole: true,
        checked: None,
        confirms: false,
    };
    if lines.iter().any(|line| line == REVIEW) {
        let end = lines.iter().rposition(|line| !line.is_empty())?;
        let submit = PermissionOption::new("1", "Submit", OptionKind::Other);
        return Some(Dialog { pointer: Some(0), ..asks(shown(&lines[..end]), vec![submit]) });
    }
    let (first, mut options) = options(rows, &super::FRAME)?;
    let option = options.len() - 1;
    let number = format!("{}. ", option + 1);
    let row =
        lines.iter().rfind(|line| line.trim_start_matches([MARK, ' ']).starts_with(&number))?;
    let taker = options.last_mut()?;
    let words = if taker.label == FIELD { String::new() } else { taker.label.clone() };
    *taker = PermissionOption { label: FIELD.to_owned(), ..taker.clone() }.taking_text();
    let field = Field { option, is_focused: row.starts_with(MARK), words };
    let mut about = shown(&lines[..first]);
    // An answer that is typed or changed must not count as a change of the question.
    if let Some(tabs) = about.first_mut().filter(|first| first.starts_with('←')) {
        *tabs = tabs.replace(ANSWERED, OPEN);
    }
    Some(Dialog { field: Some(field), ..asks(about, options) })
}
