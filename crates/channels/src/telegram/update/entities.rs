//! The entities of a text. Telegram counts in UTF-16 units; here they are byte ranges.

use std::ops::Range;

use serde_json::Value;

/// A part of a text with a meaning of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEntity {
    /// Meaning of the part.
    pub kind: TextEntityKind,
    /// Byte range in the text.
    pub range: Range<usize>,
}

/// The meanings of parts of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextEntityKind {
    /// `@username`.
    Mention,
    /// The name of an account without a username, with the id of the account.
    TextMention(i64),
    /// `/command` or `/command@bot`.
    Command,
    /// An address.
    Url,
    /// Words that open an address.
    Link(String),
    /// Anything else, such as `bold`, by Telegram's word.
    Other(String),
}

/// Reads the entities of a text. Those that are not within the text, or that begin or end inside a
/// character, are left out.
pub(super) fn read(text: &str, entities: &Value) -> Vec<TextEntity> {
    let borders = borders(text);
    let border = |units: usize| borders.get(units).copied().flatten();
    let entity = |value: &Value| {
        let units = |name: &str| usize::try_from(value[name].as_u64()?).ok();
        let (offset, length) = (units("offset")?, units("length")?);
        let range = border(offset)?..border(offset.checked_add(length)?)?;
        (length > 0).then(|| TextEntity { kind: TextEntityKind::read(value), range })
    };
    entities.as_array().into_iter().flatten().filter_map(entity).collect()
}

/// Returns the byte offset of each UTF-16 unit of a text and of its end; `None` for the second unit
/// of a character.
fn borders(text: &str) -> Vec<Option<usize>> {
    let mut borders = Vec::with_capacity(text.len() + 1);
    for (at, letter) in text.char_indices() {
        borders.push(Some(at));
        if letter.len_utf16() == 2 {
            borders.push(None);
        }
    }
    borders.push(Some(text.len()));
    borders
}

impl TextEntityKind {
    fn read(value: &Value) -> Self {
        let word = value["type"].as_str().unwrap_or_default();
        let (account, url) = (value["user"]["id"].as_i64(), value["url"].as_str());
        match (word, account, url) {
            ("mention", ..) => TextEntityKind::Mention,
            ("text_mention", Some(id), _) => TextEntityKind::TextMention(id),
            ("bot_command", ..) => TextEntityKind::Command,
            ("url", ..) => TextEntityKind::Url,
            ("text_link", _, Some(url)) => TextEntityKind::Link(url.to_owned()),
            _ => TextEntityKind::Other(word.to_owned()),
        }
    }
}
