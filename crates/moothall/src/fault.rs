//! How the command line fails: what happened, why, the way forward, and an exit code by kind.

use std::fmt;
use std::process::ExitCode;

/// Exit codes by kind. Scripts rely on them, so the numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Anything without a kind of its own.
    Failure,
    /// The command line itself.
    Usage,
    /// No server answers, or its address is taken.
    Unavailable,
    /// The disk.
    Io,
    /// It would work later.
    TryLater,
    /// Not allowed.
    Denied,
    /// The configuration.
    Config,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    /// All kinds, in the order of their numbers.
    const ALL: [Exit; 8] =
        [Exit::Failure, Exit::Usage, Exit::Unavailable, Exit::Io, Exit::TryLater, Exit::Denied, Exit::Config, Exit::Interrupted];

    /// The number the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::Unavailable => 69,
            Exit::Io => 74,
            Exit::TryLater => 75,
            Exit::Denied => 77,
            Exit::Config => 78,
            Exit::Interrupted => 130,
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Exit::Failure => "it did not work; the message says why",
            Exit::Usage => "the command line was not understood",
            Exit::Unavailable => "no server answers there, or its address is taken",
            Exit::Io => "the disk failed or is full",
            Exit::TryLater => "busy, or another server uses the data folder; try again later",
            Exit::Denied => "not allowed",
            Exit::Config => "the configuration is wrong; the message names file, line and column",
            Exit::Interrupted => "stopped with Ctrl-C",
        }
    }

    /// The table that `--help` shows.
    pub fn table() -> String {
        let rows = Exit::ALL.map(|exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
        format!("Exit codes:\n    0  it worked\n{}", rows.concat())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command failed, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub exit: Exit,
    /// What happened.
    pub what: String,
    /// Why, where that is known.
    pub why: Option<String>,
    /// What to do about it.
    pub forward: Option<String>,
}

impl Fault {
    /// A fault of a kind.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), why: None, forward: None }
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, why: impl fmt::Display) -> Self {
        self.why = Some(why.to_string());
        self
    }

    /// Adds the way forward.
    #[must_use]
    pub fn try_this(mut self, forward: impl Into<String>) -> Self {
        self.forward = Some(forward.into());
        self
    }

    /// Input or output that failed, on the disk or on standard output.
    pub fn io(what: impl Into<String>, error: &std::io::Error) -> Self {
        Self::new(Exit::Io, what).because(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(why) = &self.why {
            write!(f, "\n  why: {why}")?;
        }
        if let Some(forward) = &self.forward {
            write!(f, "\n  try: {forward}")?;
        }
        Ok(())
    }
}
