//! Which ids and nicknames are allowed, and which look alike.

use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton as unicode_skeleton;

use crate::text::is_deceptive;

/// Longest participant id, in characters.
pub const ID_CHARS_MAX: usize = 64;
/// Longest nickname, in characters.
pub const NICKNAME_CHARS_MAX: usize = 64;

/// Names that mean everyone, or someone else; nobody may be called so. (Ruling 6.)
const RESERVED: [&str; 6] = ["all", "everyone", "here", "user", "system", "moothall"];

/// Mentions of these are answered with a hint. (Ruling 15.)
pub const BROADCAST: [&str; 3] = ["all", "everyone", "here"];

/// Why a name was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// Nothing is left of it.
    Empty,
    /// It is longer than allowed.
    TooLong,
    /// It holds a character that is not allowed.
    Character(char),
    /// It means someone else.
    Reserved,
}

impl NameFault {
    /// What is wrong, as the end of a sentence that begins with the name.
    pub fn explain(self) -> String {
        match self {
            NameFault::Empty => "is empty".into(),
            NameFault::TooLong => format!("is longer than {ID_CHARS_MAX} characters"),
            NameFault::Character(c) => format!("holds {:?}, which is not allowed", c),
            NameFault::Reserved => "is reserved".into(),
        }
    }
}

/// Checks a participant id: 1 to 64 of `[A-Za-z0-9._:-]`, not reserved.
pub fn check_id(id: &str) -> Result<(), NameFault> {
    if id.is_empty() {
        return Err(NameFault::Empty);
    }
    if let Some(bad) = id.chars().find(|c| !(c.is_ascii_alphanumeric() || "._:-".contains(*c))) {
        return Err(NameFault::Character(bad));
    }
    if id.len() > ID_CHARS_MAX {
        return Err(NameFault::TooLong);
    }
    check_reserved(id)
}

/// Normalises a nickname (NFC, single spaces) and checks it.
pub fn nickname(given: &str) -> Result<String, NameFault> {
    let composed: String = given.nfc().collect();
    let name = composed.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        return Err(NameFault::Empty);
    }
    if name.chars().count() > NICKNAME_CHARS_MAX {
        return Err(NameFault::TooLong);
    }
    if let Some(bad) = name.chars().find(|c| !is_name_char(*c)) {
        return Err(NameFault::Character(bad));
    }
    check_reserved(&name)?;
    Ok(name)
}

fn is_name_char(c: char) -> bool {
    !(c.is_control() || is_deceptive(c) || "@[]".contains(c))
}

fn check_reserved(name: &str) -> Result<(), NameFault> {
    let folded = skeleton(name);
    if RESERVED.iter().any(|word| skeleton(word) == folded) { Err(NameFault::Reserved) } else { Ok(()) }
}

/// Two names with the same skeleton look alike to a reader (UTS 39, without regard to case).
///
/// Foreign letters are replaced by what they look like before case is folded: a Cyrillic capital can look like a Latin one
/// whose small letters look nothing alike.
pub fn skeleton(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    // Marks that stand in another order are the same name, so they are put into theirs first.
    for c in name.nfd() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
        } else {
            folded.extend(unicode_skeleton(c.encode_utf8(&mut [0; 4])).flat_map(char::to_lowercase));
        }
    }
    unicode_skeleton(&folded).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain() {
        assert_eq!(check_id("codex-2.b:1_x"), Ok(()));
        for bad in ["", "../../x", "%2e%2e", "a/b", "a\0", "é", "All", &"x".repeat(65)] {
            assert!(check_id(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn nicknames_are_normalised_or_refused() {
        assert_eq!(nickname("  Ann   Lee "), Ok("Ann Lee".into()));
        assert_eq!(nickname("e\u{301}").as_deref(), Ok("é"));
        for bad in ["a\u{202e}b", "a\u{200b}b", "x\u{e0041}", " \n ", "@", "everyone", "Мoothall"] {
            assert!(nickname(bad).is_err(), "{bad:?}");
        }
        assert_eq!(nickname(&"👩\u{200d}👧".repeat(200)), Err(NameFault::TooLong));
    }

    #[test]
    fn look_alikes_share_a_skeleton() {
        assert_eq!(skeleton("Alice"), skeleton("Аlice"));
        assert_eq!(skeleton("alice"), skeleton("ALICE"));
        assert_ne!(skeleton("alice"), skeleton("alina"));
        assert_eq!(skeleton("a\u{10a38}\u{5b9}"), skeleton("a\u{5b9}\u{10a38}"), "marks in another order");
    }
}
