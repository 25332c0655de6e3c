//! Errors of the command line: a message, its cause, a suggested remedy, and an exit code for the
//! kind of error.

use std::fmt;
use std::process::ExitCode;

use strum::VariantArray;

use crate::hints::repeated;

/// Exit codes by kind. Scripts rely on them, so the numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum Exit {
    /// Any other failure.
    Failure = 1,
    /// Invalid command line.
    Usage = 2,
    /// `--wait`: no agent will answer.
    Unanswered = 3,
    /// `--wait`: all agents passed.
    Passed = 4,
    /// `--wait`: an agent failed.
    AgentFailed = 5,
    /// `--wait`: an agent waits for a permission.
    #[strum(serialize = "permission_asked")]
    Asked = 6,
    /// No server answers, or its address is taken.
    Unavailable = 69,
    /// Disk failure, or disk full.
    Io = 74,
    /// Temporary failure.
    TryLater = 75,
    /// Not allowed.
    Denied = 77,
    /// Invalid configuration.
    Config = 78,
    /// `--timeout` expired.
    #[strum(serialize = "timeout")]
    TimedOut = 124,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit status for the shell.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the description of an exit code for `--help`.
    const fn meaning(self) -> &'static str {
        match self {
            Exit::Failure => "failed; the message says why",
            Exit::Usage => "invalid command line",
            Exit::Unanswered => "--wait: sent, but no agent will answer; the message says why",
            Exit::Passed => "--wait: sent, and all agents that were asked passed",
            Exit::AgentFailed => {
                "--wait: sent, but an agent failed or timed out; the message names it and says why"
            }
            Exit::Asked => {
                "--wait: sent, but an agent waits for a permission that a person must answer"
            }
            Exit::Unavailable => "no server answers, or the address to listen on is in use",
            Exit::Io => "disk failure, or disk full",
            Exit::TryLater => {
                "busy, data folder in use by another server, or disk too full to open it; try again \
                 later"
            }
            Exit::Denied => "not allowed",
            Exit::Config => "invalid configuration; the message names the file, line and column",
            Exit::TimedOut => "--timeout expired; messages that were sent stay sent",
            Exit::Interrupted => "stopped with Ctrl-C",
        }
    }

    /// Returns the table for `--help`.
    pub fn table() -> String {
        let row = |exit: &Exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning());
        let rows: String = Exit::VARIANTS.iter().map(row).collect();
        format!("Exit codes:\n    0  success\n{rows}")
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// A command's error, as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of error, which gives the exit code.
    pub exit: Exit,
    /// The server's error code.
    pub code: Option<String>,
    /// Message for people.
    pub what: String,
    /// Cause, if known.
    pub why: Option<String>,
    /// Suggested remedy.
    pub forward: Option<String>,
    /// True if the error was printed already, so that only the exit code matters.
    pub is_printed: bool,
}

impl Fault {
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, code: None, what: what.into(), why: None, forward: None, is_printed: false }
    }

    /// True if the error is temporary: the server is away or busy.
    pub fn passes(&self) -> bool {
        matches!(self.exit, Exit::Unavailable | Exit::TryLater)
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, why: impl fmt::Display) -> Self {
        self.why = Some(why.to_string());
        self
    }

    /// Adds a suggested remedy.
    #[must_use]
    pub fn try_this(mut self, forward: impl Into<String>) -> Self {
        self.forward = Some(forward.into());
        self
    }

    /// Marks the error as already printed.
    #[must_use]
    pub fn mark_printed(self) -> Self {
        Self { is_printed: true, ..self }
    }

    /// Adds the server's error code.
    #[must_use]
    pub fn coded(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Returns the command that explains the error code. `None` if the server named no known code,
    /// or the explanation is not longer than the message and its remedy together.
    fn more(&self) -> Option<String> {
        let code = self.code.as_deref()?;
        let (_, meaning) =
            moothall_surfaces::error::meanings().find(|(known, _)| *known == code)?;
        let said = self.what.len() + self.forward.as_ref().map_or(0, String::len);
        (meaning.len() > said).then(|| format!("moothall help error {code}"))
    }

    /// Returns the object that `--json` prints on standard error.
    pub fn json(&self) -> serde_json::Value {
        let code = self.code.as_deref().unwrap_or(self.exit.into());
        let forward = self.forward.as_deref().map(repeated);
        serde_json::json!({"error": {"code": code, "message": self.what, "why": self.why, "try": forward, "more": self.more(), "exit": self.exit.code()}})
    }

    /// Creates an I/O error of the disk or of standard output.
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
        if let Some(more) = self.more() {
            write!(f, "\n  more: {more}")?;
        }
        Ok(())
    }
}
