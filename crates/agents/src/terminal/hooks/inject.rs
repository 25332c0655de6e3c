//! The preparation of a program for one session, so that it reports and has this server's tools.
//! The user's own configuration stays as it is.
//!
//! The session's secret goes through variables and files that only their owner may read, never
//! through arguments, which every user of the computer can list.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use moothall_engine::sessions::{HostFault, Launch, Record, Reports, SessionId};
use serde_json::{Value, json};

use super::folder::{SpoolFolder, private_folder, write_private};
use super::outside::UserSpools;
use super::user_process::{LaunchSetup, Outcome, keep_as, search_as};
use super::words;
use crate::run_as::Account;
use crate::terminal::{Injector, ProcessParts, Program, Search, Vendor};

/// The variables that identify a session to its programs.
pub(crate) const VARIABLES: [&str; 4] =
    ["MOOTHALL_SESSION", TOKEN, "MOOTHALL_URL", "MOOTHALL_SPOOL"];

/// The variable that holds a session's secret.
const TOKEN: &str = "MOOTHALL_SESSION_TOKEN";

/// The server's name among a program's tool servers.
pub(crate) const TOOLS: &str = "moothall";

/// The tools of this server that change nothing. A program in a session uses them without asking a
/// person: they read only what its session may read.
pub const READING_TOOLS: [&str; 6] = [
    "get_session_data",
    "list_sessions",
    "list_threads",
    "read_thread",
    "gathering_status",
    "search",
];

/// Prepares programs to report to this server.
#[derive(Clone, Debug)]
pub struct HookInjector {
    /// The `moothall` program, as an absolute path.
    pub moothall: PathBuf,
    /// The address of this server, which programs find in their environment.
    pub url: String,
    /// The folder in which hooks leave their reports, with one folder for each session.
    pub spool: SpoolFolder,
    /// The spools of programs that run as other users; without it such programs cannot start.
    pub outside: Option<UserSpools>,
}

/// The additions to a program's launch. Its arguments go after the user's own.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LaunchCommand {
    /// Arguments to be added after the user's own.
    pub args: Vec<String>,
    /// Variables; the session's secret is among them.
    pub env: BTreeMap<String, String>,
}

impl std::fmt::Debug for LaunchCommand {
    /// Leaves out the values of the variables: one is a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchCommand")
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl HookInjector {
    /// Returns the additions for a session whose secret is `token`, and writes the files that they
    /// need into the session's folder. `given` are the other variables of the launch. The result is
    /// the same when repeated.
    ///
    /// # Errors
    /// A file cannot be written, or one of the user's files cannot be read.
    pub fn of(
        &self,
        vendor: Vendor,
        session: &SessionId,
        token: &str,
        given: &BTreeMap<String, String>,
    ) -> io::Result<LaunchCommand> {
        let folder = self.spool.of(session)?;
        let values = [
            session.to_string(),
            token.to_owned(),
            self.url.clone(),
            folder.to_string_lossy().into_owned(),
        ];
        let own: BTreeMap<String, String> =
            VARIABLES.iter().map(|name| (*name).to_owned()).zip(values).collect();
        let fitting = Fitting { moothall: &self.moothall, folder: &folder, own: &own, given };
        let launch_command = (vendor.table().launch.launch_command)(&fitting)?;
        Ok(LaunchCommand {
            // The session's own variables come last, so that they win over equal names.
            env: launch_command.env.into_iter().chain(own).collect(),
            ..launch_command
        })
    }

    /// Prepares a program that runs as another user, by a process of that user.
    async fn prepared_by_user(
        &self,
        account: &Account,
        vendor: Vendor,
        launch: &Launch,
        token: &str,
        mut parts: ProcessParts,
    ) -> Result<ProcessParts, HostFault> {
        let outside = self.outside.as_ref().ok_or_else(|| {
            HostFault::Unavailable(
                "This server is not set up to run programs of other users.".to_owned(),
            )
        })?;
        let (spool, _) = outside.of(account, &launch.session).map_err(|error| {
            HostFault::Failed(format!(
                "The folder for the reports of {} cannot be used: {error}. Name another folder \
                 with `spool` in [sessions].",
                account.name()
            ))
        })?;
        let setup = LaunchSetup {
            moothall: self.moothall.clone(),
            url: self.url.clone(),
            spool: spool.path().to_owned(),
            vendor,
            session: launch.session.to_string(),
            token: token.to_owned(),
            program: parts.argv.first().cloned().unwrap_or_default(),
            cwd: launch.cwd.clone(),
            env: parts.env.clone(),
        };
        match setup.send(account, &parts.before).await? {
            Outcome::Refused(why) => Err(HostFault::Refused(why)),
            Outcome::Ready { program, args, env } => {
                parts.argv.splice(..1, [program.to_string_lossy().into_owned()]);
                parts.argv.extend(args);
                parts.env.extend(env);
                let enter = [&self.program(), "pane", "enter", &account.uid().to_string(), "--"]
                    .map(str::to_owned);
                // `pane enter` gives the terminal to the user, so it runs before the words that
                // change the user.
                parts.before.splice(..0, enter);
                Ok(parts)
            }
        }
    }

    fn program(&self) -> String {
        self.moothall.to_string_lossy().into_owned()
    }
}

/// The inputs of a preparation: this server's program, and the session.
pub(crate) struct Fitting<'a> {
    moothall: &'a Path,
    /// The session's own folder.
    pub(crate) folder: &'a Path,
    /// The variables that identify the session.
    pub(crate) own: &'a BTreeMap<String, String>,
    /// The other variables of the launch.
    pub(crate) given: &'a BTreeMap<String, String>,
}

impl Fitting<'_> {
    pub(crate) fn program(&self) -> String {
        self.moothall.to_string_lossy().into_owned()
    }

    /// Returns the shell line that reports an event.
    pub(crate) fn hook_line(&self, vendor: &str, event: &str) -> String {
        format!("{} hook {vendor} {event}", shell_word(&self.program()))
    }

    /// Returns the command that runs the server's tools.
    pub(crate) fn tools(&self) -> Value {
        json!({"command": self.program(), "args": ["mcp"], "env": self.own})
    }

    /// Makes the folder of files for the program to read, and returns its path.
    pub(crate) fn words(&self) -> io::Result<String> {
        let folder = words::folder_in(self.folder);
        private_folder(&folder)?;
        Ok(folder.to_string_lossy().into_owned())
    }

    /// Writes a file into the session's folder, and returns its path.
    pub(crate) fn keep(&self, name: &str, value: &Value) -> io::Result<String> {
        let file = write_private(self.folder, name, value.to_string().as_bytes())?;
        Ok(file.to_string_lossy().into_owned())
    }
}

#[async_trait]
impl Injector for HookInjector {
    /// Adds the arguments and variables with which a program reports to this server. For another
    /// user's program, a process of that user makes them. Fails if the launch has no secret of the
    /// session.
    async fn launch_parts(
        &self,
        program: &Program,
        launch: &Launch,
        mut parts: ProcessParts,
    ) -> Result<ProcessParts, HostFault> {
        let Some(token) = launch.env.get(TOKEN) else {
            return Err(HostFault::Failed(
                "The session has no secret, so its reports could not be verified.".to_owned(),
            ));
        };
        let unprepared = |error: io::Error| {
            HostFault::Failed(format!(
                "The files for the reports of {} cannot be prepared: {error}.",
                launch.client
            ))
        };
        if let Some(account) = parts.account.clone() {
            return self.prepared_by_user(&account, program.vendor, launch, token, parts).await;
        }
        let launch_command =
            self.of(program.vendor, &launch.session, token, &parts.env).map_err(unprepared)?;
        parts.argv.extend(launch_command.args);
        parts.env.extend(launch_command.env);
        Ok(parts)
    }

    async fn find_record(&self, account: Option<&Account>, search: Search) -> Option<Record> {
        match account {
            None => tokio::task::spawn_blocking(move || search.run()).await.ok()?,
            Some(account) => search_as(account, &self.moothall, search).await,
        }
    }

    /// Writes texts into the session's folder. For another user, a process of that user writes
    /// them. In that case fails if this server has no spools for other users.
    async fn keep_words(
        &self,
        account: Option<&Account>,
        session: &SessionId,
        texts: Vec<String>,
    ) -> io::Result<Vec<PathBuf>> {
        match (account, &self.outside) {
            (None, _) => {
                let folder = self.spool.of(session)?;
                tokio::task::spawn_blocking(move || words::keep(&folder, &texts)).await?
            }
            (Some(account), Some(outside)) => {
                let (_, folder) = outside.of(account, session)?;
                keep_as(account, &self.moothall, folder, texts).await
            }
            (Some(_), None) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn reports(&self, program: &Program) -> Reports {
        program
            .vendor
            .table()
            .report
            .as_ref()
            .map_or_else(Reports::default, |report| report.reports)
    }

    fn forget(&self, session: &SessionId) -> io::Result<()> {
        self.outside.iter().try_for_each(|outside| outside.forget(session))?;
        self.spool.forget(session)
    }
}

/// Quotes a word for a shell.
fn shell_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    use strum::VariantArray;

    const SESSION: &str = "01980000-0000-7000-8000-000000000001";
    const SECRET: &str = "CANARY-0123456789";

    /// Makes an empty home.
    fn nobody(folder: &tempfile::TempDir) -> BTreeMap<String, String> {
        BTreeMap::from([(
            "HOME".to_owned(),
            folder.path().join("home").to_string_lossy().into_owned(),
        )])
    }

    fn launch_command(vendor: Vendor) -> (tempfile::TempDir, LaunchCommand) {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFolder::new(folder.path().join("spool"));
        let injector = HookInjector {
            moothall: "/opt/it's here/moothall".into(),
            url: "http://127.0.0.1:5111".into(),
            spool,
            outside: None,
        };
        let launch_command =
            injector.of(vendor, &SessionId::new(SESSION), SECRET, &nobody(&folder)).unwrap();
        (folder, launch_command)
    }

    #[test]
    fn every_program_knows_where_it_belongs_and_no_argument_tells_the_secret() {
        for &vendor in Vendor::VARIANTS {
            let (folder, launch_command) = launch_command(vendor);
            let own = folder.path().join("spool").join(SESSION);
            assert_eq!(launch_command.env["MOOTHALL_SESSION"], SESSION);
            assert_eq!(launch_command.env[TOKEN], SECRET);
            assert_eq!(launch_command.env["MOOTHALL_SPOOL"], own.to_str().unwrap());
            assert!(
                !launch_command.args.concat().contains(SECRET)
                    && !format!("{launch_command:?}").contains(SECRET),
                "{vendor:?}"
            );
            for file in std::fs::read_dir(&own).unwrap() {
                let about = file.unwrap().metadata().unwrap();
                assert_eq!(
                    about.permissions().mode() & 0o777,
                    if about.is_dir() { 0o700 } else { 0o600 }
                );
            }
            assert_eq!(std::fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[tokio::test]
    async fn a_launch_keeps_its_own_words_before_those_of_the_dress() {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFolder::new(folder.path().join("spool"));
        let injector = HookInjector {
            moothall: "/opt/moothall".into(),
            url: "http://127.0.0.1:5111".into(),
            spool,
            outside: None,
        };
        let mut launch = Launch {
            session: SessionId::new(SESSION),
            name: "ada".into(),
            client: "codex".into(),
            args: Vec::new(),
            cwd: folder.path().into(),
            exact: false,
            env: BTreeMap::new(),
            run_as: None,
        };
        let program = Program { vendor: Vendor::Codex, ..Program::new(["codex"]) };
        let parts = ProcessParts {
            argv: vec!["codex".into(), "--search".into()],
            env: BTreeMap::from([("A".into(), "b".into())]),
            ..ProcessParts::default()
        };
        assert!(
            injector.launch_parts(&program, &launch, parts.clone()).await.is_err(),
            "without a secret nothing could be believed"
        );
        launch.env.insert(TOKEN.into(), SECRET.into());
        let launch_command = injector.launch_parts(&program, &launch, parts).await.unwrap();
        assert_eq!(launch_command.argv[..3], ["codex", "--search", "-c"]);
        assert_eq!(
            (launch_command.env["A"].as_str(), launch_command.env[TOKEN].as_str()),
            ("b", SECRET)
        );
    }

    #[test]
    fn claude_reports_each_event_by_a_line_that_a_shell_understands() {
        let (_folder, launch_command) = launch_command(Vendor::Claude);
        let settings: Value =
            serde_json::from_slice(&std::fs::read(&launch_command.args[3]).unwrap()).unwrap();
        let stop = &settings["hooks"]["Stop"][0]["hooks"][0];
        assert_eq!(stop["command"], r"'/opt/it'\''s here/moothall' hook claude Stop");
        assert!(
            settings["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"].as_u64()
                > Some(crate::terminal::hooks::PERMISSION_SECONDS)
        );
        assert_eq!(settings["hooks"].get("SubagentStop"), None);
    }

    #[test]
    fn codex_takes_each_setting_as_toml() {
        let (_folder, launch_command) = launch_command(Vendor::Codex);
        let document = launch_command
            .args
            .iter()
            .filter(|arg| *arg != "-c")
            .map(|arg| format!("{arg}\n"))
            .collect::<String>();
        let table: toml::Table = document.parse().unwrap();
        assert_eq!(table["notify"][0].as_str(), Some("/opt/it's here/moothall"));
        assert_eq!(
            table["mcp_servers"]["moothall"]["env_vars"].as_array().unwrap().len(),
            VARIABLES.len()
        );
    }
}
