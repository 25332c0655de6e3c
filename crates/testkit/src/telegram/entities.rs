//! Entities: found in the words of people, and checked in the texts of bots. All offsets are in
//! UTF-16 code units.

use serde_json::{Value, json};

use super::refusal::Refusal;

/// Entities of a message beyond these are dropped by the service.
const ENTITIES_MAX: usize = 100;
/// Kinds that may contain others and be contained in others.
const STYLES: [&str; 5] = ["bold", "italic", "underline", "strikethrough", "spoiler"];
const QUOTES: [&str; 2] = ["blockquote", "expandable_blockquote"];
/// Kinds that contain no other and are contained in quotes only.
const ALONE: [&str; 12] = [
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "text_link",
    "text_mention",
    "custom_emoji",
    "date_time",
    "code",
];

/// Returns the length of a text in UTF-16 code units.
pub(super) fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A command at the beginning of an entity.
#[derive(Clone, Copy)]
pub(super) struct CommandName<'a> {
    pub(super) addressee: Option<&'a str>,
}

/// Returns the first command of a text.
pub(super) fn command<'a>(text: &'a str, entities: &[Value]) -> Option<CommandName<'a>> {
    let entity = entities.iter().find(|entity| entity["type"] == "bot_command")?;
    let words = slice(text, entity)?;
    Some(CommandName { addressee: words.split_once('@').map(|(_, name)| name) })
}

/// Returns the part of a text that an entity covers.
pub(super) fn slice<'a>(text: &'a str, entity: &Value) -> Option<&'a str> {
    let (start, end) = range(entity)?;
    text.get(byte_at(text, start)?..byte_at(text, end)?)
}

/// Returns the first and the last offset of an entity.
fn range(entity: &Value) -> Option<(usize, usize)> {
    let number = |field: &str| usize::try_from(entity.get(field)?.as_i64()?).ok();
    let start = number("offset")?;
    Some((start, start.checked_add(number("length")?)?))
}

/// Returns the place in bytes of an offset; `None` in the middle of a character or past the end.
fn byte_at(text: &str, offset: usize) -> Option<usize> {
    let mut units = 0;
    for (place, letter) in text.char_indices() {
        if units == offset {
            return Some(place);
        }
        units += letter.len_utf16();
    }
    (units == offset).then_some(text.len())
}

/// Returns an entity over the first occurrence of some words.
pub(super) fn over(text: &str, words: &str, kind: &str) -> Option<Value> {
    let place = text.find(words)?;
    Some(json!({"type": kind, "offset": utf16(&text[..place]), "length": utf16(words)}))
}

/// Finds the mentions, commands and links in the words of a person.
pub(super) fn find(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(letter) = rest.chars().next() {
        let hit =
            link(rest, before).or_else(|| mention(rest, before)).or_else(|| slash(rest, before));
        let length = hit.map_or(letter.len_utf8(), |(_, length)| length);
        if let Some((kind, length)) = hit {
            let offset = utf16(&text[..text.len() - rest.len()]);
            found.push(json!({"type": kind, "offset": offset, "length": utf16(&rest[..length])}));
        }
        before = rest[..length].chars().last();
        rest = &rest[length..];
    }
    found
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the number of leading letters that usernames and commands are made of.
fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn mention(rest: &str, before: Option<char>) -> Option<(&'static str, usize)> {
    let length = name_length(rest.strip_prefix('@')?);
    let ends = !rest[1 + length..].starts_with(is_word);
    let is_free = !before.is_some_and(is_word);
    (is_free && ends && (4..=32).contains(&length)).then_some(("mention", 1 + length))
}

fn slash(rest: &str, before: Option<char>) -> Option<(&'static str, usize)> {
    let length = name_length(rest.strip_prefix('/')?);
    let is_barrier = |letter: char| is_word(letter) || ['/', '<', '>'].contains(&letter);
    if !(1..=64).contains(&length) || before.is_some_and(is_barrier) {
        return None;
    }
    let mut end = 1 + length;
    if let Some(name) = rest[end..].strip_prefix('@') {
        let length = name_length(name);
        end += if (3..=32).contains(&length) { 1 + length } else { 0 };
    }
    (!rest[end..].starts_with(is_barrier)).then_some(("bot_command", end))
}

fn link(rest: &str, before: Option<char>) -> Option<(&'static str, usize)> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| rest.starts_with(scheme))?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    (!before.is_some_and(is_word) && end > scheme.len()).then_some(("url", end))
}

/// Checks the entities of a bot's text and returns the text and entities that the service keeps:
/// without white space at the ends.
pub(super) fn check(text: &str, entities: &[Value]) -> Result<(String, Vec<Value>), Refusal> {
    let mut ranges = Vec::new();
    for entity in entities {
        ranges.push(check_one(text, entity)?);
    }
    for (place, first) in ranges.iter().enumerate() {
        ranges.iter().skip(place + 1).try_for_each(|second| check_pair(first, second))?;
    }
    Ok(trim(text, entities))
}

/// An entity's kind and its offsets.
type Span<'a> = (&'a str, usize, usize);

fn check_one<'a>(text: &str, entity: &'a Value) -> Result<Span<'a>, Refusal> {
    let kind = entity["type"].as_str().unwrap_or_default();
    let is_known =
        STYLES.contains(&kind) || QUOTES.contains(&kind) || ALONE.contains(&kind) || kind == "pre";
    if !is_known {
        return Err(Refusal::bad("can't parse entities: unsupported entity type"));
    }
    let needed = match kind {
        "text_link" => "url",
        "text_mention" => "user",
        "custom_emoji" => "custom_emoji_id",
        _ => "type",
    };
    if entity.get(needed).is_none() {
        return Err(Refusal::bad(&format!("can't parse entities: {kind} without {needed}")));
    }
    let Some((start, end)) = range(entity).filter(|(start, end)| start < end) else {
        return Err(Refusal::bad("can't parse entities: entity has a bad offset or length"));
    };
    let last = utf16(text);
    if end > last {
        return Err(Refusal::bad(&format!(
            "entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {last}"
        )));
    }
    if byte_at(text, start).is_none() || byte_at(text, end).is_none() {
        return Err(Refusal::bad(&format!(
            "entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at UTF-16 offset {end}"
        )));
    }
    Ok((kind, start, end))
}

/// Refuses entities that overlap in part, and nestings that the service does not have.
fn check_pair(first: &Span<'_>, second: &Span<'_>) -> Result<(), Refusal> {
    if first.2 <= second.1 || second.2 <= first.1 {
        return Ok(());
    }
    let contains = |outer: &Span<'_>, inner: &Span<'_>| outer.1 <= inner.1 && inner.2 <= outer.2;
    if !contains(first, second) && !contains(second, first) {
        return Err(Refusal::bad("can't parse entities: entities overlap in part"));
    }
    let is_style = |span: &Span<'_>| STYLES.contains(&span.0);
    let is_quote = |span: &Span<'_>| QUOTES.contains(&span.0);
    let is_block = |span: &Span<'_>| ["pre", "code"].contains(&span.0);
    let fits = if is_block(first) || is_block(second) {
        is_quote(first) && contains(first, second) || is_quote(second) && contains(second, first)
    } else if is_quote(first) && is_quote(second) {
        false
    } else {
        is_style(first) || is_style(second) || is_quote(first) || is_quote(second)
    };
    if fits {
        return Ok(());
    }
    Err(Refusal::bad(&format!("can't parse entities: {} and {} are nested", first.0, second.0)))
}

/// Removes white space at the ends of a text, moves its entities and drops what is left empty.
fn trim(text: &str, entities: &[Value]) -> (String, Vec<Value>) {
    let trimmed = text.trim();
    let removed = utf16(text) - utf16(text.trim_start());
    let last = utf16(trimmed);
    let moved = entities.iter().filter_map(|entity| {
        let (start, end) = range(entity)?;
        let start = start.saturating_sub(removed);
        let end = end.saturating_sub(removed).min(last);
        let mut entity = entity.clone();
        entity["offset"] = start.into();
        entity["length"] = end.checked_sub(start).filter(|length| *length > 0)?.into();
        Some(entity)
    });
    (trimmed.to_owned(), moved.take(ENTITIES_MAX).collect())
}
