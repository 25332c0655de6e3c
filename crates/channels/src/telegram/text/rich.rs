//! Markdown for Telegram's rich messages, which draw headings, lists and tables by themselves.
//!
//! Telegram's own Markdown knows more than that of agents: tags that make buttons or load pictures,
//! formulas, spoilers. Signs that mean something to Telegram alone are escaped, and a text that
//! may be read in another way all the same is not sent as a rich message.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag};

use super::{TEXT_UNITS_MAX, links, markdown, units};

/// Maximum length of a rich message, in characters.
pub const RICH_CHARS_MAX: usize = 32_768;
/// Maximum number of blocks of a rich message, inner ones included.
const BLOCKS_MAX: usize = 500;
/// Maximum number of blocks and formats around a text.
const DEPTH_MAX: usize = 16;
/// Maximum number of columns of a table.
const COLUMNS_MAX: usize = 20;
/// Signs that are escaped wherever they are text.
const ESCAPED: &str = "<$^|~#";

/// A text that is sent as one rich message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RichPart {
    /// Markdown that Telegram reads as it was meant.
    pub markdown: String,
    /// The place of its source in the text, in bytes.
    pub source: Range<usize>,
}

/// Returns Markdown as rich messages, with `head` as a first line in bold. Returns `None` if plain
/// text with entities shows the same in one message, if Telegram may read the text differently, or
/// if the text cannot be split into such messages.
pub fn rich_parts(markdown: &str, head: Option<&str>) -> Option<Vec<RichPart>> {
    let mut reader = RichReader { source: markdown, ..RichReader::default() };
    let parser = Parser::new_ext(markdown, markdown::options());
    if parser.reference_definitions().iter().next().is_some() {
        return None;
    }
    for (event, range) in parser.into_offset_iter() {
        reader.read(&event, range)?;
    }
    let is_worth_it = reader.is_structured || units(markdown) > TEXT_UNITS_MAX;
    if reader.blocks.is_empty() || !is_worth_it {
        return None;
    }
    reader.parts(&head.map(head_of).unwrap_or_default())
}

/// Returns a first line in bold, in which no character has a meaning of its own.
fn head_of(head: &str) -> String {
    let mut line = "**".to_owned();
    for c in head.chars() {
        if c.is_ascii_punctuation() {
            line.push('\\');
        }
        line.push(c);
    }
    line + "**\n\n"
}

/// A block that is in no other.
#[derive(Clone, Debug)]
struct TopBlock {
    range: Range<usize>,
    /// The number of blocks, with those in it.
    count: usize,
}

#[derive(Default)]
struct RichReader<'a> {
    source: &'a str,
    /// Places before which a backslash is put.
    escapes: Vec<usize>,
    blocks: Vec<TopBlock>,
    depth: usize,
    /// True in code and in bare addresses, whose signs mean nothing.
    is_verbatim: bool,
    /// True if the text has more than paragraphs.
    is_structured: bool,
    has_footnotes: bool,
}

impl RichReader<'_> {
    /// Reads one event. Returns nothing if Telegram may read the text differently.
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) -> Option<()> {
        match event {
            Event::Start(tag) => {
                if is_block(tag) {
                    self.begin_block(range.clone());
                    self.is_structured |= !matches!(tag, Tag::Paragraph);
                }
                self.depth += 1;
                self.is_verbatim |= is_verbatim(tag);
                self.has_footnotes |= matches!(tag, Tag::FootnoteDefinition(_));
                let is_kept = self.depth <= DEPTH_MAX && self.is_kept(tag, &self.source[range]);
                is_kept.then_some(())
            }
            Event::End(_) => {
                self.depth -= 1;
                self.is_verbatim = false;
                Some(())
            }
            Event::Text(_) => {
                if !self.is_verbatim {
                    self.escape(range);
                }
                Some(())
            }
            Event::Rule => {
                self.begin_block(range);
                self.is_structured = true;
                Some(())
            }
            Event::FootnoteReference(_) => {
                self.has_footnotes = true;
                Some(())
            }
            Event::Code(_) | Event::SoftBreak | Event::HardBreak | Event::TaskListMarker(_) => {
                Some(())
            }
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => None,
        }
    }

    fn begin_block(&mut self, range: Range<usize>) {
        match self.blocks.last_mut() {
            Some(block) if self.depth > 0 => block.count += 1,
            _ => self.blocks.push(TopBlock { range, count: 1 }),
        }
    }

    /// True if Telegram reads the element of a tag as it was meant.
    fn is_kept(&self, tag: &Tag<'_>, source: &str) -> bool {
        match tag {
            // Telegram perhaps does not read the block as code, so the block must not have
            // Telegram's tags.
            Tag::CodeBlock(CodeBlockKind::Indented) => false,
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) => {
                !language.contains('<') && (self.depth == 1 || !source.contains('<'))
            }
            Tag::Table(columns) => columns.len() <= COLUMNS_MAX,
            Tag::Link { link_type, dest_url, title, .. } => {
                let is_plain = title.is_empty() && !dest_url.contains('<');
                let is_address = matches!(link_type, LinkType::Autolink | LinkType::Inline);
                is_plain && is_address && links::is_sent(dest_url)
            }
            Tag::Image { .. } | Tag::HtmlBlock | Tag::MetadataBlock(_) => false,
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => false,
            Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::List(_)
            | Tag::Item
            | Tag::FootnoteDefinition(_)
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough => true,
        }
    }

    /// Notes the signs of a text that would mean something to Telegram alone.
    fn escape(&mut self, range: Range<usize>) {
        let bytes = self.source.as_bytes();
        let at = |place: usize| bytes.get(place).copied();
        for place in range {
            let Some(byte) = at(place) else { return };
            let is_doubled =
                || at(place + 1) == Some(byte) || (place > 0 && at(place - 1) == Some(byte));
            let has_meaning = ESCAPED.as_bytes().contains(&byte)
                || (byte == b'=' && is_doubled())
                || (byte == b'!' && at(place + 1) == Some(b'['));
            let slashes = bytes[..place].iter().rev().take_while(|byte| **byte == b'\\').count();
            if has_meaning && slashes % 2 == 0 {
                self.escapes.push(place);
            }
        }
    }

    /// Returns the messages: one, or several that are split between blocks. `None` if a block does
    /// not fit into one message, or a split would part a footnote from its text.
    fn parts(&self, head: &str) -> Option<Vec<RichPart>> {
        let end = self.source.len();
        let mut starts: Vec<usize> = self.blocks.iter().map(|block| block.range.start).collect();
        starts[0] = 0;
        let ends = starts.iter().skip(1).copied().chain([end]);
        let blocks = starts.iter().copied().zip(ends).zip(&self.blocks);
        let mut parts: Vec<RichPart> = Vec::new();
        let mut count = 0;
        for ((start, end), block) in blocks {
            let before = parts.last().map_or(0, |part| part.source.start);
            let whole = self.part(if parts.len() < 2 { head } else { "" }, before..end);
            let fits = whole.fits() && count + block.count <= BLOCKS_MAX;
            match parts.last_mut() {
                Some(last) if fits => *last = whole,
                None if fits => parts.push(whole),
                _ => {
                    let alone = self.part("", start..end);
                    if parts.is_empty() || !alone.fits() || block.count > BLOCKS_MAX {
                        return None;
                    }
                    parts.push(alone);
                    count = 0;
                }
            }
            count += block.count;
        }
        // A footnote is not drawn in another message than its text.
        (parts.len() == 1 || !self.has_footnotes).then_some(parts)
    }

    /// Returns one message.
    fn part(&self, head: &str, source: Range<usize>) -> RichPart {
        let mut markdown = head.to_owned();
        let first = self.escapes.partition_point(|place| *place < source.start);
        let mut from = source.start;
        for place in self.escapes[first..].iter().take_while(|place| **place < source.end) {
            markdown.push_str(&self.source[from..*place]);
            markdown.push('\\');
            from = *place;
        }
        markdown.push_str(&self.source[from..source.end]);
        RichPart { markdown: markdown.trim_end().to_owned(), source }
    }
}

impl RichPart {
    fn fits(&self) -> bool {
        self.markdown.chars().count() <= RICH_CHARS_MAX
    }
}

/// True if the text of a tag is drawn as it is written.
fn is_verbatim(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::CodeBlock(_) | Tag::Link { link_type: LinkType::Autolink, .. })
}

/// True if a tag begins a block.
fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::TableCell
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the Markdown of a text that is one rich message.
    fn rich(text: &str) -> Option<String> {
        let parts = rich_parts(text, None)?;
        assert_eq!(parts.len(), 1, "{parts:?}");
        Some(parts[0].markdown.clone())
    }

    #[test]
    fn structure_is_rich_and_paragraphs_are_text() {
        let structured =
            ["# Title\n\ntext", "- a\n- b", "a | b\n--|--\n1 | 2", "> quote", "```\nx\n```"];
        for text in structured {
            assert_eq!(rich(text).as_deref(), Some(text));
        }
        for text in ["", "  \n", "one\n\ntwo **three** `four`", "[a](https://example.org)"] {
            assert_eq!(rich(text), None, "{text}");
        }
        let long = "word ".repeat(1000);
        assert_eq!(rich(&long).as_deref(), Some(long.trim_end()));
    }

    #[test]
    fn signs_with_a_meaning_to_telegram_alone_are_escaped() {
        for (text, escaped) in [
            ("- $5 and $6", r"- \$5 and \$6"),
            (r"- \$5 \\$6", r"- \$5 \\\$6"),
            ("- a < b, x^2, C#", r"- a \< b, x\^2, C\#"),
            ("- a == b = c", r"- a \=\= b = c"),
            ("- a ||b|| ~c", r"- a \|\|b\|\| \~c"),
            ("- wow![x]", r"- wow\![x]"),
            ("- `$5 < ^`", "- `$5 < ^`"),
            ("```\n$5 <b>\n```", "```\n$5 <b>\n```"),
            ("- &lt;tg-map&gt;", "- &lt;tg-map&gt;"),
            ("- [a](https://example.org/~b)", "- [a](https://example.org/~b)"),
            ("- <https://example.org/~b#c>", "- <https://example.org/~b#c>"),
        ] {
            assert_eq!(rich(text).as_deref(), Some(escaped), "{text}");
        }
        let parts = rich_parts("- a", Some("Ann *B* (page):")).unwrap_or_default();
        assert_eq!(parts[0].markdown, "**Ann \\*B\\* \\(page\\)\\:**\n\n- a");
    }

    #[test]
    fn what_telegram_may_read_differently_is_not_rich() {
        let deep = "> ".repeat(17) + "x";
        let wide = format!("{}a\n{}-\n", "a|".repeat(20), "-|".repeat(20));
        for text in [
            "- ![a](https://example.org/a.png)",
            "- a <b>c</b>",
            "<tg-button>x</tg-button>\n\n- a",
            "- a <https://example.org> <!-- x -->",
            "- [a](tg://user?id=7)",
            "- [a](javascript:x)",
            "- [a](https://example.org \"<img>\")",
            "- [a][b]\n\n[b]: https://example.org",
            "- a\n\n        <img src=x>",
            "- a\n\n  ```\n  <img src=x>\n  ```",
            "```<img>\nx\n```",
            deep.as_str(),
            wide.as_str(),
        ] {
            assert_eq!(rich(text), None, "{text}");
        }
    }

    #[test]
    fn long_texts_are_split_between_blocks() {
        let block = format!("# Title\n\n{}\n\n", "word ".repeat(2000));
        let text = block.repeat(5);
        let parts = rich_parts(&text, Some("Ann:")).unwrap_or_default();
        assert!(parts.len() > 1 && parts.iter().all(RichPart::fits), "{}", parts.len());
        assert!(parts[0].markdown.starts_with("**Ann\\:**\n\n# Title"));
        let sources: String = parts.iter().map(|part| &text[part.source.clone()]).collect();
        assert_eq!(sources, text);
        let items = "- a\n\n***\n\n".repeat(200);
        let counts = rich_parts(&items, None).unwrap_or_default();
        assert!(counts.len() > 1, "{}", counts.len());
        assert_eq!(rich_parts(&format!("{text}[^1]\n\n[^1]: a"), None), None);
        assert_eq!(rich_parts(&"x".repeat(RICH_CHARS_MAX + 1), None), None);
    }
}
