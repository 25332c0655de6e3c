//! Characters whose two UTF-16 halves (surrogates) arrive in separate pieces.
//!
//! JSON may write an emoji as two escaped halves, and servers that split their text between two
//! tokens send each half in another event. A string with one half is not valid JSON.

use serde_json::Value;

/// Offset of the code points that stand for a half until the other half arrives. They lie in a
/// private-use plane, so ordinary text does not contain them.
const STANDS_FOR: u32 = 0x10_0000;

/// Parses JSON in which a string may hold half a character.
pub(super) fn parse(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok().or_else(|| serde_json::from_str(&stand_ins(json)?).ok())
}

/// Replaces each escaped half of a surrogate pair by its stand-in, if the other half does not
/// follow.
fn stand_ins(json: &str) -> Option<String> {
    let (mut done, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = rest.find('\\') {
        done.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match escaped_half(rest) {
            Some(half) if is_high(half) && escaped_half(&rest[6..]).is_some_and(is_low) => 12,
            Some(half) => {
                done.push(char::from_u32(STANDS_FOR + half)?);
                rest = &rest[6..];
                continue;
            }
            None => 1 + rest[1..].chars().next()?.len_utf8(),
        };
        done.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    Some(done + rest)
}

/// Returns the half that a text begins with, as JSON escapes it.
fn escaped_half(text: &str) -> Option<u32> {
    let half = u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    (is_high(half) || is_low(half)).then_some(half)
}

fn is_high(half: u32) -> bool {
    (0xd800..0xdc00).contains(&half)
}

fn is_low(half: u32) -> bool {
    (0xdc00..0xe000).contains(&half)
}

/// The first half of a character that waits for its second half in the next piece.
#[derive(Default)]
pub(super) struct SurrogateJoiner(Option<u32>);

impl SurrogateJoiner {
    /// Returns a piece with its characters whole. A first half at the end of the piece waits for
    /// the next piece. A half whose other half does not come becomes the replacement character.
    pub(super) fn join(&mut self, piece: &str) -> String {
        let mut joined = String::with_capacity(piece.len());
        for c in piece.chars() {
            let half = (c as u32).checked_sub(STANDS_FOR).filter(|half| *half < 0xe000);
            let whole = match (self.0.take(), half) {
                (Some(high), Some(low)) if is_low(low) => {
                    char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                }
                (before, half) => {
                    joined.extend(before.map(|_| char::REPLACEMENT_CHARACTER));
                    match half {
                        Some(high) if is_high(high) => {
                            self.0 = Some(high);
                            None
                        }
                        Some(low) if is_low(low) => Some(char::REPLACEMENT_CHARACTER),
                        _ => Some(c),
                    }
                }
            };
            joined.extend(whole);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_whole_again() {
        let text = |json: &str| parse(json).unwrap()["t"].as_str().unwrap().to_owned();
        let (first, second) = (text(r#"{"t": "a\\ud83\ud83d"}"#), text(r#"{"t": "\uDE00b"}"#));
        let mut halves = SurrogateJoiner::default();
        assert_eq!(halves.join(&first) + &halves.join(&second), "a\\ud83😀b");
        assert_eq!(text(r#"{"t": "\ud83d\ude00 \ud83d"}"#).chars().next(), Some('😀'));
    }

    #[test]
    fn a_half_without_the_other_is_marked_as_lost() {
        let text = |json: &str| parse(json).unwrap()["t"].as_str().unwrap().to_owned();
        let join = |json: &str| {
            let mut halves = SurrogateJoiner::default();
            halves.join(&text(json)) + &halves.join("!")
        };
        assert_eq!(join(r#"{"t": "a\ud83d"}"#), "a\u{fffd}!");
        assert_eq!(join(r#"{"t": "\ude00b"}"#), "\u{fffd}b!");
        assert_eq!(join(r#"{"t": "\ud83d\ud83d"}"#), "\u{fffd}\u{fffd}!");
        assert_eq!(join(r#"{"t": "x\ud83d\n"}"#), "x\u{fffd}\n!");
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for bad in
            ["", "{", "{\"t\": \"\\", "{\"t\": \"\\u", "{\"t\": \"\\ud83d", "{\"t\": \\ud83d}"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
