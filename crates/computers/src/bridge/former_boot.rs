//! The boot of this server that held the lease last, so that a start after a crash need not wait
//! until that lease ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::id::{BootId, LogId};

/// Name of the file in the folder of the data.
const FILE: &str = "computers-boot.json";
/// File of the system that has another content after each start of the machine.
const MACHINE: &str = "/proc/sys/kernel/random/boot_id";

/// The boot of a server, and the place at which it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptBoot {
    boot: String,
    /// The log, whose id a copy does not have.
    log: String,
    /// The running machine, because a copy of a whole disk has the id of the log too.
    machine: String,
}

/// The boot that this server had before.
pub(super) struct FormerBoot {
    path: PathBuf,
    log: String,
    machine: Option<String>,
    former: Option<BootId>,
    is_kept: AtomicBool,
}

impl FormerBoot {
    /// Reads the former boot of a folder. A boot that ran on another log or machine does not count.
    pub(super) fn read(folder: &Path, log: LogId) -> Self {
        let (path, log) = (folder.join(FILE), log.to_string());
        let machine = fs::read_to_string(MACHINE).ok().map(|id| id.trim().to_owned());
        let kept = fs::read(&path).ok();
        let kept = kept.and_then(|kept| serde_json::from_slice::<KeptBoot>(&kept).ok());
        let kept = kept.filter(|kept| kept.log == log && Some(&kept.machine) == machine.as_ref());
        let former = kept.and_then(|kept| kept.boot.parse().ok());
        Self { path, log, machine, former, is_kept: AtomicBool::new(false) }
    }

    /// True if a boot is the former one of this server. That boot has ended, because only one
    /// server at a time has the folder.
    pub(super) fn is(&self, boot: BootId) -> bool {
        self.former == Some(boot)
    }

    /// Writes the boot that holds the lease now, one time in each start. If that fails, the next
    /// start after a crash waits until the lease ends.
    pub(super) fn keep(&self, boot: BootId) {
        let Some(machine) = self.machine.clone() else { return };
        if self.is_kept.swap(true, Ordering::Relaxed) {
            return;
        }
        let kept = KeptBoot { boot: boot.to_string(), log: self.log.clone(), machine };
        let write = || fs::write(&self.path, serde_json::to_vec(&kept)?);
        if let Err(error) = write() {
            tracing::warn!(%error, "{FILE} cannot be written; after a crash the next start waits");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_counts_for_its_own_log_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let (log, boot) = (LogId::random(), BootId::random());
        assert!(!FormerBoot::read(folder.path(), log).is(boot));
        FormerBoot::read(folder.path(), log).keep(boot);
        assert!(FormerBoot::read(folder.path(), log).is(boot));
        assert!(!FormerBoot::read(folder.path(), log).is(BootId::random()));
        assert!(!FormerBoot::read(folder.path(), LogId::random()).is(boot), "a copy");
        let path = folder.path().join(FILE);
        let mut kept: KeptBoot = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        kept.machine = "another".into();
        fs::write(&path, serde_json::to_vec(&kept).unwrap()).unwrap();
        assert!(!FormerBoot::read(folder.path(), log).is(boot), "a copy of the disk");
    }
}
