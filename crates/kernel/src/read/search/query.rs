//! The query language: words, `"phrases"`, and the filters `from: in: before: after:`.
//!
//! A word of three letters or more also finds longer words that begin with it; words in quotes are
//! whole. All words must be in the text, in any order. `from:` and `in:` take ids and names. If one
//! is given several times, any of its values matches. `after:` and `before:` take a day (UTC) or a
//! time; `after:` includes it, `before:` does not.

use std::fmt;
use std::ops::Range;

use super::tokens::{Word, words};
use crate::model::time::Timestamp;

/// Longest query, in bytes.
pub const QUERY_BYTES_MAX: usize = 1000;
/// Most words, phrases and filters together.
pub const PARTS_MAX: usize = 32;
/// Filters of other programs, which people try here too.
const FOREIGN: [&str; 8] = ["has", "is", "to", "by", "since", "until", "type", "with"];
/// Number of letters from which a word also finds longer ones. For words with letters beyond ASCII
/// one letter is enough, because such a letter narrows the search more.
const OPEN_CHARS_MIN: usize = 3;

/// A search query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Terms that must all be in the text.
    pub terms: Vec<Term>,
    /// Ids or names of speakers, one of which must match. Empty for all speakers.
    pub from: Vec<String>,
    /// Ids or names of conversations, one of which must match. Empty for all conversations.
    pub within: Vec<String>,
    /// Earliest time of a message.
    pub after: Option<Timestamp>,
    /// Time before which a message was said.
    pub before: Option<Timestamp>,
}

/// Words that must be next to each other in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The words; at least one.
    pub words: Vec<String>,
    /// True if the last word may be the beginning of a longer one.
    pub open: bool,
}

/// The reason why a query is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryFault {
    /// The query has nothing to search for.
    Nothing,
    /// The query is longer than [`QUERY_BYTES_MAX`].
    TooLong,
    /// The query has more than [`PARTS_MAX`] parts.
    TooManyParts,
    /// A quote is not closed.
    OpenQuote,
    /// This filter of other programs does not exist here.
    UnknownFilter(&'static str),
    /// Nothing follows the colon of this filter.
    EmptyFilter(&'static str),
    /// The value of this filter is not a time.
    NoTime(&'static str, String),
}

impl fmt::Display for QueryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryFault::Nothing => f.write_str(
                "The query is empty: give a word, a \"phrase\", or from: in: before: after:.",
            ),
            QueryFault::TooLong => write!(f, "The query is longer than {QUERY_BYTES_MAX} bytes."),
            QueryFault::TooManyParts => {
                write!(f, "The query has more than {PARTS_MAX} words and filters.")
            }
            QueryFault::OpenQuote => f.write_str("A quotation mark (\") is not closed."),
            QueryFault::UnknownFilter(key) => write!(
                f,
                "There is no filter `{key}:`. The filters are from: in: before: after:. To search \
                 for the words, put them in quotes."
            ),
            QueryFault::EmptyFilter(key) => write!(f, "`{key}:` needs a value."),
            QueryFault::NoTime(key, given) => {
                write!(
                    f,
                    "`{key}:` takes a day such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z, not {given:?}."
                )
            }
        }
    }
}

impl Query {
    /// Reads a query as people type it.
    ///
    /// # Errors
    /// [`QueryFault`], which says in a sentence what is wrong.
    pub fn parse(text: &str) -> Result<Query, QueryFault> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(QueryFault::TooLong);
        }
        let mut query = Query::default();
        let parts = parts(text)?;
        if parts.len() > PARTS_MAX {
            return Err(QueryFault::TooManyParts);
        }
        parts.into_iter().try_for_each(|part| query.add(part))?;
        if query == Query::default() { Err(QueryFault::Nothing) } else { Ok(query) }
    }

    /// Adds a term or a filter to the query. The latest of several `after:` counts, and the
    /// earliest of several `before:`. Fails on an empty value and on a value that is not a time.
    fn add(&mut self, part: QueryPart) -> Result<(), QueryFault> {
        let Some(filter) = part.filter else {
            let foreign = |key: &&&str| {
                part.text.split_once(':').is_some_and(|(said, _)| said.eq_ignore_ascii_case(key))
            };
            if let Some(key) = FOREIGN.iter().find(foreign).filter(|_| !part.quoted) {
                return Err(QueryFault::UnknownFilter(key));
            }
            self.terms.extend(Term::of(&part.text, part.quoted));
            return Ok(());
        };
        let value = part.text.trim();
        if value.is_empty() {
            return Err(QueryFault::EmptyFilter(filter.into()));
        }
        match filter {
            Filter::From => self.from.push(value.to_owned()),
            Filter::In => self.within.push(value.to_owned()),
            Filter::After => self.after = self.after.max(Some(time(filter, value)?)),
            Filter::Before => {
                let time = time(filter, value)?;
                self.before = Some(self.before.map_or(time, |before| before.min(time)));
            }
        }
        Ok(())
    }

    /// Returns the byte ranges of the terms in a text, in order and without overlap, or `None` if
    /// the text lacks one of the terms. A query of filters alone matches every text, with an empty
    /// list.
    pub fn find(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let words = words(text);
        let mut marks = Vec::new();
        for term in &self.terms {
            let before = marks.len();
            marks.extend(term.places(&words));
            if marks.len() == before {
                return None;
            }
        }
        Some(joined(marks))
    }
}

impl Term {
    /// Returns the term of a typed word or phrase, or `None` if it has no words.
    fn of(text: &str, whole: bool) -> Option<Term> {
        let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
        let last = words.last()?;
        let open = !whole && (!last.is_ascii() || last.len() >= OPEN_CHARS_MIN);
        Some(Term { words, open })
    }

    fn places<'a>(&'a self, words: &'a [Word]) -> impl Iterator<Item = Range<usize>> + 'a {
        let rows = words.windows(self.words.len()).filter(|row| self.is(row));
        rows.filter_map(|row| Some(row.first()?.range.start..row.last()?.range.end))
    }

    /// True if these words are the term. An open last word may be the beginning of a longer one.
    fn is(&self, row: &[Word]) -> bool {
        let last = self.words.len() - 1;
        row.iter().zip(&self.words).enumerate().all(|(place, (word, wanted))| {
            match self.open && place == last {
                true => word.text.starts_with(wanted.as_str()),
                false => word.text == *wanted,
            }
        })
    }
}

/// Returns the ranges in order, with overlapping ones joined.
fn joined(mut marks: Vec<Range<usize>>) -> Vec<Range<usize>> {
    marks.sort_by_key(|mark| (mark.start, mark.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(marks.len());
    for mark in marks {
        match joined.last_mut() {
            Some(last) if mark.start < last.end => last.end = last.end.max(mark.end),
            _ => joined.push(mark),
        }
    }
    joined
}

#[derive(Clone, Copy)]
#[derive(strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
enum Filter {
    From,
    In,
    After,
    Before,
}

impl Filter {
    /// Splits a word into its filter and the value after the colon. Other words may have colons, as
    /// addresses do.
    fn split(word: &str) -> Option<(Filter, &str)> {
        let (key, value) = word.split_once(':')?;
        Some((key.parse().ok()?, value))
    }
}

/// Reads a day or a time.
fn time(filter: Filter, value: &str) -> Result<Timestamp, QueryFault> {
    let is_day = value.len() == 10
        && value
            .bytes()
            .enumerate()
            .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() });
    let read = if is_day { format!("{value}T00:00:00Z").parse() } else { value.parse() };
    read.map_err(|_| QueryFault::NoTime(filter.into(), value.chars().take(40).collect()))
}

/// A word, a phrase, or a filter with its value.
#[derive(Default)]
struct QueryPart {
    filter: Option<Filter>,
    text: String,
    quoted: bool,
}

/// Splits a query at spaces outside quotes. A quote ends the word before it, unless that word is a
/// filter without a value.
fn parts(text: &str) -> Result<Vec<QueryPart>, QueryFault> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let mut part = QueryPart::default();
        if first != '"' {
            let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
            (part.text, rest) = (rest[..end].to_owned(), &rest[end..]);
            if let Some((filter, value)) = Filter::split(&part.text) {
                (part.filter, part.text) = (Some(filter), value.to_owned());
            }
        }
        let waits = part.text.is_empty();
        if let Some(quoted) = rest.strip_prefix('"').filter(|_| waits) {
            let (inside, after) = quoted.split_once('"').ok_or(QueryFault::OpenQuote)?;
            (part.text, part.quoted, rest) = (inside.to_owned(), true, after);
        }
        parts.push(part);
        rest = rest.trim_start();
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let shown =
            |term: &Term| format!("{}{}", term.words.join("+"), if term.open { "…" } else { "" });
        Query::parse(text).unwrap().terms.iter().map(shown).collect()
    }

    fn at(text: &str) -> Option<Timestamp> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn words_go_on_and_phrases_do_not() {
        assert_eq!(terms("Deploy at \"two  O'clock\" x"), ["deploy…", "at", "two+o+clock", "x"]);
        assert_eq!(terms("foo-bar_baz 会议 é 🚀"), ["foo+bar+baz…", "会+议…", "e", "🚀…"]);
        assert_eq!(terms("one\"two three\"four"), ["one…", "two+three", "four…"]);
    }

    #[test]
    fn filters_are_told_from_words_that_hold_a_colon() {
        let query =
            Query::parse("https://example.org/x From:ann from:\"Bob Lee\" in:Plan note:this")
                .unwrap();
        assert_eq!(
            (query.from, query.within),
            (vec!["ann".into(), "Bob Lee".into()], vec!["Plan".into()])
        );
        assert_eq!(terms("https://example.org note:this"), ["https+example+org…", "note+this…"]);
    }

    #[test]
    fn days_and_times_narrow_each_other() {
        let query = Query::parse(
            "after:2026-01-31 before:2026-02-03T10:00:00+01:00 before:2026-03-01 after:2025-01-01",
        )
        .unwrap();
        assert_eq!(
            (query.after, query.before),
            (at("2026-01-31T00:00:00Z"), at("2026-02-03T09:00:00Z"))
        );
        for bad in [
            "after:yesterday",
            "before:2026-02-30",
            "after:2026-1-1",
            "before:20260101",
            "after:9999999999",
        ] {
            assert!(matches!(Query::parse(bad), Err(QueryFault::NoTime(..))), "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_searched_for_is_said() {
        for bad in ["", "  ", "*", "%", "\"\"", "--", "(){}^", "\u{200d}"] {
            assert_eq!(Query::parse(bad), Err(QueryFault::Nothing), "{bad:?}");
        }
        for bad in ["\"", "a \"b", "from:\"ann", "a\"b\"c\""] {
            assert_eq!(Query::parse(bad), Err(QueryFault::OpenQuote), "{bad:?}");
        }
        assert_eq!(Query::parse("from: x"), Err(QueryFault::EmptyFilter("from")));
        assert_eq!(Query::parse("plan Has:link"), Err(QueryFault::UnknownFilter("has")));
        assert_eq!(terms("\"has:link\" what-is:it"), ["has+link", "what+is+it"]);
        assert_eq!(Query::parse("in:\" \""), Err(QueryFault::EmptyFilter("in")));
        assert_eq!(Query::parse(&"x".repeat(10_000)), Err(QueryFault::TooLong));
        assert_eq!(Query::parse(&"x ".repeat(40)), Err(QueryFault::TooManyParts));
    }

    #[test]
    fn hostile_queries_are_plain_words() {
        assert_eq!(terms("NEAR(a b, 3)"), ["near+a", "b", "3"]);
        assert_eq!(terms("'; DROP TABLE events; --"), ["drop…", "table…", "events…"]);
        assert_eq!(terms("a* OR NOT b^2 AND {c}:d"), ["a", "or", "not…", "b+2", "and…", "c+d"]);
    }

    #[test]
    fn matches_are_found_where_they_are() {
        let found = |query: &str, text: &str| {
            Query::parse(query).unwrap().find(text).map(|marks| {
                marks.into_iter().map(|mark| text[mark].to_owned()).collect::<Vec<_>>()
            })
        };
        let text = "The Deployment: we deploy on Friday, not Monday.";
        assert_eq!(found("deploy friday", text).unwrap(), ["Deployment", "deploy", "Friday"]);
        assert_eq!(found("\"deploy\"", text).unwrap(), ["deploy"]);
        assert_eq!(found("\"deploy on\" \"on friday\"", text).unwrap(), ["deploy on Friday"]);
        assert_eq!(found("deploy sunday", text), None);
        assert_eq!(found("议程", "会议程序").unwrap(), ["议程"]);
        assert_eq!(found("from:ann", text).unwrap(), Vec::<String>::new());
    }

    proptest::proptest! {
        #[test]
        fn anything_typed_is_read_or_refused(text in "\\PC{0,60}|[\"a: *in:from:\\-0-9]{0,40}", body in "\\PC{0,80}") {
            if let Ok(query) = Query::parse(&text) {
                let marks = query.find(&body).unwrap_or_default();
                for mark in &marks {
                    proptest::prop_assert!(!body[mark.clone()].is_empty());
                }
                proptest::prop_assert!(marks.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
        }
    }
}
