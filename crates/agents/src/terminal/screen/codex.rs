//! The screen of Codex.
//!
//! The composer stands above the footer, `›` before it; prompts that were sent look the same further up. `esc to interrupt` stands
//! right above it during a turn. A question takes the place of composer and footer.

use moothall_engine::sessions::{Dialog, PaneState};

use super::cells::Row;
use super::{Seen, above_footer, composed, options, without_empty_end};

const MARK: char = '›';
const WORKING: &str = "esc to interrupt)";
/// In the footer while a prompt that was sent too early still stands in the composer, and will be taken by itself.
const WAITING: &str = "Waiting for startup";
/// The mark of working stands this close above the composer, with what waits in between.
const WORKING_ROWS_MAX: usize = 12;
/// Where a question shows only the beginning of what it is about: `[… 78 lines] ctrl+a view all`.
const CUT: &str = "[… ";
const CUT_LINES: &str = " lines]";
/// Below the options of a question.
const CONFIRM: &str = "Press enter to ";

pub(super) fn read(rows: &[Row]) -> Seen {
    let rows = without_empty_end(rows);
    if let Some(dialog) = dialog(rows) {
        return Seen::asking(dialog);
    }
    let Some((mark, end)) = composer(rows) else { return Seen::only(PaneState::Starting) };
    let above = &rows[mark.saturating_sub(WORKING_ROWS_MAX)..mark];
    let busy = above.iter().map(Row::text).any(|text| text.contains(WORKING) && !text.starts_with(' '));
    let waiting = rows[end..].iter().any(|row| row.text().contains(WAITING));
    Seen::composing(busy || waiting, composed(&rows[mark..end], 2))
}

/// Where the composer begins, and where the empty rows above the footer do.
fn composer(rows: &[Row]) -> Option<(usize, usize)> {
    let end = above_footer(rows)?;
    let mark = rows[..end].iter().rposition(|row| row.text().starts_with(MARK))?;
    let whole = rows[mark + 1..end].iter().map(Row::text).all(|text| text.is_empty() || text.starts_with("  "));
    whole.then_some((mark, end))
}

/// The last thing on the screen: a sentence, what it is about, the options, and how to choose.
fn dialog(rows: &[Row]) -> Option<Dialog> {
    if !rows.last()?.text().trim().starts_with(CONFIRM) {
        return None;
    }
    // Where there is little room, how to choose stands right below the last option.
    let (first, options) = options(&rows[..rows.len() - 1], &[])?;
    // What is said in the conversation begins at the edge, and a question does not.
    let said = rows[..first].iter().rposition(|row| row.text().starts_with(|c| c != ' ')).map_or(0, |row| row + 1);
    let question = said + rows[said..first].iter().position(|row| row.text().trim_end().ends_with('?'))?;
    let about: Vec<String> = rows[question + 1..first].iter().map(|row| row.text().trim().to_owned()).collect();
    let about = about.join("\n").trim().to_owned();
    let question = rows[question].text().trim().to_owned();
    let partial = about.is_empty() || about.lines().any(|line| line.contains(CUT) && line.contains(CUT_LINES));
    Some(Dialog { action: if about.is_empty() { question } else { about }, partial, options })
}
