//! Tokens that a program obeys inside a prompt, written so that they arrive as words.
//!
//! Each program has its own table, found by experiment (`real_agents/obeyed.rs`, `docs/agents.md`).
//! A token is altered only if the program would obey it at its place: its first character is
//! written wide, such as `＠` for `@`, which every program takes for a letter.

mod tokens;
mod nearby;
mod exact;

use std::ops::Range;
use std::path::PathBuf;

use moothall_kernel::read::compose::{kept_in_file, written_wide};
use moothall_kernel::text::{cut, is_composed, is_empty_looking};

use super::Vendor;
pub(super) use nearby::Nearby;
pub(crate) use nearby::Places;
use tokens::{Position, Token};

/// The distance from an ASCII character to its wide form.
const WIDE: u32 = 0xfee0;
/// Room for wide characters and the line that mentions them, in bytes.
const WIDE_BYTES: usize = 256;
/// Most blocks of one prompt that are sent as files.
const FILES_MAX: usize = 32;
/// Most bytes of an altered token that people are shown.
const ALTERED_BYTES_MAX: usize = 256;

/// The signs and words that a program obeys.
struct ActiveSyntax {
    /// Signs that turn a prompt into a command if it begins with one.
    commands: &'static [char],
    /// Reads the token that begins at a place.
    token: fn(Position<'_>) -> Option<Token>,
    /// Words that change the program's behaviour.
    keywords: &'static [&'static str],
    /// True if the program changes a text by itself. `None` if the program perhaps cannot read the
    /// files in which such texts are stored.
    changes: Option<fn(&str) -> bool>,
}

static CLAUDE: ActiveSyntax = ActiveSyntax {
    commands: &['!', '/'],
    token: tokens::of_claude,
    keywords: &["ultrathink", "ultracode"],
    changes: Some(|text| text.contains(['\t', '\r']) || !is_composed(text)),
};

static CODEX: ActiveSyntax = ActiveSyntax {
    commands: &['!', '/'],
    token: tokens::of_codex,
    keywords: &[],
    changes: Some(|text| text.contains('\r')),
};

static GEMINI: ActiveSyntax = ActiveSyntax {
    commands: &['/'],
    token: tokens::of_gemini,
    keywords: &[],
    // Gemini CLI may read only its own folder, unless a person trusts another place.
    changes: None,
};

/// The table of an unknown program. It is also unknown which files such a program may read.
static OTHER: ActiveSyntax =
    ActiveSyntax { commands: &['!', '/', '#', '@'], token: |_| None, keywords: &[], changes: None };

/// Text in the form in which it is put into a composer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ComposerWords {
    pub(super) text: String,
    /// The original tokens that were written wide, each shortened for people.
    pub(super) altered: Vec<String>,
    /// Number of lines that are sent as files.
    pub(super) filed: usize,
}

impl ActiveSyntax {
    fn of(vendor: Vendor) -> &'static Self {
        match vendor {
            Vendor::Claude => &CLAUDE,
            Vendor::Codex => &CODEX,
            Vendor::Gemini => &GEMINI,
            Vendor::Other => &OTHER,
        }
    }
}

/// Returns the places of the blocks in `bodies` that must arrive byte for byte, and would not; at
/// most [`FILES_MAX`]. Empty for a program that perhaps cannot read the blocks from files.
pub(super) fn changed(
    vendor: Vendor,
    text: &str,
    bodies: &[Range<usize>],
    nearby: &Nearby,
) -> Vec<Range<usize>> {
    let Some(changes) = ActiveSyntax::of(vendor).changes else { return Vec::new() };
    let blocks = bodies.iter().flat_map(|body| {
        let placed = |block: Range<usize>| body.start + block.start..body.start + block.end;
        exact::blocks(&text[body.clone()]).into_iter().map(placed)
    });
    let is_changed = |block: &Range<usize>| {
        let block = &text[block.clone()];
        changes(block) || !ComposerWords::inside(vendor, block, nearby).is_as_said()
    };
    blocks.filter(is_changed).take(FILES_MAX).collect()
}

/// Replaces each block that is in a file by a line about the file, and writes the rest as words.
/// Returns `None` without files, or if the program would obey a token in their paths.
pub(super) fn with_files(
    vendor: Vendor,
    text: &str,
    blocks: &[Range<usize>],
    files: &[PathBuf],
    nearby: &Nearby,
) -> Option<ComposerWords> {
    let (mut put, mut at, mut filed) = (String::new(), 0, 0);
    for (block, file) in blocks.iter().zip(files) {
        let lines = text[block.clone()].lines().count();
        let line = kept_in_file(lines, file.to_str()?);
        if !ComposerWords::inside(vendor, &line, nearby).is_as_said() {
            return None;
        }
        put.push_str(&text[at..block.start]);
        put.push_str(&line);
        put.push_str(if text[block.clone()].ends_with('\n') { "\n" } else { "" });
        (at, filed) = (block.end, filed + lines);
    }
    put.push_str(&text[at..]);
    (filed > 0).then(|| ComposerWords { filed, ..as_words(vendor, &put, nearby) })
}

/// Writes each token wide that the program would obey, and adds a line about that above the tag of
/// the turn.
pub(super) fn as_words(vendor: Vendor, text: &str, nearby: &Nearby) -> ComposerWords {
    let mut words = ComposerWords::beginning(vendor, text, nearby);
    words.say_so();
    words
}

/// Returns a text without anything that a program would obey, for a program that finds its files in
/// these places. Adds a line about altered tokens at the end.
pub(crate) fn as_plain_words(vendor: Vendor, text: &str, places: Places) -> String {
    let words = ComposerWords::beginning(vendor, text, &Nearby::of(places));
    match words.altered.len() {
        0 => words.text,
        altered => format!("{}\n\n{}", words.text, written_wide(altered)),
    }
}

/// Returns a JSON document without anything that a program would obey. Adds no line, because the
/// document must stay one.
pub(crate) fn as_plain_json(vendor: Vendor, json: &str, places: Places) -> String {
    ComposerWords::beginning(vendor, json, &Nearby::of(places)).text
}

/// Returns the place and token of the first word if it turns the prompt into a command. A path,
/// such as `/usr/bin`, and a comment do not.
fn command(text: &str, signs: &[char]) -> Option<(usize, Token)> {
    let seen = |c: &char| !is_empty_looking(c.encode_utf8(&mut [0; 4]));
    let (at, sign) = text.char_indices().find(|(_, c)| seen(c))?;
    let end = text[at..].find(char::is_whitespace).map_or(text.len(), |blank| at + blank);
    let is_words =
        sign == '/' && (text[at + 1..end].contains('/') || text[at + 1..end].starts_with('*'));
    (signs.contains(&sign) && !is_words).then(|| (at, Token::always(end - at)))
}

impl ComposerWords {
    fn with_room_for(text: &str) -> Self {
        let room = String::with_capacity(text.len() + WIDE_BYTES);
        Self { text: room, altered: Vec::new(), filed: 0 }
    }

    /// Writes a whole prompt.
    fn beginning(vendor: Vendor, text: &str, nearby: &Nearby) -> Self {
        let mut words = Self::with_room_for(text);
        let mut rest = text;
        if let Some((at, token)) = command(text, ActiveSyntax::of(vendor).commands) {
            words.text.push_str(&text[..at]);
            rest = words.widen(&text[at..], &token);
        }
        words.write(vendor, rest, nearby);
        words
    }

    /// Writes a text that is not the beginning of a prompt.
    fn inside(vendor: Vendor, text: &str, nearby: &Nearby) -> Self {
        let mut words = Self::with_room_for(text);
        words.write(vendor, text, nearby);
        words
    }

    fn is_as_said(&self) -> bool {
        self.altered.is_empty()
    }

    /// Appends a text, with its tokens written wide.
    fn write(&mut self, vendor: Vendor, text: &str, nearby: &Nearby) {
        let (obeyed, mut rest) = (ActiveSyntax::of(vendor), text);
        while let Some(next) = rest.chars().next() {
            let place = Position { before: self.text.chars().next_back(), rest };
            let token = tokens::keyword(place, obeyed.keywords).or_else(|| (obeyed.token)(place));
            rest = match token {
                Some(token) if nearby.may_obey(vendor, &token) => self.widen(rest, &token),
                Some(token) => self.take(rest, token.length),
                None => self.take(rest, next.len_utf8()),
            };
        }
    }

    /// Appends the first bytes of a text unchanged; returns the rest.
    fn take<'a>(&mut self, text: &'a str, bytes: usize) -> &'a str {
        let (taken, rest) = text.split_at(bytes);
        self.text.push_str(taken);
        rest
    }

    /// Writes the first character of a token wide; returns the rest of the text.
    fn widen<'a>(&mut self, text: &'a str, token: &Token) -> &'a str {
        self.altered.push(cut(&text[..token.length], ALTERED_BYTES_MAX).to_owned());
        let mut chars = text.chars();
        let narrow = chars.next().unwrap_or_default();
        self.text.push(char::from_u32(u32::from(narrow) + WIDE).unwrap_or(narrow));
        chars.as_str()
    }

    /// If tokens were written wide, adds a line with their number, above the last paragraph, which
    /// is the tag.
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
