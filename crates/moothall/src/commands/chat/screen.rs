//! The terminal. Settled rows scroll up, live rows are redrawn below them, and both go into one
//! write, so that the screen does not tear.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use nix::sys::termios::{
    InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};
use unicode_segmentation::UnicodeSegmentation;

use super::width::width;
use crate::fault::Fault;

/// Columns and rows of a terminal without a known size.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// A terminal in raw mode: each key arrives immediately, without echo. Dropping the value restores
/// the mode.
pub struct Raw {
    before: Termios,
}

impl Raw {
    /// Switches to raw mode.
    ///
    /// # Errors
    /// Standard input is not a terminal.
    pub fn enter() -> Result<Self, Fault> {
        let stdin = std::io::stdin();
        let fault = |error: nix::Error| Fault::io("cannot set up the terminal", &error.into());
        let before = tcgetattr(stdin.as_fd()).map_err(fault)?;
        let raw = Self { before };
        raw.set().map_err(fault)?;
        Ok(raw)
    }

    /// Switches to raw mode: each key arrives immediately, without echo, signals or translation,
    /// and pasted text is marked.
    fn set(&self) -> nix::Result<()> {
        let mut raw = self.before.clone();
        raw.local_flags &=
            !(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG | LocalFlags::IEXTEN);
        raw.input_flags &=
            !(InputFlags::ICRNL | InputFlags::IXON | InputFlags::INLCR | InputFlags::IGNCR);
        raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        tcsetattr(std::io::stdin().as_fd(), SetArg::TCSADRAIN, &raw)?;
        // Bracketed paste: the terminal marks pasted text.
        write("\x1b[?2004h");
        Ok(())
    }

    fn reset(&self) {
        write("\x1b[?2004l\x1b[?25h");
        let _ = tcsetattr(std::io::stdin().as_fd(), SetArg::TCSADRAIN, &self.before);
    }

    /// Suspends this process, as Ctrl-Z does, until it is continued.
    pub fn suspend(&self) {
        self.reset();
        let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGTSTP);
        let _ = self.set();
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.reset();
    }
}

/// True if both standard input and output are terminals.
pub fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Returns the terminal's columns and rows.
pub fn size() -> (usize, usize) {
    let found = terminal_size::terminal_size()
        .map(|(columns, rows)| (usize::from(columns.0), usize::from(rows.0)));
    found.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(USUAL_SIZE)
}

/// Writes to the terminal. Errors are ignored: a closed terminal ends its input, too.
pub fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Live rows, and the cursor in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Rows, each at most as wide as the terminal.
    pub rows: Vec<String>,
    /// Row of the cursor, from 0.
    pub row: usize,
    /// Column of the cursor, from 0.
    pub column: usize,
}

/// State of the last drawing.
#[derive(Debug, Default)]
pub struct Screen {
    drawn: Live,
}

impl Screen {
    /// Returns the bytes that print settled rows and redraw the live rows below them.
    pub fn draw(&mut self, settled: &[String], live: Live, columns: usize) -> String {
        if settled.is_empty() && live == self.drawn {
            return String::new();
        }
        // Mode 2026 makes the terminal show the whole change in one step, without flicker.
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        out.push_str(&self.to_top(columns));
        for row in settled {
            out.push_str(row);
            out.push_str("\r\n");
        }
        out.push_str(&live.rows.join("\r\n"));
        let up = live.rows.len().saturating_sub(live.row + 1);
        if up > 0 {
            out.push_str(&format!("\x1b[{up}A"));
        }
        out.push('\r');
        if live.column > 0 {
            out.push_str(&format!("\x1b[{}C", live.column));
        }
        out.push_str("\x1b[?25h\x1b[?2026l");
        self.drawn = live;
        out
    }

    /// Returns the bytes that clear the screen.
    pub fn clear(&mut self) -> String {
        self.drawn = Live::default();
        "\x1b[H\x1b[2J".into()
    }

    /// Returns the bytes that remove the live rows.
    pub fn leave(&mut self, columns: usize) -> String {
        let bytes = self.to_top(columns);
        self.drawn = Live::default();
        bytes
    }

    /// Moves to the first live row and clears from there. A terminal that became narrower has
    /// wrapped the rows.
    fn to_top(&self, columns: usize) -> String {
        let above: usize = self
            .drawn
            .rows
            .iter()
            .take(self.drawn.row)
            .map(|row| cells(row).max(1).div_ceil(columns.max(1)))
            .sum();
        let up = above + self.drawn.column / columns.max(1);
        if up > 0 { format!("\r\x1b[{up}A\x1b[J") } else { "\r\x1b[J".into() }
    }
}

/// Returns the columns of a painted row; escape sequences take none.
fn cells(row: &str) -> usize {
    let mut total = 0;
    let mut painting = false;
    for cluster in row.graphemes(true) {
        match (painting, cluster) {
            (false, "\x1b") => painting = true,
            (true, "m") => painting = false,
            (true, _) => {}
            (false, cluster) => total += width(cluster),
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(rows: &[&str], row: usize, column: usize) -> Live {
        Live { rows: rows.iter().map(|row| (*row).to_owned()).collect(), row, column }
    }

    #[test]
    fn settled_rows_go_above_and_live_ones_are_replaced() {
        let mut screen = Screen::default();
        let first = screen.draw(&[], live(&["rule", "> hi"], 1, 4), 80);
        assert!(first.contains("\r\x1b[Jrule\r\n> hi\r\x1b[4C"), "{first:?}");
        let second = screen.draw(&["said".into()], live(&["rule", "> hi", "hint"], 1, 4), 80);
        assert!(
            second.contains("\r\x1b[1A\x1b[Jsaid\r\nrule\r\n> hi\r\nhint\x1b[1A\r\x1b[4C"),
            "{second:?}"
        );
        assert_eq!(screen.draw(&[], live(&["rule", "> hi", "hint"], 1, 4), 80), "");
        assert_eq!(screen.leave(80), "\r\x1b[1A\x1b[J");
    }

    #[test]
    fn a_narrower_terminal_has_more_rows() {
        let mut screen = Screen::default();
        screen.draw(&[], live(&["\x1b[2m0123456789\x1b[0m", "> hi"], 1, 4), 80);
        assert_eq!(screen.leave(5), "\r\x1b[2A\x1b[J");
    }
}
