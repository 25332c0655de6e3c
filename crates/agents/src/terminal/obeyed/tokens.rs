//! Reads the tokens that a program looks for in a prompt, as the program itself reads them.

/// Things of which the program must find one to obey the token.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sought {
    /// Nothing: it is obeyed, or what it names cannot be known.
    Nothing,
    /// A file or folder of one of these names.
    File(Vec<String>),
    /// A skill of one of these names.
    Skill(Vec<String>),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) at: usize,
    /// The place from which the program looks for the next one.
    pub(super) end: usize,
    pub(super) sought: Sought,
}

impl Token {
    pub(super) fn always(at: usize, end: usize) -> Self {
        Self { at, end, sought: Sought::Nothing }
    }
}

/// A word that changes how the program works at any place.
pub(super) fn keyword(text: &str, at: usize, keywords: &[&str]) -> Option<Token> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = !text[..at].ends_with(is_word);
    let ends = |word: &&&str| {
        let begun = text.as_bytes()[at..].get(..word.len());
        begun.is_some_and(|begun| begun.eq_ignore_ascii_case(word.as_bytes()))
            && !text[at + word.len()..].starts_with(is_word)
    };
    let word = keywords.iter().find(ends).filter(|_| begins)?;
    Some(Token::always(at, at + word.len()))
}

/// `@` after a blank, or after one of four signs of Chinese and Japanese: a file or a folder, of
/// which lines may be named, or one with blanks in quotes; an agent; a resource of a server.
pub(super) fn of_claude(text: &str, at: usize) -> Option<Token> {
    let opens = |c: char| is_blank(c) || matches!(c, '。' | '、' | '？' | '！');
    let rest = text[at..].strip_prefix('@').filter(|_| at == 0 || text[..at].ends_with(opens))?;
    if let Some((quoted, _)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        let end = at + 1 + '"'.len_utf8();
        return Some(if quoted.ends_with(" (agent)") {
            Token::always(at, end)
        } else {
            file(at, end, [quoted.to_owned()])
        });
    }
    let run = &rest[..rest.find(is_blank).unwrap_or(rest.len())];
    let end = at + 1 + run.len();
    // It goes to the end of the last word of ASCII.
    let last = run.rfind(|c: char| c.is_ascii_alphanumeric() || c == '_')?;
    let named = &run[..=last];
    if run.starts_with("agent-") || is_of_server(named) {
        return Some(Token::always(at, end));
    }
    let without_lines = named.split('#').next().unwrap_or(named);
    Some(file(at, end, [named.to_owned(), without_lines.to_owned(), run.to_owned()]))
}

/// `@` that does not follow a `\`: a file or a folder, or one in whose path the name is found; an
/// agent; a resource of a server.
pub(super) fn of_gemini(text: &str, at: usize) -> Option<Token> {
    let rest = text[at..].strip_prefix('@').filter(|_| !text[..at].ends_with('\\'))?;
    let (mut named, mut quoted) = (String::new(), String::new());
    let mut length = 0;
    while let Some((read, part)) = part_of_gemini(&rest[length..]) {
        length += read;
        named.push_str(part);
        quoted.push_str(part.trim_matches('"'));
    }
    let end = at + 1 + length;
    if length == 0 {
        return None;
    }
    Some(if is_of_server(&named) || named.contains('*') {
        Token::always(at, end)
    } else {
        file(at, end, [named, quoted])
    })
}

/// The next part of a path, and how long it is as it was written.
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

/// `$` and the name of a skill at any place; a link whose text is one.
pub(super) fn of_codex(text: &str, at: usize) -> Option<Token> {
    let rest = text[at..].strip_prefix('$')?;
    let length = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
    let end = at + 1 + length;
    if length == 0 {
        return None;
    }
    if text[..at].ends_with('[') && rest[length..].starts_with("](") {
        return Some(Token::always(at, end));
    }
    let named = &rest[..length];
    let without_end = named.trim_end_matches([':', '-', '_']);
    let names = [named, without_end, named.split(':').next().unwrap_or(named)];
    Some(Token { at, end, sought: Sought::Skill(names.map(str::to_owned).into()) })
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':')
}

/// A path that leads upwards, or to a home, is not looked for.
fn file(at: usize, end: usize, named: impl IntoIterator<Item = String>) -> Token {
    let named: Vec<String> = named.into_iter().filter(|name| !name.is_empty()).collect();
    let leads_up =
        |name: &String| name.starts_with('~') || name.split(['/', '\\']).any(|part| part == "..");
    if named.iter().any(leads_up) {
        return Token::always(at, end);
    }
    Token { at, end, sought: Sought::File(named) }
}

/// True if it may name a resource of a server: which servers a program has cannot be known.
fn is_of_server(name: &str) -> bool {
    let is_server = |server: &str| {
        !server.is_empty()
            && server.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    name.split_once(':').is_some_and(|(server, rest)| is_server(server) && !rest.is_empty())
}

/// A blank as JavaScript has it.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\u{85}' || c == '\u{feff}'
}
