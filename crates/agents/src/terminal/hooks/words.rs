//! Texts that a program would change in its composer, written to files in the session's folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use uuid::Uuid;

use super::folder::private_folder;

/// The folder of these files, below that of a session.
const FOLDER: &str = "words";
/// Most files of a session, and most bytes: the oldest are removed first.
const FILES_MAX: usize = 64;
const BYTES_MAX: u64 = 8 << 20;

/// Returns the folder in which the texts of a session are stored. The folder is made when the first
/// text is written.
pub(super) fn folder_in(session: &Path) -> PathBuf {
    session.join(FOLDER)
}

/// Writes each text to a file that only its owner may read, and returns the paths. Removes the
/// oldest files beyond the limits. If a text cannot be written, none of these files stays.
pub(super) fn keep(session: &Path, texts: &[String]) -> io::Result<Vec<PathBuf>> {
    let folder = folder_in(session);
    private_folder(&folder)?;
    // A link in the place of the folder would lead the files elsewhere.
    if !fs::symlink_metadata(&folder)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut kept = Vec::new();
    for text in texts {
        // Names of this kind sort by time.
        kept.push(folder.join(Uuid::now_v7().simple().to_string()));
        if let Err(error) = kept.last().map_or(Ok(()), |file| write_new(file, text)) {
            for file in &kept {
                let _ = fs::remove_file(file);
            }
            return Err(error);
        }
    }
    remove_oldest(&folder, &kept)?;
    Ok(kept)
}

fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let mut new = OpenOptions::new();
    new.write(true).create_new(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
    new.open(file)?.write_all(text.as_bytes())
}

/// Removes the oldest files beyond the limits, except the files in `kept`, which were written just
/// now.
fn remove_oldest(folder: &Path, kept: &[PathBuf]) -> io::Result<()> {
    let is_own = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| Uuid::try_parse(name).is_ok())
    };
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(is_own).collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    let mut bytes = 0;
    for (at, file) in files.iter().enumerate() {
        bytes += fs::symlink_metadata(file).map_or(0, |about| about.len());
        if (at >= FILES_MAX || bytes > BYTES_MAX) && !kept.contains(file) {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn words_are_kept_from_others_and_the_oldest_go() {
        let session = tempfile::tempdir().unwrap();
        let first = keep(session.path(), &["\ta\r\n".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(fs::read(&first[0]).unwrap(), b"\ta\r\n");
        assert_eq!(fs::metadata(&first[0]).unwrap().permissions().mode() & 0o777, 0o600);
        let folder = folder_in(session.path());
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(folder.join("mine"), "").unwrap();
        for _ in 0..FILES_MAX - 1 {
            keep(session.path(), &["c".to_owned()]).unwrap();
        }
        assert_eq!((first[0].exists(), first[1].exists()), (false, true), "one file too many");
        let large = keep(session.path(), &["x".repeat(usize::try_from(BYTES_MAX).unwrap())]);
        let large = large.unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "what is not ours stays");
        let last = keep(session.path(), &["d".to_owned()]).unwrap();
        assert_eq!((large[0].exists(), last[0].exists()), (false, true), "too many bytes");
    }

    #[test]
    fn words_are_not_kept_behind_a_link() {
        let (session, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(other.path(), folder_in(session.path())).unwrap();
        assert!(keep(session.path(), &["a".to_owned()]).is_err());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
        let file = other.path().join("file");
        symlink(other.path().join("none"), &file).unwrap();
        assert!(write_new(&file, "a").is_err() && !other.path().join("none").exists());
    }
}
