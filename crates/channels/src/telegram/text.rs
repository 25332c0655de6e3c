//! Texts for Telegram: Markdown as plain text with entities, in parts of the permitted length.
//!
//! Telegram counts in UTF-16 code units. It trims texts and entities, and drops entities that are
//! nested in a way that it does not know. These functions return texts and entities that Telegram
//! does not change.
//!
//! ```
//! use moothall_channels::telegram::text::{EntityKind, TEXT_UNITS_MAX, parts};
//!
//! let parts = parts("It is **done**.", Some("Ann (page):"), TEXT_UNITS_MAX);
//! assert_eq!(parts[0].text, "Ann (page):\nIt is done.");
//! let bold = &parts[0].entities[1];
//! assert_eq!((bold.kind, bold.offset, bold.length), (EntityKind::Bold, 18, 4));
//! ```

mod links;
mod markdown;
mod rich;
mod split;
mod styled;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod properties;

use moothall_kernel::text::is_empty_looking;
use serde::Serialize;

pub use rich::{RICH_CHARS_MAX, RichPart, rich_parts};
use styled::{Span, Styled};

/// Maximum length of a message, in UTF-16 code units.
pub const TEXT_UNITS_MAX: usize = 4096;
/// Maximum number of entities of a message. Telegram ignores the others.
const ENTITIES_MAX: usize = 100;
/// Length of the longest character, in UTF-16 code units. A message with a smaller limit could not
/// hold such a character.
const CHAR_UNITS_MAX: usize = 2;

/// A text that is sent as one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Plain text, without white space at its ends.
    pub text: String,
    /// Entities in the order of their offsets, an outer one before those in it.
    pub entities: Vec<Entity>,
}

/// A stretch of a message that is drawn in its own way, in the Bot API's form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entity {
    /// The way in which the stretch is drawn.
    #[serde(rename = "type")]
    pub kind: EntityKind,
    /// Start in the text, in UTF-16 code units.
    pub offset: u32,
    /// Length in UTF-16 code units, at least 1.
    pub length: u32,
    /// Target of a [`EntityKind::TextLink`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Language of a [`EntityKind::Pre`], if the Markdown names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// The kinds of entities that Markdown can express. Kinds that notify a person are left out, so
/// that a text cannot ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// A quoted block. It holds every other kind, but not another quote.
    Blockquote,
    /// A block of code or a table. It stands alone, or in a quote.
    Pre,
    /// Code within a line. It stands alone, or in a quote.
    Code,
    /// A text with a target.
    TextLink,
    /// Strong emphasis and headings.
    Bold,
    /// Emphasis.
    Italic,
    /// Deleted text.
    Strikethrough,
}

/// Returns the length of a text in UTF-16 code units.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns Markdown as messages of at most `limit` UTF-16 code units (at least 2). `head` is a
/// first line in bold, such as `Ann (page):`. Markdown that draws nothing is sent as it was
/// written, and white space alone gives no message.
pub fn parts(markdown: &str, head: Option<&str>, limit: usize) -> Vec<Part> {
    let body = markdown::read(markdown).filter(|body| !is_empty_looking(&body.text));
    assemble(body.unwrap_or_else(|| Styled::plain(markdown)), head, true, limit)
}

/// Returns Markdown as it was written, without entities, in messages of at most `limit` UTF-16 code
/// units (at least 2). It is for a second try after Telegram refused the entities.
pub fn plain(markdown: &str, head: Option<&str>, limit: usize) -> Vec<Part> {
    assemble(Styled::plain(markdown), head, false, limit)
}

/// Returns the messages of a text under its head.
fn assemble(body: Styled, head: Option<&str>, is_styled: bool, limit: usize) -> Vec<Part> {
    if body.text.trim().is_empty() {
        return Vec::new();
    }
    let head = head.map(str::trim).filter(|head| !head.is_empty());
    let (whole, body_start) = match head {
        Some(head) => body.under(head, is_styled),
        None => (body, 0),
    };
    let limit = limit.max(CHAR_UNITS_MAX);
    let mut spans = whole.spans.iter().peekable();
    let mut open: Vec<&Span> = Vec::new();
    let part = |range: std::ops::Range<usize>| {
        while let Some(span) = spans.next_if(|span| span.range.start < range.end) {
            open.push(span);
        }
        let text = &whole.text[range.clone()];
        let entities = open.iter().filter_map(|span| span.entity(&whole.text, &range));
        let part = Part { text: text.to_owned(), entities: entities.take(ENTITIES_MAX).collect() };
        open.retain(|span| span.range.end > range.end);
        part
    };
    split::ranges(&whole, body_start, limit).into_iter().map(part).collect()
}
