//! A question of Claude Code to its user: its tabs, its options, and the field for other words.
//!
//! The agent's options stand above the field, the program's below another line. If several can be
//! chosen, a box stands before each option and its digit checks it. The right arrow then leads to
//! the next question, or to the answers shown again.

use moothall_engine::sessions::{Dialog, Field};
use moothall_kernel::permission::PermissionOption;

use super::{MARK, RULE, asked_in};
use crate::terminal::screen::cells::Row;
use crate::terminal::screen::composed;

/// Boxes before the tabs: of an open question, and of an answered one.
const OPEN: char = '☐';
const ANSWERED: char = '☒';
/// The text of an empty field; without the dot if several options can be chosen.
const FIELD: &str = "Type something.";
/// The boxes before options of which several can be chosen.
const UNCHECKED: &str = "[ ] ";
const CHECKED: &str = "[✔] ";
/// The button below the field.
const BUTTONS: [&str; 2] = ["Submit", "Next"];

/// Returns the number of questions that a row of tabs names; `None` if the row has no tabs.
pub(super) fn parts(tabs: &str) -> Option<usize> {
    let is_box = |c: &char| [OPEN, ANSWERED].contains(c);
    let first = tabs.trim_start_matches(['←', ' ']).chars().next()?;
    is_box(&first).then(|| tabs.chars().filter(is_box).count())
}

/// Reads the question whose own options end above the line at `lower`.
pub(super) fn question(rows: &[Row], lower: usize) -> Option<Dialog> {
    let upper = rows[..lower].iter().rposition(|row| row.is_rule(RULE))?;
    let above = &rows[upper + 1..lower];
    let tabs = above.iter().map(Row::text).find(|line| !line.trim().is_empty())?;
    parts(&tabs)?;
    let (at, field) = field_in(above)?;
    let whole: Vec<Row> = above[..=at].iter().chain(&rows[lower + 1..]).cloned().collect();
    let (about, options) = asked_in(&whole)?;
    let dialog = Dialog {
        action: about.join("\n"),
        partial: false,
        options,
        field: Some(field),
        pointer: None,
        whole: true,
        checked: None,
        confirms: false,
    };
    // The labels are the agent's, and may look like a box; the field is the program's.
    if dialog.field.as_ref().is_some_and(|field| in_box(&field.words).is_some()) {
        return with_boxes(dialog);
    }
    let mut dialog = dialog;
    let taker = dialog.options.get_mut(dialog.field.as_ref()?.option)?;
    *taker = PermissionOption { label: FIELD.to_owned(), ..taker.clone() }.taking_text();
    Some(dialog)
}

/// Adapts a dialog to several choices. Words in the field are added to the chosen options, so the
/// field is not an option of its own. `None` if the boxes are not where the program draws them.
fn with_boxes(dialog: Dialog) -> Option<Dialog> {
    let Dialog { action, options: own, field, .. } = dialog.clone();
    let mut field = field?;
    let boxed = own.iter().map(|option| in_box(&option.label)).collect::<Vec<_>>();
    let is_checked =
        |at: usize| boxed.get(at).copied().flatten().is_some_and(|(checked, _)| checked);
    let words = in_box(&field.words)?.1.trim();
    let words =
        BUTTONS.iter().find_map(|button| words.strip_suffix(button)).unwrap_or(words).trim();
    let is_empty = words == FIELD.trim_end_matches('.') && !is_checked(field.option);
    field.words = if is_empty { String::new() } else { words.to_owned() };
    let mut checked = Vec::new();
    let mut options = Vec::new();
    for (at, option) in own.iter().enumerate().filter(|(at, _)| *at != field.option) {
        // The numbers shown to people have no gap, so the field's digit is left out.
        let id = (options.len() + 1).to_string();
        match boxed[at] {
            Some((is_checked, label)) if at < field.option => {
                checked.extend(is_checked.then_some(options.len()));
                let label = label.to_owned();
                options.push(PermissionOption { id, label, ..option.clone() }.with_others());
            }
            None if at > field.option => options.push(PermissionOption { id, ..option.clone() }),
            Some(_) | None => return None,
        }
    }
    if options.len() < 2 {
        return None;
    }
    // Out of range on purpose: words do not answer an option here.
    field.option = options.len();
    // Checking an option marks the tab, which must not count as a change of the question.
    let (tabs, rest) = action.split_once('\n')?;
    let action = format!("{}\n{rest}", tabs.replace(ANSWERED, &OPEN.to_string()));
    Some(Dialog { action, options, field: Some(field), checked: Some(checked), ..dialog })
}

/// Returns true if the box before a label is checked, and the words after it. `None` without a box.
fn in_box(label: &str) -> Option<(bool, &str)> {
    let checked = label.strip_prefix(CHECKED).map(|words| (true, words));
    checked.or_else(|| label.strip_prefix(UNCHECKED).map(|words| (false, words)))
}

/// Returns the last numbered row and the words typed there, which continue in the indented rows
/// below.
fn field_in(above: &[Row]) -> Option<(usize, Field)> {
    const MARKED: [&str; 2] = ["❯ ", "  "];
    let number = |row: &Row| {
        let text = row.text();
        let (number, _) =
            MARKED.iter().find_map(|mark| text.strip_prefix(mark))?.split_once('.')?;
        number
            .parse::<usize>()
            .ok()
            .map(|number| (number, text.starts_with(MARK), number.to_string().len()))
    };
    let at = above.iter().rposition(|row| number(row).is_some())?;
    let (number, is_focused, digits) = number(&above[at])?;
    let typed = composed(&above[at..], digits + 4);
    let words = if typed == FIELD { String::new() } else { typed };
    Some((at, Field { option: number.checked_sub(1)?, is_focused, words }))
}
