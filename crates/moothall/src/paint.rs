//! Terminal output: colours, and foreign text without control sequences.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use moothall_kernel::text::for_terminal;
use moothall_surfaces::next_steps::Reader;
use serde::Serialize;

use crate::cli::ColorChoice;
use crate::fault::{Exit, Fault};
use crate::hints::repeated;

/// A text style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Secondary text.
    Dim,
    /// Unstyled text.
    Plain,
    /// Emphasised text.
    Bold,
    /// Success.
    Good,
    /// Warning.
    Warn,
    /// Error.
    Bad,
    /// A participant, by its position in the order of invitation.
    Person(usize),
}

/// Distinct colours for participants, readable on dark and light backgrounds.
const PEOPLE: [&str; 6] = ["36", "35", "33", "32", "34", "31"];

/// A writer to standard output.
#[derive(Clone, Debug)]
pub struct Printer {
    colours: bool,
    /// True if JSON was requested.
    pub json: bool,
}

impl Printer {
    /// Decides about colours for all output. The flag decides first, then `NO_COLOR`, then
    /// `CLICOLOR_FORCE`. Otherwise there are colours if standard output is a terminal and `TERM` is
    /// not `dumb`.
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

    /// True if text is painted.
    pub fn has_colours(&self) -> bool {
        self.colours
    }

    /// Returns text in a style, without control sequences.
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

    /// Prints a line and flushes, because readers of pipes wait for it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn line(&self, line: &str) -> Result<(), Fault> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| output_fault(&error))
    }

    /// Prints one JSON object on a line.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn object(&self, value: &impl Serialize) -> Result<(), Fault> {
        let text = serde_json::to_string(value)
            .map_err(|error| Fault::new(Exit::Failure, "cannot write JSON").because(error))?;
        self.line(&text)
    }
}

/// The levels of `--quiet` and `--verbose`, set once before any output.
static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicU8 = AtomicU8::new(0);

/// Sets the output level on standard error.
pub fn settle_talk(quiet: bool, verbose: u8) {
    QUIET.store(quiet, Ordering::Relaxed);
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Prints a detail on standard error with `--verbose`. Callers never pass messages or credentials.
pub fn detail(text: impl FnOnce() -> String) {
    detail_from(1, text);
}

/// Prints a detail on standard error with `-vv`. Callers never pass messages or credentials.
pub fn fine_detail(text: impl FnOnce() -> String) {
    detail_from(2, text);
}

fn detail_from(level: u8, text: impl FnOnce() -> String) {
    if VERBOSE.load(Ordering::Relaxed) >= level {
        let _ = writeln!(std::io::stderr(), "{}", for_terminal(&text()));
    }
}

/// True with `--quiet`: notes are not printed, except warnings.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a hint on standard error. `--quiet` lets only warnings through.
pub fn note(text: &str) {
    if is_quiet() && !text.starts_with("warning: ") {
        return;
    }
    // Ignored: if standard error is closed, this failure cannot be printed either.
    let _ = writeln!(std::io::stderr(), "{}", for_terminal(&repeated(text)));
}

/// Returns the server's warnings as sentences. A warning code is left out if its sentence follows.
pub fn sentences(warnings: &[String]) -> impl Iterator<Item = String> {
    let is_word = |warning: &String| warning.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_said = move |at: usize| warnings.get(at + 1).is_some_and(|next| !is_word(next));
    let left = warnings.iter().enumerate();
    left.filter(move |(at, warning)| !is_word(warning) || !is_said(*at))
        .map(|(_, warning)| Reader::CommandLine.reword(warning))
}

/// Returns the error of a failed write to standard output. If the reader of the pipe has closed it,
/// as `head` does, ends this process with success instead.
pub fn output_fault(error: &std::io::Error) -> Fault {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Fault::io("cannot write to standard output", error)
}
