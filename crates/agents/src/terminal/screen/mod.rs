//! Reads the screen of a program. This module is pure: a captured screen in, a view out.
//!
//! Screens are drawn for people and change from version to version, so a reader looks for little:
//! the composer, the sign of work, the shape of a dialog. An unrecognised screen is
//! [`PaneState::Starting`], into which nothing is typed.

pub(crate) mod cells;
pub(crate) mod picture;

use moothall_engine::sessions::{Dialog, PaneState, Picture, View};
use moothall_kernel::permission::{OptionKind, PermissionOption};

use super::Vendor;
use cells::Row;

/// Programs that execute typed text as commands.
const SHELLS: [&str; 14] = [
    "sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "csh", "tcsh", "ash", "busybox", "nu",
    "pwsh", "elvish",
];

/// A captured pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The lines from the top, with their attributes.
    pub lines: Vec<String>,
    /// The program in the foreground.
    pub command: String,
}

/// The result of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScreenReading {
    pub(crate) state: PaneState,
    pub(crate) composer: Option<String>,
    pub(crate) dialog: Option<Dialog>,
}

impl ScreenReading {
    pub(crate) fn only(state: PaneState) -> Self {
        Self { state, composer: None, dialog: None }
    }

    pub(crate) fn asking(dialog: Dialog) -> Self {
        Self { state: PaneState::Asking, composer: None, dialog: Some(dialog) }
    }

    pub(crate) fn composing(busy: bool, composer: String) -> Self {
        Self {
            state: if busy { PaneState::Busy } else { PaneState::Idle },
            composer: Some(composer),
            dialog: None,
        }
    }
}

impl Screen {
    /// Reads the screen as that of this vendor's program.
    pub fn read(&self, vendor: Vendor) -> View {
        let rows = cells::rows(self.lines.iter().map(String::as_str));
        let seen = if is_shell(&self.command) {
            ScreenReading::only(PaneState::Shell)
        } else {
            (vendor.table().screen.read)(&rows)
        };
        let lines = picture::lines(self.lines.iter().map(String::as_str));
        View {
            state: seen.state,
            composer: seen.composer,
            dialog: seen.dialog,
            text: text(&rows),
            picture: Picture { lines, ..Picture::default() },
        }
    }
}

/// True for the name of a shell. A login shell has a hyphen before its name.
fn is_shell(command: &str) -> bool {
    SHELLS.contains(&command.strip_prefix('-').unwrap_or(command))
}

fn text(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(Row::text).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Returns the typed text of rows, without hints. `mark` is the number of characters before it: the
/// mark in the first row, and the indentation of the others.
pub(crate) fn composed<'a>(rows: impl IntoIterator<Item = &'a Row>, mark: usize) -> String {
    let lines: Vec<String> =
        rows.into_iter().map(|row| row.typed(mark).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

pub(crate) fn without_empty_end(rows: &[Row]) -> &[Row] {
    let end = rows.iter().rposition(|row| !row.text().is_empty()).map_or(0, |last| last + 1);
    &rows[..end]
}

/// Returns the row at which the gap above the footer begins. The footer is at the very end of the
/// screen. `None` without a gap.
pub(crate) fn above_footer(rows: &[Row]) -> Option<usize> {
    let gap = without_empty_end(rows).iter().rposition(|row| row.text().is_empty())?;
    Some(without_empty_end(&rows[..gap]).len())
}

/// Returns the row at which the options of a dialog begin, and these options: rows such as `❯ 1.
/// Yes`, numbered from 1 without a gap. The last such rows of the screen count. `None` if there are
/// fewer than two.
pub(crate) fn options(rows: &[Row], frame: &[char]) -> Option<(usize, Vec<PermissionOption>)> {
    let inner = |row: &Row| row.text().trim_matches(|c| c == ' ' || frame.contains(&c)).to_owned();
    let numbered = |row: &Row, number: usize| {
        let text = inner(row);
        let text = text.trim_start_matches(['❯', '›', '●', '>', ' ']);
        text.strip_prefix(&format!("{number}. ")).map(|option| option.trim().to_owned())
    };
    let first = rows.iter().rposition(|row| numbered(row, 1).is_some())?;
    let mut options: Vec<String> = Vec::new();
    for row in &rows[first..] {
        match numbered(row, options.len() + 1) {
            Some(option) => options.push(option),
            // A long option continues in the next row; an empty row ends the options.
            None if inner(row).is_empty() => break,
            None => {
                if let Some(last) = options.last_mut() {
                    *last = format!("{last} {}", inner(row));
                }
            }
        }
    }
    let option = |(at, label): (usize, String)| {
        PermissionOption::new((at + 1).to_string(), label.as_str(), kind_of(&label))
    };
    (options.len() > 1).then(|| (first, options.into_iter().enumerate().map(option).collect()))
}

/// Returns the kind of an option, by the words of these programs. Only exact, known words count as
/// allowing once. Any other "yes" counts as allowing always if it says so, and otherwise as a kind
/// that is not known.
pub(crate) fn kind_of(label: &str) -> OptionKind {
    const ONCE: [&str; 6] =
        ["yes", "yes, proceed", "yes, just this once", "allow", "allow once", "yes, allow once"];
    const ALWAYS: [&str; 6] = [
        "don't ask again",
        "don\u{2019}t ask again",
        "always",
        "session",
        "all future",
        "never ask",
    ];
    let label = label.to_lowercase();
    // The key for the option follows in brackets.
    let words = label
        .rsplit_once(" (")
        .filter(|(_, key)| key.ends_with(')'))
        .map_or(label.as_str(), |(words, _)| words);
    let yes = ["yes", "allow", "always"].iter().any(|word| words.starts_with(word));
    let no = ["no", "reject", "deny", "don't", "cancel"]
        .iter()
        .any(|word| words == *word || words.starts_with(&format!("{word},")));
    let more = ALWAYS.iter().any(|word| words.contains(word));
    match (no, yes) {
        (true, _) if more => OptionKind::RejectAlways,
        (true, _) => OptionKind::RejectOnce,
        (false, true) if ONCE.contains(&words) => OptionKind::AllowOnce,
        (false, true) if more => OptionKind::AllowAlways,
        (false, true | false) => OptionKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_allow_once() {
        for (label, kind) in [
            ("Yes", "allow_once"),
            ("Yes, proceed (y)", "allow_once"),
            ("Allow once", "allow_once"),
            ("Allow for this session", "allow_always"),
            ("Yes, and always allow access to project/ from this project", "allow_always"),
            ("Yes, and don't ask again for commands that start with `touch` (p)", "allow_always"),
            ("Yes, and auto-accept edits", "other"),
            ("No", "reject_once"),
            ("No, and tell Codex what to do differently (esc)", "reject_once"),
            ("No, suggest changes (esc)", "reject_once"),
            ("No, always refuse this", "reject_always"),
            ("Nothing of the kind", "other"),
            ("Modify with external editor", "other"),
            ("SQLite", "other"),
        ] {
            assert_eq!(kind_of(label).to_string(), kind, "{label}");
        }
    }
}
