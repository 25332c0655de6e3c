//! Measurements of the computer that the server runs on.

use std::path::Path;

use moothall_surfaces::{Gauge, Gauges};
use nix::sys::statvfs::statvfs;

/// Returns the gauges of the free space on the data folder's disk and of this process's memory. A
/// value that cannot be read is left out.
pub fn of(data: &Path) -> Gauges {
    let data = data.to_owned();
    Gauges::new(move || {
        let disk = free_bytes(&data).map(|free| Gauge {
            name: "moothall_disk_free_bytes",
            help: "Free space on the disk of the data folder, in bytes.",
            value: free as f64,
        });
        let memory = resident_bytes().map(|resident| Gauge {
            name: "process_resident_memory_bytes",
            help: "Resident memory of this process, in bytes.",
            value: resident as f64,
        });
        disk.into_iter().chain(memory).collect()
    })
}

/// Returns the free bytes that this user may use on the disk of a folder.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = statvfs(folder).ok()?;
    Some(stat.blocks_available().saturating_mul(stat.fragment_size()))
}

/// Returns the resident memory of this process, in bytes. `None` on other systems than Linux, which
/// lack the file.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
