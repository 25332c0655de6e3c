//! The rules of the house that a program can check. Each failure names the rule and the way
//! forward.

#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/cited.rs"]
mod cited;
#[path = "tidy/words.rs"]
mod words;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/shape.rs"]
mod shape;

use std::fs;
use std::path::{Path, PathBuf};

use imports::Imports;

/// Test files that wait between two looks at a condition, because nothing tells them when it holds.
const WATCHERS: [(&str, &str); 12] = [
    ("crates/agents/benches/pastes.rs", "measures what terminals cost while nothing happens"),
    (
        "crates/agents/tests/agents/common.rs",
        "watches processes of the system, which tell nobody but their parent that they are gone",
    ),
    (
        "crates/agents/tests/agents/story.rs",
        "looks at a hall from outside until its round is closed",
    ),
    ("crates/engine/tests/hall/common.rs", "watches a hall from outside, in time that is not real"),
    (
        "crates/moothall/tests/kill/computers/computer.rs",
        "watches two servers and programs in terminals from outside, over deaths of all of them",
    ),
    (
        "crates/moothall/benches/carry.rs",
        "measures what bots cost while they wait, and rates over a minute",
    ),
    (
        "crates/moothall/benches/computers.rs",
        "watches two servers and programs in terminals from outside, and sends at a steady rate",
    ),
    (
        "crates/moothall/benches/hostile/main.rs",
        "measures what connections cost that say nothing for a while",
    ),
    (
        "crates/moothall/benches/hostile/strangers.rs",
        "measures what strangers cost that hold connections for a while",
    ),
    (
        "crates/moothall/tests/e2e/harness.rs",
        "watches terminals and what they bring about from outside",
    ),
    (
        "crates/moothall/tests/e2e/terminal.rs",
        "watches a terminal from outside, which tells nobody when its screen changes",
    ),
    (
        "crates/moothall/tests/real_agents/terminal.rs",
        "watches a program's terminal from outside, which tells nobody when it is drawn",
    ),
];

/// The crates of the house that each crate may use. (ARCHITECTURE.md, "Code map".)
const IMPORTS: [(&str, &[&str]); 10] = [
    ("kernel", &[]),
    ("engine", &["kernel"]),
    ("store", &["engine", "kernel"]),
    ("agents", &["engine", "kernel"]),
    ("surfaces", &["engine", "kernel"]),
    ("terminals", &["engine", "kernel"]),
    ("channels", &["engine", "kernel"]),
    ("computers", &["engine", "kernel"]),
    (
        "moothall",
        &["agents", "channels", "computers", "engine", "kernel", "store", "surfaces", "terminals"],
    ),
    ("testkit", &["computers", "engine", "kernel", "terminals"]),
];

/// Crates whose files import each other in one direction.
const LAYERED: [&str; 3] = ["kernel", "engine", "terminals"];

/// Files of the surfaces that have the hall itself: they open the doors.
const ENTRY_POINTS: [&str; 2] = ["/src/surface.rs", "/src/serve.rs"];

/// Words that would let time, chance, the world or the order of a hash into the rules.
const IMPURE: [&str; 12] = [
    "tokio",
    "SystemTime",
    "Instant",
    "rand::",
    "getrandom",
    "HashMap",
    "HashSet",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
];

/// Files that may name a policy: its own file and the table, the model, the wire, and the
/// simulator's own table of promises.
const POLICIES_NAMED: [&str; 4] = [
    "crates/kernel/src/policy/",
    "crates/kernel/src/model/settings.rs",
    "crates/surfaces/src/wire/",
    "crates/testkit/src/sim/check/promises.rs",
];

/// Files of the kernel that may ask if a participant is a person: those about memory, rights and
/// authors.
const PEOPLE_ASKED: [&str; 6] = [
    "decide/control.rs",
    "decide/say.rs",
    "model/apply.rs",
    "model/event.rs",
    "model/participant.rs",
    "model/state.rs",
];

/// A text file of the project.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_code(&self) -> bool {
        [".rs", ".ts", ".svelte", ".css", ".sh"].iter().any(|end| self.path.ends_with(end))
    }

    fn is_under_tests(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.contains("/benches/")
            || self.path.ends_with("/tests.rs")
    }

    fn is_generated(&self) -> bool {
        let made = [
            "docs/reference/",
            "clients/python/moothall_client/",
            "clients/typescript/api.d.ts",
            "clients/typescript/openrpc.d.ts",
        ];
        self.path.ends_with(".lock")
            || self.path.ends_with("package-lock.json")
            || made.iter().any(|path| self.path.starts_with(path))
    }

    /// Numbered lines of code, without what is only a comment.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Numbered lines of code that not only tests run.
    fn shipped_code(&self) -> impl Iterator<Item = (usize, &str)> {
        let from_tests = self.test_code().next().map_or(usize::MAX, |(number, _)| number);
        self.code().take_while(move |(number, _)| *number < from_tests)
    }

    /// Numbered lines of code that only tests run.
    fn test_code(&self) -> impl Iterator<Item = (usize, &str)> {
        let inline = self
            .lines()
            .find(|(_, line)| line.trim() == "#[cfg(test)]")
            .map_or(usize::MAX, |(number, _)| number);
        let from = if self.is_under_tests() { 0 } else { inline };
        self.code().filter(move |(number, _)| *number >= from)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is two levels up")
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root(), &root(), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(
        found.iter().any(|source| source.path == "crates/kernel/src/lib.rs"),
        "the walk found nothing to check"
    );
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", ".git", "node_modules", "dist"].contains(&name.as_str()) {
                collect(root, &path, found);
            }
        } else if name != ".git"
            && let Ok(text) = fs::read_to_string(&path)
        {
            let path =
                path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            found.push(Source { path, text });
        }
    }
}

/// Fails with every finding at once, the rule and the way forward.
fn hold(rule: &str, forward: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{rule}\n  {}\nWay forward: {forward}\n", findings.join("\n  "));
}

/// Lines that hold one of the words, as `file:line: word`.
fn holding<'a>(
    source: &'a Source,
    lines: impl Iterator<Item = (usize, &'a str)>,
    words: &[&str],
) -> Vec<String> {
    lines
        .flat_map(|(number, line)| {
            words
                .iter()
                .filter(|word| line.contains(**word))
                .map(move |word| format!("{}:{number}: {word}", source.path))
        })
        .collect()
}

fn manifest(text: &str) -> toml::Table {
    text.parse().expect("a Cargo.toml")
}

/// The house's crates that a section of a manifest names, without their prefix.
fn house_crates(manifest: &toml::Table, section: &str) -> Vec<String> {
    let table = manifest.get(section).and_then(toml::Value::as_table);
    let names = table.into_iter().flat_map(toml::Table::keys);
    names.filter_map(|name| name.strip_prefix("moothall-").map(str::to_owned)).collect()
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

#[test]
fn crates_import_in_one_direction() {
    let mut findings = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("crates/") && source.path.ends_with("/Cargo.toml"))
    {
        let name = crate_of(&source.path).unwrap_or_default();
        let Some((_, allowed)) = IMPORTS.iter().find(|(krate, _)| *krate == name) else {
            findings.push(format!("{}: the crate `{name}` has no place in IMPORTS", source.path));
            continue;
        };
        let manifest = manifest(&source.text);
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            // Tests of one of the braces may need sessions that live.
            let also: &[&str] =
                if section == "dev-dependencies" { &["terminals", "testkit"] } else { &[] };
            let allowed =
                |used: &String| also.contains(&used.as_str()) || allowed.contains(&used.as_str());
            let wrong = house_crates(&manifest, section).into_iter().filter(|used| !allowed(used));
            findings
                .extend(wrong.map(|used| format!("{}: [{section}] {name} → {used}", source.path)));
        }
    }
    hold(
        "Imports go moothall → {store, agents, terminals, channels, computers, surfaces} → engine → kernel; testkit is for tests only, and tests may use terminals.",
        "move what both need down to engine or kernel, or put a port into engine.",
        findings,
    );
}

#[test]
fn the_post_between_computers_knows_no_hall() {
    let sources = sources();
    let is_post = |source: &&Source| {
        let file = source.path.strip_prefix("crates/computers/src/");
        source.is_rust() && file.is_some_and(|file| !file.starts_with("bridge/"))
    };
    let names = ["moothall_engine", "moothall_kernel"];
    hold(
        "Keys, entries, channels and posts of computers are judged without a hall.",
        "move what needs one to `crates/computers/src/bridge/`.",
        sources
            .iter()
            .filter(is_post)
            .flat_map(|source| holding(source, source.code(), &names))
            .collect(),
    );
}

#[test]
fn the_kernel_is_pure() {
    let sources = sources();
    let kernel = sources
        .iter()
        .filter(|source| source.is_rust() && source.path.starts_with("crates/kernel/src/"));
    hold(
        "The kernel has no clock, no chance, no input or output and no hash order.",
        "take it as an argument or a fact of the command; use BTreeMap and BTreeSet.",
        kernel.flat_map(|source| holding(source, source.code(), &IMPURE)).collect(),
    );
    let kernel = sources
        .iter()
        .find(|source| source.path == "crates/kernel/Cargo.toml")
        .expect("the kernel's manifest");
    let manifest = manifest(&kernel.text);
    let used = manifest
        .get("dependencies")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flat_map(toml::Table::keys);
    let pure = [
        "serde",
        "serde_json",
        "jiff",
        "strsim",
        "strum",
        "pulldown-cmark",
        "unicode-normalization",
        "unicode-security",
        "unicode-segmentation",
    ];
    hold(
        "The kernel depends on serde and pure data crates only.",
        "put what needs more into engine; a pure data crate may be added to the list here.",
        used.filter(|name| !pure.contains(&name.as_str())).cloned().collect(),
    );
}

#[test]
fn files_import_in_one_direction() {
    let sources = sources();
    let mut findings = Vec::new();
    for name in LAYERED {
        let root = format!("crates/{name}/src/");
        let files = sources.iter().filter_map(|source| {
            let path = source.path.strip_prefix(&root).filter(|path| path.ends_with(".rs"))?;
            Some((path, source.shipped_code().map(|(_, line)| line.to_owned() + "\n").collect()))
        });
        findings.extend(
            Imports::of(files).circles().into_iter().map(|circle| format!("{name}: {circle}")),
        );
    }
    hold(
        "No files of the kernel, of the engine or of terminals import each other in a circle, but for a parent and its child.",
        "put what two need into a file below both: data apart from what decides about it, a small trait where one calls back.",
        findings,
    );
}

#[test]
fn policies_are_named_by_their_table() {
    let sources = sources();
    let shipped = sources.iter().filter(|source| {
        source.is_rust() && source.path.contains("/src/") && !source.is_under_tests()
    });
    let elsewhere =
        shipped.filter(|source| POLICIES_NAMED.iter().all(|path| !source.path.starts_with(path)));
    // A variant begins like `PolicyName::Hy`; the names of purposes are constants.
    let names = |line: &str| {
        line.split("PolicyName::").skip(1).any(|name| {
            name.chars().nth(1).is_some_and(char::is_lowercase)
                && name.starts_with(char::is_uppercase)
        })
    };
    let findings = elsewhere.flat_map(|source| {
        source
            .shipped_code()
            .filter(|(_, line)| names(line))
            .map(|(number, line)| format!("{}:{number}: {}", source.path, line.trim()))
    });
    hold(
        "What is different under one policy and another stands in the policies' table.",
        "ask a column of `Rules` (kernel/src/policy/mod.rs), or add one; outside the kernel, use a constant of `PolicyName` that says what for.",
        findings.collect(),
    );
}

#[test]
fn the_rules_ask_for_abilities() {
    let sources = sources();
    let kernel =
        |source: &&Source| source.is_rust() && source.path.starts_with("crates/kernel/src/");
    let mut findings = Vec::new();
    for source in sources.iter().filter(kernel) {
        let file = source.path.trim_start_matches("crates/kernel/src/");
        if file != "model/abilities.rs" {
            findings.extend(holding(source, source.shipped_code(), &["Runtime::", ".runtime"]));
        }
        if !file.starts_with("policy/") && !PEOPLE_ASKED.contains(&file) {
            findings.extend(holding(source, source.shipped_code(), &["Kind::Human"]));
        }
    }
    hold(
        "The rules ask what a participant can, not how it runs or whether it is a person.",
        "ask an ability (kernel/src/model/abilities.rs), or add one; a right, or whose words they are, is decided where PEOPLE_ASKED says.",
        findings,
    );
}

#[test]
fn wire_types_live_in_surfaces() {
    let sources = sources();
    let others = sources
        .iter()
        .filter(|source| crate_of(&source.path).is_some_and(|name| name != "surfaces"));
    let words = [concat!("uto", "ipa"), concat!("To", "Schema")];
    hold(
        "Wire types, and what describes them, live in surfaces and nowhere else.",
        "define the type in crates/surfaces/src/wire and convert by hand.",
        others.flat_map(|source| holding(source, source.lines(), &words)).collect(),
    );
}

#[test]
fn surfaces_come_in_by_the_door() {
    let sources = sources();
    let shipped = sources
        .iter()
        .filter(|source| source.is_rust() && source.path.starts_with("crates/surfaces/src/"));
    // The entry point has the hall; the handlers behind it have a door.
    let handlers =
        shipped.filter(|source| !ENTRY_POINTS.iter().any(|path| source.path.ends_with(path)));
    let words = ["hall::Hall;", "hall::{Hall,", "&Hall", ": Hall,"];
    hold(
        "Handlers have no hall: what a caller does goes through the door of that caller.",
        "take the `Entrance` of the app, make a `Door` of it, and give that the method that is missing (crates/engine/src/door/).",
        handlers.flat_map(|source| holding(source, source.shipped_code(), &words)).collect(),
    );
}

#[test]
fn nothing_is_left_for_later() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X:"),
        concat!("db", "g!("),
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
    ];
    let sources = sources();
    let written =
        sources.iter().filter(|source| !source.is_generated() && source.path != "LICENSE");
    hold(
        "Nothing is left for later in the code.",
        "do it, or write an issue, and remove the mark.",
        written.flat_map(|source| holding(source, source.lines(), &words)).collect(),
    );
}

#[test]
fn tests_wait_for_conditions() {
    let sources = sources();
    let word = [concat!("sle", "ep(")];
    // With a paused clock, which moves only when all tasks wait, a length of time is a condition.
    let virtual_time = |source: &Source| {
        source.text.contains("start_paused = true") && !source.text.contains("#[tokio::test]")
    };
    let watcher = |source: &Source| WATCHERS.iter().any(|(path, _)| *path == source.path);
    let real = sources
        .iter()
        .filter(|source| source.is_rust() && !virtual_time(source) && !watcher(source));
    hold(
        "A test waits for a condition, never for time to pass.",
        "wait on the event, the line or the process itself, with a generous bound; or let time stand still with start_paused.",
        real.flat_map(|source| holding(source, source.test_code(), &word)).collect(),
    );
    let idle = WATCHERS.iter().filter(|(path, _)| {
        sources.iter().all(|s| s.path != *path || holding(s, s.test_code(), &word).is_empty())
    });
    hold(
        "WATCHERS lists only files that need it.",
        "remove the entry.",
        idle.map(|(path, reason)| format!("{path} ({reason})")).collect(),
    );
}

#[test]
fn every_file_says_what_it_decides() {
    const SENTENCE_LEN_MIN: usize = 34;
    let sources = sources();
    let rust = sources.iter().filter(|source| source.is_rust() && !source.is_generated());
    let silent = rust.filter(|source| {
        let first = source.text.lines().next().unwrap_or_default();
        !first.starts_with("//! ") || first.len() < SENTENCE_LEN_MIN
    });
    hold(
        "The first line of a file says what it decides and what it takes in.",
        "begin the file with `//!` and such a sentence.",
        silent.map(|source| source.path.clone()).collect(),
    );
}

#[test]
fn links_lead_somewhere() {
    let mut findings = Vec::new();
    for page in sources().iter().filter(|source| source.path.ends_with(".md")) {
        let folder = root().join(&page.path).parent().map(Path::to_owned).unwrap_or_default();
        for rest in page.text.split("](").skip(1) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                findings.push(format!("{}: {target}", page.path));
            }
        }
    }
    hold(
        "Links in the papers lead to files that are there.",
        "correct the link, or write the page.",
        findings,
    );
}

#[test]
fn nothing_points_at_one_machine() {
    let sources = sources();
    let everywhere = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let shipped = [concat!("/tm", "p/")];
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| !source.path.ends_with("package-lock.json")) {
        findings.extend(holding(source, source.lines(), &everywhere));
        if source.is_rust() && !source.is_under_tests() {
            let tests: Vec<usize> = source.test_code().map(|(number, _)| number).collect();
            findings.extend(holding(
                source,
                source.code().filter(|(number, _)| !tests.contains(number)),
                &shipped,
            ));
        }
    }
    hold(
        "Nothing points at the folders of one machine.",
        "use the system's temporary folder, the data folder, or a relative path.",
        findings,
    );
}

#[test]
fn locks_name_only_the_public_registries() {
    let sources = sources();
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| {
        source.path.ends_with(".lock") || source.path.ends_with("package-lock.json")
    }) {
        let public = |line: &str| {
            line.contains("\"registry+https://github.com/rust-lang/crates.io-index\"")
                || line.contains("\"https://registry.npmjs.org/")
        };
        let sourced = source.lines().filter(|(_, line)| {
            line.starts_with("source = ") || line.trim_start().starts_with("\"resolved\":")
        });
        findings.extend(
            sourced
                .filter(|(_, line)| !public(line))
                .map(|(number, line)| format!("{}:{number}: {}", source.path, line.trim())),
        );
    }
    hold(
        "Lock files name only the public registries.",
        "make the lock without a mirror configured.",
        findings,
    );
}
