//! Disk space reserved for a start on a full disk.
//!
//! A log that was not closed needs space for the index of its write-ahead log before it can be
//! read. A full disk has no such space. So a file of that size is beside the log while there is
//! space, and is removed when there is none.

use std::fs;
use std::path::Path;

use crate::folder::private_file;

const RESERVE_FILE: &str = "reserve";
/// Enough for the index of the longest write-ahead log, the server's credential, and a few events.
const RESERVE_BYTES: usize = 256 * 1024;

/// Creates the reserve if there is space. Returns true if it exists now.
pub(crate) fn keep(dir: &Path) -> bool {
    let path = dir.join(RESERVE_FILE);
    if fs::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES as u64) {
        return true;
    }
    // Write real bytes, because an empty file reserves nothing.
    let kept = private_file(&path).is_ok() && fs::write(&path, vec![0x5a; RESERVE_BYTES]).is_ok();
    if !kept {
        spend(dir);
    }
    kept
}

/// Releases the reserve. Returns true if there was one.
pub(crate) fn spend(dir: &Path) -> bool {
    fs::remove_file(dir.join(RESERVE_FILE)).is_ok()
}
