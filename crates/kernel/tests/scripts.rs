//! Plays every conversation under `tests/scripts` against the kernel.
//!
//! A script is read from top to bottom. A line that begins with `>` shows a decision of the kernel
//! about the line before it. `script/input.rs` lists the other lines. `MOOTHALL_BLESS=1` writes the
//! `>` lines anew: read the difference.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "script/mod.rs"]
mod script;

use std::path::{Path, PathBuf};

fn scripts_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            scripts_below(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "txt") {
            found.push(entry);
        }
    }
}

#[test]
fn every_script_ends_as_it_is_written() {
    let mut scripts = Vec::new();
    scripts_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts"), &mut scripts);
    scripts.sort();
    assert!(scripts.len() >= 20, "only {} scripts were found", scripts.len());
    let bless = std::env::var_os("MOOTHALL_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in scripts {
        let written = std::fs::read_to_string(&path).unwrap();
        let played =
            script::play(&written).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        if bless {
            std::fs::write(&path, played).unwrap();
        } else if played != written {
            wrong.push(format!("{}\n{}", path.display(), script::difference(&written, &played)));
        }
    }
    assert!(
        wrong.is_empty(),
        "these scripts went otherwise than written. If that is wanted: MOOTHALL_BLESS=1 cargo test \
         -p moothall-kernel --test scripts, and read the difference:\n\n{}",
        wrong.join("\n")
    );
}
