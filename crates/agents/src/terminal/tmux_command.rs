//! A command for the control client, built word by word. Each word is quoted, so that it stays one
//! word with its literal meaning.

use std::fmt::Write;

/// A command under construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TmuxCommand(String);

impl TmuxCommand {
    /// Starts a command with words that are known at compile time.
    pub(super) fn of(command: &'static str) -> Self {
        Self(command.to_owned())
    }

    /// Adds a word, quoted.
    pub(super) fn word(mut self, word: &str) -> Self {
        self.0.push(' ');
        quote(&mut self.0, word);
        self
    }

    /// Adds words, each quoted.
    pub(super) fn words<'a>(self, words: impl IntoIterator<Item = &'a str>) -> Self {
        words.into_iter().fold(self, Self::word)
    }

    /// Returns the line to send, without its line end.
    pub(super) fn line(&self) -> &str {
        &self.0
    }
}

/// Quotes a word in double quotes and escapes the characters with a meaning there. Control
/// characters are escaped too: a line break would end the command.
fn quote(line: &mut String, word: &str) {
    line.push('"');
    for c in word.chars() {
        match c {
            '"' | '\\' | '$' => line.extend(['\\', c]),
            // A leading tilde means a home folder, even here.
            '~' => line.push_str("\\176"),
            c if c.is_ascii_control() => {
                // Writing to a string cannot fail.
                let _ = write!(line, "\\{:03o}", u32::from(c));
            }
            c => line.push(c),
        }
    }
    line.push('"');
}

/// Escapes a word that tmux reads as a format, so that it is literal: formats can run programs.
pub(super) fn literal_format(word: &str) -> String {
    word.replace('#', "##")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_a_word() {
        let line = TmuxCommand::of("set-buffer").words([
            "a b",
            "x\"; kill-server",
            "$HOME ~",
            "one\ntwo\\",
            "",
        ]);
        assert_eq!(
            line.line(),
            "set-buffer \"a b\" \"x\\\"; kill-server\" \"\\$HOME \\176\" \"one\\012two\\\\\" \"\""
        );
    }
}
