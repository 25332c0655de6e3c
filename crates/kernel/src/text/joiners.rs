//! Separates invisible characters that letters and emoji around them need from those that only
//! deceive.

use std::iter::Peekable;
use std::str::Chars;

use unicode_normalization::char::is_combining_mark;

use crate::text::{is_deceptive, is_selector};

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';
const FLAG: char = '\u{1f3f4}';
const END_TAG: char = '\u{e007f}';
/// The flags that are written with tag characters: England, Scotland, Wales.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// A character of a text, judged by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JudgedChar {
    /// A character that is seen, or that shapes the one beside it.
    Kept(char),
    /// A character that reorders or hides the text around it, or is not seen itself.
    Hidden(char),
}

/// Returns the characters of a text, each judged by its place.
pub(crate) fn placed(text: &str) -> impl Iterator<Item = JudgedChar> {
    let mut reader = JoinerReader { rest: text.chars().peekable(), base: None, flag: 0, at: text };
    std::iter::from_fn(move || reader.next())
}

struct JoinerReader<'a> {
    rest: Peekable<Chars<'a>>,
    /// The last kept character.
    base: Option<char>,
    /// Number of tag characters of a flag that are still to come.
    flag: usize,
    /// The text from the next character on.
    at: &'a str,
}

impl JoinerReader<'_> {
    /// Returns the next character with its judgement, or `None` at the end of the text.
    fn next(&mut self) -> Option<JudgedChar> {
        let c = self.rest.next()?;
        self.at = &self.at[c.len_utf8()..];
        if c.is_ascii() {
            self.base = Some(c);
            return Some(JudgedChar::Kept(c));
        }
        if self.flag > 0 {
            self.flag -= 1;
            return Some(JudgedChar::Kept(c));
        }
        if !self.is_kept(c) {
            return Some(JudgedChar::Hidden(c));
        }
        if c == FLAG {
            self.flag = tags_of_flag(self.at);
        }
        self.base = Some(c);
        Some(JudgedChar::Kept(c))
    }

    /// True if the character is seen at this place or shapes the one before it.
    fn is_kept(&mut self, c: char) -> bool {
        let Some(base) = self.base else { return !is_deceptive(c) && !is_selector(c) };
        match c {
            NON_JOINER => needs_joiners(base) && self.follows(needs_joiners),
            // A joiner may follow the last letter of a word, to keep the form before another
            // letter.
            JOINER => needs_joiners(base) || (ends_emoji(base) && self.follows(is_emoji)),
            c if is_selector(c) => takes_selector(base, c),
            c => !is_deceptive(c),
        }
    }

    fn follows(&mut self, is_wanted: fn(char) -> bool) -> bool {
        self.rest.peek().copied().is_some_and(is_wanted)
    }
}

/// Returns the number of tag characters that complete a flag at the beginning of `rest`; 0 if they
/// complete none.
fn tags_of_flag(rest: &str) -> usize {
    let spelled = |flag: &str| {
        let tags = flag.bytes().filter_map(|byte| char::from_u32(0xe_0000 + u32::from(byte)));
        rest.chars().zip(tags.chain([END_TAG])).filter(|(found, wanted)| found == wanted).count()
    };
    FLAGS
        .iter()
        .map(|flag| (flag, spelled(flag)))
        .find(|(flag, n)| *n == flag.len() + 1)
        .map_or(0, |(_, n)| n)
}

/// True if a selector has a meaning after this character: ideographs have many forms, signs and
/// emoji a plain and a coloured one.
fn takes_selector(base: char, selector: char) -> bool {
    match selector {
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(base),
        '\u{fe0e}' | '\u{fe0f}' => {
            is_emoji(base) || matches!(base, '0'..='9' | '#' | '*') || is_ideograph(base)
        }
        _ => is_ideograph(base) || is_sign(base) || needs_joiners(base),
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{2e80}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{1b000}'..='\u{1b2ff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// True for signs of mathematics and hieroglyphs, which have several forms too.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{2200}'..='\u{2bff}' | '\u{13000}'..='\u{143ff}')
}

fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
            | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
            | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

fn ends_emoji(c: char) -> bool {
    is_emoji(c) || matches!(c, '\u{fe0f}' | KEYCAP | END_TAG)
}

/// True for letters of scripts whose spelling uses joiners: Arabic and related scripts, and the
/// scripts of India and South-East Asia.
fn needs_joiners(c: char) -> bool {
    let block = matches!(
        c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}'
            | '\u{1700}'..='\u{18af}' | '\u{1900}'..='\u{1cff}' | '\u{a840}'..='\u{a9ff}'
            | '\u{aa00}'..='\u{aaff}' | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{10fff}' | '\u{11000}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}'
    );
    block && (c.is_alphabetic() || is_combining_mark(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        let kept = |placed| match placed {
            JudgedChar::Kept(c) => Some(c),
            JudgedChar::Hidden(_) => None,
        };
        placed(text).filter_map(kept).collect()
    }

    #[test]
    fn joiners_of_letters_and_emoji_stay() {
        for text in [
            "👩\u{200d}👧\u{200d}👦",
            "👩🏽\u{200d}🚒",
            "❤\u{fe0f}\u{200d}🔥 ☺\u{fe0f} 1\u{fe0f}\u{20e3}",
            "🏳\u{fe0f}\u{200d}🌈 🏴\u{200d}☠\u{fe0f}",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष क\u{94d}\u{200c}ष",
            "ශ\u{dca}\u{200d}ර",
            "ه\u{200d} ",
            "葛\u{e0100} 〆\u{fe00}",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}!",
        ] {
            assert_eq!(kept(text), text);
        }
    }

    #[test]
    fn what_draws_nothing_elsewhere_does_not() {
        for (text, expected) in [
            ("rm\u{200d} -rf\u{200c}x", "rm -rfx"),
            ("a\u{200b}b\u{2060}c\u{feff}d", "abcd"),
            ("\u{200d}👩\u{200d}", "👩"),
            ("👩\u{200d}\u{200d}👧", "👩\u{200d}👧"),
            ("می\u{200c}\u{200c}خ", "می\u{200c}خ"),
            ("a\u{fe01}b\u{e0101}", "ab"),
            ("☺\u{fe0f}\u{fe0f}\u{fe01}\u{e0123}", "☺\u{fe0f}"),
            ("\u{fe0f}x", "x"),
            ("🏴\u{e0067}\u{e0062}\u{e0061}\u{e007f}", "🏴"),
            ("🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}", "🏴"),
            ("x\u{e0041}\u{e007f}", "x"),
            ("م\u{200e}\u{202e}x", "مx"),
        ] {
            assert_eq!(kept(text), expected, "{text:?}");
        }
    }
}
