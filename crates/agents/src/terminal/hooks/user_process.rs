//! Work on the files of another user, done by a process of that user. The server may be root, and
//! that user can put links into these folders.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use moothall_engine::sessions::{HostFault, Record, SessionId};
use nix::unistd::{AccessFlags, access};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::folder::SpoolFolder;
use super::inject::{HookInjector, LaunchCommand};
use super::words;
use crate::command::Environment;
use crate::run_as::Account;
use crate::terminal::{Search, Vendor};

/// Longest wait for a user's own files, e.g. on a remote home folder.
const WITHIN: Duration = Duration::from_secs(20);
/// Longest order that is read.
const BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The arguments of this program that make it run an order.
const WORDS: [&str; 2] = ["pane", "dress"];

/// The preparation of a launch as another user.
#[derive(Serialize, Deserialize)]
pub(super) struct LaunchSetup {
    pub(super) moothall: PathBuf,
    pub(super) url: String,
    pub(super) spool: PathBuf,
    pub(super) vendor: Vendor,
    pub(super) session: String,
    pub(super) token: String,
    /// The program to run, as configured.
    pub(super) program: String,
    pub(super) cwd: PathBuf,
    /// The whole environment of the program.
    pub(super) env: BTreeMap<String, String>,
}

/// The outcome of the preparation.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Ready {
        /// The file of the program, which its user may execute.
        program: PathBuf,
        args: Vec<String>,
        env: BTreeMap<String, String>,
    },
    Refused(String),
}

/// An order, as it is sent to the user's process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HelperRequest {
    Dress(LaunchSetup),
    Search(Search),
    Keep {
        /// The folder of the session.
        folder: PathBuf,
        texts: Vec<String>,
    },
}

/// Runs the order on standard input as the current user, and returns the text for standard output.
///
/// # Errors
/// The order cannot be read, or texts cannot be written.
pub fn run_as_user(input: impl Read) -> io::Result<String> {
    Ok(match serde_json::from_reader(input.take(BYTES_MAX))? {
        HelperRequest::Dress(setup) => {
            serde_json::to_string(&setup.run().unwrap_or_else(Outcome::Refused))?
        }
        HelperRequest::Search(search) => serde_json::to_string(&search.run())?,
        HelperRequest::Keep { folder, texts } => {
            serde_json::to_string(&words::keep(&folder, &texts)?)?
        }
    })
}

/// Looks a prompt up in records of another user, as that user; `None` if that fails.
pub(super) async fn search_as(
    account: &Account,
    moothall: &Path,
    search: Search,
) -> Option<Record> {
    let asked = serde_json::to_vec(&HelperRequest::Search(search)).ok()?;
    let before = account.command_prefix().ok()?;
    let output = timeout(WITHIN, ask(&before, moothall, asked)).await.ok()?.ok()?;
    let found = output.status.success().then(|| serde_json::from_slice(&output.stdout).ok());
    if found.is_none() {
        tracing::warn!(user = account.name(), "the records of a session's program cannot be read");
    }
    found.flatten().flatten()
}

/// Writes texts to the folder of a user's session, as that user.
///
/// # Errors
/// The texts cannot be written.
pub(super) async fn keep_as(
    account: &Account,
    moothall: &Path,
    folder: PathBuf,
    texts: Vec<String>,
) -> io::Result<Vec<PathBuf>> {
    let asked = serde_json::to_vec(&HelperRequest::Keep { folder, texts })?;
    let before = account.command_prefix().map_err(io::Error::other)?;
    let output = timeout(WITHIN, ask(&before, moothall, asked)).await??;
    if output.status.success() {
        return Ok(serde_json::from_slice(&output.stdout)?);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

impl LaunchSetup {
    /// Checks, as the session's user, that the folder can be entered and the program executed, and
    /// writes the files for the reports. An error is a sentence for people.
    fn run(self) -> Result<Outcome, String> {
        let user = self.env.get("USER").cloned().unwrap_or_default();
        if access(&self.cwd, AccessFlags::X_OK).is_err() {
            let cwd = self.cwd.display();
            return Err(format!(
                "The program runs as {user}, and this user cannot enter {cwd}. Give {user} \
                 access, or choose another folder."
            ));
        }
        let environment = Environment::of(&self.env);
        let program = environment.find(&self.program, &self.cwd).ok_or_else(|| {
            let (program, path) = (&self.program, environment.path());
            format!(
                "The user {user} cannot run the program {program:?}: it was not found in \
                     {path}, or {user} may not run it. Install it for {user}, or for all users."
            )
        })?;
        let injector = HookInjector {
            moothall: self.moothall,
            url: self.url,
            spool: SpoolFolder::new(self.spool),
            outside: None,
        };
        let launch_command =
            injector.of(self.vendor, &SessionId::new(&self.session), &self.token, &self.env);
        let LaunchCommand { args, env } = launch_command.map_err(|error| {
            format!("The files for the program's reports cannot be written as {user}: {error}.")
        })?;
        Ok(Outcome::Ready { program, args, env })
    }

    /// Runs the preparation as the user, and returns its outcome. `before` are the words that
    /// change the user.
    pub(super) async fn send(
        self,
        account: &Account,
        before: &[String],
    ) -> Result<Outcome, HostFault> {
        let moothall = self.moothall.clone();
        let asked = serde_json::to_vec(&HelperRequest::Dress(self))
            .map_err(|error| HostFault::Failed(error.to_string()))?;
        let result = timeout(WITHIN, ask(before, &moothall, asked)).await;
        let output = result.map_err(|_| {
            HostFault::Failed(format!("Access to the files of {} timed out.", account.name()))
        })?;
        let output = output.map_err(|error| {
            HostFault::Failed(format!(
                "The program that changes the user could not be run: {error}."
            ))
        })?;
        let said = String::from_utf8_lossy(&output.stderr);
        match serde_json::from_slice(&output.stdout) {
            Ok(outcome) if output.status.success() => Ok(outcome),
            Ok(_) | Err(_) => Err(HostFault::Refused(format!(
                "The user {} cannot run {}, which sends the reports of its programs. Install it \
                 where every user may run it, such as /usr/local/bin. ({})",
                account.name(),
                moothall.display(),
                said.trim()
            ))),
        }
    }
}

/// Runs `moothall pane dress` with an order on its standard input, and returns its output. `before`
/// are the words that change the user.
async fn ask(
    before: &[String],
    moothall: &Path,
    asked: Vec<u8>,
) -> io::Result<std::process::Output> {
    let mut words =
        before.iter().map(String::as_str).map(std::ffi::OsStr::new).chain([moothall.as_os_str()]);
    let mut command = Command::new(words.next().unwrap_or_default());
    // The user is perhaps not allowed to enter the folder in which the server runs.
    command.args(words).args(WORDS).env_clear().current_dir("/").kill_on_drop(true);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A process that cannot run does not read; its standard error holds the reason.
        let _ = input.write_all(&asked).await;
    }
    child.wait_with_output().await
}
