//! Terminals for `serve`, and the spools with the reports of the programs in them.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use moothall_agents::terminal::hooks::{HookInjector, HookSink, Spool, SpoolFolder, UserSpools};
use moothall_agents::terminal::{Program, TmuxHost};
use moothall_engine::sessions::{Hook, Permit, ReportOutcome, SessionError, SessionHost};
use moothall_terminals::Sessions;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinHandle, JoinSet};

use crate::config::{Config, environment};
use crate::credential::{WRITE_AGAIN, is_full};
use crate::fault::{Exit, Fault};
use crate::own_program;

/// Name of the folder for reports, in the data folder.
const SPOOL: &str = "spool";
/// Default folder for the spools of other users.
const OUTSIDE: &str = "/var/spool/moothall";
/// Number of hash characters that identify a data folder's path.
const FOLDER_CHARS: usize = 16;
/// Name of the folder for tmux's socket, in the data folder.
const TMUX: &str = "tmux";

/// Terminals prepared before the hall opens.
pub struct Terminals {
    host: Arc<TmuxHost>,
    desk: Desk,
    /// The spool of the server's own user; `None` if the disk was full.
    spool: Option<Spool>,
    /// Receives the spool of each other user when it is opened.
    others: UnboundedReceiver<Spool>,
}

impl Terminals {
    /// Opens the terminals of a data folder; `None` if tmux is not usable. If the disk is full, the
    /// spools are opened later, by [`Terminals::listen`].
    ///
    /// # Errors
    /// [`Fault`] if a configured program is invalid, this program's path is unknown, or a folder or
    /// a spool cannot be opened for another reason than a full disk.
    pub fn open(data: &Path, url: &str, config: &Config) -> Result<Option<Self>, Fault> {
        let data = std::path::absolute(data)
            .map_err(|error| Fault::io("cannot find the data folder", &error))?;
        let spool = SpoolFolder::new(data.join(SPOOL));
        let moothall = own_program::lasting(&environment())
            .map_err(|error| Fault::io("cannot find this program", &error))?;
        let (outside, others) = UserSpools::new(outside_of(&data, config), url.to_owned());
        let injector = Arc::new(HookInjector {
            moothall,
            url: url.to_owned(),
            spool: spool.clone(),
            outside: Some(outside.clone()),
        });
        let host = TmuxHost::new(&data.join(TMUX), programs(config)?, injector);
        let host = Arc::new(
            host.map_err(|error| Fault::io("cannot create the folder for terminals", &error))?,
        );
        if let Err(why) = host.check() {
            tracing::info!(%why, "agents in terminals are not available");
            return Ok(None);
        }
        let desk = Desk { folder: spool, outside, url: url.to_owned() };
        let spool = match desk.open() {
            Ok(spool) => Some(spool),
            Err(error) if is_full(&error) => {
                tracing::warn!(
                    "the disk is full; agents in terminals start when it has space again"
                );
                None
            }
            Err(error) => {
                return Err(Fault::io("cannot open the spool folders for reports", &error));
            }
        };
        Ok(Some(Self { host, desk, spool, others }))
    }

    /// Returns the handle that a reload uses to replace programs.
    pub fn programs(&self) -> Host {
        Host(self.host.clone())
    }

    /// Returns the terminals as the hall's session host.
    pub fn host(&self) -> Arc<dyn SessionHost> {
        self.host.clone()
    }

    /// Starts the task that delivers reports to the sessions until it is aborted. Reports that were
    /// written while the server was down come first. If the disk was full, the task waits for
    /// space; if the spools cannot be opened for another reason, it logs that and ends.
    pub fn listen(self, sessions: Sessions) -> JoinHandle<()> {
        let sink: Arc<dyn HookSink> = Arc::new(SessionHooks(sessions.clone()));
        let Self { desk, spool, mut others, .. } = self;
        tokio::spawn(async move {
            let spool = match spool {
                Some(spool) => spool,
                None => match desk.opened().await {
                    Ok(spool) => spool,
                    Err(error) => {
                        return tracing::error!(%error, "cannot open the spool folders for reports");
                    }
                },
            };
            // `others` ends only when every handle that can open a spool is dropped, and `desk` has
            // such a handle.
            drop(desk);
            let mut spools = JoinSet::new();
            spools.spawn(hear_own(spool, sink.clone(), sessions));
            while let Some(spool) = others.recv().await {
                spools.spawn(hear(spool, sink.clone()));
            }
            // No further spools can be opened; wait for the open ones.
            while spools.join_next().await.is_some() {}
        })
    }
}

/// Everything that is needed to open the spools of the server's own user and of other users.
struct Desk {
    folder: SpoolFolder,
    outside: UserSpools,
    url: String,
}

impl Desk {
    /// Opens all spools, and returns the spool of the server's own user. The spools of other users
    /// arrive at the receiver of [`Terminals`]. May be called again after a failure.
    fn open(&self) -> io::Result<Spool> {
        self.folder.announce(&self.url)?;
        let spool = Spool::open(self.folder.clone())?;
        self.outside.take_up()?;
        Ok(spool)
    }

    /// Waits until the disk has space for the spools, and opens them. Returns any other error
    /// immediately.
    async fn opened(&self) -> io::Result<Spool> {
        loop {
            tokio::time::sleep(WRITE_AGAIN).await;
            match self.open() {
                Err(error) if is_full(&error) => {}
                done => return done,
            }
        }
    }
}

/// Delivers the reports in the spool of the server's own user. Tells the sessions if all reports
/// from before this start are delivered. Only then do they take the lack of a report as a proof
/// about input that was typed before a crash.
async fn hear_own(spool: Spool, sink: Arc<dyn HookSink>, sessions: Sessions) {
    if spool.catch_up(&sink).await {
        sessions.caught_up();
    }
    spool.run(sink).await;
}

/// Delivers the reports in the spool of another user.
async fn hear(spool: Spool, sink: Arc<dyn HookSink>) {
    spool.catch_up(&sink).await;
    spool.run(sink).await;
}

/// Returns the folder for other users' spools. Its name has a hash of the data folder's path, so
/// each data folder has another one.
fn outside_of(data: &Path, config: &Config) -> PathBuf {
    let root = config.sessions.spool.clone().unwrap_or_else(|| PathBuf::from(OUTSIDE));
    let of = blake3::hash(data.as_os_str().as_bytes()).to_hex();
    root.join(&of[..FOLDER_CHARS])
}

/// A handle to the programs of a running server's terminals.
#[derive(Clone)]
pub struct Host(Arc<TmuxHost>);

impl Host {
    /// Replaces the programs that can be started. Running programs continue.
    pub fn replace(&self, programs: BTreeMap<String, Program>) {
        self.0.replace(programs);
    }

    /// Ends the tmux server if no program runs in it.
    pub async fn leave(&self) {
        self.0.leave().await;
    }
}

/// Returns the built-in and the configured programs. A configured program replaces a built-in one
/// of its name. Programs whose agents are absent from this configuration are left out. A program
/// without `run_as` gets the `run_as` of `[sessions]`.
///
/// # Errors
/// [`Fault`] if a program is invalid.
pub fn programs(config: &Config) -> Result<BTreeMap<String, Program>, Fault> {
    let mut programs = Program::known_programs();
    for (client, agent) in config.agents.iter().filter(|(_, agent)| agent.is_enabled()) {
        let program = agent.terminal_program(client);
        let program = program
            .map_err(|fault| Fault::new(Exit::Config, format!("[agents.{client}]: {fault}")))?;
        programs.extend(program.map(|program| (client.clone(), program)));
    }
    programs.retain(|client, _| !config.absent.contains(client));
    for program in programs.values_mut().filter(|program| program.run_as.is_none()) {
        program.run_as.clone_from(&config.sessions.run_as);
    }
    Ok(programs)
}

/// The sessions as a sink of reports.
struct SessionHooks(Sessions);

#[async_trait]
impl HookSink for SessionHooks {
    async fn handle_report(&self, hook: Hook) -> Result<ReportOutcome, SessionError> {
        self.0.handle_report(hook).await
    }

    async fn ask(&self, hook: Hook) -> Permit {
        self.0.ask(hook).await
    }
}

#[cfg(test)]
mod tests {
    use moothall_agents::terminal::hooks::READING_TOOLS;
    use moothall_surfaces::reading_tools;

    #[test]
    fn programs_use_unasked_what_changes_nothing_and_no_more() {
        let (mut unasked, mut reading) = (READING_TOOLS.to_vec(), reading_tools());
        unasked.sort_unstable();
        reading.sort_unstable();
        assert_eq!(unasked, reading);
    }
}
