//! A configuration as a tree with the position of each value, so that every error names a line.
//! Later files override earlier ones, and environment variables override files.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::parts::agents_folder;
use super::secrets::{FillFault, Resolver};
use crate::fault::{Exit, Fault};

/// Environment variables, as `${VAR}` sees them.
pub type Variables = BTreeMap<String, String>;

/// Prefix of variables that set a key: `MOOTHALL_SERVER__BIND` sets `bind` of `[server]`.
const VARIABLE: &str = "MOOTHALL_";
/// A key with a name like that of a secret, although its value is only a path.
const TLS_KEY_FILE: &str = "server.tls.key";
/// Separator of section and key in such a variable.
const BETWEEN: &str = "__";

/// The sources of a configuration.
pub struct Document {
    sources: Vec<Source>,
    runs_commands: bool,
    /// Files whose content was used as a value.
    secret_files: RefCell<Vec<PathBuf>>,
}

/// One source. Spans are offsets into all sources joined end to end, so that `begins` tells which
/// source a span is in.
struct Source {
    /// Path of the file, or name of the variable.
    name: PathBuf,
    text: String,
    begins: usize,
    is_file: bool,
    /// True for a file in the folder `agents.d` next to an earlier source.
    is_part: bool,
}

/// A value with its span.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// A table's entries in the order of the file: key with its span, and value.
pub type Entries<'a> = Vec<(Spanned<String>, Node<'a>)>;

impl Document {
    /// Parses one file, without variables.
    #[cfg(test)]
    pub fn new(file: &Path, text: String) -> Self {
        let mut document = Self::empty();
        document.add(file, text, true);
        document
    }

    /// Collects files, each overriding those before it, and the variables that set keys.
    pub fn of(files: Vec<(PathBuf, String)>, variables: &Variables) -> Self {
        let mut document = Self::empty();
        files.into_iter().for_each(|(file, text)| document.add(&file, text, true));
        let set =
            variables.iter().filter_map(|(name, value)| Some((name, assignment(name, value)?)));
        set.for_each(|(name, text)| document.add(Path::new(name), text, false));
        document
    }

    const fn empty() -> Self {
        let secret_files = RefCell::new(Vec::new());
        Self { sources: Vec::new(), runs_commands: true, secret_files }
    }

    /// Makes each `${cmd:…}` have a fixed text as its value. The commands are not run.
    #[must_use]
    pub fn without_commands(self) -> Self {
        Self { runs_commands: false, ..self }
    }

    fn add(&mut self, name: &Path, text: String, is_file: bool) {
        // The gap of one puts an error at the end of a source into that source.
        let begins = self.sources.last().map_or(0, |last| last.begins + last.text.len() + 1);
        let is_part = is_file && self.sources.iter().any(|source| source.is_whole_of(name));
        self.sources.push(Source { name: name.to_owned(), text, begins, is_file, is_part });
    }

    /// Merges all sources and returns the top-level entries. References such as `${VAR}` are not
    /// replaced yet: see [`Document::fill`].
    ///
    /// # Errors
    /// A source is not valid TOML, a file of agents has something else, or a file and the files of
    /// agents next to it have two sections for one agent.
    pub fn entries(&self) -> Result<Entries<'_>, Fault> {
        let mut whole: DeTable<'_> = std::iter::empty().collect();
        let mut beside = BTreeMap::new();
        for source in &self.sources {
            let at = |span: Range<usize>| span.start + source.begins..span.end + source.begins;
            let parsed = DeTable::parse(&source.text)
                .map_err(|error| self.fault(error.span().map(at), error.message()))?;
            let table = shifted(parsed.into_inner(), source.begins);
            if source.is_part {
                self.check_part(&table)?;
            } else {
                beside.clear();
            }
            self.check_names(&table, &mut beside)?;
            merge(&mut whole, table, source.is_file, 0);
        }
        Ok(into_entries(whole))
    }

    /// Replaces references such as `${VAR}` in all strings of a value.
    ///
    /// # Errors
    /// A reference has no value or does not end.
    pub fn fill(&self, node: &mut Node<'_>, variables: &Variables) -> Result<(), Fault> {
        let span = node.span();
        match node.get_mut() {
            DeValue::String(text) => {
                if let Some(filled) = self.filled(&span, text, variables)? {
                    *text = Cow::Owned(filled);
                }
            }
            DeValue::Array(array) => {
                for item in array.iter_mut() {
                    self.fill(item, variables)?;
                }
            }
            DeValue::Table(table) => {
                for (_, value) in table.iter_mut() {
                    self.fill(value, variables)?;
                }
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
        Ok(())
    }

    /// Replaces the references in a text of a file. `None` for a text that an environment variable
    /// sets, because `${` has no meaning in it.
    pub fn filled(
        &self,
        span: &Range<usize>,
        text: &str,
        variables: &Variables,
    ) -> Result<Option<String>, Fault> {
        let Some(source) = self.source(span.start).filter(|source| source.is_file) else {
            return Ok(None);
        };
        let mut read = self.secret_files.borrow_mut();
        let folder = source.name.parent().unwrap_or(Path::new(""));
        let runs_commands = self.runs_commands;
        let mut resolver = Resolver { variables, folder, runs_commands, read: &mut read };
        let filled = resolver.fill(text);
        filled.map(Some).map_err(|fault| self.unfilled(span.clone(), fault))
    }

    /// Returns the files whose content was used as a value.
    pub fn secret_files(&self) -> Vec<PathBuf> {
        self.secret_files.borrow().clone()
    }

    /// Returns the error for a `command` written as one string, with the array to write instead.
    pub fn command_line(&self, span: Range<usize>, line: &str) -> Fault {
        // Only a shell interprets these characters.
        let plain = !line.contains(['\'', '"', '\\', '`', '|', '&', ';', '<', '>', '*', '(', ')']);
        let words: Vec<String> = line.split_whitespace().map(quoted).collect();
        let instead =
            if plain { words.join(", ") } else { format!("\"sh\", \"-c\", {}", quoted(line)) };
        self.fault(
            Some(span),
            "`command` must be an array of the program and its arguments, because no shell splits \
             a line",
        )
        .try_this(format!("write command = [{instead}]"))
    }

    /// Returns each file with its keys that hold a literal secret, each once. The keys of a file
    /// may be none.
    pub fn literal_secrets(&self) -> Vec<(&Path, Vec<String>)> {
        let secrets = |source: &Source| {
            let mut found = Vec::new();
            if let Ok(parsed) = DeTable::parse(&source.text) {
                find_secrets(parsed.get_ref(), "", &mut found);
            }
            found.dedup();
            found
        };
        self.sources
            .iter()
            .filter(|source| source.is_file)
            .map(|source| (source.name.as_path(), secrets(source)))
            .collect()
    }

    /// Returns the origin of a span: file and line, or the variable.
    pub fn origin(&self, span: &Range<usize>) -> String {
        match self.source(span.start) {
            Some(source) if source.is_file => {
                format!("{}:{}", source.name.display(), source.position(span.start).0)
            }
            Some(source) => source.name.display().to_string(),
            None => String::new(),
        }
    }

    fn source(&self, offset: usize) -> Option<&Source> {
        self.sources.iter().rev().find(|source| source.begins <= offset)
    }

    /// Returns an error that begins with the place of the span: file, line and column, or the
    /// variable. Without a span, it begins with the first source.
    pub fn fault(&self, span: Option<Range<usize>>, what: &str) -> Fault {
        let what = what.trim().replace('\n', "; ");
        let place = span.as_ref().and_then(|span| Some((self.source(span.start)?, span.start)));
        let place = match (place, self.sources.first()) {
            (Some((source, at)), _) if source.is_file => {
                let (line, column) = source.position(at);
                format!("{}:{line}:{column}", source.name.display())
            }
            (Some((source, _)), _) => format!("the variable {}", source.name.display()),
            (None, Some(first)) => first.name.display().to_string(),
            (None, None) => "the configuration".to_owned(),
        };
        Fault::new(Exit::Config, format!("{place}: {what}"))
    }

    /// Returns the error for an unknown key. It suggests the nearest known key, or lists all known
    /// keys if none is close.
    pub fn unknown_key(&self, span: Range<usize>, key: &str, place: &str, known: &[&str]) -> Fault {
        let fault = self.fault(Some(span), &format!("unknown key `{key}` {place}"));
        match nearest(key, known) {
            Some(near) => fault.try_this(format!("did you mean `{near}`?")),
            None => fault.try_this(format!("the keys here are {}", known.join(", "))),
        }
    }

    /// Returns the entries of a table.
    ///
    /// # Errors
    /// The value is not a table.
    pub fn table<'a>(&self, key: &str, node: Node<'a>) -> Result<Entries<'a>, Fault> {
        let span = node.span();
        match node.into_inner() {
            DeValue::Table(table) => Ok(into_entries(table)),
            other => Err(self.fault(
                Some(span),
                &format!(
                    "`{key}` must be a section, written [{key}], not {}",
                    article(other.type_str())
                ),
            )),
        }
    }

    /// Deserializes a section.
    ///
    /// # Errors
    /// Unknown keys, with a suggestion, and values of the wrong type. The error never repeats a
    /// value, because it may be a secret.
    pub fn read<T: DeserializeOwned>(&self, section: &str, node: Node<'_>) -> Result<T, Fault> {
        T::deserialize(ValueDeserializer::from(node))
            .map_err(|error| self.misfit(&format!("in [{section}]"), &error))
    }

    /// Deserializes all entries.
    ///
    /// # Errors
    /// As [`Document::read`].
    pub fn read_whole<T: DeserializeOwned>(&self, entries: Entries<'_>) -> Result<T, Fault> {
        let entries = entries.into_iter().map(|(key, value)| {
            let span = key.span();
            (Spanned::new(span, Cow::Owned(key.into_inner())), value)
        });
        let node = Spanned::new(0..0, DeValue::Table(entries.collect()));
        T::deserialize(ValueDeserializer::from(node)).map_err(|error| self.misfit("", &error))
    }

    /// Returns the error for a value of the wrong type, or for an unknown key.
    fn misfit(&self, place: &str, error: &toml::de::Error) -> Fault {
        let mut words = error.message().split('`').skip(1).step_by(2);
        match (error.message().starts_with("unknown field"), words.next(), error.span()) {
            (true, Some(key), Some(span)) => {
                self.unknown_key(span, key, place, &words.collect::<Vec<_>>())
            }
            _ => {
                let lead = if place.is_empty() { String::new() } else { format!("{place}, ") };
                self.fault(error.span(), &format!("{lead}{}", without_values(error.message())))
            }
        }
    }

    /// Returns the error for a reference without a value. It never contains a value.
    fn unfilled(&self, span: Range<usize>, fault: FillFault) -> Fault {
        match fault {
            FillFault::Missing(name) => self
                .fault(Some(span), &format!("the environment variable {name} is not set"))
                .try_this(format!("set {name}, or write $${{{name}}} for the literal text")),
            FillFault::Open => self
                .fault(Some(span), "`${` is not closed")
                .try_this("write ${NAME}, or $${ for the literal text"),
            FillFault::File(path, why) => self
                .fault(Some(span), &format!("the file {} gives no value: {why}", path.display()))
                .try_this("correct the path, or let the user that runs moothall read the file"),
            FillFault::Command(why) => self
                .fault(Some(span), &format!("the command in `${{cmd:…}}` gives no value: {why}"))
                .try_this("run it in a shell as the user that runs moothall, and correct it"),
        }
    }
}

impl Source {
    /// True if `other` is in the folder `agents.d` next to this file.
    fn is_whole_of(&self, other: &Path) -> bool {
        self.is_file && other.parent() == Some(agents_folder(&self.name).as_path())
    }

    /// Returns line and column, both from 1; columns count characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset - self.begins).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Returns an environment variable as a line of TOML; `None` if it sets no key. Its name has to
/// begin with [`VARIABLE`] and contain [`BETWEEN`], and its value must not be empty. A value that
/// does not parse as TOML becomes a string.
fn assignment(name: &str, value: &str) -> Option<String> {
    let path =
        name.strip_prefix(VARIABLE).filter(|path| path.contains(BETWEEN) && !value.is_empty())?;
    let keys: Vec<String> =
        path.split(BETWEEN).map(|key| format!("\"{}\"", key.to_lowercase())).collect();
    if keys.iter().any(|key| key == "\"\"" || key.contains(['\\', '\n'])) {
        return None;
    }
    // If the table had more than one key, a line break in the value would set further keys.
    let is_toml = format!("v = {value}").parse::<toml::Table>().is_ok_and(|table| table.len() == 1);
    let value =
        if is_toml { value.to_owned() } else { toml::Value::String(value.to_owned()).to_string() };
    Some(format!("{} = {value}", keys.join(".")))
}

/// Shifts all spans of a table, from offsets in its source to offsets in the joined sources.
fn shifted(table: DeTable<'_>, by: usize) -> DeTable<'_> {
    table
        .into_iter()
        .map(|(key, value)| {
            let span = key.span();
            (
                Spanned::new(span.start + by..span.end + by, key.into_inner()),
                shifted_value(value, by),
            )
        })
        .collect()
}

/// Shifts the span of a value, and the spans of all values within it, by this many bytes.
fn shifted_value(node: Node<'_>, by: usize) -> Node<'_> {
    let span = node.span();
    let value = match node.into_inner() {
        DeValue::Table(table) => DeValue::Table(shifted(table, by)),
        DeValue::Array(mut array) => {
            for item in array.iter_mut() {
                let inner = std::mem::replace(item, Spanned::new(0..0, DeValue::Boolean(false)));
                *item = shifted_value(inner, by);
            }
            DeValue::Array(array)
        }
        scalar @ (DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)) => scalar,
    };
    Spanned::new(span.start + by..span.end + by, value)
}

/// Merges a table over another. Top-level sections, `server.tls` and variables are merged key by
/// key. Any other table of a file, such as the section of an agent, replaces the earlier one as a
/// whole, because half of each would not be a valid agent.
fn merge<'a>(under: &mut DeTable<'a>, over: DeTable<'a>, is_file: bool, depth: usize) {
    for (key, value) in over {
        let whole = is_file && depth > 0 && key.get_ref() != "tls";
        match under.remove(&key) {
            Some(below) if !whole && is_table(&below) && is_table(&value) => {
                let span = value.span();
                let (DeValue::Table(mut below), DeValue::Table(above)) =
                    (below.into_inner(), value.into_inner())
                else {
                    continue;
                };
                merge(&mut below, above, is_file, depth + 1);
                under.insert(key, Spanned::new(span, DeValue::Table(below)));
            }
            Some(_) | None => {
                under.insert(key, value);
            }
        }
    }
}

pub fn is_table(node: &Node<'_>) -> bool {
    matches!(node.get_ref(), DeValue::Table(_))
}

/// Returns the entries of a table in the order of their positions.
fn into_entries(table: DeTable<'_>) -> Entries<'_> {
    let entries = table.into_iter().map(|(key, value)| {
        let span = key.span();
        (Spanned::new(span, key.into_inner().into_owned()), value)
    });
    let mut entries: Entries<'_> = entries.collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Returns a text as a TOML string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// Returns the known word that is most like this word, by edit distance. `None` if none is close.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(word, candidate);
    let best = known.iter().copied().min_by_key(|candidate| distance(candidate))?;
    let close = distance(best) <= 2.max(word.chars().count() / 3);
    close.then_some(best)
}

/// Removes the rejected value from a serde error, because it may be a secret.
fn without_values(message: &str) -> String {
    // For an unknown variant, serde quotes the value in backticks. The value may contain any text,
    // so only the last "`, expected " is sure to end it.
    let known = message
        .strip_prefix("unknown variant `")
        .and_then(|rest| Some(&rest[rest.rfind("`, expected ")?..]));
    if let Some(known) = known {
        return format!("unknown variant `…{known}");
    }
    let quoted = message.find('"').zip(message.rfind('"')).filter(|(open, close)| open < close);
    match quoted {
        Some((open, close)) => format!("{}…{}", &message[..=open], &message[close..]),
        None => message.into(),
    }
}

/// Appends the path of each key whose value is a secret, is not empty, and has no reference such as
/// `${VAR}`.
fn find_secrets(table: &DeTable<'_>, path: &str, found: &mut Vec<String>) {
    for (key, value) in table {
        let key = key.get_ref();
        let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        find_secrets_at(value.get_ref(), path, found);
    }
}

/// Appends the paths of a value and of the values in it that are literal secrets: texts under a key
/// for a secret, not empty, and without a reference such as `${VAR}`. The entries of a list have
/// the path of the list.
fn find_secrets_at(value: &DeValue<'_>, path: String, found: &mut Vec<String>) {
    match value {
        DeValue::Table(inner) => find_secrets(inner, &path, found),
        DeValue::Array(items) => {
            items.iter().for_each(|item| find_secrets_at(item.get_ref(), path.clone(), found))
        }
        DeValue::String(text)
            if names_a_secret(&path) && !text.is_empty() && !text.contains("${") =>
        {
            found.push(path)
        }
        _ => {}
    }
}

/// True if the end of a key's path says that its value is secret. The path of a key file
/// (`server.tls.key`) is not.
pub fn names_a_secret(path: &str) -> bool {
    let path = path.to_lowercase();
    path != TLS_KEY_FILE
        && ["key", "token", "secret", "password", "invite_code"]
            .iter()
            .any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn columns_count_characters() {
        let document = Document::new(Path::new("x.toml"), "a = 1\né = \"ü\" x\n".into());
        let fault = document.entries().unwrap_err();
        assert!(fault.what.starts_with("x.toml:2:9: "), "{}", fault.what);
    }

    #[test]
    fn a_refused_value_is_not_repeated() {
        assert_eq!(
            without_values(r#"invalid type: string "sk-"123"", expected a map"#),
            r#"invalid type: string "…", expected a map"#
        );
    }

    #[test]
    fn only_literal_secrets_count() {
        let text =
            "[agents.a]\napi_key = \"sk-1\"\nmodel = \"m\"\n[agents.b]\napi_key = \"${KEY}\"\n";
        let document = Document::new(Path::new("x.toml"), text.into());
        assert_eq!(
            document.literal_secrets(),
            [(Path::new("x.toml"), vec!["agents.a.api_key".to_owned()])]
        );
        let text = "[[channels.telegram.bots]]\nbot_token = \"1:A\"\n[[channels.telegram.bots]]\n\
                    bot_token = \"2:B\"\n";
        let document = Document::new(Path::new("x.toml"), text.into());
        let found = vec!["channels.telegram.bots.bot_token".to_owned()];
        assert_eq!(document.literal_secrets(), [(Path::new("x.toml"), found)], "in lists too");
    }

    #[test]
    fn later_files_and_variables_lie_over_earlier_ones_and_keep_their_places() {
        let files = vec![
            (
                PathBuf::from("user.toml"),
                "[server]\nbind = \"127.0.0.1:1\"\nmode = \"token\"\n[agents.a]\nmodel = \"m\"\n"
                    .into(),
            ),
            (
                PathBuf::from("here.toml"),
                "[server]\nbind = \"127.0.0.1:2\"\n[agents.a]\ncommand = [\"x\"]\n".into(),
            ),
        ];
        let set = [
            ("MOOTHALL_SERVER__DATA", "/data"),
            ("MOOTHALL_AGENTS__A__TIMEOUT", "20"),
            ("MOOTHALL_LOG", "info"),
            ("MOOTHALL_X__Y", ""),
        ];
        let variables = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let document = Document::of(files, &variables);
        let entries = document.entries().unwrap();
        let mut rows = Vec::new();
        for (section, node) in entries {
            leaves(&document, section.get_ref(), node, &mut rows);
        }
        rows.sort();
        let expected = [
            "agents.a.command here.toml:4",
            "agents.a.timeout MOOTHALL_AGENTS__A__TIMEOUT",
            "server.bind here.toml:2",
            "server.data MOOTHALL_SERVER__DATA",
            "server.mode user.toml:3",
        ];
        assert_eq!(rows, expected);
    }

    fn leaves(document: &Document, path: &str, node: Node<'_>, rows: &mut Vec<String>) {
        let span = node.span();
        match node.into_inner() {
            DeValue::Table(table) => {
                into_entries(table).into_iter().for_each(|(key, value)| {
                    leaves(document, &format!("{path}.{}", key.get_ref()), value, rows)
                });
            }
            _ => rows.push(format!("{path} {}", document.origin(&span))),
        }
    }

    #[test]
    fn a_variable_that_makes_no_sense_is_named() {
        let variables =
            Variables::from([("MOOTHALL_SERVER__BNID".to_owned(), "127.0.0.1:1".to_owned())]);
        let document = Document::of(Vec::new(), &variables);
        let (_, node) = document.entries().unwrap().remove(0);
        let fault = document.fault(Some(node.span()), "no");
        assert_eq!(fault.what, "the variable MOOTHALL_SERVER__BNID: no");
    }

    #[test]
    fn suggestions_are_close_or_absent() {
        assert_eq!(nearest("bnd", &["bind", "data"]), Some("bind"));
        assert_eq!(nearest("colour", &["bind", "data"]), None);
    }
}
