//! Reads Markdown into plain text with spans.

use std::ops::Range;

use moothall_kernel::text::{for_program, revealed};
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::styled::Styled;
use super::table::Table;
use super::{EntityKind, links};

/// Most quotes, lists and items around a text. Markdown that nests deeper is shown as it was typed.
const DEPTH_MAX: usize = 32;
/// Factor by which a text may be longer than its Markdown, beside [`GROWTH_BYTES`]: indents, filled
/// cells and targets that are used many times make it longer.
const GROWTH_FACTOR: usize = 4;
/// Bytes by which a text may be longer than its Markdown in any case.
const GROWTH_BYTES: usize = 4096;
/// Maximum length of the name of a language.
const LANGUAGE_CHARS_MAX: usize = 24;
/// Line that stands for a horizontal rule.
const RULE: &str = "————————";
const BULLET: &str = "• ";
const QUOTE_MARK: &str = "> ";

/// Returns Markdown as a text with spans, or nothing if it nests too deep or its text would be far
/// longer than the Markdown.
pub(super) fn read(markdown: &str) -> Option<Styled> {
    let mut reader = Reader::new(markdown);
    let bytes_max = markdown.len().saturating_mul(GROWTH_FACTOR).saturating_add(GROWTH_BYTES);
    for (event, range) in Parser::new_ext(markdown, options()).into_offset_iter() {
        reader.read(event, &range);
        if reader.containers.len() > DEPTH_MAX || reader.styled.text.len() > bytes_max {
            return None;
        }
    }
    reader.styled.sort();
    Some(reader.styled)
}

/// Returns the Markdown extensions that the page reads too, and footnotes: without them a footnote
/// of one word would be read as the target of a link, and not be shown.
pub(super) fn options() -> Options {
    Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

/// The break that is owed before the next text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Line,
    Blank,
    /// After a heading: one line break, even before a block that wants two. So a heading and its
    /// block are split from each other only if no better border fits.
    Heading,
}

/// An open block that other blocks are in.
enum Container {
    /// A quote. Only the outer one becomes an entity, which starts with the first text in it.
    Quote { is_inner: bool, start: Option<usize> },
    /// A list with the number of its next item.
    List(Option<u64>),
    /// An item, or a footnote. The marker stands before its first text.
    Item { marker: Option<String>, indent: &'static str },
}

/// An open style or link.
struct Inline {
    /// The kind of its entity. A style within the same style does not have one.
    kind: Option<EntityKind>,
    target: Option<Target>,
    /// Start of the text that does not have its entity yet.
    start: Option<usize>,
}

/// The target of a link or an image.
struct Target {
    url: String,
    /// Length of the whole text before the link.
    before: usize,
    /// True if the target is shown in parentheses, because Telegram would not open it.
    is_shown: bool,
}

/// A block whose text is collected before it is written.
enum CollectedBlock {
    Code { language: Option<String>, text: String },
    Html(String),
    Table(Table),
}

struct Reader<'a> {
    markdown: &'a str,
    styled: Styled,
    gap: Gap,
    containers: Vec<Container>,
    inlines: Vec<Inline>,
    collected: Option<CollectedBlock>,
}

impl<'a> Reader<'a> {
    fn new(markdown: &'a str) -> Self {
        Self {
            markdown,
            styled: Styled::default(),
            gap: Gap::None,
            containers: Vec::new(),
            inlines: Vec::new(),
            collected: None,
        }
    }

    /// Adds one event of the parser to the text. HTML and formulas are shown as they were typed.
    fn read(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, range),
            Event::Code(text) => self.code(&text),
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.push(&text),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]")),
            Event::SoftBreak | Event::HardBreak => self.styled.text.push('\n'),
            Event::Rule => {
                self.owe(Gap::Blank);
                self.push(RULE);
                self.owe(Gap::Line);
            }
            Event::TaskListMarker(is_done) => self.task(is_done),
        }
    }

    /// Reads the beginning of an element.
    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.owe(Gap::Blank),
            Tag::Heading { .. } => {
                self.owe(Gap::Blank);
                self.open(EntityKind::Bold);
            }
            Tag::BlockQuote(_) => {
                self.owe(Gap::Blank);
                let is_inner = self.containers.iter().any(Container::is_quote);
                self.containers.push(Container::Quote { is_inner, start: None });
            }
            Tag::CodeBlock(kind) => {
                self.owe(Gap::Blank);
                self.collected =
                    Some(CollectedBlock::Code { language: language(&kind), text: String::new() });
            }
            Tag::HtmlBlock => {
                self.owe(Gap::Blank);
                self.collected = Some(CollectedBlock::Html(String::new()));
            }
            Tag::List(number) => {
                let is_nested = self.containers.iter().any(Container::is_item);
                self.owe(if is_nested { Gap::Line } else { Gap::Blank });
                self.containers.push(Container::List(number));
            }
            Tag::Item => self.item(),
            Tag::FootnoteDefinition(name) => {
                self.owe(Gap::Blank);
                let marker = Some(format!("[{name}] "));
                self.containers.push(Container::Item { marker, indent: "  " });
            }
            Tag::Table(alignments) => {
                self.owe(Gap::Blank);
                self.collected = Some(CollectedBlock::Table(Table::new(&alignments)));
            }
            Tag::TableHead | Tag::TableRow => self.table(Table::begin_row),
            Tag::TableCell => self.table(Table::begin_cell),
            Tag::Emphasis => self.open(EntityKind::Italic),
            Tag::Strong => self.open(EntityKind::Bold),
            Tag::Strikethrough => self.open(EntityKind::Strikethrough),
            Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. } => {
                let is_address = matches!(link_type, LinkType::Autolink | LinkType::Email);
                self.open_link(dest_url.into_string(), is_address);
            }
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    /// Reads the end of an element.
    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.close(),
            TagEnd::Link | TagEnd::Image => self.close_link(),
            TagEnd::Heading(_) => {
                self.close();
                self.owe(Gap::Heading);
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Table => {
                self.release();
                self.owe(Gap::Line);
            }
            TagEnd::Item | TagEnd::FootnoteDefinition => {
                if self.containers.last().is_some_and(Container::is_empty_item) {
                    self.begin(true);
                }
                self.containers.pop();
                self.owe(Gap::Line);
            }
            TagEnd::BlockQuote(_) => {
                let quote = self.containers.pop();
                if let Some(Container::Quote { is_inner: false, start: Some(start) }) = quote {
                    let range = start..self.styled.text.len();
                    self.styled.mark(EntityKind::Blockquote, range, None);
                }
                self.owe(Gap::Line);
            }
            TagEnd::List(_) => {
                self.containers.pop();
                self.owe(Gap::Line);
            }
            TagEnd::Paragraph => self.owe(Gap::Line),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Begins an item under the number of its list.
    fn item(&mut self) {
        self.owe(Gap::Line);
        let (marker, indent) = match self.containers.last_mut() {
            Some(Container::List(Some(number))) => {
                let marker = format!("{number}. ");
                *number += 1;
                (marker, "   ")
            }
            _ => (BULLET.to_owned(), "  "),
        };
        self.containers.push(Container::Item { marker: Some(marker), indent });
    }

    /// Puts a box before the text of an item. It takes the place of a bullet.
    fn task(&mut self, is_done: bool) {
        let sign = if is_done { "☑ " } else { "☐ " };
        if let Some(Container::Item { marker: Some(marker), .. }) = self.containers.last_mut() {
            if marker == BULLET {
                marker.clear();
            }
            marker.push_str(sign);
        }
    }

    fn table(&mut self, change: impl FnOnce(&mut Table)) {
        if let Some(CollectedBlock::Table(table)) = &mut self.collected {
            change(table);
        }
    }

    /// Opens a style. A style within the same style adds nothing, and collected blocks are drawn
    /// without styles.
    fn open(&mut self, kind: EntityKind) {
        let is_drawn = self.collected.is_none() && !self.is_open(kind);
        self.inlines.push(Inline { kind: is_drawn.then_some(kind), target: None, start: None });
    }

    fn is_open(&self, kind: EntityKind) -> bool {
        self.inlines.iter().any(|inline| inline.kind == Some(kind))
    }

    /// Opens a link. An image in a link is a part of its text.
    fn open_link(&mut self, url: String, is_address: bool) {
        if self.collected.is_none() {
            self.begin(true);
        }
        let is_inner = self.inlines.iter().any(|inline| inline.target.is_some());
        let is_drawn = self.collected.is_none() && !is_inner && links::is_sent(&url);
        let is_shown = !is_drawn && !is_inner && !is_address && !url.is_empty();
        let target = Some(Target { url, before: self.styled.text.len(), is_shown });
        let kind = is_drawn.then_some(EntityKind::TextLink);
        self.inlines.push(Inline { kind, target, start: None });
    }

    /// Closes the innermost style or link.
    fn close(&mut self) {
        let end = self.styled.text.len();
        if let Some(Inline { kind: Some(kind), target, start: Some(start) }) = self.inlines.pop() {
            self.styled.mark(kind, start..end, target.map(|target| target.url));
        }
    }

    /// Closes the innermost link. A link without a text shows its target. A target that Telegram
    /// would not open is shown in parentheses after the text.
    fn close_link(&mut self) {
        let Some(target) = self.inlines.last().and_then(|inline| inline.target.as_ref()) else {
            return;
        };
        let (url, is_in_text) = (revealed(&target.url), self.collected.is_none());
        let text = self.styled.text.get(target.before..).unwrap_or_default();
        let (is_bare, is_said) = (is_in_text && text.is_empty(), is_in_text && text == url);
        let is_shown = target.is_shown && !is_bare && !is_said;
        if is_bare {
            self.push(&url);
        }
        self.close();
        if is_shown {
            self.push(&format!(" ({url})"));
        }
    }

    /// Adds text. A character reference stays as it was typed if it would draw nothing or reorder
    /// the text: the check of the message's characters has seen only the reference.
    fn text(&mut self, text: &str, range: &Range<usize>) {
        let source = self.markdown.get(range.clone()).unwrap_or(text);
        let is_reference = source.starts_with('&') && source != text;
        let is_hidden = is_reference && (text.contains('\n') || for_program(text) != text);
        self.push(if is_hidden { source } else { text });
    }

    /// Adds code. Telegram does not draw code within a style or a link, so the styles around it end
    /// before it and begin anew after it, and a link stays whole.
    fn code(&mut self, text: &str) {
        if self.collected.is_some() || self.is_open(EntityKind::TextLink) {
            return self.push(text);
        }
        self.begin(true);
        let start = self.styled.text.len();
        for inline in &mut self.inlines {
            if let (Some(kind), Some(styled)) = (inline.kind, inline.start.take()) {
                self.styled.mark(kind, styled..start, None);
            }
        }
        self.styled.text.push_str(text);
        self.styled.mark(EntityKind::Code, start..self.styled.text.len(), None);
    }

    /// Adds text to the block that is collected, or writes it.
    fn push(&mut self, text: &str) {
        match &mut self.collected {
            Some(
                CollectedBlock::Code { text: collected, .. } | CollectedBlock::Html(collected),
            ) => collected.push_str(text),
            Some(CollectedBlock::Table(table)) => table.push(text),
            None => self.write(text),
        }
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.begin(true);
        let start = self.styled.text.len();
        for inline in &mut self.inlines {
            inline.start.get_or_insert(start);
        }
        self.styled.text.push_str(text);
    }

    /// Writes the block that was collected.
    fn release(&mut self) {
        match self.collected.take() {
            Some(CollectedBlock::Code { language, text }) => self.write_pre(&text, language),
            Some(CollectedBlock::Table(table)) => self.write_pre(&table.lines(), None),
            Some(CollectedBlock::Html(text)) => {
                for (number, line) in text.trim_end().lines().enumerate() {
                    if number > 0 {
                        self.styled.text.push('\n');
                    }
                    self.write(line);
                }
            }
            None => {}
        }
    }

    /// Writes lines that are drawn as they are. They are not indented: the indent would be a part
    /// of the code.
    fn write_pre(&mut self, text: &str, language: Option<String>) {
        let text = text.trim_end().replace('\r', "");
        if text.is_empty() {
            return;
        }
        self.begin(false);
        if !self.is_at_line_start() {
            self.styled.text.push('\n');
        }
        let start = self.styled.text.len();
        self.styled.text.push_str(&text);
        self.styled.mark(EntityKind::Pre, start..self.styled.text.len(), language);
    }

    /// Notes the break that the next text needs; of several, the largest counts. There is none
    /// between the marker of an item and the item's first block.
    fn owe(&mut self, gap: Gap) {
        let item = self.containers.iter().rev().find(|container| container.is_item());
        if !item.is_some_and(Container::is_empty_item) {
            self.gap = self.gap.max(gap);
        }
    }

    /// Writes the break that is owed, and the beginning of a line: the markers of items and inner
    /// quotes, or their indents.
    fn begin(&mut self, is_indented: bool) {
        self.break_line();
        let is_at_start = is_indented && self.is_at_line_start();
        let text = &mut self.styled.text;
        for container in &mut self.containers {
            match container {
                Container::Quote { is_inner, start } => {
                    start.get_or_insert(text.len());
                    text.push_str(if *is_inner && is_at_start { QUOTE_MARK } else { "" });
                }
                Container::Item { marker, indent } => match marker.take() {
                    Some(marker) => text.push_str(&marker),
                    None => text.push_str(if is_at_start { indent } else { "" }),
                },
                Container::List(_) => {}
            }
        }
    }

    fn break_line(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.styled.text.is_empty() {
            return;
        }
        self.styled.text.push_str(match gap {
            Gap::None => "",
            Gap::Line | Gap::Heading => "\n",
            Gap::Blank => "\n\n",
        });
    }

    fn is_at_line_start(&self) -> bool {
        self.styled.text.is_empty() || self.styled.text.ends_with('\n')
    }
}

impl Container {
    fn is_quote(&self) -> bool {
        matches!(self, Self::Quote { .. })
    }

    fn is_item(&self) -> bool {
        matches!(self, Self::Item { .. })
    }

    /// True for an item without a text so far.
    fn is_empty_item(&self) -> bool {
        matches!(self, Self::Item { marker: Some(_), .. })
    }
}

/// Returns the name of the language of a block of code.
fn language(kind: &CodeBlockKind<'_>) -> Option<String> {
    let CodeBlockKind::Fenced(info) = kind else { return None };
    let word = info.split_whitespace().next()?;
    let is_kept = |c: &char| c.is_ascii_alphanumeric() || "_+#.-".contains(*c);
    let name: String = word.chars().filter(is_kept).take(LANGUAGE_CHARS_MAX).collect();
    (!name.is_empty()).then_some(name)
}
