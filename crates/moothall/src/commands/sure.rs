//! Whether what cannot be undone is meant: a person at a terminal is asked, unless they said so
//! before.

use std::io::{self, BufRead, IsTerminal, Write};

use super::Context;
use crate::cli::Confirmation;
use crate::fault::{Exit, Fault};

/// Goes on where it is meant: `--yes` says so, and so does whoever calls from a program, where
/// nobody could answer.
///
/// # Errors
/// It is not meant; nothing was done.
pub fn ask(context: &Context, sure: &Confirmation, what: &str) -> Result<(), Fault> {
    if sure.yes || context.printer.json || !io::stdin().is_terminal() || !io::stderr().is_terminal()
    {
        return Ok(());
    }
    let mut out = io::stderr();
    let asked = write!(out, "{what} [y/N] ").and_then(|()| out.flush());
    asked.map_err(|error| Fault::io("cannot ask", &error))?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Fault::io("cannot read the answer", &error))?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Fault::new(Exit::Failure, "nothing was done")
        .try_this("answer y, or say it before with --yes"))
}
