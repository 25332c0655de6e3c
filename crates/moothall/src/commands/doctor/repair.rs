//! Repairs of findings by which no data is lost: sets permissions, and removes the credential of a
//! server that is gone.

use std::fmt;
use std::fs::{self, Permissions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::Finding;
use crate::commands::confirmation;
use crate::fault::{Exit, Fault};
use crate::hints::quoted;
use crate::paint::{Printer, note};

/// A change that repairs a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Sets the permissions of a file or a folder.
    Mode(PathBuf, u32),
    /// Removes a file.
    Remove(PathBuf),
}

impl Repair {
    fn make(&self) -> io::Result<()> {
        match self {
            Repair::Mode(path, mode) => fs::set_permissions(path, Permissions::from_mode(*mode)),
            Repair::Remove(path) => fs::remove_file(path),
        }
    }
}

impl fmt::Display for Repair {
    /// Writes the shell command that makes the same repair.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::Mode(path, mode) => {
                write!(f, "chmod {mode:o} {}", quoted(&path.to_string_lossy()))
            }
            Repair::Remove(path) => write!(f, "rm {}", quoted(&path.to_string_lossy())),
        }
    }
}

/// Makes the repairs of all findings, each after a question unless `yes` is set. Returns the
/// findings that were not repaired.
///
/// # Errors
/// A repair needs a question and no person can be asked, or a repair failed.
pub fn make(findings: Vec<Finding>, yes: bool, printer: &Printer) -> Result<Vec<Finding>, Fault> {
    let can_ask = !printer.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    let (mendable, mut left): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.repair.is_some());
    if mendable.is_empty() {
        note("Nothing here can be repaired by itself.");
    } else if !yes && !can_ask {
        return Err(Fault::new(Exit::Usage, "--fix has no person to ask")
            .try_this("add --yes to make all repairs"));
    }
    for finding in mendable {
        if !made(&finding, yes)? {
            left.push(finding);
        }
    }
    Ok(left)
}

/// Makes the repair of a finding, after a question unless `yes` is set. Returns false if the person
/// does not want the repair.
fn made(finding: &Finding, yes: bool) -> Result<bool, Fault> {
    let Some(repair) = &finding.repair else { return Ok(false) };
    if !yes {
        let answer = confirmation::line(&format!("{}: {repair}? [y/N] ", finding.found))?;
        if !matches!(answer.to_lowercase().as_str(), "y" | "yes") {
            return Ok(false);
        }
    }
    repair.make().map_err(|error| Fault::io(format!("the repair {repair} failed"), &error))?;
    note(&format!("Repaired: {repair}"));
    Ok(true)
}
