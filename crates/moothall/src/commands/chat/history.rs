//! The history of written lines: a private file in the XDG state folder, without lines that look
//! like secrets.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum number of lines that are read from the file.
const LINES_MAX: usize = 1000;
/// Longest line that is stored, in bytes.
const LINE_BYTES_MAX: usize = 8 * 1024;
/// Minimum length of a word of letters and digits that is taken for a secret.
const SECRET_CHARS_MIN: usize = 20;
/// Beginnings of well-known kinds of tokens.
const SECRET_STARTS: [&str; 14] = [
    "sk-",
    "sk_",
    "pk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "AIza",
    "eyJ",
    "-----BEGIN",
];
/// Words that announce a secret.
const SECRET_NAMES: [&str; 6] = ["password", "passwd", "secret", "token", "api_key", "apikey"];

/// File of past lines.
#[derive(Debug)]
pub struct History {
    file: Option<PathBuf>,
}

impl History {
    /// Opens the history in a folder. Without a folder, or if it cannot be created, no line is
    /// stored.
    pub fn at(folder: Option<PathBuf>) -> Self {
        let usable = folder.filter(|folder| make_private(folder).is_ok());
        Self { file: usable.map(|folder| folder.join("chat_history")) }
    }

    /// Returns the newest lines, at most [`LINES_MAX`], the newest last. Cuts a file with more than
    /// twice as many lines.
    pub fn read(&self) -> Vec<String> {
        let Some(file) = &self.file else { return Vec::new() };
        let text = fs::read_to_string(file).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(unescape).collect();
        if lines.len() > 2 * LINES_MAX {
            lines.drain(..lines.len() - LINES_MAX);
            let kept: String = lines.iter().map(|line| escape(line) + "\n").collect();
            let _ = fs::remove_file(file);
            self.write(&kept);
        }
        lines.drain(..lines.len().saturating_sub(LINES_MAX));
        lines
    }

    /// Stores a line, unless it is too long or looks like a secret. Write errors are ignored,
    /// because a full disk must not stop the chat.
    pub fn keep(&self, line: &str) {
        if line.len() <= LINE_BYTES_MAX && !looks_secret(line) {
            self.write(&(escape(line) + "\n"));
        }
    }

    /// Appends a text to the file, which is created for its owner alone.
    fn write(&self, text: &str) {
        let Some(file) = &self.file else { return };
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let _ = options.open(file).and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// Creates the folder, if it is missing, so that only its owner can enter it. Makes an existing
/// history in it readable for its owner alone.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let file = folder.join("chat_history");
    #[cfg(unix)]
    if file.exists() {
        fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(())
}

fn escape(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n")
}

/// Restores a line from its escaped form. An unfinished escape at the end is dropped.
fn unescape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

/// True if a line may contain a token, a key or a password. A doubtful line counts as secret.
pub fn looks_secret(line: &str) -> bool {
    let words = line.split(|c: char| c.is_whitespace() || "/,;()[]{}<>\"'`".contains(c));
    words.into_iter().any(is_secret) || names_secret(line)
}

/// True if a word begins like a known kind of token, or is long and mixes letters and digits. Of
/// `key=value` and `key:value`, only the value counts for the second test.
fn is_secret(word: &str) -> bool {
    if SECRET_STARTS.iter().any(|start| word.starts_with(start)) && word.len() >= 12 {
        return true;
    }
    let word = word.rsplit(['=', ':']).find(|part| !part.is_empty()).unwrap_or(word);
    let chars = word.chars().filter(char::is_ascii_alphanumeric).count();
    let mixed = word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic());
    chars >= SECRET_CHARS_MIN
        && mixed
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+=~".contains(c))
}

/// True if a line gives a secret by its name, such as `password: x`, `API_KEY=x` or `Bearer x`.
fn names_secret(line: &str) -> bool {
    let line = line.to_lowercase();
    let followed = |name: &str| {
        line.match_indices(name).any(|(at, _)| {
            let rest = line[at + name.len()..].trim_start();
            rest.starts_with(['=', ':']) && rest.len() > 1
        })
    };
    SECRET_NAMES.iter().any(|name| followed(name)) || line.contains("bearer ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn lines_survive_and_secrets_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state/moothall");
        let history = History::at(Some(place.clone()));
        for line in ["hello", "two\nrows \\n", "my key is sk-abcdefgh12345678", "bye"] {
            history.keep(line);
        }
        assert_eq!(History::at(Some(place.clone())).read(), ["hello", "two\nrows \\n", "bye"]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(&place.join("chat_history"))), (0o700, 0o600));
    }

    #[test]
    fn a_readable_history_is_made_private_and_a_long_one_short() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chat_history");
        let text: String = (0..3 * LINES_MAX).map(|n| format!("line {n}\n")).collect();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let lines = History::at(Some(folder.path().into())).read();
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (LINES_MAX, Some("line 2999")));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), LINES_MAX);
    }

    #[test]
    fn tokens_look_like_tokens_and_words_do_not() {
        for secret in [
            "ghp_abcdefghijkl",
            "try eyJhbGciOiJIUzI1NiJ9.e30.x",
            "API_KEY=hunter2",
            "the password: hunter2",
            "curl -H 'Authorization: Bearer x'",
            "token 9f86d081884c7d659a2feaa0c55ad015",
        ] {
            assert!(looks_secret(secret), "{secret}");
        }
        for plain in [
            "how many tokens did it use?",
            "see crates/moothall/src/commands/events.rs line 120",
            "Donaudampfschifffahrtsgesellschaft",
            "the secret of good coffee",
            "@analyst are 40 testers enough?",
        ] {
            assert!(!looks_secret(plain), "{plain}");
        }
    }
}
