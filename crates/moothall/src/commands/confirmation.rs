//! Confirmation of commands that cannot be undone: asks the person at the terminal. `--yes`, and a
//! caller that is a program, count as a confirmation.

use std::io::{self, BufRead, IsTerminal, Write};

use moothall_kernel::text::for_terminal;
use serde_json::json;

use super::Context;
use crate::cli::Confirmation;
use crate::fault::{Exit, Fault};
use crate::paint::note;

/// Result of a confirmation. The caller must look at it, because after a rehearsal it must change
/// nothing.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The action is to be taken.
    Given,
    /// The action was only printed, and must not be taken.
    Rehearsal,
}

impl Consent {
    /// True if nothing may be changed.
    pub fn is_rehearsal(self) -> bool {
        self == Self::Rehearsal
    }
}

/// Asks the person to confirm the action. Returns [`Consent::Given`] without a question with
/// `--yes` or `--json`, or if standard input or standard error is not a terminal. With `--dry-run`,
/// only prints the action.
///
/// # Errors
/// The person declined, or the terminal cannot be written or read. Nothing was done.
pub fn ask(context: &Context, sure: &Confirmation, what: &str) -> Result<Consent, Fault> {
    if sure.dry_run {
        return rehearse(context, what).map(|()| Consent::Rehearsal);
    }
    if sure.yes || context.printer.json || !io::stdin().is_terminal() || !io::stderr().is_terminal()
    {
        return Ok(Consent::Given);
    }
    let answer = line(&format!("{what} [y/N] "))?;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") {
        return Ok(Consent::Given);
    }
    Err(Fault::new(Exit::Failure, "not confirmed, so nothing was changed")
        .try_this("answer y, or use --yes"))
}

/// Prints the action that a question is about, instead of taking it.
fn rehearse(context: &Context, what: &str) -> Result<(), Fault> {
    let action = match what.rsplit_once('?') {
        Some((action, rest)) => format!("{action}.{rest}"),
        None => what.to_owned(),
    };
    if context.printer.json {
        return context.printer.object(&json!({"dry_run": true, "action": action}));
    }
    context.printer.line(&for_terminal(&action))?;
    note("This was a dry run: nothing was changed.");
    Ok(())
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
