//! What reaches the terminal: colours where they help, and foreign text without anything that a
//! terminal would obey.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use moothall_kernel::text::for_terminal;
use moothall_surfaces::ways::Reader;
use serde::Serialize;

use crate::cli::ColorChoice;
use crate::fault::{Exit, Fault};

/// A way to set text apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For what matters less than the rest.
    Dim,
    /// For text as it is.
    Plain,
    /// For what matters more than the rest.
    Bold,
    /// For what is in order.
    Good,
    /// For what is worth a look.
    Warn,
    /// For what is wrong.
    Bad,
    /// A participant, by its place in the order of invitation.
    Person(usize),
}

/// Colours for participants that differ in hue and can be read on dark and light ground.
const PEOPLE: [&str; 6] = ["36", "35", "33", "32", "34", "31"];

/// Writes to standard output.
#[derive(Clone, Debug)]
pub struct Printer {
    colours: bool,
    /// Whether JSON was asked for.
    pub json: bool,
}

impl Printer {
    /// Decides about colours once: the flag, then `NO_COLOR`, `CLICOLOR_FORCE` and `TERM`, then
    /// whether this is a terminal.
    pub fn new(choice: ColorChoice, json: bool) -> Self {
        let set = |name: &str| {
            std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
        };
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colours = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR") => false,
            ColorChoice::Auto => {
                set("CLICOLOR_FORCE") || (std::io::stdout().is_terminal() && !dumb)
            }
        };
        Self { colours, json }
    }

    /// Text in a style. The text is cleaned first, so it may come from anywhere.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let text = for_terminal(text);
        if !self.colours || style == Style::Plain || text.is_empty() {
            return text;
        }
        let code = match style {
            Style::Plain => "",
            Style::Dim => "2",
            Style::Bold => "1",
            Style::Good => "32",
            Style::Warn => "33",
            Style::Bad => "31",
            Style::Person(place) => PEOPLE[place % PEOPLE.len()],
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Prints a line at once: readers of pipes wait for it.
    ///
    /// # Errors
    /// Standard output is gone.
    pub fn line(&self, line: &str) -> Result<(), Fault> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| output_fault(&error))
    }

    /// Prints one JSON object on a line.
    ///
    /// # Errors
    /// Standard output is gone.
    pub fn object(&self, value: &impl Serialize) -> Result<(), Fault> {
        let text = serde_json::to_string(value)
            .map_err(|error| Fault::new(Exit::Failure, "cannot write JSON").because(error))?;
        self.line(&text)
    }
}

/// Whether hints are wanted, and more than hints. Settled once, before anything is said.
static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Settles how much is said beside the data.
pub fn settle_talk(quiet: bool, verbose: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// What `--verbose` shows: never words of a conversation, and no credential.
pub fn detail(text: impl FnOnce() -> String) {
    if VERBOSE.load(Ordering::Relaxed) {
        let _ = writeln!(std::io::stderr(), "{}", for_terminal(&text()));
    }
}

/// A word for people beside the data: on standard error. With `--quiet` warnings alone are said.
pub fn note(text: &str) {
    if QUIET.load(Ordering::Relaxed) && !text.starts_with("warning: ") {
        return;
    }
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(std::io::stderr(), "{}", for_terminal(text));
}

/// Returns the server's warnings as sentences for people. A word for programs is left out if the
/// sentence that says it follows.
pub fn sentences(warnings: &[String]) -> impl Iterator<Item = String> {
    let is_word = |warning: &String| warning.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_said = move |at: usize| warnings.get(at + 1).is_some_and(|next| !is_word(next));
    let left = warnings.iter().enumerate();
    left.filter(move |(at, warning)| !is_word(warning) || !is_said(*at))
        .map(|(_, warning)| Reader::CommandLine.told(warning))
}

/// A reader that has seen enough, like `head`, is no failure: there is nothing left to do and
/// nobody to tell.
pub fn output_fault(error: &std::io::Error) -> Fault {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Fault::io("cannot write to standard output", error)
}
