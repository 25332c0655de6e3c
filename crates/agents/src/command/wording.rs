//! Prompts of known programs, which obey some characters in them. They are altered so that the
//! words of others stay words, as in a terminal.

use std::path::PathBuf;

use super::CommandSpec;
use crate::terminal::{Places, Vendor, as_plain_json, as_plain_words};

impl CommandSpec {
    /// Returns the vendor of the program that reads the prompt. The first word of the command that
    /// names a known program decides, so that a wrapper such as `npx` or `env` does not hide that
    /// program. [`Vendor::Other`] if no word names one.
    fn reader(&self) -> Vendor {
        let words = self.argv.iter().flat_map(|argument| argument.split_whitespace());
        let known = |word: &str| {
            let file = word.rsplit('/').next().unwrap_or_default();
            let name = file.split('@').next().unwrap_or_default();
            Vendor::of(name.trim_end_matches("-cli").trim_end_matches("-code"))
        };
        words.map(known).find(|vendor| *vendor != Vendor::Other).unwrap_or_default()
    }

    /// Returns a prompt without anything that the program would obey. A program that is not known
    /// gets it as it is.
    pub(super) async fn worded(&self, prompt: String) -> String {
        self.altered(prompt, as_plain_words).await
    }

    /// Returns a JSON document without anything that the program would obey. It stays JSON.
    pub(super) async fn worded_json(&self, document: String) -> String {
        self.altered(document, as_plain_json).await
    }

    /// Returns a text that `alter` has changed for the vendor's program. An unknown program gets
    /// the text unchanged.
    async fn altered(
        &self,
        text: String,
        alter: impl FnOnce(Vendor, &str, Places) -> String + Send + 'static,
    ) -> String {
        let vendor = self.reader();
        if vendor == Vendor::Other {
            return text;
        }
        let (places, given) = (self.places(), text.clone());
        // The search for files reads folders.
        let words = tokio::task::spawn_blocking(move || alter(vendor, &given, places));
        words.await.unwrap_or(text)
    }

    /// Returns the folders in which the program finds its files.
    fn places(&self) -> Places {
        let account = self.account().ok().flatten();
        let given = |name: &str| {
            let own = self.env.get(name).map(PathBuf::from);
            own.or_else(|| std::env::var_os(name).filter(|_| account.is_none()).map(PathBuf::from))
        };
        let home = account.as_ref().map(|account| account.home().to_owned());
        let work = self.cwd.clone().or_else(|| home.clone());
        Places {
            work: work.or_else(|| std::env::current_dir().ok()),
            home: given("HOME").or(home),
            codex: given("CODEX_HOME"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_known_program_gets_words_and_no_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret.txt"), "x").unwrap();
        let commands: [&[&str]; 5] = [
            &["gemini", "--output-format", "json"],
            &["/usr/bin/env", "A=b", "claude", "-p"],
            &["npx", "-y", "@google/gemini-cli@0.61.0"],
            &["npx", "@anthropic-ai/claude-code", "--print"],
            &["sh", "-c", "exec gemini --skip-trust"],
        ];
        for argv in commands {
            let cwd = Some(folder.path().to_owned());
            let spec = CommandSpec { cwd, ..CommandSpec::new(argv.to_vec()) };
            let words = spec.worded("say @secret.txt to @nora".to_owned()).await;
            assert!(words.starts_with("say ＠secret.txt to @nora\n"), "{argv:?}: {words}");
            assert!(spec.worded("/quit".to_owned()).await.starts_with("／quit"), "{argv:?}");
        }
    }

    #[tokio::test]
    async fn a_document_stays_one_and_the_line_stands_at_the_end_of_a_prompt() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret.txt"), "x").unwrap();
        let cwd = Some(folder.path().to_owned());
        let spec = CommandSpec { cwd, ..CommandSpec::new(["claude"]) };
        let given = r#"{"content":"read @secret.txt"}"#;
        let json = spec.worded_json(given.to_owned()).await;
        let read: serde_json::Value = serde_json::from_str(&json).expect(&json);
        assert_eq!(read["content"], "read ＠secret.txt");
        let prompt = spec.worded("You are ada.\n\nbob: see @secret.txt\n".to_owned()).await;
        let (said, line) = prompt.rsplit_once("\n\n").unwrap();
        assert_eq!(said, "You are ada.\n\nbob: see ＠secret.txt\n");
        assert!(!line.contains("bob"), "{line}");
    }

    #[tokio::test]
    async fn another_program_gets_the_text_as_it_is() {
        let spec = CommandSpec::new(["cat"]);
        assert_eq!(spec.worded("/quit @Cargo.toml".to_owned()).await, "/quit @Cargo.toml");
    }
}
