//! Rendering: rows of a terminal, and blocks of plain text. All foreign text is cleaned here.

use moothall_kernel::text::for_terminal;

use super::room::{ChatView, Item, ShownMessage};
use super::width::{clip, width, wrap};
use crate::paint::{Printer, Style};
use crate::threads::Faces;

/// Columns of a message's number.
const NUMBER_COLUMNS: usize = 4;
/// Maximum columns of a name.
const NAME_COLUMNS_MAX: usize = 20;
/// Width of a terminal in columns below which names stand above the text.
const BESIDE_COLUMNS_MIN: usize = 60;
/// Maximum rows shown of an unfinished answer: its end.
const UNFINISHED_ROWS_MAX: usize = 12;

/// Settings for drawing.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    /// Paints text, if colours are on.
    pub printer: &'a Printer,
    /// Names and their colours.
    pub faces: &'a Faces,
    /// Usable columns.
    pub columns: usize,
}

impl RenderContext<'_> {
    /// Returns the rows of a settled item.
    pub fn item(&self, item: &Item) -> Vec<String> {
        match item {
            Item::Message(said) => self.message(said),
            Item::Status(text) => self.note(text, Style::Dim),
            Item::Told(text) => self.note(text, Style::Bold),
            Item::Alert(text) => self.note(text, Style::Warn),
        }
    }

    /// Returns a note of the program, marked with a dot and indented like message text.
    pub fn note(&self, text: &str, style: Style) -> Vec<String> {
        let rows =
            wrap(for_terminal(text).trim_end(), self.columns.saturating_sub(self.indent() + 2));
        let lead = " ".repeat(self.indent());
        let marked = rows
            .iter()
            .enumerate()
            .map(|(place, row)| if place == 0 { format!("· {row}") } else { format!("  {row}") });
        marked.map(|row| format!("{lead}{}", self.printer.paint(style, &row))).collect()
    }

    /// Returns rows without a mark, such as a help text.
    pub fn text(&self, text: &str) -> Vec<String> {
        let rows = wrap(for_terminal(text).trim_end(), self.columns.saturating_sub(2));
        rows.iter().map(|row| format!("  {}", self.printer.paint(Style::Plain, row))).collect()
    }

    /// Returns the rows of a message.
    pub fn message(&self, said: &ShownMessage) -> Vec<String> {
        let number = said.number.map_or_else(|| "…".to_owned(), |number| number.to_string());
        let style = match (said.number, &said.fault) {
            (None, _) => Style::Dim,
            (_, Some(_)) => Style::Bad,
            _ => Style::Plain,
        };
        let mut rows: Vec<String> =
            self.body(said).iter().map(|row| self.printer.paint(style, row)).collect();
        for below in said.mark.iter().chain(&said.fault) {
            rows.extend(
                wrap(&for_terminal(below), self.body_columns())
                    .iter()
                    .map(|row| self.printer.paint(Style::Dim, row)),
            );
        }
        self.beside(&number, &said.from, rows)
    }

    fn body(&self, said: &ShownMessage) -> Vec<String> {
        let reply = said.reply.map_or_else(String::new, |number| format!("↪{number} "));
        let to =
            said.to.as_deref().map_or_else(String::new, |to| format!("→{} ", self.faces.name(to)));
        let doubt = said.doubt.as_deref().map_or_else(String::new, |doubt| format!("({doubt}) "));
        wrap(&for_terminal(&format!("{doubt}{reply}{to}{}", said.text)), self.body_columns())
    }

    /// Returns the last rows of a running answer, at most `rows_max` and [`UNFINISHED_ROWS_MAX`].
    pub fn unfinished(&self, from: &str, text: &str, rows_max: usize) -> Vec<String> {
        let all = wrap(for_terminal(text).trim_end(), self.body_columns());
        let hidden = all.len().saturating_sub(rows_max.clamp(1, UNFINISHED_ROWS_MAX));
        let rows =
            all.iter().skip(hidden).map(|row| self.printer.paint(Style::Plain, row)).collect();
        self.beside("…", from, rows)
    }

    fn is_narrow(&self) -> bool {
        self.columns < BESIDE_COLUMNS_MIN
    }

    fn name_columns(&self) -> usize {
        self.faces.width().min(NAME_COLUMNS_MAX)
    }

    /// Returns the width of the space to the left of a message's text, in columns.
    fn indent(&self) -> usize {
        if self.is_narrow() { 2 } else { NUMBER_COLUMNS + 2 + self.name_columns() + 2 }
    }

    fn body_columns(&self) -> usize {
        self.columns.saturating_sub(self.indent())
    }

    /// Puts number and name beside the first row, or above it on a narrow terminal. Later rows are
    /// indented, so that none can pass for another speaker.
    fn beside(&self, number: &str, from: &str, rows: Vec<String>) -> Vec<String> {
        let name = clip(&for_terminal(self.faces.name(from)), self.name_columns());
        let fill = " ".repeat(self.name_columns().saturating_sub(width(&name)));
        let number = self.printer.paint(Style::Dim, &format!("{number:>NUMBER_COLUMNS$}"));
        let name = self.printer.paint(self.faces.style(from), &name);
        let lead = " ".repeat(self.indent());
        let indented =
            |row: &String| if row.is_empty() { String::new() } else { format!("{lead}{row}") };
        if self.is_narrow() {
            return std::iter::once(format!("{} {name}", number.trim_start()))
                .chain(rows.iter().map(indented))
                .collect();
        }
        let first = format!(
            "{number}  {name}{fill}  {}",
            rows.first().map(String::as_str).unwrap_or_default()
        );
        std::iter::once(first.trim_end().to_owned())
            .chain(rows.iter().skip(1).map(indented))
            .collect()
    }

    /// Returns the horizontal line between the conversation and the input line, with words in it.
    pub fn rule(&self, words: &str, style: Style) -> String {
        let words = clip(&for_terminal(words).replace('\n', " "), self.columns.saturating_sub(8));
        let rest = self.columns.saturating_sub(4 + width(&words));
        format!(
            "{} {} {}",
            self.printer.paint(Style::Dim, "──"),
            self.printer.paint(style, &words),
            self.printer.paint(Style::Dim, &"─".repeat(rest))
        )
    }
}

/// Returns an item as one block of plain text, later lines indented; `None` for mere status.
pub fn plain(item: &Item, room: &ChatView) -> Option<String> {
    let block = match item {
        Item::Message(said) => {
            let number = said.number.unwrap_or_default();
            let reply = said.reply.map_or_else(String::new, |number| format!(" (to {number})"));
            let to = said
                .to
                .as_deref()
                .map_or_else(String::new, |to| format!(" → {}", room.faces.name(to)));
            let below = said.mark.iter().chain(&said.fault);
            let below: String = below.map(|below| format!("\n{below}")).collect();
            format!("[{number}] {}{reply}{to}: {}{below}", room.faces.name(&said.from), said.text)
        }
        Item::Told(text) => format!("· {text}"),
        Item::Alert(text) => format!("! {text}"),
        Item::Status(_) => return None,
    };
    Some(for_terminal(&block).trim_end().replace('\n', "\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ColorChoice;

    fn said(from: &str, text: &str) -> ShownMessage {
        ShownMessage {
            number: Some(7),
            from: from.into(),
            text: text.into(),
            ..ShownMessage::default()
        }
    }

    fn rows(columns: usize, item: &Item) -> Vec<String> {
        let (printer, faces) = (Printer::new(ColorChoice::Never, false), Faces::default());
        RenderContext { printer: &printer, faces: &faces, columns }.item(item)
    }

    #[test]
    fn words_hang_below_their_beginning() {
        let item = Item::Message(said(
            "writer",
            "one two three four five six seven eight nine ten eleven twelve\n\n  code",
        ));
        assert_eq!(
            rows(60, &item),
            [
                "   7  writer    one two three four five six seven eight nine",
                "                ten eleven twelve",
                "",
                "                  code",
            ]
        );
        assert_eq!(rows(30, &item)[..2], ["7 writer", "  one two three four five six"]);
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let long = "x".repeat(500);
        let texts = [
            "日本語のテキストをここに書いて、幅を確かめます。😀😀😀😀😀😀😀😀",
            long.as_str(),
            "a b c",
        ];
        let mut items: Vec<Item> =
            texts.iter().map(|text| Item::Message(said(&long, text))).collect();
        items.extend([Item::Status(long.clone()), Item::Alert(long.clone())]);
        for columns in [20, 40, 80] {
            for item in &items {
                for row in rows(columns, item) {
                    assert!(width(&row) <= columns, "{columns}: {row}");
                }
            }
            let (printer, faces) = (Printer::new(ColorChoice::Never, false), Faces::default());
            assert!(
                width(
                    &RenderContext { printer: &printer, faces: &faces, columns }
                        .rule(&long, Style::Dim)
                ) <= columns
            );
        }
    }

    #[test]
    fn foreign_words_command_nothing() {
        let evil =
            "safe\x1b]52;c;aGk=\x07\x1b[2J\x1b[1Aend\r   9  user      forged\u{9b}31m\u{202e}";
        let items = [
            Item::Message(ShownMessage {
                to: Some(evil.into()),
                fault: Some(evil.into()),
                ..said(evil, evil)
            }),
            Item::Status(evil.into()),
            Item::Alert(evil.into()),
        ];
        for item in &items {
            let all = rows(80, item);
            assert!(
                all.iter().all(|row| !row.chars().any(|c| c.is_control() || c == '\u{202e}')),
                "{all:?}"
            );
            // Forged rows keep their indentation.
            assert!(all.iter().skip(1).all(|row| row.starts_with("        ")), "{all:?}");
        }
        let block = plain(&items[0], &ChatView::default()).unwrap_or_default();
        assert!(block.lines().skip(1).all(|line| line.starts_with("    ")), "{block:?}");
        assert!(!block.contains(['\x1b', '\r', '\u{202e}']));
    }

    #[test]
    fn an_unfinished_answer_shows_its_end() {
        let (printer, faces) = (Printer::new(ColorChoice::Never, false), Faces::default());
        let brush = RenderContext { printer: &printer, faces: &faces, columns: 80 };
        let text: Vec<String> = (0..30).map(|n| format!("line {n}")).collect();
        let shown = brush.unfinished("writer", &text.join("\n"), 3);
        assert_eq!(shown[0], "   …  writer    line 27");
        assert_eq!(shown.len(), 3);
    }
}
