//! A whole text with the stretches that become entities, before it is split.

use std::cmp::Reverse;
use std::ops::Range;

use super::{Entity, EntityKind, units};

/// A text with its spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Styled {
    pub text: String,
    /// Spans in the order of their starts, an outer one before those in it.
    pub spans: Vec<Span>,
}

/// A stretch of a text that is drawn in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub kind: EntityKind,
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Target of a link, or language of code.
    pub argument: Option<String>,
}

impl Styled {
    /// Returns a text without spans.
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), spans: Vec::new() }
    }

    /// Adds a span, unless it is empty.
    pub fn mark(&mut self, kind: EntityKind, range: Range<usize>, argument: Option<String>) {
        if !range.is_empty() {
            self.spans.push(Span { kind, range, argument });
        }
    }

    /// Puts the spans in their order.
    pub fn sort(&mut self) {
        self.spans.sort_by_key(|span| (span.range.start, Reverse(span.range.end), span.kind));
    }

    /// Returns the text under a first line, and the start of the text after that line.
    pub fn under(self, head: &str, is_bold: bool) -> (Self, usize) {
        let start = head.len() + 1;
        let mut whole = Self { text: format!("{head}\n{}", self.text), spans: Vec::new() };
        if is_bold {
            whole.mark(EntityKind::Bold, 0..head.len(), None);
        }
        whole.spans.extend(self.spans.into_iter().map(|mut span| {
            span.range = span.range.start + start..span.range.end + start;
            span
        }));
        (whole, start)
    }
}

impl Span {
    /// Returns the entity of this span in a part of the text, if the part shows any of it. An
    /// entity does not end in white space, because Telegram would trim it.
    pub fn entity(&self, text: &str, part: &Range<usize>) -> Option<Entity> {
        let start = self.range.start.max(part.start);
        let shown = text.get(start..self.range.end.min(part.end))?.trim_end();
        if shown.is_empty() {
            return None;
        }
        let is_link = self.kind == EntityKind::TextLink;
        Some(Entity {
            kind: self.kind,
            offset: u32::try_from(units(&text[part.start..start])).ok()?,
            length: u32::try_from(units(shown)).ok()?,
            url: self.argument.clone().filter(|_| is_link),
            language: self.argument.clone().filter(|_| !is_link),
        })
    }
}
