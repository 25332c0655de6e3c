//! Reads JSON that is incomplete.
//!
//! Programs that shorten a text may write halves of surrogate pairs, which strict readers reject,
//! and an overlong payload has lost its end. The words of a person or an agent matter more than the
//! form, so both faults are repaired before a payload is rejected.

use serde_json::Value;

/// Returns the object in a payload; `None` if it has none even after repair. `cut` is true if the
/// payload has lost its end.
pub fn object(payload: &str, cut: bool) -> Option<Value> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if !cut && let Some(value) = read(payload) {
        return Some(value);
    }
    let mended = mend(payload);
    read(&mended.text).or_else(|| mended.endings(cut).find_map(|text| read(&text)))
}

/// A payload with valid escapes only, and the brackets still open at its end.
struct RepairedJson {
    text: String,
    in_string: bool,
    open: Vec<char>,
}

impl RepairedJson {
    /// Returns candidates for the whole text, with open strings and brackets closed; none if the
    /// text is not `cut`. A name without a value gets `null`, and a trailing comma is dropped.
    fn endings(&self, cut: bool) -> impl Iterator<Item = String> + '_ {
        let closers: String = self.open.iter().rev().collect();
        let quote = if self.in_string { "\"" } else { "" };
        // Half a number or half a `null` has no meaning.
        let half = |c: char| !self.in_string && (c.is_ascii_alphanumeric() || "+-. ".contains(c));
        let text = self.text.trim_end_matches(half);
        let ends = ["", ":null", "null"].map(|end| format!("{text}{quote}{end}{closers}"));
        let comma = text.strip_suffix(',').map(|text| format!("{text}{closers}"));
        ends.into_iter().chain(comma).filter(move |_| cut)
    }
}

/// Returns a payload with halves of surrogate pairs replaced, and notes the strings and brackets
/// that its end leaves open. The text is cut before an escape that is incomplete.
fn mend(payload: &str) -> RepairedJson {
    let mut mended = RepairedJson {
        text: String::with_capacity(payload.len()),
        in_string: false,
        open: Vec::new(),
    };
    let mut rest = payload;
    while let Some(c) = rest.chars().next() {
        if mended.in_string && c == '\\' {
            let Some((escape, length)) = escape(rest) else { break };
            mended.text.push_str(escape);
            rest = &rest[length..];
            continue;
        }
        mended.turn(c);
        mended.text.push(c);
        rest = &rest[c.len_utf8()..];
    }
    mended
}

impl RepairedJson {
    /// Tracks the string or bracket that a character opens or closes.
    fn turn(&mut self, c: char) {
        match c {
            '"' => self.in_string = !self.in_string,
            '{' if !self.in_string => self.open.push('}'),
            '[' if !self.in_string => self.open.push(']'),
            '}' | ']' if !self.in_string => {
                self.open.pop();
            }
            _ => {}
        }
    }
}

/// Returns the escape at the beginning of a text, repaired, and its length in bytes; `None` if its
/// end is missing.
fn escape(text: &str) -> Option<(&str, usize)> {
    const LOST: &str = "\\ufffd";
    if !text.starts_with("\\u") {
        let second = text[1..].chars().next()?;
        let length = 1 + second.len_utf8();
        return Some((&text[..length], length));
    }
    match unit(text)? {
        0xD800..=0xDBFF => match text.get(6..).and_then(unit) {
            Some(0xDC00..=0xDFFF) => Some((&text[..12], 12)),
            _ => Some((LOST, 6)),
        },
        0xDC00..=0xDFFF => Some((LOST, 6)),
        _ => Some((&text[..6], 6)),
    }
}

/// Returns the UTF-16 unit of an escape `\uXXXX` at the beginning of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn halves_of_characters_are_replaced() {
        let read = |text: &str| object(text, false).unwrap();
        assert_eq!(read(r#"{"a": "x\ud83d"}"#), json!({"a": "x\u{fffd}"}));
        assert_eq!(read(r#"{"a": "\udc00\ud83d\ude00\n"}"#), json!({"a": "\u{fffd}😀\n"}));
        assert_eq!(read(r#"{"a": "\ud83dA\\ud83d"}"#), json!({"a": "\u{fffd}A\\ud83d"}));
    }

    #[test]
    fn what_was_cut_is_read_as_far_as_it_goes() {
        let read = |text: &str| object(text, true).unwrap();
        assert_eq!(read(r#"{"a": 1, "b": "some wor"#), json!({"a": 1, "b": "some wor"}));
        assert_eq!(
            read(r#"{"a": 1, "b": {"c": ["x", "y\"#),
            json!({"a": 1, "b": {"c": ["x", "y"]}})
        );
        assert_eq!(read(r#"{"a": 1, "b"#), json!({"a": 1, "b": null}));
        assert_eq!(read(r#"{"a": 1, "b":"#), json!({"a": 1, "b": null}));
        assert_eq!(read(r#"{"a": 1,"#), json!({"a": 1}));
        assert_eq!(read(r#"{"a": "\u12"#), json!({"a": ""}));
    }

    #[test]
    fn what_is_no_object_is_none() {
        for text in ["", "[]", "\"x\"", "{", "{\"a\": 1", "nonsense", "{\"a\": \"\\ud83"] {
            assert_eq!(object(text, false), None, "{text}");
        }
        assert_eq!(object(&"[".repeat(100_000), true), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in r#"[{}\[\]":,\\ud8c0-9a é]{0,60}"#, any in ".{0,60}", cut: bool) {
            object(&text, cut);
            object(&any, cut);
        }

        #[test]
        fn every_beginning_of_an_object_keeps_the_first_field(text in ".{0,20}", more in ".{0,20}", part in 0.0..1.0f64) {
            let first = json!({"first": text});
            let whole = json!({"first": text, "second": {"more": [more, 1, null]}}).to_string();
            let least = first.to_string().len() - 1;
            let mut end = least + ((whole.len() - least) as f64 * part) as usize;
            while !whole.is_char_boundary(end) {
                end += 1;
            }
            let read = object(&whole[..end], true);
            prop_assert_eq!(read.as_ref().and_then(|value| value.get("first")), first.get("first"), "{}", &whole[..end]);
        }
    }
}
