//! The part of a text that shows why it was found.

use std::ops::Range;

/// Length of the text before the first match, in characters.
const LEAD_CHARS: usize = 60;
/// Length of a snippet, in characters.
const SNIPPET_CHARS: usize = 240;

/// A part of a snippet: a match, or text around one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The words, on one line.
    pub text: String,
    /// True if the words are a match.
    pub matched: bool,
}

/// Returns the surroundings of the first match. Joined, the pieces are the text on one line, with
/// `…` at each cut.
pub fn snippet(text: &str, marks: &[Range<usize>]) -> Vec<Piece> {
    let first = marks.first().map_or(0, |mark| mark.start);
    let start = chars_back(text, first, LEAD_CHARS);
    let end = chars_on(text, start, SNIPPET_CHARS);
    let mut pieces = Pieces::default();
    pieces.add(if start > 0 { "…" } else { "" }, false);
    let mut at = start;
    for mark in marks.iter().filter(|mark| mark.start < end) {
        let until = mark.end.min(end);
        pieces.add(&text[at..mark.start], false);
        pieces.add(&text[mark.start..until], true);
        at = until;
    }
    pieces.add(&text[at..end], false);
    pieces.add(if end < text.len() { "…" } else { "" }, false);
    pieces.0
}

fn chars_back(text: &str, at: usize, count: usize) -> usize {
    text[..at].char_indices().rev().take(count).last().map_or(at, |(start, _)| start)
}

fn chars_on(text: &str, at: usize, count: usize) -> usize {
    text[at..].char_indices().nth(count).map_or(text.len(), |(length, _)| at + length)
}

#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    /// Adds words on one line, to the last piece if that is of the same kind.
    fn add(&mut self, text: &str, matched: bool) {
        if text.is_empty() {
            return;
        }
        let text = on_one_line(text);
        match self.0.last_mut() {
            Some(last) if last.matched == matched => last.text.push_str(&text),
            _ => self.0.push(Piece { text, matched }),
        }
    }
}

/// Returns a text with one space in place of each run of white space.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_whitespace() && line.ends_with(' ') => {}
            c if c.is_whitespace() => line.push(' '),
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::read::search::Query;

    fn shown(query: &str, text: &str) -> String {
        let marks = Query::parse(query).unwrap().find(text).unwrap();
        let show =
            |piece: Piece| if piece.matched { format!("[{}]", piece.text) } else { piece.text };
        snippet(text, &marks).into_iter().map(show).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(shown("two", "one\n\n  two, three"), "one [two], three");
        assert_eq!(shown("from:x", "one\ttwo"), "one two");
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_match() {
        let text = format!("{} needle {}", "é ".repeat(500), "hay needle ".repeat(200));
        let shown = shown("needle", &text);
        assert!(
            shown.starts_with("… é é")
                && shown.ends_with('…')
                && shown.contains("é [needle] hay [needle]"),
            "{shown}"
        );
        assert!(shown.replace(['[', ']'], "").chars().count() <= SNIPPET_CHARS + 2);
    }

    #[test]
    fn a_match_longer_than_the_snippet_is_cut() {
        let text = "x ".repeat(1000);
        let marks = 0..text.len();
        let pieces = snippet(&text, std::slice::from_ref(&marks));
        assert_eq!(pieces.iter().map(|piece| piece.matched).collect::<Vec<_>>(), [true, false]);
    }
}
