//! Confirmation of commands that cannot be undone: asks the person at the terminal, unless `--yes`
//! is given.

use std::io::{self, BufRead, IsTerminal, Write};

use super::Context;
use crate::cli::Confirmation;
use crate::fault::{Exit, Fault};

/// Succeeds if the person confirms the action. Does not ask with `--yes`, nor in a program, which
/// cannot answer.
///
/// # Errors
/// The person declined; nothing was done.
pub fn ask(context: &Context, sure: &Confirmation, what: &str) -> Result<(), Fault> {
    if sure.yes || context.printer.json || !io::stdin().is_terminal() || !io::stderr().is_terminal()
    {
        return Ok(());
    }
    let answer = line(&format!("{what} [y/N] "))?;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Fault::new(Exit::Failure, "not confirmed, so nothing was changed")
        .try_this("answer y, or use --yes"))
}

/// Asks the person at the terminal for a line; returns it without the space around it.
///
/// # Errors
/// The terminal cannot be written or read.
pub fn line(prompt: &str) -> Result<String, Fault> {
    let mut out = io::stderr();
    let asked = write!(out, "{prompt}").and_then(|()| out.flush());
    asked.map_err(|error| Fault::io("cannot ask", &error))?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Fault::io("cannot read the answer", &error))?;
    Ok(answer.trim().to_owned())
}
