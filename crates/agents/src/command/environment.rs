//! The environment of a program. Only a short list of the server's variables is inherited, so that
//! secrets do not leak by default.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::run_as::Account;

/// Variables that are inherited, with all of `LC_*`.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

/// The search path if the server has no `PATH`.
const FALLBACK_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// True if a variable belongs to the server by its name. Such variables carry the server's
/// credentials, so a program neither inherits them nor gets them from its section.
pub(crate) fn is_own(name: &str) -> bool {
    name.to_ascii_uppercase().starts_with("MOOTHALL_")
}

/// Words that mark the name of a variable with a secret.
const SECRET_WORDS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "HEADERS"];

/// Least length of a hidden value: shorter ones are too likely to be ordinary words.
const SECRET_BYTES_MIN: usize = 8;

/// Replaces, in a text, the values of configured variables whose names suggest a secret by a mark
/// with the name. Values shorter than [`SECRET_BYTES_MIN`] stay.
pub(super) fn hide_secrets(text: &str, configured: &BTreeMap<String, String>) -> String {
    let is_secret =
        |name: &str| SECRET_WORDS.iter().any(|word| name.to_ascii_uppercase().contains(word));
    let secrets = configured
        .iter()
        .filter(|(name, value)| is_secret(name) && value.len() >= SECRET_BYTES_MIN);
    secrets.fold(text.to_owned(), |text, (name, value)| {
        text.replace(value, &format!("[{name} hidden]"))
    })
}

/// The whole environment of a program.
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Returns the inherited variables, overridden by the configured ones, without variables of the
    /// server's own. `PATH` is always among them.
    pub(crate) fn of(configured: &BTreeMap<String, String>) -> Self {
        let inherited =
            std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited));
        let configured = configured
            .iter()
            .filter(|(name, _)| !is_own(name))
            .map(|(name, value)| (name.into(), value.into()));
        let mut all: BTreeMap<OsString, OsString> = inherited.chain(configured).collect();
        all.entry("PATH".into()).or_insert_with(|| FALLBACK_PATH.into());
        Self(all)
    }

    /// Returns the environment of a program that runs as this account: the inherited variables and
    /// those of its login, as [`Account::variables`] changes them, and the configured ones.
    /// Variables of the server's own are left out.
    pub(crate) fn of_account(
        account: &Account,
        login: BTreeMap<String, String>,
        configured: &BTreeMap<String, String>,
    ) -> Self {
        let texts = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let inherited = texts.filter(|(name, _)| is_inherited(name)).chain(login).collect();
        let all =
            account.variables(inherited, configured).into_iter().filter(|(name, _)| !is_own(name));
        let mut all: BTreeMap<OsString, OsString> =
            all.map(|(name, value)| (name.into(), value.into())).collect();
        all.entry("PATH".into()).or_insert_with(|| FALLBACK_PATH.into());
        Self(all)
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }

    /// Returns the search path, for people.
    pub(crate) fn path(&self) -> String {
        self.0
            .get(OsStr::new("PATH"))
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    /// Returns the executable file that a program's name stands for when it runs in `cwd`. A name
    /// with a slash is a path, relative to `cwd` if it is not absolute. Any other name is looked up
    /// in the absolute folders of the search path.
    pub(crate) fn find(&self, program: &str, cwd: &Path) -> Option<PathBuf> {
        if program.contains('/') {
            let file = std::path::absolute(cwd.join(program)).ok()?;
            return is_program(&file).then_some(file);
        }
        let path = self.0.get(OsStr::new("PATH"))?;
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|file| is_program(file))
    }
}

fn is_inherited(name: &str) -> bool {
    INHERITED.contains(&name) || name.starts_with("LC_")
}

/// True if a file exists and may be executed.
pub(crate) fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, AccessFlags::X_OK).is_ok()
}
