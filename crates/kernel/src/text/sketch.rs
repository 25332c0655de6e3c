//! Compares texts by their words: an echo rarely repeats a text to the letter.

use serde::{Deserialize, Serialize};

/// Words of a text that a sketch has: those with the smallest hashes.
const WORDS_KEPT: usize = 32;
/// Bytes of a text that are read.
const BYTES_MAX: usize = 16 * 1024;
/// Share of common words, in hundredths, from which a text is part of another.
const PART: usize = 50;
/// Share of common words, in hundredths, from which two texts match whose sketches are both full.
const LONG: usize = 90;

/// A fingerprint of a text, for comparison with other texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Hash of all words in their order.
    whole: u64,
    /// Hashes of different words, sorted: the smallest ones.
    words: Vec<u32>,
    /// Hashes without the words that are numbers, sorted: the smallest ones.
    plain: Vec<u32>,
}

impl Sketch {
    /// Returns the sketch of a text. Case, punctuation and spacing make no difference.
    pub fn of(text: &str) -> Self {
        let text = super::cut(text, BYTES_MAX);
        let folded: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        if folded.is_empty() {
            // A text without letters and digits is compared character by character.
            let (whole, word) = (hash([text.trim()].into_iter()), hash_word(text.trim()));
            return Self { whole, words: vec![word], plain: vec![word] };
        }
        let is_number = |word: &&String| word.chars().all(char::is_numeric);
        Self {
            whole: hash(folded.iter().map(String::as_str)),
            words: smallest(folded.iter()),
            plain: smallest(folded.iter().filter(|word| !is_number(word))),
        }
    }

    /// True if the texts are equal, or one of them has all words of the other and at most as many
    /// more.
    pub fn repeats(&self, other: &Sketch) -> bool {
        if self.whole == other.whole {
            return true;
        }
        are_part(&self.words, &other.words)
    }

    /// True if one text repeats the other except for numbers. Reports of two programs may do so
    /// too, so the result only means something for texts within seconds of each other.
    pub fn resembles(&self, other: &Sketch) -> bool {
        !self.plain.is_empty() && are_part(&self.plain, &other.plain)
    }
}

/// True if one list of words contains the other and both share at least half of all words. For long
/// lists a high share of common words is enough.
fn are_part(one: &[u32], other: &[u32]) -> bool {
    let (common, all) = overlap(one, other);
    let are_long = one.len() == WORDS_KEPT && other.len() == WORDS_KEPT;
    let is_part = common == one.len().min(other.len());
    let share = if are_long { LONG } else { PART };
    (are_long || is_part) && common * 100 >= all * share
}

/// Counts the elements in both of two sorted lists, and those in either.
fn overlap(one: &[u32], other: &[u32]) -> (usize, usize) {
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    (common, one.len() + other.len() - common)
}

fn smallest<'a>(words: impl Iterator<Item = &'a String>) -> Vec<u32> {
    let mut hashes: Vec<u32> = words.map(|word| hash_word(word)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(WORDS_KEPT);
    hashes
}

#[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
fn hash_word(word: &str) -> u32 {
    hash([word].into_iter()) as u32
}

fn hash<'a>(words: impl Iterator<Item = &'a str>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    // The zero ends each word, so that `ab c` and `a bc` differ.
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| mix(word.bytes().fold(hash, mix), 0))
}

#[cfg(test)]
mod tests {
    use super::Sketch;

    fn repeats(one: &str, other: &str) -> bool {
        let (one, other) = (Sketch::of(one), Sketch::of(other));
        let (there, back) = (one.repeats(&other), other.repeats(&one));
        assert_eq!(there, back, "it is the same from both sides");
        there
    }

    #[test]
    fn an_echo_is_known_with_labels_signs_and_another_case() {
        for (said, echoed) in [
            ("hello", "Hello!"),
            ("[den] hello", "[attic] [den] hello"),
            ("ann (den): is it done?", "ann (den): is it done? (via attic)"),
            ("\u{1f44d}", " \u{1f44d}\n"),
            (
                &"all of these words ".repeat(900),
                &format!("x: {}", "all of these words ".repeat(900)),
            ),
        ] {
            assert!(repeats(said, echoed), "{said:.40} {echoed:.40}");
        }
        let words: Vec<String> = (0..200).map(|n| format!("word{n}")).collect();
        assert!(repeats(&words.join(" "), &format!("attic: {}", words.join(" "))));
    }

    #[test]
    fn reports_are_no_echo_of_each_other() {
        for (one, other) in [
            ("build 41 of core passed", "build 41 of web passed"),
            ("build 41 passed", "build 42 passed"),
            ("\u{1f44d}", "\u{2705}"),
            ("done", "The long report that was asked for is done now, see below."),
        ] {
            assert!(!repeats(one, other), "{one} {other}");
        }
    }

    #[test]
    fn what_changes_a_number_resembles_what_it_was_made_of() {
        let resembles = |one: &str, other: &str| Sketch::of(one).resembles(&Sketch::of(other));
        assert!(
            resembles("hello 5", "hello 6")
                && resembles("b: tick 9, all well", "tick 10, all well")
        );
        assert!(!resembles("hello", "good night") && !resembles("5", "5"));
        assert!(!resembles("build 5 of core: 7 tests passed", "build 5 of web: 9 tests passed"));
    }
}
