//! Lists the folders in which a program can be started, as the user that it runs as.

use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

use moothall_engine::sessions::{FolderEntry, HostFault};
use tokio::process::Command;

use crate::run_as::Account;

/// Folders of the programs that every computer has.
const SYSTEM: &str = "/usr/bin:/bin";

/// Maximum number of folders in one list.
const FOLDERS_MAX: usize = 1_000;
/// The entry that makes a folder the working copy of a repository.
const REPOSITORY: &str = ".git";

/// Returns the folders directly inside a folder, in the order of their names, at most
/// [`FOLDERS_MAX`]. Hidden folders and names with control characters are left out. `account` is the
/// user that reads them; `None` is the server's own.
pub(super) async fn list(
    folder: &Path,
    account: Option<&Account>,
) -> Result<Vec<FolderEntry>, HostFault> {
    if !folder.is_absolute() {
        return Err(unreadable(folder, "the path is not absolute"));
    }
    let mut all = match account {
        None => of_own_user(folder).await,
        Some(account) => of_account(folder, account).await,
    }
    .map_err(|error| unreadable(folder, &reason(&error)))?;
    all.retain(|entry| !entry.name.starts_with('.') && !entry.name.contains(char::is_control));
    all.sort_by_cached_key(|entry| entry.name.to_lowercase());
    all.truncate(FOLDERS_MAX);
    Ok(all)
}

fn unreadable(folder: &Path, why: &str) -> HostFault {
    HostFault::Refused(format!(
        "The folder {} cannot be read: {why}. Choose another one.",
        folder.display()
    ))
}

/// Returns the reason of an error in words for people.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "it does not exist".into(),
        ErrorKind::NotADirectory => "it is a file".into(),
        ErrorKind::PermissionDenied => "its owner does not allow it".into(),
        _ => error.to_string(),
    }
}

/// Reads a folder as the server's own user. A link to a folder counts as a folder.
async fn of_own_user(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    let folder = folder.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let entries = std::fs::read_dir(folder)?.flatten();
        // A link to a folder counts as one.
        let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        Ok(folders
            .filter_map(|path| {
                let name = path.file_name()?.to_str()?.to_owned();
                Some(FolderEntry { name, is_project: path.join(REPOSITORY).exists() })
            })
            .collect())
    });
    read.await.map_err(io::Error::other)?
}

/// Reads a folder with `find` as another user, so that nothing is listed that this user cannot
/// read. Links to folders are left out.
async fn of_account(folder: &Path, account: &Account) -> io::Result<Vec<FolderEntry>> {
    let folders = find(folder, account, &["-maxdepth", "1", "-type", "d"]).await?;
    let repositories = find(folder, account, &["-maxdepth", "2", "-name", REPOSITORY]).await?;
    let entry = |name: String| {
        let is_project = repositories.contains(&format!("{name}/{REPOSITORY}"));
        FolderEntry { name, is_project }
    };
    Ok(folders.into_iter().map(entry).collect())
}

/// Returns the error that `find` printed, as the system would give it.
fn fault_of(printed: &str) -> io::Error {
    let known = [
        ("No such file", ErrorKind::NotFound),
        ("Not a directory", ErrorKind::NotADirectory),
        ("Permission denied", ErrorKind::PermissionDenied),
    ];
    let kind = known.into_iter().find(|(words, _)| printed.contains(words)).map(|(_, kind)| kind);
    kind.map_or_else(|| io::Error::other(printed.trim().to_owned()), io::Error::from)
}

/// Runs `find` on a folder as another user, without the server's variables. Returns the paths,
/// relative to the folder.
async fn find(folder: &Path, account: &Account, tests: &[&str]) -> io::Result<Vec<String>> {
    let before = account.command_prefix().map_err(io::Error::other)?;
    let mut words = before.iter().map(String::as_str).chain(["find", "-H"]);
    let mut command = Command::new(words.next().unwrap_or_default());
    // The whole path: the user must be able to reach the folder, and not only to read it. A file is
    // refused because of the slash.
    command.args(words).arg(folder.join("")).args(["-mindepth", "1"]).args(tests).arg("-print0");
    command
        .env_clear()
        .env("PATH", SYSTEM)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let found = command.output().await?;
    // A folder below that cannot be read is an error for `find`, but not for this list.
    if !found.status.success() && found.stdout.is_empty() {
        return Err(fault_of(&String::from_utf8_lossy(&found.stderr)));
    }
    let below = |path: &[u8]| {
        let rest = path.strip_prefix(folder.as_os_str().as_bytes())?;
        String::from_utf8(rest.strip_prefix(b"/").unwrap_or(rest).to_vec()).ok()
    };
    Ok(found.stdout.split(|byte| *byte == 0).filter_map(below).collect())
}
