//! Programs that run as another user than the server: `run_as` of an agent.
//!
//! A program of the server's own user can read everything the server keeps: the start-up
//! credential, the log, other sessions' secrets. A program of another user cannot. `setpriv`
//! (util-linux) makes the change: it drops all capabilities with the user, and blocks programs such
//! as `sudo` from regaining them. A server without the right to change users refuses to start the
//! program, and does not run it as its own user instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::unistd::{User, geteuid};

use crate::command::Environment;

/// The program that changes the user.
const SETPRIV: &str = "setpriv";

/// The program that `setpriv` starts, which then starts the agent's program. Until its exec
/// `setpriv` has the server's rights over files, and could execute a file that the user must not
/// execute.
const ENV: &str = "env";

/// The capabilities that a server without root needs: to change the user, to signal that user's
/// processes, and to read their environment.
const RIGHTS: [(u32, &str); 4] =
    [(5, "CAP_KILL"), (6, "CAP_SETGID"), (7, "CAP_SETUID"), (19, "CAP_SYS_PTRACE")];

/// Further capabilities for a program in a terminal: its reports lie in a folder of that user, and
/// its terminal becomes that user's.
const RIGHTS_IN_TERMINALS: [(u32, &str); 2] = [(0, "CAP_CHOWN"), (1, "CAP_DAC_OVERRIDE")];

/// The folder for the look-up of the programs that change the user. It has no effect: they are
/// looked up on the search path.
const SYSTEM: &str = "/";

/// Variables that name folders and files of the server's own user.
const PLACES: [&str; 12] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "TMPDIR",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "CLOUDSDK_CONFIG",
];

/// The user that a program runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    name: String,
    user: u32,
    group: u32,
    home: PathBuf,
    shell: PathBuf,
    is_own: bool,
}

impl Account {
    /// Returns the account of this name, even if programs cannot be started as it from here.
    ///
    /// # Errors
    /// A sentence for people: the user does not exist, is root, or cannot be looked up.
    pub fn find(name: &str) -> Result<Self, String> {
        let unknown = |why: String| format!("The user {name:?} of run_as {why}.");
        let user = User::from_name(name)
            .map_err(|error| unknown(format!("cannot be looked up: {error}")))?;
        let user = user.ok_or_else(|| unknown("does not exist on this computer".to_owned()))?;
        if user.uid.is_root() {
            return Err(unknown(
                "is root, which has all rights; name a user with fewer rights".to_owned(),
            ));
        }
        let is_own = user.uid == geteuid();
        Ok(Self {
            name: user.name,
            user: user.uid.as_raw(),
            group: user.gid.as_raw(),
            home: user.dir,
            shell: user.shell,
            is_own,
        })
    }

    /// Returns the account of this name if programs may be started as it from here.
    ///
    /// # Errors
    /// The errors of [`Account::find`]. For a user other than the server's, it is also an error if
    /// the server lacks the right, or if `setpriv` or `env` is missing.
    pub fn of(name: &str) -> Result<Self, String> {
        Self::find(name)?.allowed(&RIGHTS)
    }

    /// Returns the account of this name if programs in terminals may be started as it from here.
    ///
    /// # Errors
    /// As for [`Account::of`].
    pub fn of_terminal(name: &str) -> Result<Self, String> {
        Self::find(name)?.allowed(&[&RIGHTS[..], &RIGHTS_IN_TERMINALS].concat())
    }

    /// Returns the account if programs can be started as it. They can always be started as the
    /// server's own user. For another user, the server needs these capabilities, and the programs
    /// that change the user must be installed.
    fn allowed(self, rights: &[(u32, &str)]) -> Result<Self, String> {
        if !self.is_own {
            may_change(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), rights)
                .map_err(|missing| {
                let name = &self.name;
                format!(
                    "This server cannot run programs as {name}: it is not root, and lacks \
                         {missing}. It does not run them as its own user instead."
                )
            })?;
            self.command_prefix()?;
        }
        Ok(self)
    }

    /// Returns the user's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the user's number.
    pub fn uid(&self) -> u32 {
        self.user
    }

    /// Returns the number of the user's primary group.
    pub fn gid(&self) -> u32 {
        self.group
    }

    /// True if the account is the server's own user, so that the user need not be changed.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Returns the words before a program that make it run as this user, without the server's
    /// rights. There are none for the server's own user.
    ///
    /// # Errors
    /// A sentence for people if `setpriv` or `env` is not installed.
    pub fn command_prefix(&self) -> Result<Vec<String>, String> {
        if self.is_own {
            return Ok(Vec::new());
        }
        let find = |name: &str| {
            Environment::of(&BTreeMap::new())
                .find(name, Path::new(SYSTEM))
                .map(|file| file.to_string_lossy().into_owned())
        };
        let setpriv = find(SETPRIV).ok_or(
            "setpriv is not installed (package util-linux). It is \
                                           needed to run programs as another user.",
        )?;
        let env = find(ENV).ok_or(
            "env is not installed (package coreutils). It is needed to run \
                                   programs as another user.",
        )?;
        let (user, group) = (self.user.to_string(), self.group.to_string());
        let words = [
            "--reuid",
            &user,
            "--regid",
            &group,
            "--init-groups",
            "--inh-caps=-all",
            "--ambient-caps=-all",
            "--no-new-privs",
            "--",
            &env,
            "--",
        ];
        Ok(std::iter::once(setpriv).chain(words.map(str::to_owned)).collect())
    }

    /// True if a program of this user does not inherit this variable from the server.
    pub fn hides(&self, variable: &str) -> bool {
        self.hidden().contains(&variable)
    }

    /// Returns the variables that a program of this user must not inherit.
    pub(crate) fn hidden(&self) -> &'static [&'static str] {
        if self.is_own { &[] } else { &PLACES }
    }

    /// Returns the variables of a program that runs as this account: the inherited ones, overridden
    /// by the configured ones. If the account is another user than the server's, the inherited
    /// variables that name folders and files of the server's user are removed, and home, name and
    /// shell are those of the account.
    pub(crate) fn variables(
        &self,
        inherited: BTreeMap<String, String>,
        configured: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let mut all = inherited;
        if !self.is_own {
            all.retain(|name, _| !PLACES.contains(&name.as_str()));
            let (home, shell) = (
                self.home.to_string_lossy().into_owned(),
                self.shell.to_string_lossy().into_owned(),
            );
            let own = [
                ("HOME", home),
                ("USER", self.name.clone()),
                ("LOGNAME", self.name.clone()),
                ("SHELL", shell),
            ];
            all.extend(own.map(|(name, value)| (name.to_owned(), value)));
        }
        all.extend(configured.clone());
        all
    }

    /// Returns the home folder, the default working directory.
    pub fn home(&self) -> &Path {
        &self.home
    }
}

/// Checks that this process has these capabilities. `status` is the text of `/proc/self/status`.
/// The error names the missing capabilities. If the text lists no capabilities, as on a system
/// other than Linux, the process must be root.
fn may_change(status: &str, rights: &[(u32, &str)]) -> Result<(), String> {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let Some(effective) = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
    else {
        return if geteuid().is_root() { Ok(()) } else { Err("the right to".to_owned()) };
    };
    let missing: Vec<&str> = rights
        .iter()
        .filter(|(bit, _)| effective & (1 << bit) == 0)
        .map(|(_, name)| *name)
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(missing.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_exist_or_is_root_is_refused() {
        assert!(Account::of("no-such-user-here").unwrap_err().contains("does not exist"));
        assert!(Account::of("root").unwrap_err().contains("is root"));
        assert!(Account::find("nobody").is_ok());
    }

    #[test]
    fn rights_that_are_missing_are_named() {
        assert_eq!(may_change("Name:\tx\nCapEff:\t000001ffffffffff\n", &RIGHTS), Ok(()));
        assert_eq!(
            may_change("CapEff:\t0000000000000000\n", &RIGHTS),
            Err("CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SYS_PTRACE".to_owned())
        );
        assert_eq!(
            may_change("CapEff:\t00000000000800a0\n", &RIGHTS),
            Err("CAP_SETGID".to_owned())
        );
    }

    #[test]
    fn places_of_the_servers_user_are_not_handed_on() {
        let account = Account {
            name: "ada".into(),
            user: 4711,
            group: 4711,
            home: "/srv/ada".into(),
            shell: "/bin/sh".into(),
            is_own: false,
        };
        let inherited = [
            ("HOME", "/srv/own"),
            ("CODEX_HOME", "/srv/own/x"),
            ("XDG_CONFIG_HOME", "/srv/own/c"),
            ("OPENAI_API_KEY", "k"),
        ];
        let inherited = inherited.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let configured = BTreeMap::from([("CODEX_HOME".to_owned(), "/srv/ada/codex".to_owned())]);
        let seen = account.variables(inherited, &configured);
        assert_eq!((seen["HOME"].as_str(), seen["USER"].as_str()), ("/srv/ada", "ada"));
        assert_eq!(
            (seen["CODEX_HOME"].as_str(), seen["OPENAI_API_KEY"].as_str()),
            ("/srv/ada/codex", "k")
        );
        assert!(!seen.contains_key("XDG_CONFIG_HOME"));
    }
}
