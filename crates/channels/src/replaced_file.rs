//! Files of the channels that are replaced whole: a crash leaves the old one or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Replaces a file of a folder, which only the server's user can read.
///
/// # Errors
/// The file cannot be written. The old one stays, unless only the last step, the sync of the
/// folder, failed.
pub(crate) fn replace_file(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = folder.join(format!("{name}.new"));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(bytes)?;
    // Without this, power loss could leave an empty file under the name.
    file.sync_all()?;
    fs::rename(&fresh, folder.join(name))?;
    File::open(folder)?.sync_all()
}
