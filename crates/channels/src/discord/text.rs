//! Texts for Discord: its own Markdown, in parts of at most 2,000 characters.
//!
//! Discord draws Markdown itself, so a text goes as it was written. A block of code that is longer
//! than a part is closed at the end of the part and opened again in the next one.

use moothall_kernel::text::is_empty_looking;

/// Longest message, in UTF-16 code units: the strictest way to count characters.
pub const TEXT_UNITS_MAX: usize = 2000;
/// Line that closes a block of code, with its line break.
const CLOSING: &str = "\n```";
/// Longest line that opens a block and is repeated, in bytes. A longer one is repeated bare.
const OPENING_BYTES_MAX: usize = 40;
/// Units of a part that are kept free for opening and closing a block.
const MARGIN: usize = OPENING_BYTES_MAX + 1 + CLOSING.len();

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns a text in parts that Discord takes; none if nothing of it is visible. `head` is a first
/// line in bold.
pub fn parts(markdown: &str, head: Option<&str>) -> Vec<String> {
    if is_empty_looking(markdown) {
        return Vec::new();
    }
    let whole = match head {
        Some(head) => format!("**{head}**\n{}", markdown.trim_end()),
        None => markdown.trim_end().to_owned(),
    };
    if units(&whole) <= TEXT_UNITS_MAX {
        return vec![whole];
    }
    split(&whole)
}

/// Cuts a text at its lines, and lines that are too long at words.
fn split(whole: &str) -> Vec<String> {
    let mut parts = PartWriter::default();
    for line in whole.split_inclusive('\n') {
        parts.add_line(line);
    }
    parts.end();
    parts.done
}

/// Parts under way.
#[derive(Default)]
struct PartWriter {
    done: Vec<String>,
    open: String,
    /// The line that opened the block of code in which the text is.
    fence: Option<String>,
    /// True if the open part has nothing but the repeated line of a block.
    is_fresh: bool,
}

impl PartWriter {
    /// Adds a line. Begins the next part before a piece that does not fit. Notes if the line opens
    /// or closes a block of code.
    fn add_line(&mut self, line: &str) {
        for piece in pieces(line, TEXT_UNITS_MAX - MARGIN) {
            if units(&self.open) + units(piece) > TEXT_UNITS_MAX - CLOSING.len() {
                self.turn();
            }
            self.open.push_str(piece);
            self.is_fresh = false;
        }
        if line.trim_start().starts_with("```") {
            self.fence = match self.fence {
                Some(_) => None,
                None => Some(line.trim().to_owned()),
            };
        }
    }

    /// Ends a part and begins the next one, which opens the block of code again if the text is in
    /// one.
    fn turn(&mut self) {
        let fence = self.fence.clone();
        self.end();
        if let Some(fence) = fence {
            let opening = if fence.len() > OPENING_BYTES_MAX { "```" } else { fence.as_str() };
            self.open = format!("{opening}\n");
            self.is_fresh = true;
        }
    }

    /// Ends the open part, and closes its block of code. A part without visible text is dropped.
    fn end(&mut self) {
        let mut part = std::mem::take(&mut self.open);
        part.truncate(part.trim_end().len());
        if self.fence.is_some() && !part.is_empty() {
            part.push_str(CLOSING);
        }
        if !self.is_fresh && !is_empty_looking(&part) {
            self.done.push(part);
        }
        self.is_fresh = false;
    }
}

/// Cuts a line into pieces of at most some units. Each cut is after the last space of the piece if
/// that is in its second half, and otherwise at the limit.
fn pieces(line: &str, units_max: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while units(rest) > units_max {
        let mut count = 0;
        let fitting = rest.char_indices().find_map(|(at, letter)| {
            count += letter.len_utf16();
            (count > units_max).then_some(at)
        });
        let longest = fitting.unwrap_or(rest.len());
        let space = rest[..longest].rfind(' ').map(|at| at + 1).filter(|at| *at > longest / 2);
        let (piece, after) = rest.split_at(space.unwrap_or(longest));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_texts_are_whole_and_empty_ones_are_none() {
        assert_eq!(parts("**Hello**\n", None), ["**Hello**"]);
        assert_eq!(parts("Hello", Some("ann (page):")), ["**ann (page):**\nHello"]);
        assert!(parts(" \n\u{200b}", Some("ann:")).is_empty());
    }

    #[test]
    fn a_long_block_of_code_is_closed_and_opened_again() {
        let code = "let x = 1;\n".repeat(400);
        let all = parts(&format!("See:\n```rust\n{code}```\nDone."), None);
        assert_eq!(all.len(), 3);
        for part in &all {
            assert_eq!(part.matches("```").count() % 2, 0, "{part}");
        }
        assert!(all[1].starts_with("```rust\nlet"), "{}", all[1]);
        assert!(all[2].ends_with("```\nDone."), "{}", all[2]);
    }

    proptest! {
        #[test]
        fn every_part_fits_and_no_word_is_lost(
            text in "(word |wörd\n|```rs\n|```\n|😀| |\n\n|[a-z]{300} ){0,120}",
        ) {
            let all = parts(&text, None);
            for part in &all {
                prop_assert!(units(part) <= TEXT_UNITS_MAX);
                prop_assert!(!is_empty_looking(part));
            }
            let letters = |text: &str| text.replace("```rs", "").replace("```", "")
                .split_whitespace().collect::<String>();
            let visible = if is_empty_looking(&text) { String::new() } else { letters(&text) };
            prop_assert_eq!(letters(&all.join("\n")), visible);
        }
    }
}
