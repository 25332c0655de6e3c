//! `verify`: checks a log that no server uses, and reports damage with a way to fix it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use moothall_engine::ports::Verification;
use moothall_kernel::text::counted;
use moothall_store::OpenError;
use serde::Serialize;

use crate::cli::Verify;
use crate::config;
use crate::fault::{Exit, Fault};
use crate::paint::{Printer, Style};
use crate::place::data_folder_of;

/// Result of checking a log.
#[derive(Debug, Serialize)]
pub struct VerifyReport {
    data: PathBuf,
    threads: u64,
    events: u64,
    /// Numbers of rows of the other tables with checksums.
    tables: BTreeMap<String, u64>,
    /// Data without checksums.
    unchecked: Vec<String>,
    damage: Vec<String>,
}

impl VerifyReport {
    /// Creates the report about a folder.
    pub fn new(data: &Path, found: &Verification) -> Self {
        let damage = found.faults.iter().map(ToString::to_string).collect();
        let tables = found.tables.iter().map(|checked| (checked.table.clone(), checked.rows));
        Self {
            data: data.to_owned(),
            threads: found.streams,
            events: found.events,
            tables: tables.collect(),
            unchecked: found.unchecked.clone(),
            damage,
        }
    }

    /// Prints the report.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn tell(&self, printer: &Printer) -> Result<(), Fault> {
        if printer.json {
            return printer.object(self);
        }
        damaged(&self.damage, printer)?;
        let verdict = if self.damage.is_empty() {
            "all checksums match"
        } else {
            "all other checksums match"
        };
        printer.line(&format!(
            "{}, {}: {verdict}",
            counted(self.threads, "conversation"),
            counted(self.events, "event")
        ))?;
        let rows = self.tables.iter().map(|(table, rows)| format!("{table} {rows}"));
        let rows = rows.collect::<Vec<_>>().join(", ");
        if !rows.is_empty() {
            printer.line(&format!("rows with checksums: {rows}"))?;
        }
        match self.unchecked.is_empty() {
            true => Ok(()),
            false => printer.line(&format!("without checksums: {}", self.unchecked.join("; "))),
        }
    }
}

/// Prints a line for each damaged place.
///
/// # Errors
/// Standard output is closed.
pub fn damaged(damage: &[String], printer: &Printer) -> Result<(), Fault> {
    damage.iter().try_for_each(|damage| {
        printer.line(&format!("{}  {damage}", printer.paint(Style::Bad, "DAMAGED")))
    })
}

/// Checks the log of a data folder and prints the result. Returns an error if it is damaged.
pub async fn run(args: &Verify, printer: &Printer) -> Result<(), Fault> {
    let data = data_folder_of(&args.folder, &config::environment())?;
    let found = moothall_store::verify(&data).await.map_err(|error| closed(&error))?;
    let walked = VerifyReport::new(&data, &found);
    walked.tell(printer)?;
    if walked.damage.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        Exit::Failure,
        format!("the log in {} is damaged in {} places", data.display(), walked.damage.len()),
    )
    .because(
        "damaged data is never served; conversations and tables that are not named above are \
         intact",
    )
    .try_this(
        "copy the folder, check the disk, and restore the newest backup that passes `moothall \
         verify`: docs/operations.md, \"Damage\"",
    ))
}

/// Returns the error for a log that cannot be checked.
pub fn closed(error: &OpenError) -> Fault {
    let fault = |exit| Fault::new(exit, error.to_string());
    match error {
        OpenError::Locked { dir } => {
            Fault::new(Exit::TryLater, format!("a server is running on {}", dir.display()))
                .because("a log in use cannot be checked completely")
                .try_this(
                    "stop the server, or check a copy: `moothall backup DEST` verifies the copy \
                     that it writes",
                )
        }
        OpenError::Full { .. } => fault(Exit::TryLater)
            .try_this("free some space on that disk; 1 MiB is enough for the check"),
        OpenError::Absent { .. } => {
            fault(Exit::Failure).try_this("name the data folder with --data DIR")
        }
        OpenError::Newer { .. } => fault(Exit::Config).try_this("use the newer version"),
        OpenError::Damaged { .. } => fault(Exit::Failure)
            .because("a server continues from the last intact event only on explicit request")
            .try_this(
                "copy the folder, and restore the newest backup that passes `moothall verify`: \
                 docs/operations.md, \"Damage\"",
            ),
        OpenError::Io { .. } | OpenError::Unusable { .. } => {
            fault(Exit::Io).try_this("see `moothall doctor`, and docs/operations.md, \"Damage\"")
        }
    }
}
