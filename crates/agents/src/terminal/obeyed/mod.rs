//! Tokens that a program obeys inside a prompt, written so that they arrive as words.
//!
//! Each program has its table, found by trying (`real_agents/obeyed.rs`, `docs/agents.md`). Only a
//! token that the program would obey at its place is altered: its first character is written wide,
//! as `＠` in place of `@`, which every program takes for a letter.

mod tokens;
mod nearby;

use moothall_kernel::read::compose::written_wide;
use moothall_kernel::text::{cut, is_empty_looking};

use super::Vendor;
pub(super) use nearby::{Nearby, Places};
use tokens::{Place, Token};

/// From a character of ASCII to the wide one.
const WIDE: u32 = 0xfee0;
/// Room for wide characters, and for the line that tells of them, in bytes.
const WIDE_BYTES: usize = 256;
/// The part of a token that was written wide that is kept, in bytes.
const ALTERED_BYTES_MAX: usize = 256;

/// The signs and words that a program obeys.
struct Obeyed {
    /// Signs that make a command of a prompt that begins with them.
    commands: &'static [char],
    /// Reads the token that begins at a place.
    token: fn(Place<'_>) -> Option<Token>,
    /// Words that change how it works.
    keywords: &'static [&'static str],
}

static CLAUDE: Obeyed = Obeyed {
    commands: &['!', '/'],
    token: tokens::of_claude,
    keywords: &["ultrathink", "ultracode"],
};

static CODEX: Obeyed = Obeyed { commands: &['!', '/'], token: tokens::of_codex, keywords: &[] };

static GEMINI: Obeyed = Obeyed { commands: &['/'], token: tokens::of_gemini, keywords: &[] };

/// Of a program that nothing is known of.
static OTHER: Obeyed = Obeyed { commands: &['!', '/', '#', '@'], token: |_| None, keywords: &[] };

/// Words as they are put into a composer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) text: String,
    /// The tokens that were written wide, as they were said, each as far as people look at it.
    pub(super) altered: Vec<String>,
}

/// Writes wide each token that the program would obey, and says so below the words.
pub(super) fn as_words(vendor: Vendor, text: &str, nearby: &Nearby) -> Words {
    let obeyed = match vendor {
        Vendor::Claude => &CLAUDE,
        Vendor::Codex => &CODEX,
        Vendor::Gemini => &GEMINI,
        Vendor::Other => &OTHER,
    };
    let mut words =
        Words { text: String::with_capacity(text.len() + WIDE_BYTES), altered: Vec::new() };
    let (mut rest, command) = (text, command(text, obeyed.commands));
    if let Some((at, token)) = command {
        words.text.push_str(&text[..at]);
        rest = words.widen(&text[at..], &token);
    }
    while let Some(next) = rest.chars().next() {
        let place = Place { before: words.text.chars().next_back(), rest };
        let token = tokens::keyword(place, obeyed.keywords).or_else(|| (obeyed.token)(place));
        rest = match token {
            Some(token) if nearby.may_obey(vendor, &token) => words.widen(rest, &token),
            Some(token) => words.take(rest, token.length),
            None => words.take(rest, next.len_utf8()),
        };
    }
    words.say_so();
    words
}

/// Returns the first word, and its place, if it makes a command of the prompt: a path and a comment
/// do not.
fn command(text: &str, signs: &[char]) -> Option<(usize, Token)> {
    let seen = |c: &char| !is_empty_looking(c.encode_utf8(&mut [0; 4]));
    let (at, sign) = text.char_indices().find(|(_, c)| seen(c))?;
    let end = text[at..].find(char::is_whitespace).map_or(text.len(), |blank| at + blank);
    let is_words =
        sign == '/' && (text[at + 1..end].contains('/') || text[at + 1..end].starts_with('*'));
    (signs.contains(&sign) && !is_words).then(|| (at, Token::always(end - at)))
}

impl Words {
    /// Takes the first bytes of a text as they are; returns the others.
    fn take<'a>(&mut self, text: &'a str, bytes: usize) -> &'a str {
        let (taken, rest) = text.split_at(bytes);
        self.text.push_str(taken);
        rest
    }

    /// Writes the first character of a text, which begins with a token, wide; returns the rest.
    fn widen<'a>(&mut self, text: &'a str, token: &Token) -> &'a str {
        self.altered.push(cut(&text[..token.length], ALTERED_BYTES_MAX).to_owned());
        let mut chars = text.chars();
        let narrow = chars.next().unwrap_or_default();
        self.text.push(char::from_u32(u32::from(narrow) + WIDE).unwrap_or(narrow));
        chars.as_str()
    }

    /// The line stands above the tag, the last paragraph of a prompt.
    fn say_so(&mut self) {
        if self.altered.is_empty() {
            return;
        }
        let line = written_wide(self.altered.len());
        let gap = self.text.rfind("\n\n").unwrap_or(self.text.len());
        self.text.insert_str(gap, &format!("\n\n{line}"));
    }
}

#[cfg(test)]
mod tests;
