//! A screen as cells: characters with their styles.

use moothall_engine::sessions::{CellColor, CellStyle};

/// A character on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) c: char,
    pub(crate) style: CellStyle,
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

    /// True if the row has only strokes of a line, and enough of them.
    pub(crate) fn is_rule(&self, stroke: char) -> bool {
        const CELLS_MIN: usize = 10;
        self.cells.len() >= CELLS_MIN && self.cells.iter().all(|cell| cell.c == stroke)
    }

    /// True if the row ends with a piece of a line. A label may stand in the line before that
    /// piece.
    pub(crate) fn ends_rule(&self, stroke: char) -> bool {
        const STROKES_MIN: usize = 2;
        self.cells.len() >= STROKES_MIN
            && self.cells.iter().rev().take(STROKES_MIN).all(|cell| cell.c == stroke)
    }
}

/// Returns the rows of a captured screen.
pub(crate) fn rows<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Row> {
    cells(lines).map(|cells| Row { cells: without_end(cells, |cell| cell.c == ' ') }).collect()
}

/// Returns the cells of each line of a captured screen. Attributes continue from line to line, as
/// `capture-pane -e` prints them.
pub(crate) fn cells<'a>(
    lines: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = Vec<Cell>> {
    let mut style = CellStyle::default();
    lines.into_iter().map(move |line| cells_of(line, &mut style))
}

/// Removes the cells at the end of a line for which `is_empty` is true.
pub(crate) fn without_end(mut cells: Vec<Cell>, is_empty: impl Fn(&Cell) -> bool) -> Vec<Cell> {
    let end = cells.iter().rposition(|cell| !is_empty(cell)).map_or(0, |last| last + 1);
    cells.truncate(end);
    cells
}

/// Returns the cells of a line. `style` is the style at its start, and afterwards the one at its
/// end.
fn cells_of(line: &str, style: &mut CellStyle) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => escape(&mut chars, style),
            c if c.is_control() => {}
            // A no-break space follows the sign of some composers, and readers expect a plain
            // space.
            '\u{a0}' => cells.push(Cell { c: ' ', style: *style }),
            c => cells.push(Cell { c, style: *style }),
        }
    }
    cells
}

/// Reads an escape sequence. Captured screens hold only attributes and links.
fn escape(chars: &mut std::str::Chars<'_>, style: &mut CellStyle) {
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

/// Applies the numbers of a style sequence, such as `2;38;5;7` or `4:3`, to the style. Unknown
/// numbers change nothing. Bold ends faint.
fn attributes(parameters: &str, style: &mut CellStyle) {
    let mut parameters = parameters.split(';');
    while let Some(parameter) = parameters.next() {
        let (code, form) = parameter.split_once(':').unwrap_or((parameter, ""));
        let code = if code.is_empty() { Some(0) } else { code.parse().ok() };
        match code {
            // The numbers of a colour are not attributes.
            Some(code @ (38 | 48 | 58)) => {
                let color = if form.is_empty() {
                    color(&mut parameters)
                } else {
                    color(&mut subfields(form))
                };
                match code {
                    38 => style.fg = color.or(style.fg),
                    48 => style.bg = color.or(style.bg),
                    _ => {}
                }
            }
            Some(4) => style.underline = form != "0",
            Some(code) => attribute(code, style),
            None => {}
        }
    }
}

/// Returns the fields of `5:7` or `2::1:2:3`, without the empty one for a colour space.
fn subfields(form: &str) -> impl Iterator<Item = &str> {
    form.split(':').filter(|field| !field.is_empty())
}

/// Applies one attribute without further numbers.
fn attribute(code: u8, style: &mut CellStyle) {
    match code {
        0 => *style = CellStyle::default(),
        1 => (style.bold, style.faint) = (true, false),
        2 => style.faint = true,
        3 => style.italic = true,
        7 => style.reverse = true,
        9 => style.strike = true,
        22 => (style.bold, style.faint) = (false, false),
        23 => style.italic = false,
        24 => style.underline = false,
        27 => style.reverse = false,
        29 => style.strike = false,
        30..=37 => style.fg = Some(CellColor::Base(code - 30)),
        39 => style.fg = None,
        40..=47 => style.bg = Some(CellColor::Base(code - 40)),
        49 => style.bg = None,
        90..=97 => style.fg = Some(CellColor::Base(code - 90 + 8)),
        100..=107 => style.bg = Some(CellColor::Base(code - 100 + 8)),
        _ => {}
    }
}

/// Reads a colour: `5` and its place in the palette, or `2` and its three parts. `None` for any
/// other form.
fn color<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<CellColor> {
    let kind = fields.next()?;
    let mut number = || fields.next().and_then(|field| field.parse::<u8>().ok());
    match kind {
        "5" => number().map(of_palette),
        "2" => {
            let (red, green, blue) = (number(), number(), number());
            Some(CellColor::Exact(red?, green?, blue?))
        }
        _ => None,
    }
}

/// Returns a colour of the palette of 256: the base colours, a cube, and a ramp of greys.
fn of_palette(place: u8) -> CellColor {
    const FIRST_OF_CUBE: u8 = 16;
    const FIRST_GREY: u8 = 232;
    match place {
        0..FIRST_OF_CUBE => CellColor::Base(place),
        FIRST_OF_CUBE..FIRST_GREY => {
            let place = place - FIRST_OF_CUBE;
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            CellColor::Exact(level(place / 36), level(place / 6 % 6), level(place % 6))
        }
        FIRST_GREY.. => {
            let grey = 8 + 10 * (place - FIRST_GREY);
            CellColor::Exact(grey, grey, grey)
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
