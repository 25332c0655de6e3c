//! Reads one session's reports in order. Each report stays until its consequences are stored.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use moothall_engine::sessions::{Hook, ReportOutcome, SessionId};
use nix::fcntl::OFlag;
use uuid::Uuid;

use super::folder::{SpoolFolder, reports};
use super::note::Note;
use super::socket::CALL_BYTES_MAX;
use super::spool::HookSink;
use super::vendor::HookEvent;

/// Most refused reports that stay for a person to look at: the newest.
const REFUSED_MAX: usize = 100;

/// The reason for reading a session's reports later.
#[derive(Debug, thiserror::Error)]
pub(super) enum DrainError {
    #[error("the folder of the reports could not be read or written: {0}")]
    Folder(#[from] io::Error),
    #[error("the result of a report could not be stored: {0}")]
    Sink(String),
}

/// Reads all reports of a session until none remain.
pub(super) async fn drain(
    spool: &SpoolFolder,
    folder: &Path,
    sink: &dyn HookSink,
) -> Result<(), DrainError> {
    loop {
        let found = reports(folder)?;
        if found.is_empty() {
            return Ok(());
        }
        for file in found {
            take(spool, &file, sink).await?;
        }
    }
}

/// Handles one report, and removes its file when the consequences are stored or the report is one
/// to ignore. A report that is unreadable, forged, or of an unknown session is moved aside. After
/// an error the file stays.
async fn take(spool: &SpoolFolder, file: &Path, sink: &dyn HookSink) -> Result<(), DrainError> {
    let path = file.to_owned();
    // Reports may be long, and disks slow.
    let read =
        tokio::task::spawn_blocking(move || read(&path)).await.map_err(io::Error::other)??;
    let Some(note) = read else { return Ok(refuse(spool, file, "it is not a report")?) };
    let hook = match hook(&note) {
        Ok(Some(hook)) => hook,
        Ok(None) => return Ok(fs::remove_file(file)?),
        Err(why) => return Ok(refuse(spool, file, why)?),
    };
    match sink.handle_report(hook).await.map_err(|error| DrainError::Sink(error.to_string()))? {
        ReportOutcome::Yes | ReportOutcome::Nothing => Ok(fs::remove_file(file)?),
        ReportOutcome::Unknown => {
            Ok(refuse(spool, file, "its session has ended or was not found")?)
        }
        ReportOutcome::Forged => {
            Ok(refuse(spool, file, "it does not come from the session that it names")?)
        }
    }
}

/// Converts a report for sessions. `None` if the report is one to ignore. The error is the reason
/// why the report cannot be used.
pub(super) fn hook(note: &Note) -> Result<Option<Hook>, &'static str> {
    let (native, news) = match HookEvent::of(note) {
        HookEvent::Heard { native, news } => (native, news),
        HookEvent::Nothing => return Ok(None),
        HookEvent::Garbled => return Err("its payload cannot be read"),
    };
    Uuid::try_parse(&note.session).map_err(|_| "it does not name a session")?;
    Ok(Some(Hook {
        id: note.id.clone(),
        session: SessionId::new(&note.session),
        token: note.token.clone(),
        native,
        news,
    }))
}

/// Reads the report in a file; `None` if it holds none, or is a link or another special file.
fn read(file: &Path) -> io::Result<Option<Note>> {
    // The writer may be another user, and may have replaced the file by a link or a pipe since it
    // was found.
    let plain = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = match fs::OpenOptions::new().read(true).custom_flags(plain).open(file) {
        Err(error) if error.raw_os_error() == Some(nix::errno::Errno::ELOOP as i32) => {
            return Ok(None);
        }
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(CALL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Moves a report aside, for a person to look at, and removes the oldest of those beyond
/// [`REFUSED_MAX`].
fn refuse(spool: &SpoolFolder, file: &Path, why: &str) -> io::Result<()> {
    let id = file.file_name().unwrap_or_default();
    tracing::warn!(report = %id.display(), why, "a program's report was rejected and moved aside");
    fs::rename(file, spool.refused().join(id))?;
    let kept: Vec<PathBuf> = reports(&spool.refused())?;
    kept.iter().rev().skip(REFUSED_MAX).try_for_each(fs::remove_file)
}
