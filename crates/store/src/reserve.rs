//! A little room that is kept for a start on a full disk.
//!
//! A log that was not closed needs some for the index of its write-ahead log before anything of it
//! can be read. A disk that is full has none, so a file of that size is kept beside the log as long
//! as there is room for it, and let go of when there is not.

use std::fs;
use std::path::Path;

use crate::folder::private_file;

const RESERVE_FILE: &str = "reserve";
/// Enough for the index of the longest write-ahead log, the server's credential, and a few events.
const RESERVE_BYTES: usize = 256 * 1024;

/// Keeps the room, if there is any. Whether it is kept now.
pub(crate) fn keep(dir: &Path) -> bool {
    let path = dir.join(RESERVE_FILE);
    if fs::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES as u64) {
        return true;
    }
    // Bytes, because a file without any takes no room.
    let kept = private_file(&path).is_ok() && fs::write(&path, vec![0x5a; RESERVE_BYTES]).is_ok();
    if !kept {
        spend(dir);
    }
    kept
}

/// Gives the room free. Whether there was any.
pub(crate) fn spend(dir: &Path) -> bool {
    fs::remove_file(dir.join(RESERVE_FILE)).is_ok()
}
