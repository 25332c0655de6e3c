//! A configuration file as a tree that remembers where everything stands, so that every complaint names a line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::fault::{Exit, Fault};

/// Environment variables, as `${VAR}` sees them.
pub type Variables = BTreeMap<String, String>;

/// A place in a configuration file.
pub struct Document {
    /// The file, for messages.
    file: PathBuf,
    text: String,
}

/// A value and where it stands.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// A table's entries in the order of the file: key with its place, and value.
pub type Entries<'a> = Vec<(Spanned<String>, Node<'a>)>;

impl Document {
    /// A file's text.
    pub fn new(file: &Path, text: String) -> Self {
        Self { file: file.to_owned(), text }
    }

    /// The entries at the top of the file, variables filled in.
    ///
    /// # Errors
    /// What is no TOML, and variables that are not set.
    pub fn entries(&self, variables: &Variables) -> Result<Entries<'_>, Fault> {
        let parsed = DeTable::parse(&self.text).map_err(|error| self.fault(error.span(), error.message()))?;
        let mut entries = into_entries(parsed.into_inner());
        for (_, value) in &mut entries {
            self.interpolate(value, variables)?;
        }
        Ok(entries)
    }

    /// Keys whose values look like secrets written into the file itself.
    pub fn literal_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Ok(parsed) = DeTable::parse(&self.text) {
            find_secrets(parsed.get_ref(), "", &mut found);
        }
        found
    }

    /// A complaint about a place in this file.
    pub fn fault(&self, span: Option<Range<usize>>, what: &str) -> Fault {
        let file = self.file.display();
        let what = what.trim().replace('\n', "; ");
        let Some(span) = span else { return Fault::new(Exit::Config, format!("{file}: {what}")) };
        let (line, column) = self.position(span.start);
        Fault::new(Exit::Config, format!("{file}:{line}:{column}: {what}"))
    }

    /// A complaint about a key that nobody knows, with the nearest one that somebody does.
    pub fn unknown_key(&self, span: Range<usize>, key: &str, place: &str, known: &[&str]) -> Fault {
        let fault = self.fault(Some(span), &format!("unknown key `{key}` {place}"));
        match nearest(key, known) {
            Some(near) => fault.try_this(format!("did you mean `{near}`?")),
            None => fault.try_this(format!("the keys here are {}", known.join(", "))),
        }
    }

    /// The entries of a table.
    ///
    /// # Errors
    /// The value is something else than a table.
    pub fn table<'a>(&self, key: &str, node: Node<'a>) -> Result<Entries<'a>, Fault> {
        let span = node.span();
        match node.into_inner() {
            DeValue::Table(table) => Ok(into_entries(table)),
            other => Err(self.fault(Some(span), &format!("`{key}` is a section, written [{key}], not {}", article(other.type_str())))),
        }
    }

    /// Reads a section into its type.
    ///
    /// # Errors
    /// Unknown keys with a suggestion, and values of the wrong type. Values are never repeated: they may be secrets.
    pub fn read<T: DeserializeOwned>(&self, section: &str, node: Node<'_>) -> Result<T, Fault> {
        T::deserialize(ValueDeserializer::from(node)).map_err(|error| {
            let mut words = error.message().split('`').skip(1).step_by(2);
            match (error.message().starts_with("unknown field"), words.next(), error.span()) {
                (true, Some(key), Some(span)) => self.unknown_key(span, key, &format!("in [{section}]"), &words.collect::<Vec<_>>()),
                _ => self.fault(error.span(), &format!("in [{section}], {}", without_values(error.message()))),
            }
        })
    }

    fn interpolate(&self, node: &mut Node<'_>, variables: &Variables) -> Result<(), Fault> {
        let span = node.span();
        match node.get_mut() {
            DeValue::String(text) => {
                *text = Cow::Owned(fill(text, variables).map_err(|fault| self.variable_fault(span, fault))?);
            }
            DeValue::Array(array) => {
                for item in array.iter_mut() {
                    self.interpolate(item, variables)?;
                }
            }
            DeValue::Table(table) => {
                for (_, value) in table.iter_mut() {
                    self.interpolate(value, variables)?;
                }
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
        }
        Ok(())
    }

    fn variable_fault(&self, span: Range<usize>, fault: FillFault) -> Fault {
        match fault {
            FillFault::Missing(name) => self
                .fault(Some(span), &format!("the environment variable {name} is not set"))
                .try_this(format!("set {name}, or write $${{{name}}} if the text means itself")),
            FillFault::Open => self.fault(Some(span), "`${` is not closed").try_this("write ${NAME}, or $${ if the text means itself"),
        }
    }

    /// Line and column, both from 1; columns count characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

fn into_entries(table: DeTable<'_>) -> Entries<'_> {
    let entries = table.into_iter().map(|(key, value)| {
        let span = key.span();
        (Spanned::new(span, key.into_inner().into_owned()), value)
    });
    let mut entries: Entries<'_> = entries.collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// The known word that differs least, if any is close.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(word, candidate);
    let best = known.iter().copied().min_by_key(|candidate| distance(candidate))?;
    let close = distance(best) <= 2.max(word.chars().count() / 3);
    close.then_some(best)
}

/// Serde repeats the value that it could not use; that value may be a secret.
fn without_values(message: &str) -> String {
    let quoted = message.find('"').zip(message.rfind('"')).filter(|(open, close)| open < close);
    match quoted {
        Some((open, close)) => format!("{}…{}", &message[..=open], &message[close..]),
        None => message.into(),
    }
}

enum FillFault {
    Missing(String),
    Open,
}

/// Replaces `${NAME}` by the variable; `$${` stands for itself.
fn fill(text: &str, variables: &Variables) -> Result<String, FillFault> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        if let Some(literal) = before.strip_suffix('$') {
            out.push_str(literal);
            out.push_str("${");
            rest = after;
            continue;
        }
        let (name, remainder) = after.split_once('}').ok_or(FillFault::Open)?;
        out.push_str(before);
        out.push_str(variables.get(name).ok_or_else(|| FillFault::Missing(name.into()))?);
        rest = remainder;
    }
    out.push_str(rest);
    Ok(out)
}

fn find_secrets(table: &DeTable<'_>, path: &str, found: &mut Vec<String>) {
    for (key, value) in table {
        let key = key.get_ref();
        let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        match value.get_ref() {
            DeValue::Table(inner) => find_secrets(inner, &path, found),
            DeValue::String(text) if names_a_secret(key) && !text.is_empty() && !text.contains("${") => found.push(path),
            _ => {}
        }
    }
}

fn names_a_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    ["key", "token", "secret", "password"].iter().any(|end| key.ends_with(end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn variables() -> Variables {
        [("A".to_owned(), "one".to_owned()), ("EMPTY".to_owned(), String::new())].into()
    }

    #[test]
    fn variables_are_filled_in_and_escaped() {
        let filled = |text| fill(text, &variables()).ok();
        assert_eq!(filled("${A}-${A}").as_deref(), Some("one-one"));
        assert_eq!(filled("$${A} costs $5 ${EMPTY}.").as_deref(), Some("${A} costs $5 ."));
        assert_eq!(filled("${NOPE}"), None);
        assert_eq!(filled("${A"), None);
    }

    #[test]
    fn a_variable_is_never_filled_in_twice() {
        let sly = Variables::from([("A".to_owned(), "${B}".to_owned()), ("B".to_owned(), "secret".to_owned())]);
        assert_eq!(fill("${A}", &sly).ok().as_deref(), Some("${B}"));
    }

    #[test]
    fn columns_count_characters() {
        let document = Document::new(Path::new("x.toml"), "a = 1\né = \"ü\" x\n".into());
        let fault = document.entries(&variables()).unwrap_err();
        assert!(fault.what.starts_with("x.toml:2:9: "), "{}", fault.what);
    }

    #[test]
    fn a_refused_value_is_not_repeated() {
        assert_eq!(without_values(r#"invalid type: string "sk-"123"", expected a map"#), r#"invalid type: string "…", expected a map"#);
    }

    #[test]
    fn only_literal_secrets_count() {
        let text = "[agents.a]\napi_key = \"sk-1\"\nmodel = \"m\"\n[agents.b]\napi_key = \"${KEY}\"\n";
        let document = Document::new(Path::new("x.toml"), text.into());
        assert_eq!(document.literal_secrets(), ["agents.a.api_key"]);
    }

    #[test]
    fn suggestions_are_close_or_absent() {
        assert_eq!(nearest("bnd", &["bind", "data"]), Some("bind"));
        assert_eq!(nearest("colour", &["bind", "data"]), None);
    }
}
