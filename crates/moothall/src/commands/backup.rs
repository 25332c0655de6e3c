//! `backup`: copies the log, even while a server writes to it.

use moothall_store::BackupError;

use super::verify::{VerifyReport, closed};
use crate::cli::Backup;
use crate::config;
use crate::fault::{Exit, Fault};
use crate::paint::{Printer, note};
use crate::place::data_folder_of;

/// Copies the log to the destination and prints the result of checking the copy.
pub async fn run(args: &Backup, printer: &Printer) -> Result<(), Fault> {
    let data = data_folder_of(&args.folder, &config::environment())?;
    let found = moothall_store::backup(&data, &args.dest).await.map_err(failed)?;
    VerifyReport::new(&args.dest, &found).tell(printer)?;
    if !printer.json {
        note(&format!(
            "{} is a complete data folder. To look into it: moothall serve --data {0}",
            args.dest.display()
        ));
    }
    Ok(())
}

/// Returns the error for a failed backup, with a cause and a remedy by kind.
fn failed(error: BackupError) -> Fault {
    let text = error.to_string();
    match error {
        BackupError::Exists(_) => Fault::new(Exit::Failure, text)
            .because("a backup never overwrites files")
            .try_this("choose a name that does not exist yet"),
        BackupError::NoFolder(_) => Fault::new(Exit::Failure, text)
            .because("a backup creates only its own folder, so that an unmounted disk is noticed")
            .try_this("mount the disk, or create the parent folder first"),
        BackupError::Inside(_) => Fault::new(Exit::Failure, text)
            .because("a backup inside the data folder is lost together with it")
            .try_this("choose a folder outside of it, best on another disk"),
        BackupError::UnderWay(_) => Fault::new(Exit::TryLater, text)
            .try_this("wait for the other backup, or choose another name"),
        BackupError::Open(error) => closed(&error),
        BackupError::Copy { .. } => {
            Fault::new(Exit::Io, text).try_this("check the free space and the permission to write")
        }
        BackupError::Damaged { found, .. } => {
            let damage: Vec<_> = found.faults.iter().map(ToString::to_string).collect();
            Fault::new(Exit::Failure, text)
                .because(damage.join("; "))
                .try_this("keep the backups you have, and see docs/operations.md, \"Damage\"")
        }
    }
}
