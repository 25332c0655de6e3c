//! Where reports lie: one folder for each session, readable by nobody else.
//!
//! ```text
//! spool/
//!   bell                 the socket at which hooks ring and ask
//!   server               where the server that runs now, or ran last, can be reached
//!   refused/             reports that could not be used, the newest few
//!   <session>/           its programs' MOOTHALL_SPOOL
//!     words/             what its program would change in its composer, as files
//!     <id>.json          reports, in the order of their names; whatever has another name is
//!                        the session's own business
//! ```

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use moothall_engine::sessions::SessionId;
use uuid::Uuid;

const BELL: &str = "bell";
const REFUSED: &str = "refused";
const SERVER: &str = "server";
/// A file that everybody may read.
const READABLE: u32 = 0o644;
/// Longest address that is read.
const ADDRESS_BYTES_MAX: u64 = 1024;
/// Longest path that a socket may have on every system.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The folder of all sessions' reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFolder(PathBuf);

impl SpoolFolder {
    /// The spool at this path. Nothing is made before it is needed.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// The spool that a session's own folder lies in.
    pub(super) fn around(session: &Path) -> Option<Self> {
        session.parent().map(Self::new)
    }

    /// The folder of one session, made if it is not there: what its programs get as
    /// `MOOTHALL_SPOOL`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn of(&self, session: &SessionId) -> io::Result<PathBuf> {
        let folder = self.0.join(session.to_string());
        private_folder(&folder)?;
        Ok(folder)
    }

    /// Removes the folder of a session that is over. Reports that nobody read lie with the refused
    /// ones from then on.
    ///
    /// # Errors
    /// When it cannot be removed. One that is gone is removed already.
    pub fn forget(&self, session: &SessionId) -> io::Result<()> {
        let folder = self.0.join(session.to_string());
        for unread in reports(&folder)? {
            // One that is being read just now is taken away by whoever reads it.
            let _ = unread.file_name().map(|name| fs::rename(&unread, self.refused().join(name)));
        }
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes down where the server can be reached, for programs that live longer than it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn announce(&self, url: &str) -> io::Result<()> {
        self.make()?;
        write_private(&self.0, SERVER, url.as_bytes()).map(drop)
    }

    /// The same for programs of other users, where the folder is there.
    pub(super) fn announce_to_all(&self, url: &str) -> io::Result<()> {
        let file = write_private(&self.0, SERVER, url.as_bytes())?;
        fs::set_permissions(file, fs::Permissions::from_mode(READABLE))
    }

    /// Where the server of a session can be reached now, by the session's own folder: its
    /// `MOOTHALL_SPOOL`.
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

    pub(super) fn bell(&self) -> PathBuf {
        self.0.join(BELL)
    }

    /// The folder of a session named by somebody else; none when the name is not a session's.
    pub(super) fn named(&self, name: &str) -> Option<PathBuf> {
        Uuid::try_parse(name).ok()?;
        Some(self.0.join(name))
    }

    /// The names of all sessions that have a folder.
    pub(super) fn sessions(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.0)?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| Uuid::try_parse(name).is_ok()).collect())
    }
}

/// The reports in a session's folder, oldest first.
pub(super) fn reports(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    // Whatever else has such a name is its user's own business, and is never followed or waited
    // for.
    let plain =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut found: Vec<PathBuf> =
        plain.map(|entry| entry.path()).filter(|path| is_report(path)).collect();
    found.sort();
    Ok(found)
}

fn is_report(path: &Path) -> bool {
    let named = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .is_some_and(|stem| Uuid::try_parse(stem).is_ok());
    named && path.extension().is_some_and(|extension| extension == "json")
}

/// Makes a folder that only its owner may look into.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that only its owner may read, whole or not at all, and safe from a loss of power.
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
        // Half a file is of no use to anybody, and its disk may be full.
        let _ = fs::remove_file(&unfinished);
    }
    kept.map(|()| finished)
}

/// A path by which a socket can be reached however deep it lies, with what has to stay open for it.
pub(super) fn reachable(socket: &Path) -> io::Result<(PathBuf, Option<File>)> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Ok((socket.to_owned(), None));
    };
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return Ok((socket.to_owned(), None));
    }
    let mut way = OpenOptions::new();
    way.read(true);
    // A folder that one may only walk through cannot be opened for reading.
    #[cfg(target_os = "linux")]
    way.custom_flags(nix::fcntl::OFlag::O_PATH.bits());
    let open = way.open(folder)?;
    Ok((Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(name), Some(open)))
}
