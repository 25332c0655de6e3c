//! Counts the phrases that make comments and documents hard to read aloud, for each crate and each
//! document, and lets the counts only fall.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crate::{Source, crate_of, hold, root, sources};

/// The table of counts, beside this file.
const TABLE: &str = "crates/moothall/tests/tidy/words.tsv";
/// The first line of the table.
const HEADER: &str = "unit\tquestion\twhere\tno\tnobody\tso many";

/// Words that begin a question. The doc of a function begins with a verb.
const QUESTIONS: [&str; 11] = [
    "what", "whatever", "whether", "who", "whoever", "whom", "whose", "which", "where", "how",
    "why",
];
/// Pronouns that stand for a role which has a name.
const PRONOUNS: [&str; 5] = ["nobody", "somebody", "whoever", "anybody", "everybody"];
/// Forms of "to be" before "no": "is no X" in place of "is not a X".
const COPULAS: [&str; 7] = ["is", "are", "was", "were", "be", "been", "being"];
/// Words after "so" that stand for a number.
const AMOUNTS: [&str; 5] = ["many", "much", "long", "few", "often"];

/// The counts of one crate or document, in the order of [`HEADER`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts([usize; 5]);

impl Counts {
    /// Adds one block of text. `doc` says that the block documents an item.
    fn add(&mut self, block: &str, doc: bool) {
        let words: Vec<String> = block
            .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let is = |list: &[&str], word: Option<&String>| {
            word.is_some_and(|word| list.contains(&word.as_str()))
        };
        self.0[0] += usize::from(doc && is(&QUESTIONS, words.first()));
        self.0[1] += words.iter().filter(|word| *word == "where").count();
        self.0[3] += words.iter().filter(|word| is(&PRONOUNS, Some(word))).count();
        for pair in words.windows(2) {
            self.0[2] += usize::from(is(&COPULAS, pair.first()) && is(&["no"], pair.get(1)));
            self.0[4] += usize::from(is(&["so"], pair.first()) && is(&AMOUNTS, pair.get(1)));
        }
    }

    fn lower(self, other: Counts) -> Counts {
        let mut lower = self;
        lower.0.iter_mut().zip(other.0).for_each(|(own, other)| *own = (*own).min(other));
        lower
    }
}

/// Returns the crate, folder or document whose counts a file belongs to.
fn unit(source: &Source) -> Option<String> {
    if source.is_generated() {
        return None;
    }
    if source.path.ends_with(".md") {
        return Some(source.path.clone());
    }
    let is_code =
        source.is_rust() || source.path.ends_with(".ts") || source.path.ends_with(".svelte");
    let folder = || source.path.split('/').next().map(str::to_owned);
    is_code.then(|| crate_of(&source.path).map(str::to_owned).or_else(folder)).flatten()
}

/// Returns the comment on a line of code, and whether it documents an item.
fn comment(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    if let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("/**")) {
        return Some((doc, true));
    }
    if let Some(text) = line.strip_prefix("//").or_else(|| line.strip_prefix("* ")) {
        return Some((text.trim_start_matches('!'), false));
    }
    line.split_once(" // ").map(|(_, text)| (text, false))
}

/// Adds the comments of a file of code. Lines of one comment that follow each other are one block.
fn count_code(text: &str, counts: &mut Counts) {
    let mut block: Option<(String, bool)> = None;
    for found in text.lines().map(comment).chain([None]) {
        match (&mut block, found) {
            (Some((words, was_doc)), Some((text, doc))) if *was_doc == doc => {
                words.push(' ');
                words.push_str(text);
            }
            (_, found) => {
                if let Some((words, doc)) = block.take() {
                    counts.add(&words, doc);
                }
                block = found.map(|(text, doc)| (text.to_owned(), doc));
            }
        }
    }
}

/// Adds the prose of a document: everything outside fences of code.
fn count_prose(text: &str, counts: &mut Counts) {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    counts.add(&prose, false);
}

fn counted() -> BTreeMap<String, Counts> {
    let mut counted = BTreeMap::new();
    for source in sources() {
        let Some(unit) = unit(&source) else { continue };
        let counts: &mut Counts = counted.entry(unit).or_default();
        if source.path.ends_with(".md") {
            count_prose(&source.text, counts);
        } else {
            count_code(&source.text, counts);
        }
    }
    counted.retain(|_, counts| *counts != Counts::default());
    counted
}

/// Reads the table. A line that is not a row (a conflict of a merge) allows nothing.
fn allowed() -> BTreeMap<String, Counts> {
    let text = fs::read_to_string(root().join(TABLE)).unwrap_or_default();
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let unit = cells.next()?.to_owned();
        let numbers: Vec<usize> = cells.map_while(|cell| cell.parse().ok()).collect();
        Some((unit, Counts(numbers.try_into().ok()?)))
    };
    text.lines().filter_map(row).collect()
}

fn write(table: &BTreeMap<String, Counts>) {
    let mut text = format!("{HEADER}\n");
    for (unit, Counts(numbers)) in table {
        let cells = numbers.map(|number| number.to_string()).join("\t");
        let _ = writeln!(text, "{unit}\t{cells}");
    }
    fs::write(root().join(TABLE), text).expect("the table can be written");
}

#[test]
fn plain_words_only_become_more() {
    let (counted, mut allowed) = (counted(), allowed());
    if std::env::var_os("MOOTHALL_BLESS").is_some() {
        allowed = counted
            .iter()
            .map(|(unit, counts)| {
                let before = allowed.get(unit).copied().unwrap_or_default();
                (unit.clone(), counts.lower(before))
            })
            .collect();
        allowed.retain(|_, counts| *counts != Counts::default());
        write(&allowed);
    }
    let names: Vec<&str> = HEADER.split('\t').skip(1).collect();
    let (mut risen, mut fallen) = (Vec::new(), Vec::new());
    for unit in counted.keys().chain(allowed.keys().filter(|unit| !counted.contains_key(*unit))) {
        let now = counted.get(unit).copied().unwrap_or_default();
        let most = allowed.get(unit).copied().unwrap_or_default();
        for ((name, now), most) in names.iter().zip(now.0).zip(most.0) {
            let row = format!("{unit}: \"{name}\" {now} times, {most} in the table");
            match now.cmp(&most) {
                std::cmp::Ordering::Greater => risen.push(row),
                std::cmp::Ordering::Less => fallen.push(row),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    hold(
        "Comments and documents get no harder to read aloud.",
        "a doc begins with a verb; \"if\" in place of \"where\"; \"not a\" in place of \"is no\"; name the role in place of \"nobody\"; a number in place of \"so many\".",
        risen,
    );
    hold(
        "What became plainer stays so.",
        "lower the table: MOOTHALL_BLESS=1 cargo test -p moothall --test tidy",
        fallen,
    );
}

#[test]
fn phrases_are_counted_in_comments_and_in_prose() {
    let mut counts = Counts::default();
    count_code(
        "/// Whether nobody\n/// is no guest.\nfn where_no() {} // so many, where\n// What is it?\n",
        &mut counts,
    );
    assert_eq!(counts, Counts([1, 1, 1, 1, 1]));
    let mut counts = Counts::default();
    count_prose("What is so much\n```\nwhere nobody\n```\nis where?\n", &mut counts);
    assert_eq!(counts, Counts([0, 1, 0, 0, 1]));
}
