//! The screen of Claude Code.
//!
//! The composer stands between two lines, `❯` before it. During a turn the footer below says `esc to interrupt`, unless something
//! was typed, and a turning mark with a word and `…` stands above. A question takes the place of the composer.

use moothall_engine::sessions::{Dialog, PaneState};

use super::cells::Row;
use super::{Seen, composed, options};

const RULE: char = '─';
const MARK: char = '❯';
const WORKING: &str = "esc to interrupt";
const TURNING: [char; 7] = ['·', '✢', '✳', '✶', '✻', '✽', '*'];
/// The turning mark stands this close above the composer, with hints and what waits in between.
const WORKING_ROWS_MAX: usize = 12;

pub(super) fn read(rows: &[Row]) -> Seen {
    if let Some(dialog) = dialog(rows) {
        return Seen::asking(dialog);
    }
    let Some((upper, lower, text)) = composer(rows) else { return Seen::only(PaneState::Starting) };
    let above = rows[upper.saturating_sub(WORKING_ROWS_MAX)..upper].iter().any(|row| is_turning(&row.text()));
    let below = rows[lower..].iter().any(|row| row.text().contains(WORKING));
    Seen::composing(above || below, text)
}

/// Such as `✻ Pondering…`; a turn that is over says `✻ Pondered for 2s`.
fn is_turning(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|mark| TURNING.contains(&mark)) && chars.next() == Some(' ') && chars.as_str().contains('…')
}

/// The last two lines, and what stands between them.
fn composer(rows: &[Row]) -> Option<(usize, usize, String)> {
    let lower = rows.iter().rposition(|row| row.is_rule(RULE))?;
    let upper = rows[..lower].iter().rposition(|row| row.is_rule(RULE))?;
    let inside = &rows[upper + 1..lower];
    if !inside.first()?.text().starts_with(MARK) {
        return None;
    }
    Some((upper, lower, composed(inside, 2)))
}

/// A question below the last line: a title, what it is about, a sentence, and the options.
fn dialog(rows: &[Row]) -> Option<Dialog> {
    let rule = rows.iter().rposition(|row| row.is_rule(RULE))?;
    let below = &rows[rule + 1..];
    let (first, options) = options(below, &[])?;
    let about: Vec<String> = below[..first].iter().map(|row| row.text().trim().to_owned()).filter(|line| !line.is_empty()).collect();
    let about = match about.as_slice() {
        [about @ .., question] if question.ends_with('?') && !about.is_empty() => about.join("\n"),
        all => all.join("\n"),
    };
    Some(Dialog { action: about, partial: false, options })
}
