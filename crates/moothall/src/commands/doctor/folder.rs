//! Checks of the data folder: its owner, its permissions, its log, and its file system.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use moothall_store::OpenError;
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{Uid, User, geteuid};

use super::repair::Repair;
use super::{Finding, Verdict};
use crate::credential::key_file;

/// Checks the permissions. A user who can write to the folder can replace the log in it.
pub fn private(folder: &Path) -> Option<Finding> {
    let mode = fs::metadata(folder).ok()?.mode() & 0o777;
    let (verdict, others) = match mode {
        _ if mode & 0o022 != 0 => (Verdict::Fail, "; other users can change its content"),
        _ if mode & 0o055 != 0 => (Verdict::Warn, "; other users can read it"),
        _ => (Verdict::Ok, ""),
    };
    let found = Finding::new("permissions", verdict, format!("mode {mode:04o}{others}"));
    Some(if verdict == Verdict::Ok {
        found
    } else {
        found.repair(Repair::Mode(folder.to_owned(), 0o700))
    })
}

/// Finds the first file that belongs to another user, for example because a server once ran as
/// root.
pub fn owned(folder: &Path) -> Option<Finding> {
    owned_by(folder, geteuid())
}

/// Returns the warning for a server that runs as root, if the folder or a file in it belongs to
/// another user. `None` if the server does not run as root, because it cannot open such a folder
/// anyway.
pub fn warning(folder: &Path) -> Option<String> {
    let found = owned(folder).filter(|found| found.verdict == Verdict::Warn)?;
    let fix = found.fix.map_or_else(String::new, |fix| format!(": {fix}"));
    Some(format!("warning: {}{fix}", found.found))
}

/// Finds the first file that does not belong to `own`: the folder itself, or an entry of it. If
/// `own` is root, this is a warning, otherwise a failure. `None` if all files belong to `own`, or
/// if the folder is unreadable.
fn owned_by(folder: &Path, own: Uid) -> Option<Finding> {
    let inside = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let foreign = std::iter::once(folder.to_owned()).chain(inside).find_map(|path| {
        let owner = Uid::from_raw(path.symlink_metadata().ok()?.uid());
        (owner != own).then_some((path, owner))
    });
    let (path, owner) = foreign?;
    let found = format!(
        "{} belongs to {}, but this process runs as {}",
        path.display(),
        name(owner),
        name(own)
    );
    let whose = Uid::from_raw(folder.symlink_metadata().ok()?.uid());
    Some(match (own.is_root(), whose == own) {
        // Root can write here, but the folder's owner could no longer open the new files.
        (true, false) => Finding::new("owner", Verdict::Warn, found)
            .fix(format!("run the server as {}, the owner of the folder", name(whose))),
        (true, true) => Finding::new("owner", Verdict::Warn, found)
            .fix("run the server as the owner of that file, or give the folder to that owner"),
        (false, true) => Finding::new("owner", Verdict::Fail, found).fix(format!(
            "as root: chown -R {} {}, because a server once ran as another user",
            name(own),
            folder.display()
        )),
        (false, false) => Finding::new("owner", Verdict::Fail, found).fix(format!(
            "run this as {}, the owner of the folder, or name your own folder with --data",
            name(whose)
        )),
    })
}

fn name(user: Uid) -> String {
    User::from_uid(user).ok().flatten().map_or_else(|| format!("user {user}"), |user| user.name)
}

/// Checks that this version can open the log. `None` if the folder has no log.
pub fn log(folder: &Path) -> Option<Finding> {
    let found = |verdict, found: String| Some(Finding::new("log", verdict, found));
    match moothall_store::look(folder) {
        Ok((format, true)) => found(Verdict::Ok, format!("format {format}")),
        Ok((format, false)) => {
            let older = found(
                Verdict::Info,
                format!("format {format}; the next start converts it to the current one"),
            )?;
            Some(older.fix(
                "run `moothall backup` first: the older version cannot open the converted log",
            ))
        }
        Err(OpenError::Absent { .. }) => None,
        Err(OpenError::Locked { .. }) => found(Verdict::Info, "a server is using it".into()),
        Err(error @ OpenError::Newer { .. }) => {
            Some(found(Verdict::Fail, error.to_string())?.fix("use the newer version"))
        }
        Err(error @ OpenError::Full { .. }) => {
            Some(found(Verdict::Fail, error.to_string())?.fix("free some space on that disk"))
        }
        Err(
            error @ (OpenError::Io { .. } | OpenError::Damaged { .. } | OpenError::Unusable { .. }),
        ) => {
            let fix = "copy the folder, then restore the newest backup that passes `moothall \
                       verify`: docs/operations.md, \"Damage\"";
            Some(found(Verdict::Fail, error.to_string())?.fix(fix))
        }
    }
}

/// Checks the permissions of the start-up credential, and that its server runs. `None` if both are
/// right, or if the folder does not have a credential. A server that was killed leaves its
/// credential behind, and the next server writes another one.
pub fn key(folder: &Path) -> Option<Finding> {
    let file = key_file(folder);
    let mode = fs::metadata(&file).ok()?.mode() & 0o777;
    let finding = |verdict, found: &str| Finding::new("credential", verdict, found);
    if mode & 0o077 != 0 {
        let found = finding(Verdict::Fail, "other users can read the start-up credential");
        return Some(found.repair(Repair::Mode(file, 0o600)));
    }
    let is_used = matches!(moothall_store::look(folder), Err(OpenError::Locked { .. }));
    (!is_used).then(|| {
        let found = finding(Verdict::Warn, "the server of the start-up credential is gone");
        found.repair(Repair::Remove(file))
    })
}

/// Returns a failure if the folder's file system is mounted read-only.
pub fn read_only(folder: &Path) -> Option<Finding> {
    let mounted = statvfs(folder).ok()?.flags().contains(FsFlags::ST_RDONLY);
    let found = || {
        Finding::new(
            "file system",
            Verdict::Fail,
            format!("{} is mounted read-only", folder.display()),
        )
    };
    mounted.then(|| {
        found().fix(
            "mount it for writing, or name another folder with --data; to look into it, copy it \
             elsewhere",
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_belongs_to_somebody_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("moothall.db"), "").unwrap();
        assert_eq!(owned(folder.path()), None);
        let stranger = Uid::from_raw(geteuid().as_raw() + 4711);
        let found = owned_by(folder.path(), stranger).unwrap();
        assert_eq!(found.verdict, Verdict::Fail);
        assert!(found.fix.unwrap().contains("run this as"));
    }

    #[test]
    fn root_is_warned_of_a_folder_of_somebody_elses_and_nobody_is_told_to_give_it_to_root() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root gives folders away");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(folder.path(), Some(65534), None).unwrap();
        let found = owned(folder.path()).unwrap();
        assert_eq!(found.verdict, Verdict::Warn);
        let fix = found.fix.unwrap();
        assert!(fix.contains("run the server as nobody") && !fix.contains("chown"), "{fix}");
    }

    #[test]
    fn a_log_that_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(log(folder.path()), None);
        let opened = moothall_store::SqliteLog::open(folder.path()).unwrap();
        assert_eq!(log(folder.path()).unwrap().verdict, Verdict::Info);
        drop(opened);
        assert_eq!(log(folder.path()).unwrap().verdict, Verdict::Ok);
        fs::write(folder.path().join("moothall.db"), "no log at all ".repeat(100)).unwrap();
        let found = log(folder.path()).unwrap();
        assert!(found.verdict == Verdict::Fail && found.fix.unwrap().contains("backup"));
    }

    #[test]
    fn a_disk_without_writing_is_named() {
        // The kernel's own file systems are read-only, if they are mounted at all.
        let sealed = ["/sys", "/proc/sys"].into_iter().map(Path::new);
        for path in sealed.filter(|path| {
            statvfs(*path).is_ok_and(|stat| stat.flags().contains(FsFlags::ST_RDONLY))
        }) {
            assert_eq!(read_only(path).unwrap().verdict, Verdict::Fail);
        }
        assert_eq!(read_only(tempfile::tempdir().unwrap().path()), None);
    }
}
