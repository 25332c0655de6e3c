//! Hints: commands that are printed for the user. They repeat the options that chose the server, so
//! that the user can run them as they are printed.

use std::borrow::Cow;
use std::sync::OnceLock;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Options that choose the server, each with its id in the parser. A hint repeats the ones that
/// were typed.
const REPEATED: [(&str, &str); 5] = [
    ("server", "--server"),
    ("profile", "--profile"),
    ("token_file", "--token-file"),
    ("data", "--data"),
    ("cacert", "--cacert"),
];
/// Commands that talk to no server, or choose the server by arguments of their own.
const LOCAL: [&str; 17] = [
    "serve",
    "stop-server",
    "verify",
    "audit",
    "backup",
    "hook",
    "pane",
    "completions",
    "complete",
    "man",
    "help",
    "init",
    "config",
    "matrix",
    "join",
    "mcp",
    "doctor",
];
/// The program, as hints name it.
const PROGRAM: &str = "moothall ";

/// The options that were typed and that hints repeat, each with its value and followed by a space.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Remembers the options of the command line that choose the server. Options that were set by an
/// environment variable are left out, because the shell still has the variable.
pub fn settle(matches: &ArgMatches) {
    let mut given = String::new();
    for (id, option) in REPEATED {
        let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
        // `--data` of a command in `LOCAL` is a folder to work on, not the choice of a server. A
        // later command finds the folder of `serve` by the server's port.
        let is_own =
            id == "data" && matches.subcommand_name().is_some_and(|name| LOCAL.contains(&name));
        let is_typed = is_typed && !is_own;
        let raw = matches.get_raw(id).and_then(|mut values| values.next()).filter(|_| is_typed);
        if let Some(value) = raw {
            given.push_str(&format!("{option} {} ", quoted(&value.to_string_lossy())));
        }
    }
    let _ = GIVEN.set(given);
}

/// Returns the text with the remembered options added to each `moothall` command in it that talks
/// to a server.
pub fn repeated(text: &str) -> Cow<'_, str> {
    match GIVEN.get().map(String::as_str) {
        None | Some("") => Cow::Borrowed(text),
        Some(given) => Cow::Owned(with(text, given)),
    }
}

/// Inserts the options `given` after the program's name, in each command of a text that talks to a
/// server.
fn with(text: &str, given: &str) -> String {
    let mut pieces = text.split(PROGRAM);
    let mut done = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        done.push_str(PROGRAM);
        if talks(piece) {
            done.push_str(given);
        }
        done.push_str(piece);
    }
    done
}

/// True if the text, which follows the program's name, begins with a command that talks to a
/// server.
fn talks(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
    !LOCAL.contains(&word) && crate::cli::command().find_subcommand(word).is_some()
}

/// Returns a word as a shell reads it: in single quotes if it has characters with a meaning.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:/@-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_options_stand_in_each_command_that_talks_to_a_server() {
        let given = "--profile 'my hall' ";
        assert_eq!(
            with(
                "See `moothall list`, moothall help say, the moothall page: moothall say - x",
                given
            ),
            "See `moothall --profile 'my hall' list`, moothall help say, the moothall --profile 'my \
             hall' page: moothall --profile 'my hall' say - x"
        );
        assert_eq!(with("moothall is a program", given), "moothall is a program");
    }

    #[test]
    fn a_word_is_quoted_for_a_shell() {
        assert_eq!(quoted("https://h:5111/a"), "https://h:5111/a");
        assert_eq!(quoted("it's big"), r"'it'\''s big'");
        assert_eq!(quoted(""), "''");
    }
}
