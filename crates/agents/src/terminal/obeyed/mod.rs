//! Tokens that a program obeys inside a prompt, written so that they arrive as words.
//!
//! Each program has its table, found by trying (`real_agents/obeyed.rs`, `docs/agents.md`). Only a
//! token that the program would obey at its place is altered: its first character is written wide,
//! as `＠` in place of `@`, which every program takes for a letter.

mod tokens;
mod nearby;

use moothall_kernel::read::compose::written_wide;
use moothall_kernel::text::is_empty_looking;

use super::Vendor;
pub(super) use nearby::{Nearby, Places};
use tokens::Token;

/// From a character of ASCII to the wide one.
const WIDE: u32 = 0xfee0;

/// The signs and words that a program obeys.
struct Obeyed {
    /// Signs that make a command of a prompt that begins with them.
    commands: &'static [char],
    /// Reads the token that begins at a place.
    token: fn(&str, usize) -> Option<Token>,
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
static OTHER: Obeyed =
    Obeyed { commands: &['!', '/', '#', '@'], token: |_, _| None, keywords: &[] };

/// Words as they are put into a composer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) text: String,
    /// The tokens that were written wide, as they were said.
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
    let mut words = Words { text: text.to_owned(), altered: Vec::new() };
    if let Some(command) = command(text, obeyed.commands) {
        words.widen(&command);
    }
    let mut at = 0;
    while let Some(next) = words.text[at..].chars().next() {
        let token = tokens::keyword(&words.text, at, obeyed.keywords)
            .or_else(|| (obeyed.token)(&words.text, at));
        at = match token {
            Some(token) if nearby.may_obey(vendor, &token) => words.widen(&token),
            Some(token) => token.end,
            None => at + next.len_utf8(),
        };
    }
    words.say_so();
    words
}

/// Returns the first word if it makes a command of the prompt: a path and a comment do not.
fn command(text: &str, signs: &[char]) -> Option<Token> {
    let seen = |c: &char| !is_empty_looking(c.encode_utf8(&mut [0; 4]));
    let (at, sign) = text.char_indices().find(|(_, c)| seen(c))?;
    let end = text[at..].find(char::is_whitespace).map_or(text.len(), |blank| at + blank);
    let is_words =
        sign == '/' && (text[at + 1..end].contains('/') || text[at + 1..end].starts_with('*'));
    (signs.contains(&sign) && !is_words).then(|| Token::always(at, end))
}

impl Words {
    /// Writes the first character of a token wide; returns the place after it.
    fn widen(&mut self, token: &Token) -> usize {
        self.altered.push(self.text[token.at..token.end].to_owned());
        let narrow = self.text[token.at..].chars().next().unwrap_or_default();
        let wide = char::from_u32(u32::from(narrow) + WIDE).unwrap_or(narrow);
        self.text
            .replace_range(token.at..token.at + narrow.len_utf8(), wide.encode_utf8(&mut [0; 4]));
        token.at + wide.len_utf8()
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
