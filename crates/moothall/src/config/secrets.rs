//! References in the texts of a configuration: `${NAME}` is a variable, `${file:PATH}` the content
//! of a file, and `${cmd:LINE}` the output of a command. `$${` is a literal `${`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::document::Variables;

/// Maximum length of a file or an output, in bytes.
const BYTES_MAX: u64 = 64 * 1024;
/// Time limit of a command. It may have to ask a person for a passphrase.
const COMMAND_WITHIN: Duration = Duration::from_secs(60);
/// Exit status of a shell whose last command was ended by a closed pipe.
const PIPE_CLOSED: i32 = 128 + 13;
/// Value of a command that is not run.
const NOT_RUN: &str = "(output of a command)";

/// Everything that references are resolved with.
pub struct Resolver<'a> {
    /// Environment variables.
    pub variables: &'a Variables,
    /// Folder of the configuration file. Paths are relative to it.
    pub folder: &'a Path,
    /// True if commands are run. Otherwise their output is a fixed text.
    pub runs_commands: bool,
    /// Files that were read.
    pub read: &'a mut Vec<PathBuf>,
}

/// The reason that a text has no value.
#[derive(Debug)]
pub enum FillFault {
    /// A variable is not set.
    Missing(String),
    /// A reference does not end.
    Open,
    /// A file cannot be used.
    File(PathBuf, String),
    /// A command cannot be used.
    Command(String),
}

impl Resolver<'_> {
    /// Replaces all references in a text. The values that are put in are not searched for
    /// references.
    ///
    /// # Errors
    /// A reference does not end, or has no value.
    pub fn fill(&mut self, text: &str) -> Result<String, FillFault> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            if let Some(literal) = before.strip_suffix('$') {
                out.push_str(literal);
                out.push_str("${");
                rest = after;
                continue;
            }
            let end = end_of(after).ok_or(FillFault::Open)?;
            out.push_str(before);
            out.push_str(&self.value(&after[..end])?);
            rest = &after[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Returns the value of a reference, which is given without its braces.
    fn value(&mut self, reference: &str) -> Result<String, FillFault> {
        if let Some(path) = reference.strip_prefix("file:") {
            let filled = self.fill(path)?;
            let path = self.folder.join(filled);
            let content = content(&path).map_err(|why| FillFault::File(path.clone(), why))?;
            self.read.push(path);
            return Ok(content);
        }
        match reference.strip_prefix("cmd:") {
            Some(line) if self.runs_commands => output(line).map_err(FillFault::Command),
            Some(_) => Ok(NOT_RUN.to_owned()),
            None => {
                let name = reference.strip_prefix("env:").unwrap_or(reference);
                let value = self.variables.get(name).cloned();
                value.ok_or_else(|| FillFault::Missing(name.to_owned()))
            }
        }
    }
}

/// Returns the offset of the brace that ends a reference. A reference may contain other references.
fn end_of(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut earlier = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '{' if earlier == '$' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        earlier = c;
    }
    None
}

/// Returns the text of a file, without the line break at its end.
fn content(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    text_of(file)
}

/// Returns the output of a shell command, without the line break at its end. The command has
/// [`COMMAND_WITHIN`] to end, and may write to this process's standard error.
fn output(line: &str) -> Result<String, String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (sender, answer) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || sender.send(text_of(output)));
    }
    let Ok(text) = answer.recv_timeout(COMMAND_WITHIN) else {
        let _ = (child.kill(), child.wait());
        return Err(format!("it did not end within {} seconds", COMMAND_WITHIN.as_secs()));
    };
    let status = child.wait().map_err(|error| error.to_string())?;
    // A command with too long an output ends because the pipe is closed. The status then shows that
    // signal, or a shell's code for it, and the error about the length is the right one.
    let is_cut = text.is_err() && status.code().is_none_or(|code| code == PIPE_CLOSED);
    if status.success() || is_cut { text } else { Err(format!("it ended with {status}")) }
}

/// Reads a short text to its end.
fn text_of(source: impl Read) -> Result<String, String> {
    let mut text = String::new();
    let read = source.take(BYTES_MAX + 1).read_to_string(&mut text);
    let length = read.map_err(|error| error.to_string())?;
    match text.trim_end_matches(['\r', '\n']) {
        _ if length as u64 > BYTES_MAX => Err(format!("it is longer than {BYTES_MAX} bytes")),
        "" => Err("it is empty".to_owned()),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn filled(text: &str, folder: &Path, runs_commands: bool) -> Result<String, FillFault> {
        let credentials = folder.display().to_string();
        let set = [
            ("A", "one"),
            ("B", "secret"),
            ("SLY", "${B}"),
            ("EMPTY", ""),
            ("CREDENTIALS_DIRECTORY", &credentials),
        ];
        let variables = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let mut read = Vec::new();
        Resolver { variables: &variables, folder, runs_commands, read: &mut read }.fill(text)
    }

    #[test]
    fn variables_are_filled_in_once_and_escaped() {
        let filled = |text| filled(text, Path::new("."), true).ok();
        assert_eq!(filled("${A}-${env:A}").as_deref(), Some("one-one"));
        assert_eq!(filled("$${A} costs $5 ${EMPTY}.").as_deref(), Some("${A} costs $5 ."));
        assert_eq!(filled("${SLY}").as_deref(), Some("${B}"));
        assert_eq!(filled("${NOPE}"), None);
        assert_eq!(filled("${A"), None);
    }

    #[test]
    fn files_and_commands_give_a_text_without_its_last_line_break() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "sk-${A}\n").unwrap();
        std::fs::write(folder.path().join("empty"), "\n").unwrap();
        let filled = |text| filled(text, folder.path(), true);
        for text in ["${file:key}", "${file:${CREDENTIALS_DIRECTORY}/key}"] {
            assert_eq!(filled(text).unwrap(), "sk-${A}", "{text}");
        }
        assert_eq!(filled("Bearer ${cmd:printf '%s\\n' ${X:-two}}").unwrap(), "Bearer two");
        for (text, why) in [
            ("${file:none}", "No such file"),
            ("${file:empty}", "it is empty"),
            ("${cmd:exit 3}", "exit status: 3"),
            ("${cmd:yes}", "longer"),
        ] {
            match filled(text).unwrap_err() {
                FillFault::File(_, found) | FillFault::Command(found) => {
                    assert!(found.contains(why), "{text}: {found}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_look_at_the_configuration_runs_no_command() {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("${{cmd:touch {}/ran}}", folder.path().display());
        assert_eq!(filled(&line, folder.path(), false).unwrap(), NOT_RUN);
        assert!(!folder.path().join("ran").exists());
    }
}
