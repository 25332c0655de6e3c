//! Which programs can be started in a terminal, and what a launch is made of.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use moothall_engine::sessions::{HostFault, Launch, Record, Reports, SessionId};
use moothall_kernel::time::Millis;
use strum::VariantArray;

use super::{Search, Vendor};
use crate::command::Environment;
use crate::logins::{self, Login};
use crate::run_as::Account;

/// A program that lives in a terminal.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// One sentence for people.
    pub summary: String,
    /// Program and arguments; never goes through a shell.
    pub argv: Vec<String>,
    /// Where it runs when a launch does not say.
    pub cwd: Option<PathBuf>,
    /// Variables added to the few it inherits.
    pub env: BTreeMap<String, String>,
    /// The user that it runs as; the server's own where unset.
    pub run_as: Option<String>,
    /// Whose it is, or as whose its screen is read and its reports are.
    pub vendor: Vendor,
    /// Its time limit for a turn.
    pub timeout: Option<Millis>,
}

impl std::fmt::Debug for Program {
    /// Without the values of its variables, which may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("summary", &self.summary)
            .field("argv", &self.argv)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("run_as", &self.run_as)
            .field("vendor", &self.vendor)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl Program {
    /// A program with default settings.
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
        }
    }

    /// How it logs in, where that is known: by its name, or by the program that it draws like.
    pub fn login(&self) -> Option<&'static Login> {
        self.argv.first().and_then(|program| Login::of(program)).or(self
            .vendor
            .table()
            .launch
            .login)
    }

    /// The user that it runs as, where that is not the server's own.
    ///
    /// # Errors
    /// In words for people, where it is meant to be another user's and cannot be now.
    pub fn account(&self) -> Result<Option<Account>, String> {
        Ok(self
            .run_as
            .as_deref()
            .map(Account::of_terminal)
            .transpose()?
            .filter(|account| !account.is_own()))
    }

    /// The programs that are known without any configuration, by client name.
    pub fn known() -> BTreeMap<String, Self> {
        let named = Vendor::VARIANTS.iter().filter_map(|&vendor| Some((vendor.name()?, vendor)));
        named
            .map(|(client, vendor)| (client.to_owned(), Self { vendor, ..Self::new([client]) }))
            .collect()
    }
}

/// What a process is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessParts {
    /// The program, and the arguments that follow it.
    pub argv: Vec<String>,
    /// Variables beside the few it inherits.
    pub env: BTreeMap<String, String>,
    /// The user that it runs as, where that is not the server's own. All that it inherits is in
    /// `env` then.
    pub account: Option<Account>,
    /// What comes before all of it, with the server's rights, and starts it: program and arguments.
    pub before: Vec<String>,
}

/// Dresses a launch: adds what a program needs to report about itself, such as settings with hooks.
#[async_trait]
pub trait Injector: Send + Sync + 'static {
    /// What is started for a launch. `parts` is what would be started without any dress.
    ///
    /// # Errors
    /// When something that it needs cannot be made.
    async fn launch_parts(
        &self,
        program: &Program,
        launch: &Launch,
        parts: ProcessParts,
    ) -> Result<ProcessParts, HostFault>;
    /// Looks a prompt up in a program's own record, as the user that the program runs as: `None` is
    /// the server's own.
    async fn recorded(&self, account: Option<&Account>, search: Search) -> Option<Record> {
        match account {
            None => tokio::task::spawn_blocking(move || search.run()).await.ok()?,
            // A file of another user's is read by that user or not at all.
            Some(_) => None,
        }
    }
    /// Keeps texts as files that the program of a session can read, as the user that it runs as:
    /// `None` is the server's own. Returns their paths.
    ///
    /// # Errors
    /// When they cannot be written.
    async fn keep_words(
        &self,
        _account: Option<&Account>,
        _session: &SessionId,
        _texts: Vec<String>,
    ) -> std::io::Result<Vec<PathBuf>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    /// What a program that is launched so reports.
    fn reports(&self, program: &Program) -> Reports;
    /// A session is over: what its program was launched with is not needed any more.
    ///
    /// # Errors
    /// When it cannot be taken away.
    fn forget(&self, _session: &SessionId) -> std::io::Result<()> {
        Ok(())
    }
}

/// Adds nothing to what a program is launched with.
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

/// What is started where nobody dresses the launch.
pub(super) fn bare(
    program: &Program,
    launch: &Launch,
    account: Option<Account>,
) -> Result<ProcessParts, HostFault> {
    let argv = program.argv.iter().chain(&launch.args).cloned().collect();
    let (mut env, before) = match &account {
        None => (logins::given(program.login(), &program.env), Vec::new()),
        Some(account) => (env_of(account, program), account.before().map_err(HostFault::Refused)?),
    };
    env.extend(launch.env.clone());
    Ok(ProcessParts { argv, env, account, before })
}

/// All variables of a program that runs as another user.
fn env_of(account: &Account, program: &Program) -> BTreeMap<String, String> {
    let login = logins::given(program.login(), &BTreeMap::new());
    let all = Environment::of_account(account, login, &program.env);
    let texts = all
        .pairs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    // Which terminal it is, tmux says.
    texts.filter(|(name, _)| name != "TERM" || program.env.contains_key(name)).collect()
}
