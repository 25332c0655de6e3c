//! Names for values that differ in every run: ids, times, keys, cursors.

use std::collections::BTreeMap;

use serde_json::Value;

/// Length of a UUID.
const ID_LEN: usize = 36;
/// Length of a time as the server writes it.
const TIME_LEN: usize = 24;
/// Number of repeated letters from which on only the number is shown.
const LONG: usize = 100;

/// The names of the values so far.
#[derive(Default)]
pub struct Names {
    /// Names by value.
    known: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Names {
    /// Gives a value a fixed name.
    pub fn give(&mut self, raw: &str, name: &str) {
        self.known.insert(raw.to_owned(), format!("<{name}>"));
    }

    /// Names the values in a frame according to their keys.
    pub fn learn(&mut self, frame: &Value) {
        self.walk("", "", frame);
    }

    fn walk(&mut self, above: &str, key: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| self.walk(key, name, value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(above, key, item)),
            Value::String(text) => {
                if let Some(kind) = kind(above, key, text) {
                    self.name(text, kind);
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, raw: &str, kind: &'static str) {
        if self.known.contains_key(raw) {
            return;
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        self.known.insert(raw.to_owned(), format!("<{kind} {count}>"));
    }

    /// Replaces values in a text with their names.
    pub fn hide(&mut self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(letter) = rest.chars().next() {
            let known = self.known.iter().find(|(raw, _)| rest.starts_with(raw.as_str()));
            let (len, shown) = if let Some((raw, name)) = known {
                (raw.len(), name.clone())
            } else if rest.get(..ID_LEN).is_some_and(is_id) {
                self.name(&rest[..ID_LEN], "id");
                continue;
            } else if rest.get(..TIME_LEN).is_some_and(is_time) {
                (TIME_LEN, "<time>".to_owned())
            } else if let Some(len) = long(rest) {
                (len, format!("<text {len}>"))
            } else if let Some(number) = rest.strip_prefix("\"retryAfterMs\":") {
                let digits = number.chars().take_while(char::is_ascii_digit).count();
                (rest.len() - number.len() + digits, "\"retryAfterMs\":<ms>".to_owned())
            } else {
                (letter.len_utf8(), letter.to_string())
            };
            out.push_str(&shown);
            rest = &rest[len..];
        }
        out
    }

    /// Replaces names in a text with their values.
    pub fn show(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (raw, name) in &self.known {
            out = out.replace(name, raw);
        }
        while let Some((before, number, after)) = between(&out, "<text ", ">") {
            out = format!("{before}{}{after}", "a".repeat(number));
        }
        while let Some((before, number, after)) = between(&out, "<strangers ", ">") {
            let id = |one: usize| format!("\"99999999-9999-4999-8999-{one:012}\"");
            let ids: Vec<_> = (0..number).map(id).collect();
            out = format!("{before}{}{after}", ids.join(","));
        }
        while let Some((before, number, after)) = between(&out, "<parts ", ">") {
            let parts = vec![r#"{"type":"text","text":"a"}"#; number];
            out = format!("{before}{}{after}", parts.join(","));
        }
        out
    }
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<(&'a str, usize, &'a str)> {
    let (before, rest) = text.split_once(begin)?;
    let (number, after) = rest.split_once(end)?;
    Some((before, number.parse().ok()?, after))
}

/// Returns the kind of a value, from its key, the key above and its text.
fn kind(above: &str, key: &str, text: &str) -> Option<&'static str> {
    if matches!(key, "nextCursor") {
        return Some("cursor");
    }
    if !is_id(text) {
        return None;
    }
    Some(match (above, key) {
        (_, "taskId") | ("task" | "tasks", "id") => "task",
        (_, "conversationId") | ("conversation", "id") => "conversation",
        (_, "messageId" | "replyToId") | ("message" | "messages", "id") => "message",
        (_, "appId") => "app",
        _ => return None,
    })
}

fn is_id(text: &str) -> bool {
    let hyphen = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    text.len() == ID_LEN
        && text.bytes().enumerate().all(|(at, byte)| match hyphen(at) {
            true => byte == b'-',
            false => byte.is_ascii_hexdigit(),
        })
}

fn is_time(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    })
}

/// Returns the number of letters `a` at the beginning of a text, if it is large.
fn long(text: &str) -> Option<usize> {
    let count = text.bytes().take_while(|byte| *byte == b'a').count();
    Some(count).filter(|count| *count >= LONG)
}
