//! The command reference in `docs/`, generated from the help texts and compared in a test.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::cli::{self, Cli};
use crate::fault::Exit;

const HEADER: &str = "# Command reference\n\n\
Made from the program's own help texts by `MOOTHALL_BLESS=1 cargo test -p moothall`; a test compares it. Do not edit it by hand.\n";

/// Generates the reference: the program, then each command with its subcommands.
fn reference() -> String {
    let mut program = cli::command().term_width(100);
    program.build();
    let mut text = HEADER.to_owned();
    section(&mut text, &mut program);
    let _ = write!(text, "\n## Exit codes\n\n```text\n{}```\n", Exit::table());
    text
}

/// Appends the help text of a command, and then the help texts of its subcommands.
fn section(text: &mut String, command: &mut Command) {
    let title = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(text, "\n## `{title}`\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    command.get_subcommands_mut().for_each(|command| section(text, command));
}

/// Returns the path of a workspace file.
pub fn workspace_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Checks that a generated text is equal to its file. If `MOOTHALL_BLESS` is set, writes the file
/// instead.
pub fn compare(path: &str, generated: &str) {
    let file = workspace_file(path);
    if std::env::var_os("MOOTHALL_BLESS").is_some() {
        std::fs::write(&file, generated).unwrap_or_else(|error| panic!("{path}: {error}"));
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let first = kept.lines().zip(generated.lines()).position(|(kept, generated)| kept != generated);
    let line = first.unwrap_or_else(|| kept.lines().count().min(generated.lines().count())) + 1;
    assert!(
        kept == generated,
        "{path} differs from line {line} on. Make it anew: MOOTHALL_BLESS=1 cargo test -p moothall --bin moothall reference"
    );
}

#[test]
fn the_reference_says_what_the_program_says() {
    compare("docs/reference/cli.md", &reference());
}

#[test]
fn each_command_that_an_error_names_exists() {
    let program = cli::command();
    for way in moothall_surfaces::next_steps::WAYS {
        let words = way.command.split(' ').skip(1).filter(|word| *word != "{}");
        words.fold(&program, |command, word| {
            let found = command.find_subcommand(word);
            found.unwrap_or_else(|| panic!("there is no `{}`", way.command))
        });
    }
}

#[test]
fn the_command_line_is_sound() {
    cli::command().debug_assert();
}

#[test]
fn every_command_has_an_example() {
    for command in cli::command().get_subcommands() {
        let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        assert!(
            after.contains(&format!("moothall {}", command.get_name())),
            "{} has no example",
            command.get_name()
        );
    }
}

/// Returns the words of the `moothall` command in a shell line; double quotes group words.
fn words(line: &str) -> Option<Vec<String>> {
    let command = line.find("moothall ").map(|at| &line[at..])?;
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '"' => quoted = !quoted,
            '|' | '#' | '>' if !quoted => break,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut()?.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    Some(words)
}

#[test]
fn every_example_can_be_typed() {
    let mut lines = Vec::new();
    for command in cli::command().get_subcommands() {
        let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        lines.extend(
            after
                .lines()
                .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
                .map(str::to_owned),
        );
    }
    let readme = std::fs::read_to_string(workspace_file("README.md")).unwrap_or_default();
    lines.extend(readme.lines().filter(|line| line.starts_with("moothall ")).map(str::to_owned));
    assert!(lines.len() > 20, "too few examples to be all of them");
    for line in lines {
        let Some(words) = words(&line) else { continue };
        if let Err(error) = <Cli as clap::Parser>::try_parse_from(words) {
            panic!("{line}\n{error}");
        }
    }
}
