//! Splits a text into parts at the best border that each part has room for.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::styled::Styled;
use super::units;

/// Most bytes of UTF-8 for one UTF-16 code unit.
const UNIT_BYTES_MAX: usize = 3;
/// Signs that end a sentence.
const SENTENCE_ENDS: &str = ".!?…。！？";

/// The kinds of borders, the best one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    Grapheme,
    Space,
    Sentence,
    /// The end of a line before an indented one, which belongs to the lines above it.
    IndentedLine,
    Line,
    Block,
}

/// Returns the ranges of the parts of a text, without white space at their ends. Each has at most
/// `limit` UTF-16 code units. `body_start` is the end of a head that belongs to the first part.
pub(super) fn ranges(whole: &Styled, body_start: usize, limit: usize) -> Vec<Range<usize>> {
    // A head that a part has no room for is split like the rest.
    let body_start = if units(&whole.text[..body_start]) < limit { body_start } else { 0 };
    let splitter = Splitter { text: &whole.text, body_start, limit, kept: kept(whole, limit) };
    let (mut ranges, mut start) = (Vec::new(), 0);
    loop {
        start += leading_space(&splitter.text[start..]);
        if start == splitter.text.len() {
            return ranges;
        }
        let end = splitter.end(start);
        ranges.push(start..start + splitter.text[start..end].trim_end().len());
        start = end;
    }
}

/// Returns the ranges of outer spans that a part has room for.
fn kept(whole: &Styled, limit: usize) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> = Vec::new();
    for span in &whole.spans {
        let is_inner = kept.last().is_some_and(|outer| span.range.start < outer.end);
        if !is_inner && units(&whole.text[span.range.clone()]) <= limit {
            kept.push(span.range.clone());
        }
    }
    kept
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

struct Splitter<'a> {
    text: &'a str,
    body_start: usize,
    limit: usize,
    kept: Vec<Range<usize>>,
}

impl Splitter<'_> {
    /// Returns the end of the part that starts at a place without white space.
    fn end(&self, start: usize) -> usize {
        let window = self.window(start);
        let (mut used, mut last, mut best, mut best_kept) = (0, start, None, None);
        for (at, grapheme) in window.grapheme_indices(true) {
            let at = start + at;
            if at > start {
                last = at;
                let found = self.border(start, at).map(|border| (border, at));
                // The later of two equal borders wins, because the place is compared after the
                // kind.
                best = best.max(found);
                if !self.is_in_kept(at) {
                    best_kept = best_kept.max(found);
                }
            }
            used += units(grapheme);
            if used > self.limit {
                let fallback = if last > start { last } else { self.char_end(start) };
                return best_kept.or(best).map_or(fallback, |(_, at)| at);
            }
        }
        self.text.len()
    }

    /// Returns the text from a place on, with more units than a part has room for if the text is
    /// long enough. The rest need not be read.
    fn window(&self, start: usize) -> &str {
        let bytes = self.limit.saturating_add(2).saturating_mul(UNIT_BYTES_MAX);
        let end = self.text.floor_char_boundary(start.saturating_add(bytes));
        &self.text[start..end]
    }

    /// Returns the kind of the border at a place within a part. White space belongs to the border
    /// before it.
    fn border(&self, start: usize, at: usize) -> Option<Border> {
        if at <= self.body_start {
            return None;
        }
        let before = self.text[start..at].chars().next_back().filter(|c| !c.is_whitespace())?;
        let space = &self.text[at..at + leading_space(&self.text[at..])];
        let lines = space.matches('\n').count();
        let is_indented = !space.ends_with('\n');
        Some(match lines {
            0 if SENTENCE_ENDS.contains(before) && !(before.is_ascii() && space.is_empty()) => {
                Border::Sentence
            }
            0 if space.is_empty() => Border::Grapheme,
            0 => Border::Space,
            _ if is_indented => Border::IndentedLine,
            1 => Border::Line,
            _ => Border::Block,
        })
    }

    fn is_in_kept(&self, at: usize) -> bool {
        let next = self.kept.partition_point(|range| range.end <= at);
        self.kept.get(next).is_some_and(|range| range.start < at)
    }

    /// Returns the end of the characters that a part has room for, if a single grapheme is longer.
    fn char_end(&self, start: usize) -> usize {
        let mut used = 0;
        let mut chars = self.text[start..].char_indices();
        let over = chars.find(|(_, c)| {
            used += c.len_utf16();
            used > self.limit
        });
        over.map_or(self.text.len(), |(at, _)| start + at)
    }
}
