//! Column widths of text: East Asian characters and emoji take two columns, marks take none.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Maximum number of characters that are drawn in one place. More combining marks would cover other
/// lines.
const CLUSTER_CHARS_MAX: usize = 12;
/// Replacement for a tab.
const TAB: &str = "    ";
/// Punctuation that does not begin a row.
const CLOSING: &str = "、。，．）」』】！？：；";

/// Returns the columns of a text in one row.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Returns the text if it fits into the columns, otherwise as much of its beginning as fits, and
/// `…`.
pub fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for cluster in text.graphemes(true) {
        if width(&out) + width(cluster) + 1 > columns {
            break;
        }
        out.push_str(cluster);
    }
    out.push('…');
    out
}

/// Wraps a text into rows. A row breaks at a space or before a wide character, and inside a word
/// only if the word is longer than a row.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let text = text.replace('\t', TAB);
    let mut rows = Vec::new();
    for line in text.split('\n') {
        wrap_line(line, columns.max(2), &mut rows);
    }
    rows
}

/// Appends the rows of a line. A row breaks at its last break point, which is after a space or
/// before a wide character. A row without a break point breaks at the full width.
fn wrap_line(line: &str, columns: usize, rows: &mut Vec<String>) {
    let mut row = Row::default();
    for cluster in line.graphemes(true) {
        let cluster = clamp(cluster);
        let cells = width(cluster);
        if cells == 2 && !CLOSING.contains(cluster) && !row.text.trim().is_empty() {
            row.break_at = Some(row.text.len());
        }
        if row.cells + cells > columns && row.cells > 0 {
            // The space at the break belongs to neither row.
            if cluster == " " {
                row.break_at = None;
                rows.push(row.turn());
                continue;
            }
            rows.push(row.turn());
        }
        row.text.push_str(cluster);
        row.cells += cells;
        if cluster == " " && !row.text.trim().is_empty() {
            row.break_at = Some(row.text.len());
        }
    }
    rows.push(row.text);
}

/// A row being filled.
#[derive(Default)]
struct Row {
    text: String,
    cells: usize,
    break_at: Option<usize>,
}

impl Row {
    /// Returns the full row, and keeps the rest for the next one.
    fn turn(&mut self) -> String {
        let rest = self.break_at.take().map(|at| self.text.split_off(at)).unwrap_or_default();
        self.cells = width(&rest);
        let full = std::mem::replace(&mut self.text, rest);
        full.trim_end().to_owned()
    }
}

/// Cuts excessive marks from a cluster.
fn clamp(cluster: &str) -> &str {
    let end = cluster.char_indices().nth(CLUSTER_CHARS_MAX).map_or(cluster.len(), |(at, _)| at);
    &cluster[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_at_spaces_and_keep_indentation() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("    code\n\nx", 10), ["    code", "", "x"]);
        assert_eq!(wrap("    abcdefghij", 8), ["    abcd", "efghij"]);
        assert_eq!(wrap("a\tb", 80), ["a    b"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("日本語のテキスト", 6), ["日本語", "のテキ", "スト"]);
        assert_eq!(wrap("これは。次", 6), ["これ", "は。次"]);
        assert_eq!(wrap("ok 😀😀😀", 5), ["ok 😀", "😀😀"]);
        for rows in [wrap("日本語 and English 混ぜて 😀 書く", 7), wrap("漢", 1)] {
            assert!(rows.iter().all(|row| width(row) <= 7), "{rows:?}");
        }
    }

    #[test]
    fn towers_of_marks_are_cut() {
        let tower = format!("a{}", "\u{301}".repeat(10_000));
        assert_eq!(wrap(&tower, 10)[0].chars().count(), CLUSTER_CHARS_MAX);
    }

    #[test]
    fn clipping_says_so() {
        assert_eq!(clip("analyst", 7), "analyst");
        assert_eq!(clip("analyst", 5), "anal…");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("日本語", 4), "日…");
    }
}
