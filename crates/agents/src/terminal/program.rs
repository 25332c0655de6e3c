//! The programs that can be started in a terminal, and the parts of a launch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use moothall_engine::sessions::{HostFault, Launch, ProgramOffer, Record, Reports, SessionId};
use moothall_kernel::time::Millis;
use strum::VariantArray;

use super::{Search, Vendor};
use crate::command::Environment;
use crate::logins::{self, Login};
use crate::run_as::Account;
use crate::spending::Prices;

/// A program that lives in a terminal.
#[derive(Clone, PartialEq)]
pub struct Program {
    /// One sentence for people.
    pub summary: String,
    /// Program and arguments, run without a shell.
    pub argv: Vec<String>,
    /// The working directory, if a launch does not name one.
    pub cwd: Option<PathBuf>,
    /// Variables added to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// The user that the program runs as; the server's own if unset.
    pub run_as: Option<String>,
    /// The vendor whose screen and reports the program has.
    pub vendor: Vendor,
    /// Time limit of the program for a turn.
    pub timeout: Option<Millis>,
    /// The prices of its tokens.
    pub prices: Prices,
}

impl std::fmt::Debug for Program {
    /// Leaves out the values of variables, which may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("summary", &self.summary)
            .field("argv", &self.argv)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("run_as", &self.run_as)
            .field("vendor", &self.vendor)
            .field("timeout", &self.timeout)
            .field("prices", &self.prices)
            .finish()
    }
}

impl Program {
    /// True if the file of the program depends on the folder in which it is started.
    pub(crate) fn is_named_by_a_relative_path(&self) -> bool {
        self.argv.first().is_some_and(|name| name.contains('/') && !name.starts_with('/'))
    }

    /// Returns a program with default settings.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let argv: Vec<String> = argv.into_iter().map(Into::into).collect();
        let summary =
            format!("Runs {} in a terminal.", argv.first().map_or("nothing", String::as_str));
        Self {
            summary,
            argv,
            cwd: None,
            env: BTreeMap::new(),
            run_as: None,
            vendor: Vendor::Other,
            timeout: None,
            prices: Prices::default(),
        }
    }

    /// Returns the login of the program, by its name or else by its vendor; `None` if neither is
    /// known.
    pub fn login(&self) -> Option<&'static Login> {
        self.argv.first().and_then(|program| Login::of(program)).or(self
            .vendor
            .table()
            .launch
            .login)
    }

    /// Returns the user that the program runs as, if not the server's own.
    ///
    /// # Errors
    /// A sentence for people if the program cannot run as its user now.
    pub fn account(&self) -> Result<Option<Account>, String> {
        Ok(self
            .run_as
            .as_deref()
            .map(Account::of_terminal)
            .transpose()?
            .filter(|account| !account.is_own()))
    }

    /// Returns the program as people see it in a list, with the reason if it cannot be started now.
    pub(super) fn offer(&self, client: &str) -> ProgramOffer {
        let missing = match self.account() {
            Err(why) => Some(why),
            Ok(account) => (!self.is_installed(account.as_ref())).then(|| self.how_to_get_it()),
        };
        ProgramOffer { client: client.to_owned(), summary: self.summary.clone(), missing }
    }

    /// True if the program's file is found by the variables and in the working folder that the
    /// program would have.
    fn is_installed(&self, account: Option<&Account>) -> bool {
        let environment = Environment::of(&match account {
            None => self.env.clone(),
            Some(account) => env_of(account, self),
        });
        let name = self.argv.first().map(String::as_str).unwrap_or_default();
        let cwd = self.cwd.as_deref().or(account.map(Account::home)).unwrap_or(Path::new("/"));
        environment.find(name, cwd).is_some()
    }

    /// Returns the sentence for people about a program that is not installed.
    fn how_to_get_it(&self) -> String {
        let name = self.argv.first().map(String::as_str).unwrap_or_default();
        let launch = &self.vendor.table().launch;
        match launch.install.filter(|_| launch.name == Some(name)) {
            Some(install) => format!("{name} is not installed. Install it with `{install}`."),
            None => format!(
                "The program {name} is not installed. Install it, or correct its section of the \
                 configuration."
            ),
        }
    }

    /// Returns the programs that need no configuration, by client name.
    pub fn known_programs() -> BTreeMap<String, Self> {
        let named = Vendor::VARIANTS.iter().filter_map(|&vendor| Some((vendor.name()?, vendor)));
        named
            .map(|(client, vendor)| (client.to_owned(), Self { vendor, ..Self::new([client]) }))
            .collect()
    }
}

/// The parts of a process to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessParts {
    /// The program, and the arguments that follow it.
    pub argv: Vec<String>,
    /// Variables added to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// The user that the program runs as, if not the server's own. `env` is its whole environment
    /// then.
    pub account: Option<Account>,
    /// The words before `argv` that run it as its user. They run with the server's rights. Empty
    /// for the server's own user.
    pub before: Vec<String>,
}

/// The port that adds hook configuration to launches, and works with files as a program's user.
#[async_trait]
pub trait Injector: Send + Sync + 'static {
    /// Returns the parts with hook configuration added. `parts` is the launch without it.
    ///
    /// # Errors
    /// A file or folder for it cannot be made.
    async fn launch_parts(
        &self,
        program: &Program,
        launch: &Launch,
        parts: ProcessParts,
    ) -> Result<ProcessParts, HostFault>;
    /// Looks a prompt up in a program's own record, as the user that the program runs as; `None` is
    /// the server's own.
    async fn find_record(&self, account: Option<&Account>, search: Search) -> Option<Record> {
        match account {
            None => tokio::task::spawn_blocking(move || search.run()).await.ok()?,
            // Another user's file is read only as that user.
            Some(_) => None,
        }
    }
    /// Writes texts to files that the program of a session can read, as the user that it runs as;
    /// `None` is the server's own. Returns their paths.
    ///
    /// # Errors
    /// The files cannot be written.
    async fn keep_words(
        &self,
        _account: Option<&Account>,
        _session: &SessionId,
        _texts: Vec<String>,
    ) -> std::io::Result<Vec<PathBuf>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    /// Returns the kinds of reports that a launched program makes.
    fn reports(&self, program: &Program) -> Reports;
    /// Removes the files of a session that has ended.
    ///
    /// # Errors
    /// The files cannot be removed.
    fn forget(&self, _session: &SessionId) -> std::io::Result<()> {
        Ok(())
    }
}

/// An injector that adds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

#[async_trait]
impl Injector for NoHooks {
    async fn launch_parts(
        &self,
        _program: &Program,
        _launch: &Launch,
        parts: ProcessParts,
    ) -> Result<ProcessParts, HostFault> {
        Ok(parts)
    }

    fn reports(&self, _program: &Program) -> Reports {
        Reports::default()
    }
}

/// Returns the parts of a launch before hook configuration is added.
pub(super) fn bare(
    program: &Program,
    launch: &Launch,
    account: Option<Account>,
) -> Result<ProcessParts, HostFault> {
    let argv = program.argv.iter().chain(&launch.args).cloned().collect();
    let (mut env, before) = match &account {
        None => (logins::added_variables(program.login(), &program.env), Vec::new()),
        Some(account) => {
            (env_of(account, program), account.command_prefix().map_err(HostFault::Refused)?)
        }
    };
    env.extend(launch.env.clone());
    Ok(ProcessParts { argv, env, account, before })
}

/// Returns all variables of a program that runs as another user.
fn env_of(account: &Account, program: &Program) -> BTreeMap<String, String> {
    let login = logins::added_variables(program.login(), &BTreeMap::new());
    let all = Environment::of_account(account, login, &program.env);
    let texts = all
        .pairs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    // tmux sets the type of the terminal.
    texts.filter(|(name, _)| name != "TERM" || program.env.contains_key(name)).collect()
}
