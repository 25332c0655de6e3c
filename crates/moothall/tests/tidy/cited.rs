//! What code and documents refer to is there: rules by their numbers, sections by their names,
//! tests by theirs.

use std::collections::BTreeSet;

use crate::{Source, hold, sources};

/// The page of this path.
fn page<'a>(sources: &'a [Source], path: &str) -> &'a str {
    sources
        .iter()
        .find(|source| source.path == path)
        .map(|source| source.text.as_str())
        .expect("the page")
}

fn is_test(sources: &[Source], name: &str) -> bool {
    sources.iter().any(|source| source.is_rust() && source.text.contains(&format!("fn {name}(")))
}

/// Returns the texts between back quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The numbers after each `Ruling` or `Rulings`, as in `(Rulings 8, 9 and 12.)` or
/// `(Rulings 28 to 33.)`.
fn rulings(line: &str) -> Vec<u32> {
    let after = line.split("Ruling").skip(1).map(|rest| rest.strip_prefix('s').unwrap_or(rest));
    after.flat_map(|rest| numbers(rest.strip_prefix(' ').unwrap_or_default())).collect()
}

fn numbers(mut rest: &str) -> Vec<u32> {
    let (mut all, mut until) = (Vec::new(), false);
    loop {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let Ok(number) = digits.parse::<u32>() else { return all };
        let from = all.last().filter(|_| until).map_or(number, |last| last + 1);
        all.extend(from..=number);
        rest = &rest[digits.len()..];
        let Some(joined) =
            [", ", " and ", " to "].into_iter().find(|joint| rest.starts_with(joint))
        else {
            return all;
        };
        until = joined == " to ";
        rest = &rest[joined.len()..];
    }
}

#[test]
fn every_rule_that_is_cited_is_stated() {
    let sources = sources();
    let stated: BTreeSet<u32> = page(&sources, "docs/rules.md")
        .lines()
        .filter_map(|line| line.strip_prefix("### ")?.split_once(". ")?.0.parse().ok())
        .collect();
    let cited = sources.iter().filter(|source| !source.path.ends_with("tidy/cited.rs")).flat_map(
        |source| {
            let lines = source.lines().flat_map(|(number, line)| {
                rulings(line).into_iter().map(move |ruling| (number, ruling))
            });
            lines
                .map(|(number, ruling)| {
                    (format!("{}:{number}: Ruling {ruling}", source.path), ruling)
                })
                .collect::<Vec<_>>()
        },
    );
    let cited: Vec<_> = cited.collect();
    assert!(cited.len() > 50, "{cited:?}");
    let findings =
        cited.into_iter().filter(|(_, ruling)| !stated.contains(ruling)).map(|(place, _)| place);
    hold(
        "Every rule that is cited stands in docs/rules.md.",
        "state it there, or cite another.",
        findings.collect(),
    );
    assert_eq!(
        rulings("(Rulings 8, 9 and 12.) Ruling 28 to 30, rulings 5"),
        [8, 9, 12, 28, 29, 30]
    );
}

#[test]
fn whatever_holds_a_rule_is_there() {
    let sources = sources();
    let planted = page(&sources, "crates/kernel/src/planted.rs");
    let is_there = |name: &str| match name {
        file if file.starts_with("crates/") => sources.iter().any(|source| source.path == file),
        script if script.contains('/') => sources
            .iter()
            .any(|source| source.path == format!("crates/kernel/tests/scripts/{script}.txt")),
        test if test.contains('_') => is_test(&sources, test),
        bug => planted.contains(&format!("    {bug},")),
    };
    let (mut findings, mut held) = (Vec::new(), 0);
    for rule in page(&sources, "docs/rules.md").split("\n### ").skip(1) {
        let title = rule.lines().next().unwrap_or_default();
        let Some((_, checks)) = rule.split_once("\nHeld by ") else {
            findings.push(format!("{title}: no line begins with \"Held by\""));
            continue;
        };
        for name in quoted(checks.split("\n\n").next().unwrap_or_default()) {
            held += 1;
            if !is_there(name) {
                findings.push(format!("{title}: {name}"));
            }
        }
    }
    assert!(held > 150, "{held}");
    hold("What docs/rules.md says to hold a rule is there.", "name what holds it now.", findings);
}

#[test]
fn every_section_that_is_cited_is_there() {
    let sources = sources();
    let headings: Vec<&str> = page(&sources, "ARCHITECTURE.md")
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let cited = sources.iter().filter(|source| source.is_rust()).flat_map(|source| {
        let lines = source.lines().filter_map(|(number, line)| {
            Some((number, line.split_once("Section \"")?.1.split_once("\" of ARCHITECTURE")?.0))
        });
        lines.map(|(number, section)| (format!("{}:{number}: {section}", source.path), section))
    });
    let findings = cited.filter(|(_, section)| !headings.contains(section)).map(|(place, _)| place);
    hold(
        "Every section of ARCHITECTURE.md that is cited is there.",
        "cite the one that says it.",
        findings.collect(),
    );
}

#[test]
fn every_test_that_the_page_on_security_names_is_there() {
    let sources = sources();
    let (_, table) =
        page(&sources, "docs/security.md").split_once("## Hostile input").expect("the table");
    let rows = table
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| "));
    let named: Vec<&str> = rows.filter_map(|row| row.rsplit('|').nth(1)).flat_map(quoted).collect();
    assert!(named.len() > 50, "{named:?}");
    let findings = named
        .into_iter()
        .filter(|name| !name.contains('/') && !is_test(&sources, name))
        .map(str::to_owned)
        .collect();
    hold(
        "Every test that docs/security.md names is there.",
        "name the one that plays that input now.",
        findings,
    );
}

/// The rows of the table under a heading, without those of its head.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let section = page
        .split_once(heading)
        .map(|(_, rest)| rest.split("\n## ").next().unwrap_or(rest))
        .expect("the section");
    section.lines().filter(|line| line.starts_with("| ")).skip(1).collect()
}

#[test]
fn the_words_are_few() {
    let sources = sources();
    let words = rows(page(&sources, "ARCHITECTURE.md"), "\n## Words\n").len();
    assert!(
        (20..=30).contains(&words),
        "{words} words in the glossary of ARCHITECTURE.md; thirty are the most"
    );
}

/// An answer names a file, and what is to be looked for in it.
#[test]
fn where_things_are_decided_is_there() {
    let sources = sources();
    let answers = rows(page(&sources, "CONTRIBUTING.md"), "\n## Ten questions\n");
    assert_eq!(answers.len(), 10);
    let is_there = |row: &&&str| {
        let answer = row.rsplit_once(" | ").map_or("", |(_, answer)| answer);
        // Names stand before the file in which they are.
        let (mut names, mut files) = (Vec::new(), Vec::new());
        for quoted in quoted(answer) {
            if quoted.starts_with("crates/") {
                files.push((quoted, std::mem::take(&mut names)));
            } else {
                names.push(quoted);
            }
        }
        let holds = |(path, names): &(&str, Vec<&str>)| {
            let file = sources.iter().find(|source| source.path == *path);
            file.is_some_and(|file| names.iter().all(|name| file.text.contains(name)))
        };
        !files.is_empty() && names.is_empty() && files.iter().all(holds)
    };
    let findings = answers.iter().filter(|row| !is_there(row)).map(ToString::to_string).collect();
    hold(
        "The answers in CONTRIBUTING.md are where they say.",
        "say where it is decided now.",
        findings,
    );
}

/// The index names each decision by its title.
#[test]
fn decisions_are_in_their_index() {
    let sources = sources();
    let folder = "docs/decisions/";
    let index = sources.iter().find(|source| source.path == "docs/decisions/README.md").unwrap();
    let pages = sources.iter().filter(|source| source.path.starts_with("docs/decisions/0"));
    let is_listed = |page: &&Source| {
        let title = page.text.lines().next().unwrap_or_default().trim_start_matches("# ");
        index.text.contains(&format!("[{title}]({})", page.path.trim_start_matches(folder)))
    };
    let findings = pages.filter(|page| !is_listed(page)).map(|page| page.path.clone()).collect();
    hold(
        "The index of decisions names each page by its title.",
        "list it in docs/decisions/README.md.",
        findings,
    );
}

/// A decision says why, what, what it leads to, and what else there was: in this order, under these
/// words.
#[test]
fn decisions_have_one_form() {
    const SECTIONS: [&str; 4] = ["Context", "Choice", "What follows", "What was left"];
    let sources = sources();
    let pages = sources.iter().filter(|source| source.path.starts_with("docs/decisions/0"));
    let is_formed = |page: &&Source| {
        let found: Vec<&str> =
            page.text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        found.starts_with(&SECTIONS[..2]) && found.iter().all(|section| SECTIONS.contains(section))
    };
    let findings = pages.filter(|page| !is_formed(page)).map(|page| page.path.clone()).collect();
    hold(
        "Decisions have the sections Context, Choice, What follows and What was left.",
        "use these headings.",
        findings,
    );
}
