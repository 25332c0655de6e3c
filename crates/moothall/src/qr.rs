//! QR codes of links, drawn in half blocks for a terminal.

use std::io::IsTerminal;

use qrcode::{Color, EcLevel, QrCode};

use crate::fault::Fault;
use crate::paint::Printer;

/// Width of the light margin around a code, in modules. Devices that read codes need it.
const MARGIN: usize = 4;
/// Black on white, whatever the colours of the terminal.
const BLACK_ON_WHITE: &str = "\x1b[38;5;16;48;5;231m";
const RESET: &str = "\x1b[0m";

/// Prints a QR code of the text on a terminal. Prints nothing into a pipe, with `--json`, or if the
/// code does not fit.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(printer: &Printer, text: &str) -> Result<(), Fault> {
    let columns = terminal_size::terminal_size().map_or(0, |(columns, _)| usize::from(columns.0));
    if printer.json || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    rows(text, columns, printer.has_colours()).iter().try_for_each(|row| printer.line(row))
}

/// Returns the rows of a code; none if it is wider than `columns` or the text is too long for a
/// code. With colours, draws the dark modules in black on white. Without colours, draws the light
/// modules, because the terminal is taken to be dark.
fn rows(text: &str, columns: usize, colours: bool) -> Vec<String> {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::L) else { return Vec::new() };
    let side = code.width() + 2 * MARGIN;
    if side > columns {
        return Vec::new();
    }
    let inside = MARGIN..MARGIN + code.width();
    let is_dark = |x: usize, y: usize| {
        inside.contains(&x) && inside.contains(&y) && code[(x - MARGIN, y - MARGIN)] == Color::Dark
    };
    let row = |y: usize| {
        let blocks: String = (0..side)
            .map(|x| block(is_dark(x, y) == colours, is_dark(x, y + 1) == colours))
            .collect();
        if colours { format!("{BLACK_ON_WHITE}{blocks}{RESET}") } else { blocks }
    };
    (0..side).step_by(2).map(row).collect()
}

/// Returns the character for two modules, one above the other, each drawn or not.
const fn block(upper: bool, lower: bool) -> char {
    match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_fits_or_is_left_out_and_keeps_its_margin() {
        let link = format!("https://hall.example.org/#join=inv_{}", "0".repeat(72));
        let shown = rows(&link, 80, false);
        let width = shown[0].chars().count();
        assert_eq!(shown.len(), width.div_ceil(2));
        assert!(shown[0].chars().all(|module| module == '█'), "the margin is light: {}", shown[0]);
        assert!(shown.iter().any(|row| row.contains('▄')), "{shown:?}");
        assert_eq!(rows(&link, width, false), shown);
        assert_eq!(rows(&link, width - 1, false), Vec::<String>::new());
        assert_eq!(rows(&"x".repeat(10_000), 10_000, false), Vec::<String>::new());
    }

    #[test]
    fn with_colours_the_dark_modules_are_drawn_black_on_white() {
        let (plain, painted) = (rows("moothall", 80, false), rows("moothall", 80, true));
        assert!(painted.iter().all(|row| row.starts_with(BLACK_ON_WHITE) && row.ends_with(RESET)));
        for (plain, painted) in plain.iter().zip(&painted) {
            let inner = painted.trim_start_matches(BLACK_ON_WHITE).trim_end_matches(RESET);
            let turned: String = inner
                .chars()
                .map(|module| match module {
                    '█' => ' ',
                    '▀' => '▄',
                    '▄' => '▀',
                    _ => '█',
                })
                .collect();
            assert_eq!(&turned, plain);
        }
    }
}
