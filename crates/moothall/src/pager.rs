//! The pager of long output. Standard output goes through it if it is a terminal. Standard error,
//! with the notes of a command, then goes through it too if it is also a terminal.

use std::io::{IsTerminal, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use nix::unistd::{dup, dup2_stderr, dup2_stdout};

use crate::cli::Global;
use crate::config::{Variables, environment};

/// Command of the pager if `PAGER` is not set.
const USUAL: &str = "less";
/// Options of `less` if `LESS` is not set: end immediately if all fits on the screen, pass colours,
/// and leave the text on the screen.
const LESS: &str = "FRX";

/// A running pager. Dropping it waits until the person leaves the pager, because it uses the
/// terminal until then.
pub struct Pager {
    child: Child,
    /// Copies of standard output and standard error from before the pager began.
    earlier: [OwnedFd; 2],
}

impl Pager {
    /// Begins a pager if the command's output is long and goes to a terminal. Returns `None`, and
    /// leaves the output as it is, with `--no-pager` or `--json`, and if the pager is switched off
    /// or cannot be started.
    pub fn begin(global: &Global, is_long: bool) -> Option<Self> {
        let streams = [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()];
        if !is_long || global.no_pager || global.json || !streams[0] {
            return None;
        }
        let variables = environment();
        let mut child = command(&variables)?.stdin(Stdio::piped()).spawn().ok()?;
        let input = child.stdin.take()?;
        let earlier = [dup(std::io::stdout()).ok()?, dup(std::io::stderr()).ok()?];
        dup2_stdout(&input).ok()?;
        // A note would otherwise be printed across the pager's screen.
        if streams[1] {
            dup2_stderr(&input).ok()?;
        }
        Some(Self { child, earlier })
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // Ignored: the pager may be closed already.
        let _ = std::io::stdout().flush();
        let [output, errors] = &self.earlier;
        let _ = (dup2_stdout(output), dup2_stderr(errors));
        let _ = self.child.wait();
    }
}

/// Returns the command that starts the pager. `None` if the variables switch it off: `PAGER` is
/// empty or `cat`, or `TERM` is missing or `dumb`.
fn command(variables: &Variables) -> Option<Command> {
    let named = variables.get("PAGER").map_or(USUAL, String::as_str);
    let is_dumb = variables.get("TERM").is_none_or(|term| term == "dumb");
    let mut words = named.split_whitespace();
    let program = words.next().filter(|program| !is_dumb && *program != "cat")?;
    let mut command = Command::new(program);
    command.args(words);
    if !variables.contains_key("LESS") {
        command.env("LESS", LESS);
    }
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(set: &[(&str, &str)]) -> Option<String> {
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let command = command(&set.collect())?;
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        Some(words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn variables_choose_the_pager_or_switch_it_off() {
        let term = ("TERM", "xterm");
        assert_eq!(started(&[term]).as_deref(), Some("less"));
        assert_eq!(started(&[term, ("PAGER", "most -w")]).as_deref(), Some("most -w"));
        for off in [&[term, ("PAGER", "")][..], &[term, ("PAGER", "cat")], &[("TERM", "dumb")], &[]]
        {
            assert_eq!(started(off), None, "{off:?}");
        }
    }
}
