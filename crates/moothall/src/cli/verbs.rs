//! Commands that are meant by words of other programs.

/// Words that are not commands, and the commands that they mean.
const MEANT: &[(&str, &[&str])] = &[
    ("add", &["invite"]),
    ("allow", &["permit"]),
    ("answer", &["permit"]),
    ("approve", &["permit"]),
    ("cancel", &["stop", "interrupt"]),
    ("create", &["new"]),
    ("deny", &["permit"]),
    ("history", &["tail", "export"]),
    ("kill", &["end"]),
    ("log", &["tail"]),
    ("logs", &["tail"]),
    ("ls", &["list"]),
    ("msg", &["say", "send"]),
    ("open", &["chat", "page"]),
    ("post", &["say"]),
    ("ps", &["sessions"]),
    ("read", &["tail"]),
    ("remove", &["uninvite", "delete"]),
    ("rm", &["delete", "uninvite"]),
    ("server", &["serve"]),
    ("show", &["tail"]),
    ("start", &["new", "run", "serve"]),
    ("status", &["list", "sessions", "guards"]),
    ("threads", &["list"]),
    ("unpause", &["continue"]),
    ("up", &["serve"]),
    ("web", &["page"]),
];

/// Returns the commands that an unknown word means; empty for an unlisted word.
pub fn meant(word: &str) -> &'static [&'static str] {
    MEANT.iter().find(|(other, _)| *other == word).map_or(&[], |(_, commands)| commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_programs_mean_commands_that_exist() {
        let all = crate::cli::command();
        let is_command = |word: &str| all.find_subcommand(word).is_some();
        for (word, commands) in MEANT {
            assert!(!is_command(word), "{word} is a command");
            assert!(commands.iter().all(|command| is_command(command)), "{word}");
        }
        assert_eq!(meant("frobnicate"), [""; 0]);
    }
}
