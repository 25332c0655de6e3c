//! Finds code and quotes in a message, as Markdown has them.

/// Spaces before a line that make it code.
const INDENT: usize = 4;
/// Shortest row of back-ticks or tildes that fences a block.
const FENCE_MIN: usize = 3;

/// Reads the lines of a message in their order and tells which are code or a quote.
#[derive(Debug, Default)]
pub struct Blocks<'a> {
    fence: Option<&'a str>,
}

impl<'a> Blocks<'a> {
    /// True if the next line is prose: not of a fenced block, not a quote.
    pub fn is_prose(&mut self, line: &'a str) -> bool {
        match (self.fence, fence_of(line)) {
            (None, Some(opened)) => self.fence = Some(opened),
            (Some(open), _) if closes(open, line) => self.fence = None,
            (None, None) => return !line.trim_start().starts_with('>'),
            (Some(_), _) => {}
        }
        false
    }
}

/// True if a line is indented so far that it is code, unless it goes on with a paragraph or a list.
pub fn is_indented(line: &str) -> bool {
    let indent = line.len() - line.trim_start_matches(' ').len();
    indent >= INDENT || line.trim_start_matches(' ').starts_with('\t')
}

/// The row of back-ticks or tildes with which a line opens a block of code. Back-ticks that come
/// again in the same line are code within the line.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    let (row, info) = line.split_at(length);
    (length >= FENCE_MIN && !(mark == '`' && info.contains('`'))).then_some(row)
}

/// A block ends with a row of the same mark that is at least as long, and nothing after it.
fn closes(open: &str, line: &str) -> bool {
    let row = line.trim();
    row.starts_with(open) && row.trim_start_matches(&open[..1]).is_empty()
}

/// Returns the paragraphs of a message that are neither code nor quotes. Code within a paragraph is
/// still in it ([`span`]).
pub fn paragraphs(body: &str) -> Vec<&str> {
    let (mut found, mut blocks) = (Vec::new(), Blocks::default());
    let (mut open, mut at, mut in_list) = (None, 0, false);
    for line in body.split_inclusive('\n') {
        let (start, text) = (at, line.trim_end_matches(['\n', '\r']));
        at += line.len();
        let goes_on = open.is_some();
        let code = is_indented(text) && !goes_on && !in_list;
        let prose = blocks.is_prose(text) && !text.trim().is_empty() && !code;
        let begins = begins_block(text);
        if goes_on && (begins || !prose) {
            found.extend(open.take().map(|from: usize| &body[from..start]));
        }
        if prose {
            in_list = begins || (in_list && (goes_on || is_indented(text)));
            open = open.or(Some(start));
        }
    }
    found.extend(open.map(|from| &body[from..]));
    found
}

/// True if a line begins an item of a list or is a heading: code of the line before ends there.
fn begins_block(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = if rest.len() < line.len() {
        rest.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+'])
            .or_else(|| line.starts_with('#').then(|| line.trim_start_matches('#')))
    };
    marked.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Returns the bytes of code with its marks that begin with a back-tick; of the back-ticks alone,
/// if no row of the same length closes them.
pub fn span(rest: &str) -> usize {
    let ticks = |text: &str| text.len() - text.trim_start_matches('`').len();
    let open = ticks(rest);
    let mut at = open;
    while let Some(next) = rest[at..].find('`') {
        let row = ticks(&rest[at + next..]);
        at += next + row;
        if row == open {
            return at;
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_what_markdown_takes_for_prose() {
        for (body, expected) in [
            ("one\ntwo\n\nthree", vec!["one\ntwo\n", "three"]),
            ("a\n```\ncode\n```\nb", vec!["a\n", "b"]),
            ("```rust\ncode\n~~~\n`````\nb", vec!["b"]),
            ("````\n```\nstill\n````\nb", vec!["b"]),
            ("```\n``` not the end\n", vec![]),
            ("```one line```\nb", vec!["```one line```\nb"]),
            ("> quote\nb", vec!["b"]),
            ("    code\n\n\tcode\nb", vec!["b"]),
            ("a\n    goes on", vec!["a\n    goes on"]),
            ("- a\n\n    goes on", vec!["- a\n", "    goes on"]),
            ("- a\n- b\n# c", vec!["- a\n", "- b\n", "# c"]),
            ("1. a\n2) b\n3 c", vec!["1. a\n", "2) b\n3 c"]),
            ("a\r\nb\r\n\r\nc", vec!["a\r\nb\r\n", "c"]),
        ] {
            assert_eq!(paragraphs(body), expected, "{body:?}");
        }
    }

    #[test]
    fn code_in_a_line_ends_with_a_row_of_the_same_length() {
        for (rest, expected) in [
            ("`a`b", 3),
            ("``a`b``c", 7),
            ("`a``b`c", 6),
            ("```a\nb```c", 9),
            ("`open", 1),
            ("``a`", 2),
        ] {
            assert_eq!(span(rest), expected, "{rest:?}");
        }
    }
}
