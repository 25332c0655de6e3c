//! Reads the tokens that a program looks for in a prompt, by the program's own rules.

use moothall_kernel::text::cut;

/// The object that the program must find in order to obey a token.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    /// Nothing: the token is always obeyed, or its object cannot be known.
    Nothing,
    /// A file or folder of one of these names.
    File(Vec<String>),
    /// A skill of one of these names.
    Skill(Vec<String>),
}

/// A token at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Length in bytes, after which the program looks for the next token.
    pub(super) length: usize,
    pub(super) sought: Requirement,
}

/// Most bytes of a token that are read: Linux accepts no longer path. Without a limit, many tokens
/// in one long word would take quadratic time.
pub(super) const PATH_BYTES_MAX: usize = 4096;

impl Token {
    pub(super) fn always(length: usize) -> Self {
        Self { length, sought: Requirement::Nothing }
    }
}

/// A text from a place on, with the character before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position<'a> {
    pub(super) before: Option<char>,
    pub(super) rest: &'a str,
}

/// Returns a keyword of the program at this place, as a whole word, in upper or lower case.
pub(super) fn keyword(Position { before, rest }: Position<'_>, keywords: &[&str]) -> Option<Token> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = !before.is_some_and(is_word);
    let ends = |word: &&&str| {
        let begun = rest.as_bytes().get(..word.len());
        begun.is_some_and(|begun| begun.eq_ignore_ascii_case(word.as_bytes()))
            && !rest[word.len()..].starts_with(is_word)
    };
    let word = keywords.iter().find(ends).filter(|_| begins)?;
    Some(Token::always(word.len()))
}

/// Reads a token of Claude Code: `@` after a blank, or after one of four signs of Chinese and
/// Japanese. It names a file or folder, maybe with lines or in quotes, or an agent, or a resource
/// of a tool server.
pub(super) fn of_claude(Position { before, rest }: Position<'_>) -> Option<Token> {
    let opens = |c: char| is_blank(c) || matches!(c, '。' | '、' | '？' | '！');
    let all = rest.strip_prefix('@').filter(|_| before.is_none_or(opens))?;
    let rest = cut(all, PATH_BYTES_MAX);
    let is_cut = rest.len() < all.len();
    let quoted = rest.strip_prefix('"').map(|rest| rest.split_once('"'));
    if is_cut && (quoted == Some(None) || !rest.contains(is_blank)) {
        // A longer name may still be a path, after `./` and `..` are removed.
        return Some(Token::always(1));
    }
    if let Some(Some((quoted, _))) = quoted {
        let length = 1 + '"'.len_utf8();
        return Some(if quoted.ends_with(" (agent)") {
            Token::always(length)
        } else {
            file(length, [quoted.to_owned()])
        });
    }
    let run = &rest[..rest.find(is_blank).unwrap_or(rest.len())];
    let length = 1 + run.len();
    // The name ends with its last ASCII word.
    let last = run.rfind(|c: char| c.is_ascii_alphanumeric() || c == '_')?;
    let named = &run[..=last];
    if run.starts_with("agent-") || is_of_server(named) {
        return Some(Token::always(length));
    }
    let without_lines = named.split('#').next().unwrap_or(named);
    Some(file(length, [named.to_owned(), without_lines.to_owned(), run.to_owned()]))
}

/// Reads a token of Gemini CLI: `@` that does not follow a `\`. It names a file or folder, or a
/// part of its path, or an agent, or a resource of a tool server.
pub(super) fn of_gemini(Position { before, rest }: Position<'_>) -> Option<Token> {
    let all = rest.strip_prefix('@').filter(|_| before != Some('\\'))?;
    let rest = cut(all, PATH_BYTES_MAX);
    let (mut named, mut quoted) = (String::new(), String::new());
    let mut length = 0;
    while let Some((read, part)) = part_of_gemini(&rest[length..]) {
        length += read;
        named.push_str(part);
        quoted.push_str(part.trim_matches('"'));
    }
    if length == 0 {
        return None;
    }
    let is_cut = rest.len() < all.len() && length == rest.len();
    Some(if is_cut || is_of_server(&named) || named.contains('*') {
        Token::always(1 + length)
    } else {
        file(1 + length, [named, quoted])
    })
}

/// Returns the next part of a path, and its length as written.
fn part_of_gemini(rest: &str) -> Option<(usize, &str)> {
    let first = rest.chars().next()?;
    let after = &rest[first.len_utf8()..];
    match first {
        '"' => {
            let end = after.find('"').map_or(0, |quote| quote + 1);
            Some((end + 1, &rest[..=end]))
        }
        '\\' => match after.chars().next().filter(|c| *c != '\n') {
            Some(escaped) => Some((1 + escaped.len_utf8(), &after[..escaped.len_utf8()])),
            None => Some((1, &rest[..1])),
        },
        '.' if after.chars().next().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) => None,
        ' ' | '\t' | '\n' | '\r' | ',' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}' => {
            None
        }
        _ => Some((first.len_utf8(), &rest[..first.len_utf8()])),
    }
}

/// Reads a token of Codex: `$` and the name of a skill at any place, or a link with such a text.
pub(super) fn of_codex(Position { before, rest }: Position<'_>) -> Option<Token> {
    let rest = rest.strip_prefix('$')?;
    let length = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
    if length == 0 {
        return None;
    }
    if before == Some('[') && rest[length..].starts_with("](") {
        return Some(Token::always(1 + length));
    }
    let named = &rest[..length];
    let without_end = named.trim_end_matches([':', '-', '_']);
    let names = [named, without_end, named.split(':').next().unwrap_or(named)];
    Some(Token { length: 1 + length, sought: Requirement::Skill(names.map(str::to_owned).into()) })
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':')
}

/// Returns a token for a file. A path that leads upwards or to a home is not looked up, so it
/// counts as obeyed.
fn file(length: usize, named: impl IntoIterator<Item = String>) -> Token {
    let named: Vec<String> = named.into_iter().filter(|name| !name.is_empty()).collect();
    let leads_up =
        |name: &String| name.starts_with('~') || name.split(['/', '\\']).any(|part| part == "..");
    if named.iter().any(leads_up) {
        return Token::always(length);
    }
    Token { length, sought: Requirement::File(named) }
}

/// True if a name may be a resource of a tool server. The tool servers of a program cannot be
/// known, so any name of that form counts.
fn is_of_server(name: &str) -> bool {
    let is_server = |server: &str| {
        !server.is_empty()
            && server.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    name.split_once(':').is_some_and(|(server, rest)| is_server(server) && !rest.is_empty())
}

/// True for white space as JavaScript defines it.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\u{85}' || c == '\u{feff}'
}
