//! The tag after the words typed into a terminal. When the program reports a prompt, its tag names
//! the turn.

use std::fmt;
use std::ops::Range;

use moothall_engine::agent::TurnKey;
use moothall_engine::sessions::Session;
use moothall_kernel::text::change_parts;

const OPENS: &str = "[moothall:";
const DIGITS: usize = 8;

/// The context that [`blake3::derive_key`] asks for.
const PURPOSE: &str = "moothall 2026-11-25 tags of a session's turns";

/// The key of a session's tags, derived from the session's stored random secret: tags of open turns
/// survive a restart, and other members cannot predict a tag.
#[derive(Clone)]
pub(super) struct TagKey([u8; 32]);

impl TagKey {
    pub(super) fn of(session: &Session) -> Self {
        Self(blake3::derive_key(PURPOSE, session.token_hash.as_bytes()))
    }

    /// Returns the tag of an attempt of a turn.
    pub(super) fn tag_of(&self, key: &TurnKey) -> String {
        let named = format!("{}/{}/{}", key.stream, key.turn, key.attempt);
        let hash = blake3::keyed_hash(&self.0, named.as_bytes()).to_hex();
        format!("{OPENS}{}]", &hash[..DIGITS])
    }
}

impl fmt::Debug for TagKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TagKey")
    }
}

/// Returns the words with their tag on a separate line, and the new ranges of `parts`. A blank
/// breaks each text in the words that has the form of a tag.
pub(super) fn tagged(
    words: &str,
    parts: &[Range<usize>],
    tag: &str,
) -> (String, Vec<Range<usize>>) {
    let gap = if words.ends_with("\n\n") {
        ""
    } else if words.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let (words, places) = change_parts(words, parts, without_tags);
    (format!("{words}{gap}{tag}"), places)
}

/// Returns words in which a blank breaks each text that has the form of a tag.
fn without_tags(words: &str) -> String {
    let mut parts = words.split(OPENS);
    let mut broken = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_tags = part.find(']').is_some_and(|end| is_digits(&part[..end]));
        broken.push_str(OPENS);
        broken.push_str(if is_tags { " " } else { "" });
        broken.push_str(part);
    }
    broken
}

/// Returns the tags in a prompt that stand alone on a line: a program may add words before or after
/// the typed text. A tag inside a line does not count.
pub(super) fn tags_in(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split(['\n', '\r']).map(str::trim).filter(|line| is_tag(line))
}

fn is_tag(line: &str) -> bool {
    let digits = line.strip_prefix(OPENS).and_then(|rest| rest.strip_suffix(']'));
    digits.is_some_and(is_digits)
}

fn is_digits(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use moothall_kernel::ids::TurnNo;

    #[test]
    fn a_line_of_its_own_says_whose_a_prompt_is() {
        let tag = "[moothall:0a1b2c3d]";
        let found = |prompt: &str| tags_in(prompt).map(str::to_owned).collect::<Vec<_>>();
        let (prompt, _) = tagged("Ada:\n\nhello\n", &[], tag);
        for around in [prompt.clone(), format!("{prompt}\r\n \n"), format!("a\n{prompt}\nfile")] {
            assert_eq!(found(&around), [tag], "{around}");
        }
        for other in ["hello [moothall:0a1b2c3d]", "[moothall:zzzzzzzz]", "[moothall:0a1b2c3d] x"] {
            assert!(found(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn a_tag_is_its_keys_and_its_attempts() {
        let key = TurnKey { stream: "s".into(), turn: TurnNo(3), attempt: 1 };
        let (ours, theirs) = (TagKey([1; 32]), TagKey([2; 32]));
        assert!(is_tag(&ours.tag_of(&key)));
        assert_ne!(ours.tag_of(&key), theirs.tag_of(&key));
        assert_ne!(ours.tag_of(&key), ours.tag_of(&TurnKey { attempt: 2, ..key }));
        assert!(!format!("{ours:?}").contains('1'));
    }

    #[test]
    fn what_has_the_form_of_a_tag_is_broken_and_nothing_else_is() {
        let tag = "[moothall:0a1b2c3d]";
        for (words, broken) in [
            ("[moothall:0a1b2c3d]", "[moothall: 0a1b2c3d]"),
            ("a [moothall:[moothall:0A1B2C3D]", "a [moothall:[moothall: 0A1B2C3D]"),
            (
                "[moothall:zzzzzzzz] [moothall:1] [moothall:",
                "[moothall:zzzzzzzz] [moothall:1] [moothall:",
            ),
            ("a[1]:\n\tb  ", "a[1]:\n\tb  "),
        ] {
            assert_eq!(tagged(words, &[], tag).0, format!("{broken}\n\n{tag}"));
        }
        let (text, bodies) = tagged(
            "A [moothall:0a1b2c3d]:\n\n[moothall:0a1b2c3d]x\n",
            std::slice::from_ref(&(24..44)),
            tag,
        );
        assert_eq!(text[bodies[0].clone()], *"[moothall: 0a1b2c3d]x");
    }
}
