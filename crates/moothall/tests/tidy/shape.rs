//! How long a file may be, how wide a line of Rust, and how lines and files end.

use std::collections::BTreeSet;

use crate::{hold, sources};

/// Longest source file, in lines. A longer one has two subjects.
const LINES_MAX: usize = 600;
/// Longest README, in lines.
const README_LINES_MAX: usize = 150;

/// Source files that may be longer because they are tables: read by looking things up, not from top
/// to bottom.
const TABLES: [(&str, &str); 3] = [
    ("crates/kernel/src/model/event.rs", "the closed list of everything that can happen"),
    ("crates/moothall/src/cli.rs", "the list of all commands, with their help and examples"),
    ("crates/surfaces/src/error.rs", "the list of all error codes, with what each means"),
];

/// Widest line of Rust, in characters: `max_width` of `rustfmt.toml`.
const COLUMNS_MAX: usize = 100;

#[test]
fn files_are_short_or_tables() {
    let sources = sources();
    let long = sources.iter().filter(|source| {
        source.is_code() && !source.is_generated() && source.text.lines().count() > LINES_MAX
    });
    let unlisted = long.filter(|source| TABLES.iter().all(|(path, _)| *path != source.path));
    let findings =
        unlisted.map(|source| format!("{}: {} lines", source.path, source.text.lines().count()));
    hold(
        &format!("A source file has at most {LINES_MAX} lines."),
        "split it by subject; if it is a table, list it in TABLES with the reason.",
        findings.collect(),
    );
    let stale = TABLES.iter().filter(|(path, _)| {
        sources.iter().all(|s| s.path != *path || s.text.lines().count() <= LINES_MAX)
    });
    hold(
        "TABLES lists only files that need it.",
        "remove the entry.",
        stale.map(|(path, reason)| format!("{path} ({reason})")).collect(),
    );
}

#[test]
fn the_readme_is_short() {
    let sources = sources();
    let readme = sources.iter().find(|source| source.path == "README.md").expect("README.md");
    let lines = readme.text.lines().count();
    let findings = if lines > README_LINES_MAX {
        vec![format!("README.md: {lines} lines")]
    } else {
        Vec::new()
    };
    hold(
        &format!("The README has at most {README_LINES_MAX} lines."),
        "move it to docs/ and link it from the table.",
        findings,
    );
}

/// The length of the literal with which a text begins, if it is one of words.
fn literal(text: &str) -> Option<usize> {
    let raw = text.strip_prefix('r').map(|rest| rest.trim_start_matches('#'));
    if let Some(words) = raw.and_then(|rest| rest.strip_prefix('"')) {
        let begin = text.len() - words.len();
        let end = format!("\"{}", "#".repeat(begin - "r\"".len()));
        return Some(begin + words.find(&end)? + end.len());
    }
    let words = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = words.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some(end + "\"\"".len())
}

/// The lines, by their numbers, on which there is a literal of words, or a part of one.
fn lines_of_literals(code: &str) -> BTreeSet<usize> {
    let (mut found, mut number, mut rest) = (BTreeSet::new(), 1, code);
    while let Some(first) = rest.chars().next() {
        let quote = ["'\"'", "'\\\"'"].into_iter().find(|quote| rest.starts_with(quote));
        let words = literal(rest);
        let length = match (quote, words) {
            (Some(quote), _) => quote.len(),
            (None, Some(length)) => length,
            (None, None) if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            (None, None) => first.len_utf8(),
        };
        let last = number + rest[..length].matches('\n').count();
        if words.is_some() {
            found.extend(number..=last);
        }
        (number, rest) = (last, &rest[length..]);
    }
    found
}

/// A row of a table in a comment ends where its line ends.
fn is_row(line: &str) -> bool {
    line.trim_start()
        .strip_prefix("//")
        .is_some_and(|rest| rest.trim_start_matches(['/', '!']).starts_with(" |"))
}

#[test]
fn lines_are_narrow() {
    let sources = sources();
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let literals = lines_of_literals(&source.text);
        let wide = source.lines().filter(|(_, line)| line.chars().count() > COLUMNS_MAX);
        let broken = wide.filter(|(number, line)| {
            !literals.contains(number) && !line.contains("://") && !is_row(line)
        });
        findings.extend(broken.map(|(number, _)| format!("{}:{number}", source.path)));
    }
    hold(
        &format!("A line of Rust has at most {COLUMNS_MAX} columns."),
        "run `cargo fmt`; fill a comment again, and break by hand what stands inside of a macro.",
        findings,
    );
}

#[test]
fn literals_are_known_from_comments_and_quotes() {
    let code = [
        "// no \"words\"",
        "let quote = '\"';",
        "let escaped = '\\\"'; // \"",
        "let words = \"begin \\\" \\\\",
        "    end\";",
        "let raw = r#\"begin \" //",
        "    end\"#;",
        "let last = r\"\\\"; let none = 'a';",
        "fn f<'a>() {}",
    ];
    assert_eq!(lines_of_literals(&code.join("\n")), BTreeSet::from([4, 5, 6, 7, 8]));
}

#[test]
fn every_text_file_ends_with_a_newline() {
    let sources = sources();
    let open =
        sources.iter().filter(|source| !source.text.is_empty() && !source.text.ends_with('\n'));
    hold(
        "A text file ends with a newline.",
        "add one.",
        open.map(|source| source.path.clone()).collect(),
    );
    let spaced = sources.iter().filter(|source| {
        source.is_rust() || source.path.ends_with(".toml") || source.path.starts_with("scripts/")
    });
    let findings = spaced.flat_map(|source| {
        source
            .lines()
            .filter(|(_, line)| line.ends_with([' ', '\t', '\r']))
            .map(|(number, _)| format!("{}:{number}", source.path))
    });
    hold("No line ends with spaces or a carriage return.", "remove them.", findings.collect());
}
