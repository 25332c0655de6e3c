//! Terminals for `serve`, and the spool with the reports of their programs.

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

/// Folder of reports in the data folder.
const SPOOL: &str = "spool";
/// Default folder for the spools of other users.
const OUTSIDE: &str = "/var/spool/moothall";
/// Number of hash characters that identify a data folder's path.
const FOLDER_CHARS: usize = 16;
/// Folder of tmux's socket in the data folder.
const TMUX: &str = "tmux";

/// Terminals prepared before the hall opens.
pub struct Terminals {
    host: Arc<TmuxHost>,
    desk: Desk,
    /// The spool; `None` if the disk was full.
    spool: Option<Spool>,
    /// Spools of other users, as they are opened.
    others: UnboundedReceiver<Spool>,
}

impl Terminals {
    /// Opens the terminals of a data folder; `None` if tmux is not usable.
    ///
    /// # Errors
    /// [`Fault`] if a configured program is invalid, or a folder cannot be created.
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

    /// Delivers reports to the sessions until the task is aborted, starting with those written
    /// while the server was down.
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
            // The receiver below ends with the last of those who may open another one.
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

/// The spools of the data folder and of other users.
struct Desk {
    folder: SpoolFolder,
    outside: UserSpools,
    url: String,
}

impl Desk {
    /// Opens all spools; may be called again after a failure.
    fn open(&self) -> io::Result<Spool> {
        self.folder.announce(&self.url)?;
        let spool = Spool::open(self.folder.clone())?;
        self.outside.take_up()?;
        Ok(spool)
    }

    /// Retries to open the spools until the disk has space.
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

/// Reads the spool of the server's own user. Sessions judge input typed before a crash only after
/// all earlier reports were delivered.
async fn hear_own(spool: Spool, sink: Arc<dyn HookSink>, sessions: Sessions) {
    if spool.catch_up(&sink).await {
        sessions.caught_up();
    }
    spool.run(sink).await;
}

async fn hear(spool: Spool, sink: Arc<dyn HookSink>) {
    spool.catch_up(&sink).await;
    spool.run(sink).await;
}

/// Returns the folder for other users' spools, unique per data folder.
fn outside_of(data: &Path, config: &Config) -> PathBuf {
    let root = config.sessions.spool.clone().unwrap_or_else(|| PathBuf::from(OUTSIDE));
    let of = blake3::hash(data.as_os_str().as_bytes()).to_hex();
    root.join(&of[..FOLDER_CHARS])
}

/// A handle to the programs of a running server's terminals.
#[derive(Clone)]
pub struct Host(Arc<TmuxHost>);

impl Host {
    /// Replaces the available programs.
    pub fn replace(&self, programs: BTreeMap<String, Program>) {
        self.0.replace(programs);
    }

    /// Cleans up if no program runs in the terminals.
    pub async fn leave(&self) {
        self.0.leave().await;
    }
}

/// Returns the built-in programs, overridden by configured ones of the same name, without disabled
/// ones. Without a user of its own, a program gets that of `[sessions]`.
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
