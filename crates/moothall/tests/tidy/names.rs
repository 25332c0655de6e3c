//! Names of types: a noun, and one for each type of a crate. Documents name types that exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, hold, sources};

/// Words that say what happened, or ask, in place of naming a thing.
const NOT_NOUNS: [&str; 86] = [
    "Accepted",
    "Acknowledged",
    "Acted",
    "Added",
    "Answered",
    "Appended",
    "Asked",
    "Asking",
    "Authorized",
    "Become",
    "Begun",
    "Brought",
    "Broken",
    "Cancelled",
    "Certified",
    "Claimed",
    "Closed",
    "Come",
    "Coming",
    "Created",
    "Decided",
    "Deleted",
    "Denied",
    "Died",
    "Done",
    "Encoded",
    "Ended",
    "Failed",
    "Found",
    "Freed",
    "Given",
    "Going",
    "Gone",
    "Heard",
    "Held",
    "How",
    "Kept",
    "Known",
    "Left",
    "Listening",
    "Loaded",
    "Lost",
    "Made",
    "Meant",
    "Mended",
    "Moved",
    "Named",
    "Noted",
    "Observed",
    "Opened",
    "Outgoing",
    "Owed",
    "Parsed",
    "Passed",
    "Put",
    "Raised",
    "Read",
    "Received",
    "Recorded",
    "Refused",
    "Registered",
    "Removed",
    "Reporting",
    "Requested",
    "Resumed",
    "Running",
    "Said",
    "Seen",
    "Sent",
    "Settled",
    "Shared",
    "Shown",
    "Spent",
    "Stalled",
    "Started",
    "Streaming",
    "Taken",
    "Told",
    "Typed",
    "Unfit",
    "Wanted",
    "Watched",
    "What",
    "When",
    "Who",
    "Written",
];
/// The wire's names are part of its schema, which keeps them.
const WIRE: &str = "crates/surfaces/src/wire/";

/// Returns the name of the type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    // The name of an associated type is the choice of its trait.
    if rest.len() < line.len() && rest.starts_with("type ") {
        return None;
    }
    if let Some(public) = rest.strip_prefix("pub") {
        rest = public
            .strip_prefix('(')
            .map_or(public, |scope| scope.split_once(')').map_or(scope, |(_, after)| after));
    }
    let rest = ["struct ", "enum ", "trait ", "union ", "type "]
        .iter()
        .find_map(|keyword| rest.trim_start().strip_prefix(keyword))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
    rest.get(..end).filter(|name| name.starts_with(char::is_uppercase))
}

/// Returns the compiled unit of a file: the sources of a crate, or one of its tests.
fn unit(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let depth = if parts.get(2) == Some(&"src") { 3 } else { 4 };
    parts.iter().take(depth).copied().collect::<Vec<_>>().join("/")
}

fn types(sources: &[Source]) -> impl Iterator<Item = (&Source, &str)> {
    sources
        .iter()
        .filter(|source| source.is_rust())
        .flat_map(|source| source.text.lines().filter_map(declared).map(move |name| (source, name)))
}

#[test]
fn types_are_nouns() {
    let sources = sources();
    let participles = types(&sources)
        .filter(|(source, name)| NOT_NOUNS.contains(name) && !source.path.starts_with(WIRE))
        .map(|(source, name)| format!("{}: {name}", source.path));
    hold(
        "A type's name is a noun.",
        "name the thing: `LoadedStream`, `AppendResult`, `CallerKind`.",
        participles.collect(),
    );
}

#[test]
fn a_name_means_one_thing_in_a_crate() {
    let sources = sources();
    let mut found: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
    for (source, name) in types(&sources).filter(|(source, _)| !source.path.starts_with(WIRE)) {
        found.entry((unit(&source.path), name)).or_default().insert(&source.path);
    }
    // Types of a trait's implementations have the names that the trait gives them.
    let of_traits = ["Err", "Error", "Output", "Rejection", "Response", "Future", "Item", "Value"];
    let twice = found
        .iter()
        .filter(|((_, name), paths)| paths.len() > 1 && !of_traits.contains(name))
        .map(|((unit, name), paths)| format!("{unit}: {name} in {paths:?}"));
    hold("A name means one thing in a crate.", "name what is different.", twice.collect());
}

/// Returns the names in a document's code spans that look like types: `TurnReporter`, `Door::act`.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    let is_type = |name: &&str| {
        name.starts_with(char::is_uppercase)
            && name.chars().skip(1).any(char::is_uppercase)
            && name.chars().any(char::is_lowercase)
            && name.chars().all(char::is_alphanumeric)
    };
    let spans = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    spans
        .filter(|span| !span.contains(char::is_whitespace))
        .flat_map(|span| span.split("::"))
        .filter(is_type)
}

#[test]
fn documents_name_types_that_exist() {
    let sources = sources();
    let code = sources.iter().filter(|source| source.is_code() || source.is_generated());
    let known: BTreeSet<&str> = code
        .flat_map(|source| {
            source.text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        })
        .collect();
    let pages = sources.iter().filter(|source| source.path.ends_with(".md"));
    let missing = pages.flat_map(|page| {
        let missing = named_in(&page.text).filter(|name| !known.contains(name));
        missing.map(|name| format!("{}: {name}", page.path)).collect::<Vec<_>>()
    });
    hold("Documents name types that exist.", "write today's name.", missing.collect());
}

#[test]
fn names_are_found_in_code_and_prose() {
    assert_eq!(declared("    pub(crate) struct Told(u64);"), Some("Told"));
    assert_eq!(declared("type Known = u8;"), Some("Known"));
    assert_eq!(declared("let told = Told(1);"), None);
    let text = "`TurnKey` and `Door::act`, `Result`, `a B`\n```\n`NotRead`\n```\n`WireType`";
    assert_eq!(named_in(text).collect::<Vec<_>>(), ["TurnKey", "WireType"]);
}
