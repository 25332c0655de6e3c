//! Programs that tests need. A test that passes because its program is missing proves nothing, so a
//! missing program is a failure unless [`WITHOUT`] names it.

use std::path::Path;

/// The variable with a comma-separated list of programs that may be missing.
pub const WITHOUT: &str = "MOOTHALL_WITHOUT";

/// True if this program is installed. Returns false only if [`WITHOUT`] names it, and prints that
/// the test is skipped.
///
/// # Panics
/// The program is missing, and [`WITHOUT`] does not name it.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)));
    match verdict(program, installed, &std::env::var(WITHOUT).unwrap_or_default()) {
        NeedVerdict::Here => true,
        NeedVerdict::Spared => {
            eprintln!("skipped: {program} is not installed, and {WITHOUT} says to go on");
            false
        }
        NeedVerdict::Missing => panic!(
            "{program} is not installed: install it, or set {WITHOUT}={program} to skip the tests that need it"
        ),
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[derive(Debug, PartialEq, Eq)]
enum NeedVerdict {
    Here,
    Spared,
    Missing,
}

/// Judges a program. A named one is skipped only if it is missing; otherwise its tests run.
fn verdict(program: &str, installed: bool, without: &str) -> NeedVerdict {
    let named = || without.split(',').any(|name| name.trim() == program);
    if installed {
        NeedVerdict::Here
    } else if named() {
        NeedVerdict::Spared
    } else {
        NeedVerdict::Missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_a_failure_unless_it_is_named() {
        assert_eq!(verdict("tmux", true, ""), NeedVerdict::Here);
        assert_eq!(verdict("tmux", true, "tmux"), NeedVerdict::Here);
        assert_eq!(verdict("tmux", false, "zsh, tmux"), NeedVerdict::Spared);
        for without in ["", "zsh", "tmux2", "tm"] {
            assert_eq!(verdict("tmux", false, without), NeedVerdict::Missing, "{without}");
        }
    }

    #[test]
    fn programs_are_looked_for_on_the_search_path() {
        assert!(has("sh"));
    }

    #[test]
    #[should_panic(expected = "is not installed: install it")]
    fn a_program_that_nobody_has_is_demanded() {
        has("a-program-that-nobody-has");
    }
}
