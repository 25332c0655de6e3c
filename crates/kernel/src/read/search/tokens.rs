//! Splits texts into words for the search, in the same way for queries and messages.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters of a word that count. Typed words are shorter, and a base64 blob is a single word.
pub const WORD_CHARS_MAX: usize = 64;

/// A word with its place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word without case and accents. It has at least one character, and its ASCII characters
    /// are letters and digits.
    pub text: String,
    /// Byte range of the word in the text.
    pub range: Range<usize>,
}

/// The role of a character in words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A character that begins or continues a word.
    Letter,
    /// A mark of the letter before it.
    Mark,
    /// A word by itself: scripts without spaces, and signs such as emoji.
    Alone,
    /// A character between words.
    Gap,
}

#[inline]
fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Letter } else { Class::Gap };
    }
    class_beyond_ascii(c)
}

fn class_beyond_ascii(c: char) -> Class {
    if is_combining_mark(c) {
        Class::Mark
    } else if is_of_spaceless_script(c) || is_sign(c) {
        Class::Alone
    } else if c.is_alphanumeric() {
        Class::Letter
    } else {
        Class::Gap
    }
}

/// True for Han, kana, Thai, Lao, Myanmar and Khmer, which are written without spaces. Finding
/// their words takes a dictionary. So each character is a word, and a query is a sequence of them.
fn is_of_spaceless_script(c: char) -> bool {
    matches!(
        c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}' | '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
    )
}

/// True for arrows, symbols and emoji. Each of them is a word.
fn is_sign(c: char) -> bool {
    matches!(
        c,
        '\u{2190}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// Returns the words of a text, in order.
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_word(text, |word, range| found.push(Word { text: word.to_owned(), range }));
    found
}

/// Calls `found` for each word of a text, in order, with its folded text and its byte range.
pub fn each_word(text: &str, mut found: impl FnMut(&str, Range<usize>)) {
    let mut folded = String::new();
    let mut take = |range: Option<Range<usize>>| {
        let Some(range) = range else { return };
        folded.clear();
        fold_onto(&mut folded, &text[range.clone()]);
        if !folded.is_empty() {
            found(&folded, range);
        }
    };
    let mut begun = None;
    for (at, c) in text.char_indices() {
        match class(c) {
            Class::Letter => {
                begun.get_or_insert(at);
            }
            Class::Mark => {}
            Class::Alone => {
                take(begun.take().map(|start| start..at));
                take(Some(at..at + c.len_utf8()));
            }
            Class::Gap => take(begun.take().map(|start| start..at)),
        }
    }
    take(begun.map(|start| start..text.len()));
}

/// Returns a word or name without case, accents and width, cut at [`WORD_CHARS_MAX`].
pub fn fold(word: &str) -> String {
    let mut folded = String::new();
    fold_onto(&mut folded, word);
    folded
}

/// Appends a word without case, accents and width, cut at [`WORD_CHARS_MAX`].
fn fold_onto(folded: &mut String, word: &str) {
    // Most words are plain ASCII, and are copied whole.
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let begun = folded.len();
        folded.push_str(&word[..word.len().min(WORD_CHARS_MAX)]);
        folded[begun..].make_ascii_lowercase();
        return;
    }
    if word.is_ascii() {
        let plain = word.chars().filter(char::is_ascii_alphanumeric).take(WORD_CHARS_MAX);
        folded.extend(plain.map(|c| c.to_ascii_lowercase()));
        return;
    }
    let plain = word
        .nfkd()
        .flat_map(char::to_lowercase)
        .filter(|c| !is_accent(*c) && (!c.is_ascii() || c.is_ascii_alphanumeric()));
    folded.extend(plain.nfc().take(WORD_CHARS_MAX));
}

/// Returns the key by which names are compared: without case and width.
pub fn name_key(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).collect()
}

/// True for accents of European letters. The marks of other scripts tell words apart, so they stay.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_cut_and_folded() {
        assert_eq!(
            cut("Über-Straße, naïve_x2 (O'Neil)"),
            ["uber", "straße", "naive", "x2", "o", "neil"]
        );
        assert_eq!(cut("nai\u{308}ve ＦＵＬＬ ﬁn"), ["naive", "full", "fin"]);
        assert_eq!(cut("会议v2 のメモ 회의는"), ["会", "议", "v2", "の", "メ", "モ", "회의는"]);
        assert_eq!(cut("ship it 🚀🚀 👩\u{200d}👧"), ["ship", "it", "🚀", "🚀", "👩", "👧"]);
        assert_eq!(cut(" \0\t*%\"'();--— "), Vec::<String>::new());
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "a «Größe» b";
        let places: Vec<&str> = words(text).into_iter().map(|word| &text[word.range]).collect();
        assert_eq!(places, ["a", "Größe", "b"]);
    }

    #[test]
    fn nothing_that_a_query_language_reads_is_left_in_a_word() {
        let every: String = ('\0'..=char::MAX).flat_map(|c| [c, 'x']).collect();
        for word in words(&every) {
            assert!(
                word.text
                    .chars()
                    .all(|c| !c.is_ascii() || c.is_ascii_lowercase() || c.is_ascii_digit()),
                "{word:?}"
            );
        }
    }

    #[test]
    fn long_words_and_heaps_of_marks_are_cut_short() {
        assert_eq!(cut(&"x".repeat(10_000)), ["x".repeat(WORD_CHARS_MAX)]);
        assert_eq!(cut(&format!("z{}", "\u{0301}".repeat(10_000))), ["z"]);
    }
}
