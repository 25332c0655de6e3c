//! Checks ids and nicknames, and compares their looks.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton as unicode_skeleton;

use crate::text::{is_blank, is_deceptive};

/// Longest participant id, in characters.
pub const ID_CHARS_MAX: usize = 64;
/// Longest nickname, in characters.
pub const NICKNAME_CHARS_MAX: usize = 64;

/// Names of the server and of the local person. A participant must not have one of them, and not a
/// name that looks like one. (Ruling 6.)
const RESERVED: [&str; 3] = ["user", "system", "moothall"];
/// Names that mean all participants. Digits do not count as letters here: `a11` may be an agent's
/// eleventh copy.
const RESERVED_WORDS: [&str; 3] = ["all", "everyone", "here"];
/// Names by which a reader takes an agent for a person, for the reader or for the operator. People
/// whom the server knows may have them.
const PEOPLE: [&str; 11] = [
    "you",
    "me",
    "myself",
    "human",
    "person",
    "operator",
    "admin",
    "administrator",
    "root",
    "owner",
    "server",
];
/// Words that do not name a particular participant.
const PEOPLE_WORDS: [&str; 6] = ["null", "none", "undefined", "nobody", "anyone", "everybody"];

/// Beginning of the id under which another computer speaks here. No participant has such an id.
pub const COMPUTER_PREFIX: &str = "computer:";

/// Names for all participants, whose mentions are answered with a hint. (Ruling 15.)
pub const BROADCAST: [&str; 3] = ["all", "everyone", "here"];

/// Returns the names by which a line claims to be the server's, a person's or meant for all.
pub(crate) fn reserved() -> impl Iterator<Item = &'static str> {
    RESERVED.into_iter().chain(RESERVED_WORDS)
}

/// The reason why a name was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// The name has no visible characters.
    Empty,
    /// The name is longer than allowed.
    TooLong,
    /// The name has this character, which is not allowed.
    Character(char),
    /// The name is reserved.
    Reserved,
    /// The name looks like this reserved one.
    Resembles(&'static str),
}

impl NameFault {
    /// Returns the fault as the end of a sentence that begins with the name.
    pub fn explain(self) -> String {
        match self {
            NameFault::Empty => "is empty".into(),
            NameFault::TooLong => format!("is longer than {ID_CHARS_MAX} characters"),
            NameFault::Character(c) => format!("contains {:?}, which is not allowed", c),
            NameFault::Reserved => "is reserved".into(),
            NameFault::Resembles(word) => format!("looks like {word:?}, which is reserved"),
        }
    }
}

/// Checks a participant id that a caller chooses: as [`check_id`], and that it does not pass for a
/// person, the operator or another computer.
pub fn check_chosen_id(id: &str) -> Result<(), NameFault> {
    check_id(id)?;
    // Other computers speak under such ids, and no participant may pass for one.
    if id.to_ascii_lowercase().starts_with(COMPUTER_PREFIX) {
        return Err(NameFault::Reserved);
    }
    check_against(id, &PEOPLE, &PEOPLE_WORDS)
}

/// Checks the id of a participant: a known one, or a person's, as [`check_id`]; a new agent's as
/// [`check_chosen_id`].
pub fn check_name_of(id: &str, is_known: bool) -> Result<(), NameFault> {
    if is_known { check_id(id) } else { check_chosen_id(id) }
}

/// Checks a participant id: 1 to 64 of `[A-Za-z0-9._:-]`, and that it does not mean all
/// participants or the server.
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
    check_against(id, &RESERVED, &RESERVED_WORDS)
}

/// Longest name of a computer, in characters.
const COMPUTER_CHARS_MAX: usize = 32;

/// Splits a name with a computer, such as `builder@workstation`, into both. The name of a computer
/// is 1 to 32 of `[a-z0-9-]`; it has no dot, so that no address of mail is one.
pub fn at_computer(word: &str) -> Option<(&str, &str)> {
    let (name, computer) = word.rsplit_once('@')?;
    (is_computer(computer) && check_id(name).is_ok()).then_some((name, computer))
}

/// True if a word is the name of a computer.
pub(crate) fn is_computer(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=COMPUTER_CHARS_MAX).contains(&word.len()) && word.chars().all(is_letter)
}

/// Returns the id of a participant of another computer: `builder.workstation`. A long name is cut,
/// so that the id is legal.
pub fn id_at(name: &str, computer: &str) -> String {
    let kept = ID_CHARS_MAX.saturating_sub(computer.len() + 1);
    let name: String = name.chars().take(kept).collect();
    format!("{name}.{computer}")
}

/// Words that do not change the claim of a nickname to be a person.
const FILLERS: [&str; 8] = ["the", "a", "an", "real", "true", "your", "our", "only"];

/// Returns the word by which a nickname, or a separate part of it, claims to be a person or the
/// operator: "ann (person)", "Human operator".
fn claimed(name: &str) -> Option<&'static str> {
    let apart = |c: char| "()<>{}|/,;:·—–•=~".contains(c);
    let parts = name.split(apart).flat_map(|part| part.split(" - "));
    parts.filter_map(claimed_whole).next()
}

/// Returns the first word of a part that claims to be a person or the operator. All words of such a
/// part, except fillers, have to be claims.
fn claimed_whole(part: &str) -> Option<&'static str> {
    let known = |word: &str| {
        let all = RESERVED.iter().chain(&PEOPLE);
        all.copied().find(|taken| reads_as(word, taken))
    };
    let words = part.split(|c: char| c.is_whitespace() || c == '_' || c == '.');
    let mut words = words.filter(|word| {
        let lower = word.to_lowercase();
        !word.is_empty() && !FILLERS.contains(&lower.as_str())
    });
    let first = known(words.next()?)?;
    words.all(|word| known(word).is_some()).then_some(first)
}

/// Normalises a nickname (NFC, single spaces) and checks it.
pub fn nickname(given: &str) -> Result<String, NameFault> {
    let composed: String = given.nfc().collect();
    let name = composed.split_whitespace().collect::<Vec<_>>().join(" ");
    if !name.chars().any(is_seen) {
        return Err(NameFault::Empty);
    }
    if name.chars().count() > NICKNAME_CHARS_MAX {
        return Err(NameFault::TooLong);
    }
    if let Some(bad) = name.chars().find(|c| !is_name_char(*c)) {
        return Err(NameFault::Character(bad));
    }
    check_against(&name, &RESERVED, &RESERVED_WORDS)?;
    check_against(&name, &PEOPLE, &PEOPLE_WORDS)?;
    claimed(&name).map_or(Ok(name), |word| Err(NameFault::Resembles(word)))
}

fn is_name_char(c: char) -> bool {
    !(c.is_control() || is_deceptive(c) || is_blank(c) && c != ' ' || "@[]".contains(c))
}

/// True if a reader sees the character by itself.
fn is_seen(c: char) -> bool {
    !(c.is_whitespace() || is_blank(c) || is_deceptive(c) || is_combining_mark(c))
}

/// Rejects a name that reads as one of `names`, also with digits in place of letters. A name
/// without digits must not look like one of `words` either.
fn check_against(
    name: &str,
    names: &[&'static str],
    words: &[&'static str],
) -> Result<(), NameFault> {
    let bare = name.trim_matches(|c: char| !c.is_alphanumeric());
    let words = if bare.contains(char::is_numeric) { &[] } else { words };
    let name = names.iter().find(|word| reads_as(bare, word));
    match name.or_else(|| words.iter().find(|word| are_alike(bare, word))) {
        None => Ok(()),
        Some(word) if bare.eq_ignore_ascii_case(word) => Err(NameFault::Reserved),
        Some(word) => Err(NameFault::Resembles(word)),
    }
}

/// True if a reader may take one name for the other, without regard to case.
pub fn are_alike(one: &str, other: &str) -> bool {
    NameLook::of(one).is_like(&NameLook::of(other))
}

/// The look of a name, for comparison with many names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameLook([String; 2]);

impl NameLook {
    /// Returns the look of a name.
    pub fn of(name: &str) -> Self {
        Self(looks(name))
    }

    /// True if a reader may take one name for the other, without regard to case.
    pub fn is_like(&self, other: &Self) -> bool {
        self.0.iter().any(|look| other.0.contains(look))
    }
}

/// Fewest letters of a word that is recognised with digits in place of letters: `m3` is a name.
const DIGITS_READ_FROM: usize = 4;

/// True if a reader takes a name for this word, also with digits in place of letters.
fn reads_as(name: &str, word: &str) -> bool {
    are_alike(name, word)
        || (word.len() >= DIGITS_READ_FROM
            && name.contains(|c: char| c.is_ascii_digit() || "@$!".contains(c))
            && ['i', 'l'].iter().any(|one| are_alike(&letters_of(name, *one), word)))
}

/// Returns a name with each digit and each of `!`, `@`, `$` replaced by the letter that it looks
/// like. `one` is the letter for `1` and `!`.
fn letters_of(name: &str, one: char) -> String {
    let letter = |c| match c {
        '0' => 'o',
        '1' | '!' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    name.chars().map(letter).collect()
}

/// Returns two looks of a name, without its case and with it: a capital `I` looks like a small `l`,
/// which a small `i` does not.
pub(crate) fn looks(name: &str) -> [String; 2] {
    let seen: String = unicode_skeleton(name).flat_map(char::to_lowercase).collect();
    [skeleton(name), skeleton(&seen)]
}

/// Returns the skeleton of a name. Two names with equal skeletons look alike to a reader (UTS 39,
/// without regard to case).
///
/// Foreign letters are replaced by their look-alikes before case is folded: a Cyrillic capital can
/// look like a Latin one although their small letters differ.
pub fn skeleton(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    // Decomposed first (NFD), so that marks in another order give the same skeleton.
    for c in name.nfd() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
        } else {
            folded
                .extend(unicode_skeleton(c.encode_utf8(&mut [0; 4])).flat_map(char::to_lowercase));
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
    fn names_with_a_computer_are_split_and_become_ids() {
        assert_eq!(at_computer("builder@workstation"), Some(("builder", "workstation")));
        assert_eq!(at_computer("a.b:c@build-2"), Some(("a.b:c", "build-2")));
        let long = format!("builder@{}", "x".repeat(33));
        for bad in ["builder", "@workstation", "builder@", "a@b.example", "a@B", "a@b@c", "All@b"] {
            assert_eq!(at_computer(bad), None, "{bad}");
        }
        assert_eq!(at_computer(&long), None);
        assert_eq!(id_at("builder", "workstation"), "builder.workstation");
        for name in ["builder", &"n".repeat(64)] {
            let id = id_at(name, &"c".repeat(32));
            assert_eq!(check_id(&id), Ok(()), "{id}");
        }
    }

    #[test]
    fn nicknames_are_normalised_or_refused() {
        assert_eq!(nickname("  Ann   Lee "), Ok("Ann Lee".into()));
        assert_eq!(nickname("e\u{301}").as_deref(), Ok("é"));
        for bad in ["a\u{202e}b", "a\u{200b}b", "x\u{e0041}", " \n ", "@", "everyone", "Мoothall"]
        {
            assert!(nickname(bad).is_err(), "{bad:?}");
        }
        assert_eq!(nickname(&"👩\u{200d}👧".repeat(200)), Err(NameFault::TooLong));
    }

    #[test]
    fn names_that_look_like_people_or_the_server_are_refused_and_harmless_ones_are_not() {
        let resembles = |word| Err(NameFault::Resembles(word));
        let cases = [
            ("All", Err(NameFault::Reserved)),
            ("AIl", resembles("all")),
            ("\u{430}ll", resembles("all")),
            ("a11", Ok(())),
            ("agent-11", Ok(())),
            ("nu11", Ok(())),
            ("You", Err(NameFault::Reserved)),
            ("y\u{43e}u", resembles("you")),
            ("«User»", Err(NameFault::Reserved)),
            ("user.", Err(NameFault::Reserved)),
            ("M00thall", resembles("moothall")),
            ("MoothaII", resembles("moothall")),
            ("HUMAN", Err(NameFault::Reserved)),
            ("0perator", resembles("operator")),
            ("null", Err(NameFault::Reserved)),
            ("Adm\u{456}n", resembles("admin")),
            ("Adm1n", resembles("admin")),
            ("r00t", resembles("root")),
            ("us3r", resembles("user")),
            ("0p3rat0r", resembles("operator")),
            ("ann (person)", resembles("person")),
            ("Ann - human", resembles("human")),
            ("Human operator", resembles("human")),
            ("The real Adm1n", resembles("admin")),
            ("system/critic", resembles("system")),
            ("m3", Ok(())),
            ("Human resources", Ok(())),
            ("Server monitor", Ok(())),
            ("Ann (reviewer)", Ok(())),
            ("person-finder", Ok(())),
            ("user-2", Ok(())),
            ("administration", Ok(())),
            ("humane", Ok(())),
            ("assistant", Ok(())),
            ("Ian", Ok(())),
            ("Ümit 👩", Ok(())),
            ("\u{3164}", Err(NameFault::Empty)),
            ("\u{2800}\u{2800}", Err(NameFault::Empty)),
            ("\u{301}", Err(NameFault::Empty)),
            ("A\u{3164}", Err(NameFault::Character('\u{3164}'))),
            ("A\u{115f}", Err(NameFault::Character('\u{115f}'))),
        ];
        for (name, expected) in cases {
            assert_eq!(nickname(name).map(drop), expected, "{name:?}");
        }
        assert_eq!(check_id("admin"), Ok(()));
        assert_eq!(check_chosen_id("admin"), Err(NameFault::Reserved));
        assert_eq!(check_chosen_id("Computer:workstation"), Err(NameFault::Reserved));
        assert_eq!(check_chosen_id("a11"), Ok(()));
    }

    #[test]
    fn names_that_look_alike() {
        for (one, other) in [
            ("Alice", "AIice"),
            ("alice", "AIice"),
            ("ALICE", "AIice"),
            ("aIice", "Alice"),
            ("bill", "biII"),
            ("a1", "al"),
        ] {
            assert!(are_alike(one, other) && are_alike(other, one), "{one} {other}");
        }
        for (one, other) in
            [("alice", "alina"), ("Ian", "Ivan"), ("codex-1", "codex-2"), ("a1", "a11")]
        {
            assert!(!are_alike(one, other) && !are_alike(other, one), "{one} {other}");
        }
    }

    #[test]
    fn look_alikes_share_a_skeleton() {
        assert_eq!(skeleton("Alice"), skeleton("Аlice"));
        assert_eq!(skeleton("alice"), skeleton("ALICE"));
        assert_ne!(skeleton("alice"), skeleton("alina"));
        assert_eq!(
            skeleton("a\u{10a38}\u{5b9}"),
            skeleton("a\u{5b9}\u{10a38}"),
            "marks in another order"
        );
    }
}
