//! The screen of Gemini CLI.
//!
//! The composer stands below the last line, ` >` before it, and above the footer. `esc to cancel` stands above the line during a
//! turn. A question is a box at the very end. Where there are many colours, bars of half blocks stand in place of the empty rows
//! around the composer.

use moothall_engine::sessions::{Dialog, PaneState};

use super::cells::Row;
use super::{Seen, above_footer, composed, options};

const RULE: char = '─';
const MARK: &str = " >";
const WORKING: &str = "(esc to cancel";
/// The mark of working stands this close above the line.
const WORKING_ROWS_MAX: usize = 12;
/// Stands in the composer while nothing else does. It is grey, not faint.
const HINT: &str = "Type your message or @path/to/file";
/// What boxes are drawn with.
const FRAME: [char; 6] = ['│', '─', '╭', '╮', '╰', '╯'];

const BARS: [char; 2] = ['▄', '▀'];

pub(super) fn read(rows: &[Row]) -> Seen {
    let is_bar = |row: &Row| BARS.into_iter().any(|bar| row.is_rule(bar));
    let rows: Vec<Row> = rows.iter().map(|row| if is_bar(row) { Row::default() } else { row.clone() }).collect();
    let rows = rows.as_slice();
    if let Some(dialog) = dialog(rows) {
        return Seen::asking(dialog);
    }
    let Some((rule, mark, end)) = composer(rows) else { return Seen::only(PaneState::Starting) };
    let above = &rows[rule.saturating_sub(WORKING_ROWS_MAX)..rule];
    let text = composed(&rows[mark..end], 3);
    Seen::composing(above.iter().any(|row| row.text().contains(WORKING)), if text == HINT { String::new() } else { text })
}

/// The line above the composer, the composer's first row, and where the empty rows below it begin.
fn composer(rows: &[Row]) -> Option<(usize, usize, usize)> {
    let end = above_footer(rows)?;
    let rule = rows[..end].iter().rposition(|row| row.is_rule(RULE))?;
    let mark = rule + rows[rule..end].iter().position(|row| row.text().starts_with(MARK))?;
    Some((rule, mark, end))
}

fn dialog(rows: &[Row]) -> Option<Dialog> {
    let last = rows.iter().rposition(|row| !row.text().is_empty())?;
    if !rows[last].text().starts_with('╰') {
        return None;
    }
    let (first, options) = options(&rows[..last], &FRAME)?;
    let top = rows[..first].iter().rposition(|row| row.text().starts_with('╭'))?;
    let about: Vec<String> = rows[top + 1..first]
        .iter()
        .map(|row| row.text().trim_matches(|c| c == ' ' || FRAME.contains(&c)).to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    Some(Dialog { action: about.join("\n").trim_start_matches("? ").to_owned(), partial: false, options })
}
