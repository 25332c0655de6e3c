//! Which programs can be started in a terminal, and what a launch is made of.

use std::collections::BTreeMap;
use std::path::PathBuf;

use moothall_engine::sessions::{HostFault, Launch, Reports, SessionId};
use moothall_kernel::time::Millis;
use serde::Deserialize;

use crate::logins::{self, Login};

/// How a program's screen is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// As Claude Code's.
    Claude,
    /// As Codex's.
    Codex,
    /// As Gemini CLI's.
    Gemini,
    /// As that of a program nothing is known of: it is idle when it is quiet.
    #[default]
    Other,
}

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
    /// How its screen is read.
    pub reads: Reads,
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
            .field("reads", &self.reads)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl Program {
    /// A program with default settings.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let argv: Vec<String> = argv.into_iter().map(Into::into).collect();
        let summary = format!("Runs {} in a terminal.", argv.first().map_or("nothing", String::as_str));
        Self { summary, argv, cwd: None, env: BTreeMap::new(), reads: Reads::Other, timeout: None }
    }

    /// How it logs in, where that is known: by its name, or by the program that it draws like.
    pub fn login(&self) -> Option<&'static Login> {
        let reads = match self.reads {
            Reads::Claude => Some("claude"),
            Reads::Codex => Some("codex"),
            Reads::Gemini => Some("gemini"),
            Reads::Other => None,
        };
        self.argv.first().and_then(|program| Login::of(program)).or_else(|| Login::of(reads?))
    }

    /// The programs that are known without any configuration, by client name.
    pub fn known() -> BTreeMap<String, Self> {
        [("claude", Reads::Claude), ("codex", Reads::Codex), ("gemini", Reads::Gemini)]
            .into_iter()
            .map(|(client, reads)| (client.to_owned(), Self { reads, ..Self::new([client]) }))
            .collect()
    }
}

/// What a process is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables beside the few it inherits.
    pub env: BTreeMap<String, String>,
}

/// Dresses a launch: adds what a program needs to report about itself, such as settings with hooks.
pub trait Dress: Send + Sync + 'static {
    /// What is started for a launch. `parts` is what would be started without any dress.
    ///
    /// # Errors
    /// When something that it needs cannot be made.
    fn launch_parts(&self, program: &Program, launch: &Launch, parts: Parts) -> Result<Parts, HostFault>;
    /// What a program that is dressed so reports.
    fn reports(&self, program: &Program) -> Reports;
    /// A session is over: what its program was dressed with is not needed any more.
    ///
    /// # Errors
    /// When it cannot be taken away.
    fn forget(&self, _session: &SessionId) -> std::io::Result<()> {
        Ok(())
    }
}

/// Adds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Dress for Plain {
    fn launch_parts(&self, _program: &Program, _launch: &Launch, parts: Parts) -> Result<Parts, HostFault> {
        Ok(parts)
    }

    fn reports(&self, _program: &Program) -> Reports {
        Reports::default()
    }
}

/// What is started where nobody dresses the launch.
pub(super) fn bare(program: &Program, launch: &Launch) -> Parts {
    let argv = program.argv.iter().chain(&launch.args).cloned().collect();
    let mut env = logins::given(program.login(), &program.env);
    env.extend(launch.env.clone());
    Parts { argv, env }
}
