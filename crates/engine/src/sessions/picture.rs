//! The picture of a terminal: its screen in colour, as people at the terminal see it.

/// A screen in runs of one style. Its text is the text of the view. In addition, it has the
/// coloured cells at the ends of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The width of the terminal, in cells; 0 if it is not known.
    pub columns: u16,
    /// The lines from the top.
    pub lines: Vec<Vec<StyledRun>>,
    /// The cell of the cursor, if the program shows one.
    pub cursor: Option<CursorCell>,
}

/// The place of the cursor, in cells from the top left, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorCell {
    /// The line.
    pub line: u16,
    /// The column.
    pub column: u16,
}

/// Characters of one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledRun {
    /// The characters, without escape sequences.
    pub text: String,
    /// Their style.
    pub style: CellStyle,
}

/// The style of a character on a screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "these are the attributes of terminals")]
pub struct CellStyle {
    /// The colour of the character; `None` for the terminal's own.
    pub fg: Option<CellColor>,
    /// The colour of the background; `None` for the terminal's own.
    pub bg: Option<CellColor>,
    /// Bold.
    pub bold: bool,
    /// Faint, as programs draw hints.
    pub faint: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined, in any form.
    pub underline: bool,
    /// The two colours are exchanged.
    pub reverse: bool,
    /// Struck through.
    pub strike: bool,
}

impl CellStyle {
    /// True if a space of this style looks like the bare terminal.
    pub fn hides_spaces(&self) -> bool {
        self.bg.is_none() && !self.reverse && !self.underline && !self.strike
    }
}

/// A colour of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellColor {
    /// One of the 16 colours that a terminal's owner chooses, from 0.
    Base(u8),
    /// A colour by its red, green and blue.
    Exact(u8, u8, u8),
}
