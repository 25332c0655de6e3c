//! The look of a line to a reader, for comparison with the server's own lines.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use crate::text::names::looks;
use crate::text::{is_blank, is_deceptive, is_selector};

/// Characters of a line that are compared: the server's own words lie within them.
const CHARS_MAX: usize = 256;

/// A line without blanks, width, case and the difference of look-alike letters. (Ruling 26.)
///
/// A line has two looks, as a name has: a capital `I` looks like a small `l`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoldedLine {
    looks: [String; 2],
    /// True if the line continues after the part that was read.
    is_cut: bool,
}

impl FoldedLine {
    pub(crate) fn of(line: &str) -> Self {
        let mut chars = line.chars();
        let seen: String = chars.by_ref().take(CHARS_MAX).nfkc().filter(|c| is_seen(*c)).collect();
        let is_cut = chars.next().is_some();
        let looks = if seen.is_ascii() { ascii_looks(&seen) } else { looks(&seen) };
        Self { looks, is_cut }
    }

    /// True if the line looks empty.
    pub(crate) fn is_blank(&self) -> bool {
        self.looks[0].is_empty() && !self.is_cut
    }

    /// True if a colon ends the line.
    pub(crate) fn ends_with_colon(&self) -> bool {
        !self.is_cut && self.looks.iter().any(|look| look.ends_with(':'))
    }

    /// Returns the rest after a beginning, in each look of the line that begins so.
    pub(crate) fn after(&self, start: &FoldedLine) -> impl Iterator<Item = &str> {
        let pairs = self.looks.iter().flat_map(|line| start.looks.iter().map(move |s| (line, s)));
        pairs.filter_map(|(line, start)| line.strip_prefix(start.as_str()))
    }

    /// True if the line begins with `opens` and has the others after it in this order, the last one
    /// at its end. Without others the line is `opens` alone.
    pub(crate) fn has_in_order(&self, opens: &FoldedLine, others: &[FoldedLine]) -> bool {
        (0..self.looks.len()).any(|look| {
            let of = |words: &FoldedLine| words.looks[look].clone();
            let rest = self.looks[look].strip_prefix(&of(opens));
            rest.is_some_and(|rest| self.goes_on(rest, &others.iter().map(of).collect::<Vec<_>>()))
        })
    }

    /// True if `rest` has the other words in their order, the last of them at its end. A line that
    /// was cut counts as having all words after the cut.
    fn goes_on(&self, mut rest: &str, others: &[String]) -> bool {
        let Some((closes, inner)) = others.split_last() else {
            return rest.is_empty() && !self.is_cut;
        };
        for words in inner {
            let Some(at) = rest.find(words) else { return self.is_cut };
            rest = &rest[at + words.len()..];
        }
        self.is_cut || rest.ends_with(closes)
    }
}

fn is_seen(c: char) -> bool {
    !(is_blank(c) || is_deceptive(c) || is_selector(c) || c.is_control())
}

/// Returns the two looks of ASCII text, joined from the looks of its characters.
fn ascii_looks(text: &str) -> [String; 2] {
    static LOOKS: LazyLock<Vec<[String; 2]>> =
        LazyLock::new(|| (0..=127u8).map(|byte| looks(&char::from(byte).to_string())).collect());
    [0, 1].map(|look| text.bytes().map(|byte| LOOKS[usize::from(byte)][look].as_str()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_folded_as_everything_is() {
        for text in ["Alice (1):", "AIice", "m0othall|1", "[Beat 1/3] \"x\"", "#@!~`%^&*"] {
            let seen: String = text.chars().filter(|c| is_seen(*c)).collect();
            assert_eq!(FoldedLine::of(text).looks, looks(&seen), "{text}");
        }
    }
}
