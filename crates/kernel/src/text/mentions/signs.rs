//! Finds the signs at which a mention may begin.

use crate::text::code::ProseRun;
use crate::text::cut;
use crate::text::mentions::bearers::{is_over, is_plain, is_word, runs_on};
use unicode_normalization::char::is_combining_mark;

/// The signs that begin a mention: the plain one, the wide one and the small one.
pub(super) const SIGNS: [char; 3] = ['@', '\u{ff20}', '\u{fe6b}'];
/// Most bytes of a package or an address that are read after a sign. Names of hosts have at most
/// 253.
const FOREIGN_BYTES_MAX: usize = 512;
/// Most characters that are read before a sign.
const BEFORE_MAX: usize = 64;

/// A sign after which a name may stand.
#[derive(Debug)]
pub(super) struct Sign<'a> {
    /// Byte offset of the sign in the message.
    pub(super) at: usize,
    /// Byte offset of the name in the message.
    pub(super) from: usize,
    /// Words from the name to the end of the prose.
    pub(super) words: &'a str,
    /// Place at which another mention has to end for this one to count.
    pub(super) joins: Option<usize>,
    run: &'a ProseRun,
}

impl Sign<'_> {
    /// True if a word that ends with `last` ends before `rest`, the rest of these words.
    pub(super) fn is_over(&self, last: char, rest: &str) -> bool {
        self.is_marked(rest) || is_over(last, rest)
    }

    /// True if `rest`, the rest of these words, begins with a mark of Markdown.
    fn is_marked(&self, rest: &str) -> bool {
        let at = self.from + self.words.len() - rest.len();
        self.run.marks.binary_search(&at).is_ok()
    }
}

/// True if a text holds a sign. Each sign is searched for alone: a search for one character reads
/// many bytes at a time, and a search for several characters reads each byte.
pub(super) fn are_in(text: &str) -> bool {
    let [plain, wide @ ..] = SIGNS;
    text.contains(plain) || !text.is_ascii() && wide.iter().any(|sign| text.contains(*sign))
}

/// Returns the signs of a run of prose in their order.
pub(super) fn signs<'a>(body: &'a str, run: &'a ProseRun) -> Vec<Sign<'a>> {
    let (mut found, mut address) = (Vec::new(), false);
    let words = &body[run.range.clone()];
    if !are_in(words) {
        return found;
    }
    let mut begins = true;
    for (offset, c) in words.char_indices() {
        let at = run.range.start + offset;
        if ends_address(c) {
            address = false;
        } else if SIGNS.contains(&c) && !address {
            found.extend(sign(body, run, at, c));
        } else if !address && (c == ':' || begins) {
            address = is_address(&words[offset..], c, begins);
        }
        begins = !is_word(c);
    }
    found
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || "<>\"，。、）」』】；".contains(c)
}

/// True if an address begins here, or its scheme ends.
fn is_address(words: &str, c: char, begins: bool) -> bool {
    (c == ':' && words.starts_with("://"))
        || (begins && (words.starts_with("www.") || words.starts_with("mailto:")))
}

/// Returns the sign at a place, or `None` if it is escaped or a mention cannot begin there.
fn sign<'a>(body: &'a str, run: &'a ProseRun, at: usize, c: char) -> Option<Sign<'a>> {
    if run.escaped.binary_search(&at).is_ok() {
        return None;
    }
    let joins = joins(body, run, at)?;
    let from = at + c.len_utf8();
    let words = &body[from..run.range.end];
    let shown = words.trim_start_matches(is_isolate);
    let from = from + words.len() - shown.len();
    Some(Sign { at, from, words: shown, joins, run })
}

/// Returns a name without the direction marks at its end.
pub(super) fn shown(name: &str) -> &str {
    name.trim_end_matches(is_isolate)
}

/// True if a character only sets the direction of the text after it, or has no width. Some programs
/// wrap names in such characters.
fn is_isolate(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Checks the characters before a sign. Returns `None` if a mention cannot begin there, else the
/// place at which another mention has to end, if one has to.
fn joins(body: &str, run: &ProseRun, at: usize) -> Option<Option<usize>> {
    let mut before =
        body[..at].char_indices().rev().take(BEFORE_MAX).skip_while(is_mark).peekable();
    let Some(&(place, last)) = before.peek() else { return Some(None) };
    if run.marks.binary_search(&place).is_ok() {
        return Some(None);
    }
    match last {
        last if SIGNS.contains(&last) => None,
        '/' => Some(Some(place)),
        '_' | '+' | '-' => {
            let dash = body[..at].ends_with("--");
            let mut rest = before.skip_while(|(_, c)| "_+-".contains(*c));
            let is_address = rest.next().is_some_and(|(_, c)| is_plain(c) || c == '.');
            Some((is_address && !dash).then_some(place))
        }
        last if is_plain(last) => Some(Some(at)),
        _ => Some(None),
    }
}

/// True if a mention can begin after some words without another mention before it.
pub(super) fn may_begin(before: &str) -> bool {
    joins(before, &ProseRun::whole(before), before.len()) == Some(None) && !before.ends_with('\\')
}

fn is_mark((_, c): &(usize, char)) -> bool {
    is_combining_mark(*c)
}

/// True if a package, a path or an address of another system follows a sign:
/// `openai/codex`, `bob@mastodon.social`, `bob:matrix.org`.
pub(super) fn is_foreign(words: &str) -> bool {
    // Bounded, because many signs may stand before the same long word.
    let words = cut(words, FOREIGN_BYTES_MAX);
    let is_part = |c: char| matches!(c, '.' | ':' | '-' | '/' | '@') || is_plain(c);
    let end = words.find(|c| !is_part(c)).unwrap_or(words.len());
    let token = words[..end].trim_end_matches(['.', ':', '-', '@']);
    let star = words[end..].starts_with(['*', '~']) && words[..end].ends_with('/');
    let path = token.split_once('/').is_some_and(|(name, rest)| {
        !name.is_empty() && (star || rest.starts_with(|c| is_plain(c) || ".-".contains(c)))
    });
    let host = token.split_once(['@', ':']).map(|(_, host)| host);
    let is_host = host.is_some_and(|host| {
        host.split(['/', '@', ':']).next().is_some_and(|host| host.contains('.'))
    });
    path || is_host
}

/// Returns the word in place of a name, without the punctuation at its end.
pub(super) fn word_of<'a>(sign: &Sign<'a>) -> &'a str {
    let words = sign.words;
    let (mut end, mut last, mut letters) = (0, None, 0);
    for (at, c) in words.char_indices() {
        let rest = &words[at..];
        let goes_on = last.map_or(is_word(c), |last| {
            !sign.is_over(last, rest) || !sign.is_marked(rest) && runs_on(last, c, letters)
        });
        letters += usize::from(!is_combining_mark(c));
        if !goes_on {
            break;
        }
        end = at + c.len_utf8();
        last = if is_combining_mark(c) { last } else { Some(if is_word(c) { c } else { '_' }) };
    }
    words[..end].trim_end_matches(['.', ':', '-'])
}
