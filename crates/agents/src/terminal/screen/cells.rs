//! A screen as cells: characters with their styles.

/// A character on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) c: char,
    pub(crate) style: Style,
}

/// The style of a character, as far as readers need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    faint: bool,
    reverse: bool,
}

/// A row of the screen, without the empty cells at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    cells: Vec<Cell>,
}

impl Row {
    /// Returns the characters as text, including hints.
    pub(crate) fn text(&self) -> String {
        self.cells.iter().map(|cell| cell.c).collect()
    }

    /// Returns the text without hints, from the character at `from` on. Hints in an empty composer
    /// are faint, except for the one character under the program's cursor.
    pub(crate) fn typed(&self, from: usize) -> String {
        let cells = self.cells.get(from..).unwrap_or_default();
        match cells {
            [cursor, hint @ ..]
                if cursor.style.reverse
                    && !hint.is_empty()
                    && hint.iter().all(|cell| cell.style.faint || cell.c == ' ') =>
            {
                String::new()
            }
            cells => cells.iter().filter(|cell| !cell.style.faint).map(|cell| cell.c).collect(),
        }
    }

    /// True if the row is a line from edge to edge.
    pub(crate) fn is_rule(&self, stroke: char) -> bool {
        const CELLS_MIN: usize = 10;
        self.cells.len() >= CELLS_MIN && self.cells.iter().all(|cell| cell.c == stroke)
    }

    /// True if the row ends with a line. A label may stand in the line; one that is too long takes
    /// the rest of it.
    pub(crate) fn ends_rule(&self, stroke: char) -> bool {
        const STROKES_MIN: usize = 2;
        self.cells.len() >= STROKES_MIN
            && self.cells.iter().rev().take(STROKES_MIN).all(|cell| cell.c == stroke)
    }
}

/// Returns the rows of a captured screen. Attributes continue from row to row, as `capture-pane -e`
/// prints them.
pub(crate) fn rows<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Row> {
    let mut style = Style::default();
    lines.into_iter().map(|line| row(line, &mut style)).collect()
}

/// Returns the cells of a line. `style` is the style at its start, and afterwards the one at its
/// end.
fn row(line: &str, style: &mut Style) -> Row {
    let mut cells = Vec::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => escape(&mut chars, style),
            c if c.is_control() => {}
            '\u{a0}' => cells.push(Cell { c: ' ', style: *style }),
            c => cells.push(Cell { c, style: *style }),
        }
    }
    while cells.last().is_some_and(|cell: &Cell| cell.c == ' ') {
        cells.pop();
    }
    Row { cells }
}

/// Reads an escape sequence. Captured screens hold only attributes and links.
fn escape(chars: &mut std::str::Chars<'_>, style: &mut Style) {
    match chars.next() {
        Some('[') => {
            let mut parameters = String::new();
            for c in chars.by_ref() {
                match c {
                    'm' => return attributes(&parameters, style),
                    '@'..='~' => return,
                    c => parameters.push(c),
                }
            }
        }
        Some(']') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || (c == '\u{1b}' && chars.next() == Some('\\')) {
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

/// Applies the numbers of a style sequence, such as `2;38;5;7`, to the style. Only faint and
/// reverse matter here; bold ends faint.
fn attributes(parameters: &str, style: &mut Style) {
    let mut parameters = parameters.split(';');
    while let Some(parameter) = parameters.next() {
        match parameter {
            "" | "0" => *style = Style::default(),
            "1" | "22" => style.faint = false,
            "2" => style.faint = true,
            "7" => style.reverse = true,
            "27" => style.reverse = false,
            // The numbers of a colour are not attributes.
            "38" | "48" | "58" => match parameters.next() {
                Some("5") => drop(parameters.next()),
                Some("2") => drop(parameters.nth(2)),
                Some(_) | None => {}
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn faint_cells_are_told_from_others() {
        let rows = rows([
            "\x1b[1m›\x1b[0m a\x1b[2m hint",
            "still faint\x1b[0m \x1b[38;5;2mgreen\x1b[38;2;2;2;2mred\x1b]8;;x\x1b\\link  ",
        ]);
        let hint = super::rows([
            "❯ \x1b[7mT\x1b[0;2mry this\x1b[0m",
            "❯ \x1b[7mT\x1b[0m",
            "❯ T\x1b[2mry this",
        ]);
        assert_eq!(hint.iter().map(|row| row.typed(2)).collect::<Vec<_>>(), ["", "T", "T"]);
        assert_eq!((rows[0].text().as_str(), rows[0].typed(2).as_str()), ("› a hint", "a"));
        assert_eq!(
            (rows[1].text().as_str(), rows[1].typed(0).as_str()),
            ("still faint greenredlink", " greenredlink")
        );
    }

    proptest! {
        #[test]
        fn junk_is_survived(line in "(\u{1b}|\u{1b}\\[|\u{1b}\\]|[0-9;m]|.){0,40}") {
            let _ = rows([line.as_str()]);
        }
    }
}
