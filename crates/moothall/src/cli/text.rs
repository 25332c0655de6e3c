//! Text arguments: a list item or a patch that begins with a hyphen is not an option.

use std::convert::Infallible;
use std::ffi::OsString;

/// Prefix of a marked text argument. A process argument cannot contain this character.
const MARK: char = '\0';

/// Commands with text arguments.
const COMMANDS: [&str; 2] = ["say", "send"];

/// Marks text arguments that begin with a hyphen, because clap would parse them as options.
pub fn marked(words: Vec<OsString>) -> Vec<OsString> {
    let (mut takes_text, mut is_over) = (None, false);
    let all = super::command();
    let mark = |word: OsString| {
        is_over |= word == "--";
        if takes_text.is_none() && all.get_subcommands().any(|command| word == command.get_name()) {
            takes_text = Some(COMMANDS.iter().any(|name| word == *name));
        }
        match word.to_str() {
            Some(text) if takes_text == Some(true) && !is_over && is_text(text) => {
                format!("{MARK}{text}").into()
            }
            _ => word,
        }
    };
    words.into_iter().map(mark).collect()
}

/// True if an argument that begins with a hyphen can only be text. Options have at most two
/// hyphens, and white space only in a value after `=`.
fn is_text(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    word.starts_with("---") || (word.starts_with('-') && name.contains(char::is_whitespace))
}

/// Parses a text argument: removes the mark.
#[allow(clippy::unnecessary_wraps, reason = "clap asks for a result")]
pub fn text(word: &str) -> Result<String, Infallible> {
    Ok(word.strip_prefix(MARK).unwrap_or(word).to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn text_may_begin_with_a_hyphen_and_options_stand_where_they_like() {
        for (line, said, waits) in [
            (&["say", "T", "- first item", "--wait"][..], "- first item", true),
            (&["say", "--wait", "T", "- a", "- b"], "- a - b", true),
            (&["say", "T", "--- a/x\n+++ b/x"], "--- a/x\n+++ b/x", false),
            (&["say", "T", "---", "-w"], "---", true),
            (&["say", "T", "-\titem"], "-\titem", false),
            (&["say", "T", "--x = 1"], "--x = 1", false),
            (&["say", "T", "well", "--to=ann b", "-w"], "well", true),
            (&["say", "T", "--", "--wait"], "--wait", false),
            (&["say", "T", "-"], "-", false),
            (&["--server", "http://h", "say", "T", "- one"], "- one", false),
        ] {
            let words = ["moothall"].iter().chain(line).map(OsString::from).collect();
            match Cli::try_parse_from(marked(words)).unwrap().command {
                Some(Command::Say(say)) => {
                    assert_eq!((say.text.join(" "), say.wait), (said.into(), waits))
                }
                other => panic!("{line:?} is read as {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_text_of_a_command_stays() {
        let words = ["moothall", "new", "send", "--with", "- x"].map(OsString::from).to_vec();
        assert_eq!(marked(words.clone()), words);
    }

    #[test]
    fn a_mistyped_option_is_refused() {
        let words = ["moothall", "say", "T", "hello", "--wiat"].map(OsString::from).to_vec();
        assert!(Cli::try_parse_from(marked(words)).is_err());
    }
}
