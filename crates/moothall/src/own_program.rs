//! The path by which other programs call this program later: the hooks of terminals, and MCP
//! clients. If this program lies in a cache, it may be deleted there at any time, so the path is
//! that of a copy.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::config::{Variables, usual_state_folder};

/// Names of folders that package managers empty. A program below a folder of such a name lies in a
/// cache.
const CACHES: [&str; 7] =
    [".cache", "Caches", ".npm", "_npx", "archive-v0", "builds-v0", "environments-v2"];

/// Environment variables that name folders of package managers' caches.
const CACHE_VARIABLES: [&str; 3] = ["XDG_CACHE_HOME", "UV_CACHE_DIR", "npm_config_cache"];

/// Name of the folder of the copies, in the state folder.
const COPIES: &str = "programs";

/// File in the folder of a copy. Its modification time is the time of the copy's last noted use.
const USED: &str = "used";

/// Time without a noted use after which a copy is removed.
const UNUSED_MAX: Duration = Duration::from_hours(90 * 24);

/// Age of the noted use after which a further use is noted.
const NOTED_EVERY: Duration = Duration::from_hours(24);

/// Linkage of this program, and its C library.
pub const LINKED: &str = match (cfg!(target_feature = "crt-static"), cfg!(target_env = "musl")) {
    (true, true) => "static, musl",
    (true, false) => "static, GNU libc",
    (false, true) => "dynamic, musl",
    (false, false) if cfg!(target_env = "gnu") => "dynamic, GNU libc",
    (false, false) => "dynamic",
};

/// C library of this program; `None` if it is neither musl nor GNU libc.
const LIBC: Option<&str> = match (cfg!(target_env = "musl"), cfg!(target_env = "gnu")) {
    (true, _) => Some("musl"),
    (false, true) => Some("gnu"),
    (false, false) => None,
};

/// The features that this program was built with.
const FEATURES: &[&str] = if cfg!(feature = "crash-points") { &["crash-points"] } else { &[] };

/// Returns the version of this program and facts about its build. Without a known commit, the
/// commit is left out.
pub fn description() -> serde_json::Value {
    let mut described = serde_json::json!({
        "name": "moothall",
        "version": env!("CARGO_PKG_VERSION"),
        "build": LINKED,
        "target": env!("MOOTHALL_TARGET"),
        "libc": LIBC,
        "features": FEATURES,
        "sqlite": moothall_store::sqlite_version(),
    });
    if let Some(commit) = option_env!("MOOTHALL_COMMIT") {
        described["commit"] = commit.into();
    }
    described
}

/// Returns a path of this program that lasts. If the program lies in a cache, it is the path of a
/// copy, which is made if necessary. If the copy cannot be made, or the state folder is unknown,
/// the path in the cache is returned.
///
/// # Errors
/// The system does not tell the path of this program.
pub fn lasting(variables: &Variables) -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    if !is_in_cache(&program, variables) {
        return Ok(program);
    }
    let Some(folder) = usual_state_folder(variables).map(|state| state.join(COPIES)) else {
        return Ok(program);
    };
    Ok(copy_in(&folder, &program).unwrap_or_else(|error| {
        tracing::warn!(
            program = %program.display(), %error,
            "this program lies in a cache and cannot be copied from it; hooks fail if it is deleted"
        );
        program
    }))
}

/// Removes the copies whose last noted use is longer ago than [`UNUSED_MAX`]. Errors are ignored,
/// because the next start tries again.
pub fn remove_unused(variables: &Variables) {
    let Some(state) = usual_state_folder(variables) else { return };
    for copy in fs::read_dir(state.join(COPIES)).into_iter().flatten().flatten() {
        if is_older(&copy.path().join(USED), UNUSED_MAX) {
            let _ = fs::remove_dir_all(copy.path());
        }
    }
}

/// If this program is a copy, notes that it is in use, unless the last note is newer than
/// [`NOTED_EVERY`].
pub fn note_use() {
    let Ok(program) = std::env::current_exe() else { return };
    let Some(used) = program.parent().map(|folder| folder.join(USED)) else { return };
    if is_older(&used, NOTED_EVERY) {
        let _ = note(&used);
    }
}

/// True if the file exists and its last change is longer ago than `age`.
fn is_older(file: &Path, age: Duration) -> bool {
    let changed = fs::metadata(file).and_then(|found| found.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|passed| passed > age))
}

fn note(used: &Path) -> io::Result<()> {
    File::create(used)?.set_modified(SystemTime::now())
}

/// True if a program lies in a folder that one of the variables names, or below a folder with a
/// name in [`CACHES`].
fn is_in_cache(program: &Path, variables: &Variables) -> bool {
    let named = CACHE_VARIABLES.iter().filter_map(|name| variables.get(*name)).map(Path::new);
    let mut folders = named.filter(|folder| folder.is_absolute() && folder.parent().is_some());
    let is_cache = |part: Component<'_>| CACHES.iter().any(|name| part.as_os_str() == *name);
    folders.any(|folder| program.starts_with(folder)) || program.components().any(is_cache)
}

/// Returns the path of a program's copy in a folder of copies, and notes its use. Makes the copy if
/// necessary, in a folder that is renamed into place, so that a copy is always whole.
fn copy_in(copies: &Path, program: &Path) -> io::Result<PathBuf> {
    let mut hash = blake3::Hasher::new();
    hash.update_reader(File::open(program)?)?;
    let hash = hash.finalize().to_hex();
    let folder = copies.join(hash.get(..16).unwrap_or(&hash));
    let copy = folder.join("moothall");
    if !copy.exists() {
        let unfinished = copies.join(format!(".{}", std::process::id()));
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir_all(&unfinished)?;
        let made = place(program, &unfinished.join("moothall"))
            .and_then(|()| note(&unfinished.join(USED)))
            .and_then(|()| fs::rename(&unfinished, &folder));
        if made.is_err() {
            let _ = fs::remove_dir_all(&unfinished);
        }
        // The rename fails if another process has made the copy meanwhile. Then that copy is used.
        if !copy.exists() {
            made?;
        }
    }
    note(&folder.join(USED))?;
    Ok(copy)
}

/// Links the program to a path if the file system permits it; else copies it.
fn place(program: &Path, path: &Path) -> io::Result<()> {
    if fs::hard_link(program, path).is_err() {
        fs::copy(program, path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn caches_are_known_by_their_names_and_variables() {
        let variables = Variables::from([
            ("UV_CACHE_DIR".to_owned(), "/big/uv".to_owned()),
            ("npm_config_cache".to_owned(), "/".to_owned()),
        ]);
        for cached in [
            "/people/ann/.cache/uv/archive-v0/x/bin/moothall",
            "/people/ann/.npm/_npx/1/node_modules/@moothall/linux-x64/moothall",
            "/big/uv/x/moothall",
        ] {
            assert!(is_in_cache(Path::new(cached), &variables), "{cached}");
        }
        // A program in /tmp was put there on purpose, and perhaps for other users.
        for kept in ["/usr/bin/moothall", "/tmp/moothall", "/big/uvx/moothall"] {
            assert!(!is_in_cache(Path::new(kept), &variables), "{kept}");
        }
    }

    #[test]
    fn a_copy_outlives_its_program_and_goes_when_unused() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("cached");
        fs::write(&program, "words").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let variables = Variables::from([("HOME".to_owned(), home.path().display().to_string())]);
        let copies = usual_state_folder(&variables).unwrap().join(COPIES);
        let copy = copy_in(&copies, &program).unwrap();
        assert_eq!(copy_in(&copies, &program).unwrap(), copy);
        fs::remove_file(&program).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), b"words");
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
        remove_unused(&variables);
        assert!(copy.exists());
        let used = File::create(copy.with_file_name(USED)).unwrap();
        used.set_modified(SystemTime::now() - UNUSED_MAX - NOTED_EVERY).unwrap();
        remove_unused(&variables);
        assert!(!copy.exists());
        assert_eq!(fs::read_dir(&copies).unwrap().count(), 0);
    }
}
