//! Finds the prose of a message: text that CommonMark does not take for code, HTML, a quote or the
//! target of a link.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// Spaces before a line that make it code.
const INDENT: usize = 4;
/// Most marks of quotes and lists before a line; a message with more is read as plain text.
const DEPTH_MAX: usize = 32;

/// A stretch of prose within a paragraph, with the marks of emphasis in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProseRun {
    /// Byte range in the message.
    pub range: Range<usize>,
    /// Byte offsets of the underscores that are marks of emphasis, in order.
    pub marks: Vec<usize>,
    /// Byte offsets of the signs after a backslash, in order.
    pub escaped: Vec<usize>,
}

impl ProseRun {
    /// Returns a run over a whole text.
    pub fn whole(text: &str) -> Self {
        Self { range: 0..text.len(), ..Self::default() }
    }
}

/// Returns the runs of prose of a message in their order.
pub fn prose(body: &str) -> Vec<ProseRun> {
    if body.lines().any(is_too_deep) {
        return vec![ProseRun::whole(body)];
    }
    let mut reader =
        CodeReader { body, runs: Vec::new(), hidden: 0, quotes: 0, line: Line::default() };
    for (event, range) in Parser::new_ext(body, options()).into_offset_iter() {
        reader.read(&event, range);
    }
    reader.runs
}

/// Returns the byte range of each line of a message that holds prose. A range does not include the
/// white space and the line break at the end of the line. A line that is indented like code is left
/// out, even if it continues a paragraph.
pub fn prose_lines(body: &str) -> Vec<Range<usize>> {
    let (runs, mut at, mut next) = (prose(body), 0, 0);
    let line_of = |line: &str| -> Option<Range<usize>> {
        let range = at..at + line.trim_end().len();
        at += line.len();
        while runs.get(next).is_some_and(|run| run.range.end <= range.start) {
            next += 1;
        }
        let is_prose = runs.get(next).is_some_and(|run| run.range.start < range.end);
        (is_prose && !is_indented(line)).then_some(range)
    };
    body.split_inclusive('\n').filter_map(line_of).collect()
}

fn is_indented(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    line.len() - rest.len() >= INDENT || rest.starts_with('\t')
}

/// Returns the Markdown extensions that the page reads too.
fn options() -> Options {
    Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS
}

fn is_too_deep(line: &str) -> bool {
    let mut marks = block_marks(line).filter(|c| ">-*+.)".contains(*c));
    marks.nth(DEPTH_MAX).is_some() && !is_rule(line)
}

/// Returns the marks of quotes and lists at the beginning of a line, with their space.
fn block_marks(line: &str) -> impl Iterator<Item = char> {
    line.chars().take_while(|c| c.is_ascii_digit() || " \t>-*+.)".contains(*c))
}

/// True if a line consists of one repeated mark: it is a rule and does not nest.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    let first = marks.next();
    first.is_some_and(|c| "-*".contains(c)) && marks.all(|c| Some(c) == first)
}

/// The line that is being read.
#[derive(Debug, Default)]
struct Line {
    /// Bytes of the message that were searched for the start of the line.
    seen: usize,
    is_quoted: bool,
}

struct CodeReader<'a> {
    body: &'a str,
    runs: Vec<ProseRun>,
    /// Number of open blocks and links whose text is not prose.
    hidden: usize,
    quotes: usize,
    line: Line,
}

impl CodeReader<'_> {
    /// Reads the next event of the parser, and notes its text if that is prose.
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) if hides(tag) => self.hidden += 1,
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Image) => self.hidden -= 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            Event::End(TagEnd::Link) if self.is_address(&range) => self.hidden -= 1,
            Event::Text(_) if self.hidden == 0 && !self.is_quoted(range.start) => self.text(range),
            _ => {}
        }
    }

    /// True if a link consists of its address alone: `<https://x.y>`.
    fn is_address(&self, range: &Range<usize>) -> bool {
        self.body[range.clone()].starts_with('<')
    }

    /// True if the line of a place begins with the mark of a quote. A line without it that
    /// continues a quoted paragraph is an answer to the quote.
    fn is_quoted(&mut self, at: usize) -> bool {
        if self.quotes == 0 {
            return false;
        }
        let (seen, is_first) = (self.line.seen, self.line.seen == 0);
        let next = self.body[seen..at].rfind('\n').map(|end| seen + end + 1);
        if let Some(start) = next.or(is_first.then_some(0)) {
            self.line.is_quoted = block_marks(&self.body[start..]).any(|c| c == '>');
        }
        self.line.seen = at;
        self.line.is_quoted
    }

    /// Adds a piece of prose. It continues the last run if only marks of emphasis or a backslash
    /// are between the two, and otherwise begins a new one.
    fn text(&mut self, range: Range<usize>) {
        let bytes = self.body.as_bytes();
        let is_escaped = range.start > 0 && bytes[range.start - 1] == b'\\';
        let gap = self.runs.last().map(|run| run.range.end..range.start);
        let goes_on = gap.clone().is_some_and(|gap| {
            bytes[gap.clone()].iter().all(|b| b"*_~".contains(b)) || &bytes[gap] == b"\\"
        });
        if !goes_on {
            self.runs.push(ProseRun { range: range.clone(), ..ProseRun::default() });
        }
        let lead = if goes_on { gap.unwrap_or_default() } else { self.delimiters(range.start) };
        let Some(run) = self.runs.last_mut() else { return };
        run.range.end = range.end;
        run.marks.extend(lead.filter(|at| bytes[*at] == b'_'));
        if is_escaped {
            run.escaped.push(range.start);
        }
    }

    /// Returns the marks of emphasis right before a place.
    fn delimiters(&self, at: usize) -> Range<usize> {
        let marks = self.body.as_bytes()[..at].iter().rev().take_while(|b| b"*_~".contains(b));
        at - marks.count()..at
    }
}

fn hides(tag: &Tag<'_>) -> bool {
    match tag {
        Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Image { .. } => true,
        Tag::Link { link_type, .. } => matches!(link_type, LinkType::Autolink | LinkType::Email),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_what_markdown_takes_for_it() {
        for (body, expected) in [
            ("one\ntwo\n\nthree", vec!["one", "two", "three"]),
            ("a\n```\ncode\n```\nb", vec!["a", "b"]),
            ("```rust\ncode\n~~~\n`````\nb", vec!["b"]),
            ("````\n```\nstill\n````\nb", vec!["b"]),
            ("```\n``` not the end\n", vec![]),
            ("> quote\nb\n> c", vec!["b"]),
            ("- > quote\n- b", vec!["b"]),
            ("    code\n\n\tcode\nb", vec!["b"]),
            ("- a\n\n    goes on", vec!["a", "goes on"]),
            ("a `b` c", vec!["a ", " c"]),
            ("*a* _b_", vec!["a* _b"]),
            ("a <i title='b'>c</i>", vec!["a ", "c"]),
            ("[a](b) ![c](d) <https://e.f>", vec!["a", " ", " "]),
            ("a\r\nb\r\n\r\nc", vec!["a", "b", "c"]),
        ] {
            let runs: Vec<_> = prose(body).into_iter().map(|run| &body[run.range]).collect();
            assert_eq!(runs, expected, "{body:?}");
        }
    }

    #[test]
    fn a_message_that_nests_too_deep_is_plain() {
        let deep = format!("{}`a`", "> ".repeat(40));
        assert_eq!(prose(&deep), [ProseRun::whole(&deep)]);
        assert_eq!(prose(&format!("{}\n`a`", "---".repeat(40))), []);
    }

    #[test]
    fn a_line_with_any_prose_is_a_line_of_prose() {
        for (body, expected) in [
            ("a\n    b\n> c\n```\nd\n```\n e ", vec!["a", " e"]),
            ("**a** b\n`c` d\n`e`\n_f_", vec!["**a** b", "`c` d", "_f_"]),
            ("`a\nb` c\n\n<div>\nd\n</div>", vec!["b` c"]),
            ("a\n---\n# b", vec!["a", "# b"]),
        ] {
            let lines: Vec<_> = prose_lines(body).into_iter().map(|line| &body[line]).collect();
            assert_eq!(lines, expected, "{body:?}");
        }
    }
}
