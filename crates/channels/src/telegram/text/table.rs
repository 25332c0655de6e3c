//! Tables as lines of aligned columns.

use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

/// Widest column that is filled with spaces. A wider cell moves the cells after it.
const WIDTH_MAX: usize = 40;

/// A table that is being read.
#[derive(Debug, Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(alignments: &[Alignment]) -> Self {
        Self { alignments: alignments.to_vec(), rows: Vec::new() }
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub fn begin_cell(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.push(String::new());
        }
    }

    /// Adds text to the last cell.
    pub fn push(&mut self, text: &str) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push_str(text);
        }
    }

    /// Returns the lines of the table, with a line of dashes under the first row.
    pub fn lines(&self) -> String {
        let widths = self.widths();
        let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        lines.insert(lines.len().min(1), dashes.join("-+-"));
        lines.join("\n")
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width()).min(WIDTH_MAX);
            }
        }
        widths
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).zip(&self.alignments);
        let filled: Vec<String> =
            cells.map(|((cell, width), alignment)| fill(cell, *width, *alignment)).collect();
        filled.join(" | ").trim_end().to_owned()
    }
}

/// Returns a cell filled with spaces to the width of its column.
fn fill(cell: &str, width: usize, alignment: Alignment) -> String {
    let spaces = width.saturating_sub(cell.width());
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => spaces / 2,
        Alignment::Right => spaces,
    };
    format!("{}{cell}{}", " ".repeat(before), " ".repeat(spaces - before))
}
