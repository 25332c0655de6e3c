//! Marks in words: every message of a run can be told from every other.

use moothall_kernel::ids::{ParticipantId, TurnNo};

/// The origin of some words.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) author: ParticipantId,
    /// The turn and attempt that a runtime answered with these words.
    pub(crate) turn: Option<(TurnNo, u32)>,
}

/// All words of a run.
#[derive(Default)]
pub(crate) struct Marks(Vec<Origin>);

/// Digits that are not letters: the repeat detector must not see them.
const DIGITS: [char; 4] = ['+', '=', '^', '|'];

impl Marks {
    /// Makes a mark for new words.
    pub(crate) fn make(&mut self, author: ParticipantId, turn: Option<(TurnNo, u32)>) -> String {
        self.0.push(Origin { author, turn });
        write(self.0.len() - 1)
    }

    pub(crate) fn get(&self, mark: usize) -> Option<&Origin> {
        self.0.get(mark)
    }
}

/// Writes a mark as text.
pub(crate) fn write(mark: usize) -> String {
    let mut digits = Vec::new();
    let mut rest = mark;
    loop {
        digits.push(DIGITS[rest % 4]);
        rest /= 4;
        if rest == 0 {
            break;
        }
    }
    format!("~{}~", digits.into_iter().rev().collect::<String>())
}

/// Returns the marks in a text, in order.
pub(crate) fn all(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.split('~').filter_map(read)
}

/// Returns the first mark in a text.
pub(crate) fn first(text: &str) -> Option<usize> {
    all(text).next()
}

fn read(digits: &str) -> Option<usize> {
    let known =
        !digits.is_empty() && digits.len() < 16 && digits.chars().all(|c| DIGITS.contains(&c));
    let value = |c: char| DIGITS.iter().position(|digit| *digit == c).unwrap_or(0);
    known.then(|| digits.chars().fold(0, |mark, c| mark * 4 + value(c)))
}
