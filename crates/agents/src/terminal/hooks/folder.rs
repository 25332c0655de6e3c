//! The folder of reports: one folder for each session, readable by its owner only.
//!
//! ```text
//! spool/
//!   bell                 the socket of hooks
//!   server               the address of the server that runs now, or ran last
//!   refused/             the newest reports that could not be used
//!   <session>/           the MOOTHALL_SPOOL of its programs
//!     words/             text that its program would change in its composer, as files
//!     <id>.json          reports, in the order of their names; other names are ignored
//! ```

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use moothall_engine::sessions::SessionId;
use uuid::Uuid;

const SOCKET: &str = "bell";
const REFUSED: &str = "refused";
const SERVER: &str = "server";
/// The mode of a file that all users may read.
const READABLE: u32 = 0o644;
/// Longest address that is read.
const ADDRESS_BYTES_MAX: u64 = 1024;
/// Longest path of a socket that all systems accept.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The folder of all sessions' reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFolder(PathBuf);

impl SpoolFolder {
    /// Returns the spool at this path. Folders are made when first needed.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// Returns the spool that holds a session's folder.
    pub(super) fn around(session: &Path) -> Option<Self> {
        session.parent().map(Self::new)
    }

    /// Returns the folder of one session, the `MOOTHALL_SPOOL` of its programs, and makes it if
    /// missing.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn of(&self, session: &SessionId) -> io::Result<PathBuf> {
        let folder = self.0.join(session.to_string());
        private_folder(&folder)?;
        Ok(folder)
    }

    /// Removes the folder of an ended session. Its unread reports are moved to the refused ones.
    ///
    /// # Errors
    /// The folder cannot be read or removed. A missing folder is not an error.
    pub fn forget(&self, session: &SessionId) -> io::Result<()> {
        let folder = self.0.join(session.to_string());
        for unread in reports(&folder)? {
            // A report that is being read at this moment is removed by its reader.
            let _ = unread.file_name().map(|name| fs::rename(&unread, self.refused().join(name)));
        }
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes the server's address to a file, for programs that outlive the server.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn announce(&self, url: &str) -> io::Result<()> {
        self.make()?;
        write_private(&self.0, SERVER, url.as_bytes()).map(drop)
    }

    /// Writes the server's address for programs of other users, if the folder exists.
    pub(super) fn announce_to_all(&self, url: &str) -> io::Result<()> {
        let file = write_private(&self.0, SERVER, url.as_bytes())?;
        fs::set_permissions(file, fs::Permissions::from_mode(READABLE))
    }

    /// Returns the address that the server of a session wrote last, given the session's folder (its
    /// `MOOTHALL_SPOOL`). `None` if there is none.
    pub fn server(session: &Path) -> Option<String> {
        let mut url = String::new();
        let file = File::open(session.parent()?.join(SERVER)).ok()?;
        file.take(ADDRESS_BYTES_MAX).read_to_string(&mut url).ok()?;
        Some(url.trim().to_owned()).filter(|url| url.starts_with("http://"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn make(&self) -> io::Result<()> {
        private_folder(&self.0)?;
        private_folder(&self.refused())
    }

    pub(super) fn refused(&self) -> PathBuf {
        self.0.join(REFUSED)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.0.join(SOCKET)
    }

    /// Returns the folder of a session that a hook names; `None` if it is not a session's name.
    pub(super) fn named(&self, name: &str) -> Option<PathBuf> {
        Uuid::try_parse(name).ok()?;
        Some(self.0.join(name))
    }

    /// Returns the names of all sessions that have a folder.
    pub(super) fn sessions(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.0)?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| Uuid::try_parse(name).is_ok()).collect())
    }
}

/// Returns the reports in a session's folder, oldest first.
pub(super) fn reports(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    // A link or pipe with such a name is the user's own, and is never followed or waited for.
    let plain =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut found: Vec<PathBuf> =
        plain.map(|entry| entry.path()).filter(|path| is_report(path)).collect();
    found.sort();
    Ok(found)
}

/// True for a file named `<uuid>.json`.
fn is_report(path: &Path) -> bool {
    let named = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .is_some_and(|stem| Uuid::try_parse(stem).is_ok());
    named && path.extension().is_some_and(|extension| extension == "json")
}

/// Makes a folder that only its owner may enter.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that only its owner may read, atomically and synced to disk.
pub(crate) fn write_private(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let (unfinished, finished) = (folder.join(format!(".{name}.new")), folder.join(name));
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
    let kept = written
        .and_then(|()| fs::rename(&unfinished, &finished))
        .and_then(|()| File::open(folder)?.sync_all());
    if kept.is_err() {
        // Half a file is useless, and the disk may be full.
        let _ = fs::remove_file(&unfinished);
    }
    kept.map(|()| finished)
}

/// Returns a path for a socket that is short enough for every system, and the folder that must stay
/// open while the path is used.
pub(super) fn reachable(socket: &Path) -> io::Result<(PathBuf, Option<File>)> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Ok((socket.to_owned(), None));
    };
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return Ok((socket.to_owned(), None));
    }
    let mut way = OpenOptions::new();
    way.read(true);
    // A folder with only execute permission cannot be opened for reading.
    #[cfg(target_os = "linux")]
    way.custom_flags(nix::fcntl::OFlag::O_PATH.bits());
    let open = way.open(folder)?;
    Ok((Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(name), Some(open)))
}
