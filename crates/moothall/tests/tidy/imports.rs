//! Which file of a crate imports which, read from the text: `use` lines and paths in the code that
//! begin with `crate`, `super` or `self`, and what a parent takes from its children.

use std::collections::{BTreeMap, BTreeSet};

/// A module, by the names that lead to it from the root of its crate.
pub type Module = Vec<String>;

/// The modules that each module imports. Code that only tests run does not count, nor does the root
/// of the crate.
pub struct Imports(BTreeMap<Module, BTreeSet<Module>>);

impl Imports {
    /// Reads the imports of one crate from its files: paths below its `src`, and their code.
    pub fn of<'a>(files: impl Iterator<Item = (&'a str, String)>) -> Self {
        let files: BTreeMap<Module, String> =
            files.map(|(path, code)| (module_of(path), code)).collect();
        let imported = |of: &Module, code: &str| {
            let found = paths(code, of)
                .into_iter()
                .chain(of_children(code, of))
                .filter_map(|path| longest(&path, |prefix| files.contains_key(prefix)));
            found.filter(|module| module != of && !module.is_empty()).collect()
        };
        Self(files.iter().map(|(module, code)| (module.clone(), imported(module, code))).collect())
    }

    /// Returns each import on a path from a module back to itself, as `a → b`. A child may import
    /// from its parent.
    pub fn circles(&self) -> Vec<String> {
        let mut left: BTreeSet<(&Module, &Module)> = BTreeSet::new();
        for (from, all) in &self.0 {
            left.extend(all.iter().filter(|to| !from.starts_with(to)).map(|to| (from, to)));
        }
        loop {
            let (begins, ends): (BTreeSet<_>, BTreeSet<_>) = left.iter().copied().unzip();
            let before = left.len();
            left.retain(|(from, to)| ends.contains(from) && begins.contains(to));
            if left.len() == before {
                return left
                    .iter()
                    .map(|(from, to)| format!("{} → {}", from.join("/"), to.join("/")))
                    .collect();
            }
        }
    }
}

fn module_of(path: &str) -> Module {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

fn longest(path: &[String], is_module: impl Fn(&[String]) -> bool) -> Option<Module> {
    (1..=path.len())
        .rev()
        .map(|length| &path[..length])
        .find(|prefix| is_module(prefix))
        .map(<[String]>::to_vec)
}

/// The paths that some code of a module names, from the root of the crate.
fn paths(code: &str, module: &[String]) -> Vec<Module> {
    let parent = &module[..module.len().saturating_sub(1)];
    let mut found = Vec::new();
    for (word, base) in [("crate::", &[][..]), ("super::", parent), ("self::", module)] {
        for (at, _) in code.match_indices(word) {
            let begins = !code[..at]
                .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$');
            if begins {
                tree(&code[at + word.len()..], base, &mut found);
            }
        }
    }
    found
}

/// The paths that a module takes from its children, `use child::a`: behind a parent's front there
/// may be a circle too.
fn of_children(code: &str, module: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    let declared =
        code.lines().filter_map(|line| line.split_once("mod ")?.1.trim().strip_suffix(';'));
    for child in declared {
        for (at, word) in code.match_indices("use ") {
            if code[at + word.len()..].starts_with(&format!("{child}::")) {
                tree(&code[at + word.len()..], module, &mut found);
            }
        }
    }
    found
}

/// Reads `a::{b, c::d}` from the beginning of some text, and returns what is behind it.
fn tree<'a>(text: &'a str, base: &[String], found: &mut Vec<Module>) -> &'a str {
    let mut text = text.trim_start();
    if let Some(mut inner) = text.strip_prefix('{') {
        loop {
            let rest = tree(inner, base, found).trim_start();
            match rest.strip_prefix(',').map(str::trim_start) {
                Some(more) if !more.starts_with('}') => inner = more,
                Some(end) => return &end[1..],
                None => return rest.strip_prefix('}').unwrap_or_default(),
            }
        }
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let mut path = base.to_vec();
    match &text[..end] {
        "super" => drop(path.pop()),
        "self" => {}
        name => path.push(name.to_owned()),
    }
    text = &text[end..];
    match text.strip_prefix("::") {
        Some(more) => tree(more, &path, found),
        None => {
            found.push(path);
            text.trim_start().strip_prefix("as ").map_or(text, |alias| {
                alias.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
            })
        }
    }
}

#[test]
fn circles_are_found_and_children_are_none() {
    let code = [
        ("lib.rs", "pub mod a;"),
        ("a.rs", "use crate::b::{Other as X, One};"),
        ("b/mod.rs", "use crate::c; fn f() { crate::d::g(); }"),
        ("b/child.rs", "use super::Other; use super::super::c::C;"),
        ("c.rs", "use crate::{d::{self}, e};"),
        ("d.rs", "use crate::a::A;"),
        ("e.rs", "use crate::a::A;"),
    ];
    let of = |left_out: &str| {
        Imports::of(
            code.into_iter()
                .filter(|(path, _)| *path != left_out)
                .map(|(path, code)| (path, code.to_owned())),
        )
        .circles()
    };
    assert_eq!(of(""), ["a → b", "b → c", "b → d", "c → d", "c → e", "d → a", "e → a"]);
    assert_eq!(of("a.rs"), [""; 0]);
    let front = [
        ("a.rs", "use crate::b::X;"),
        ("b/mod.rs", "mod child; pub use child::X;"),
        ("b/child.rs", "use crate::a::A;"),
    ];
    let circle = ["a → b", "b → b/child", "b/child → a"];
    assert_eq!(
        Imports::of(front.into_iter().map(|(path, code)| (path, code.replace("; ", ";\n"))))
            .circles(),
        circle
    );
    let child = [("b/mod.rs", "use crate::b::child::C;"), ("b/child.rs", "use crate::b::B;")];
    assert_eq!(
        Imports::of(child.into_iter().map(|(path, code)| (path, code.to_owned()))).circles(),
        [""; 0]
    );
}
