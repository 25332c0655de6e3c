//! `audit`: checks the chain of the audit record, and prints an anchor for it.

use std::path::Path;

use moothall_store::{Anchor, AuditVerified};
use serde::Serialize;

use super::verify::{closed, damaged};
use crate::cli::{Audit, AuditVerify};
use crate::config;
use crate::fault::{Exit, Fault};
use crate::paint::Printer;
use crate::place::data_folder_of;

/// The newest row of the record.
#[derive(Debug, Serialize)]
struct Head {
    number: u64,
    anchor: String,
}

/// Result of checking the chain.
#[derive(Debug, Serialize)]
struct AuditWalk {
    rows: u64,
    damage: Vec<String>,
}

pub fn run(args: &Audit, printer: &Printer) -> Result<(), Fault> {
    let folder = match args {
        Audit::Head(head) => &head.folder,
        Audit::Verify(verify) => &verify.folder,
    };
    let data = data_folder_of(folder, &config::environment())?;
    match args {
        Audit::Head(_) => head(&data, printer),
        Audit::Verify(args) => verify(&data, args, printer),
    }
}

/// Prints the anchor of the newest row. Fails if the record has no chain.
fn head(data: &Path, printer: &Printer) -> Result<(), Fault> {
    let found = moothall_store::audit_head(data).map_err(|error| closed(&error))?;
    let anchor: Anchor = found.ok_or_else(|| unchained(data))?;
    match printer.json {
        true => printer.object(&Head { number: anchor.number, anchor: anchor.to_string() }),
        false => printer.line(&anchor.to_string()),
    }
}

/// Checks the chain of the audit record and prints its length and damage. Returns an error if
/// anything is damaged, or if the record has no chain.
fn verify(data: &Path, args: &AuditVerify, printer: &Printer) -> Result<(), Fault> {
    let AuditVerified { rows, faults } =
        moothall_store::audit_verify(data, args.anchor).map_err(|error| closed(&error))?;
    let rows = rows.ok_or_else(|| unchained(data))?;
    let damage: Vec<String> = faults.iter().map(ToString::to_string).collect();
    match printer.json {
        true => printer.object(&AuditWalk { rows, damage: damage.clone() })?,
        false => {
            damaged(&damage, printer)?;
            printer.line(&format!("{rows} rows of the audit record"))?;
        }
    }
    match damage.len() {
        0 => Ok(()),
        faults => Err(Fault::new(
            Exit::Failure,
            format!("the audit record in {} is damaged in {faults} places", data.display()),
        )
        .because("a row was changed or is missing, or the record was replaced by another one")
        .try_this("compare it with a backup: `moothall audit verify --data BACKUP`")),
    }
}

fn unchained(data: &Path) -> Fault {
    let message = format!("the audit record in {} has no hash chain yet", data.display());
    Fault::new(Exit::Failure, message).because("an earlier version wrote it").try_this(
        "start a server of this version on it once: it chains the existing rows as they are",
    )
}
