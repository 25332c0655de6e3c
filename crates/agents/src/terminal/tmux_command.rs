//! A command for the control client, word by word. Whatever a word holds, it stays one word and
//! means itself.

use std::fmt::Write;

/// A command being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TmuxCommand(String);

impl TmuxCommand {
    /// A command of words that are known when this is compiled.
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

    /// The line to send, without its end.
    pub(super) fn line(&self) -> &str {
        &self.0
    }
}

/// In double quotes, where only these have a meaning; a line break or another control character
/// would end the line.
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

/// A word that tmux reads as a format, so that it means itself: formats can run programs.
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
