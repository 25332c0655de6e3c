//! What `serve` needs so that agents can live in terminals: the terminals themselves, and the spool
//! in which their programs' reports wait.

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

use crate::config::Config;
use crate::credential::{WRITE_AGAIN, is_full};
use crate::fault::{Exit, Fault};

/// The folder of reports within the data folder.
const SPOOL: &str = "spool";
/// Where the spools of other users are when nobody says where.
const OUTSIDE: &str = "/var/spool/moothall";
/// How much of the hash of a data folder's path tells it from others.
const FOLDER_CHARS: usize = 16;
/// The folder of tmux's socket within the data folder.
const TMUX: &str = "tmux";

/// Terminals that are ready, before the hall that uses them is open.
pub struct Terminals {
    host: Arc<TmuxHost>,
    desk: Desk,
    /// Open, if the disk had room for it.
    spool: Option<Spool>,
    /// The spools of other users, as they are opened.
    others: UnboundedReceiver<Spool>,
}

impl Terminals {
    /// Terminals for a data folder; nothing where tmux is not installed.
    ///
    /// # Errors
    /// [`Fault`] when a configured program makes no sense, or a folder cannot be made.
    pub fn open(data: &Path, url: &str, config: &Config) -> Result<Option<Self>, Fault> {
        let data = std::path::absolute(data)
            .map_err(|error| Fault::io("cannot find the data folder", &error))?;
        let spool = SpoolFolder::new(data.join(SPOOL));
        let moothall = std::env::current_exe()
            .map_err(|error| Fault::io("cannot find this program", &error))?;
        let (outside, others) = UserSpools::new(outside_of(&data, config), url.to_owned());
        let dress = Arc::new(HookInjector {
            moothall,
            url: url.to_owned(),
            spool: spool.clone(),
            outside: Some(outside.clone()),
        });
        let host = TmuxHost::new(&data.join(TMUX), programs(config)?, dress);
        let host = Arc::new(
            host.map_err(|error| Fault::io("cannot make the folder for terminals", &error))?,
        );
        if let Err(why) = host.check() {
            tracing::info!(%why, "no agents in terminals");
            return Ok(None);
        }
        let desk = Desk { folder: spool, outside, url: url.to_owned() };
        let spool = match desk.open() {
            Ok(spool) => Some(spool),
            Err(error) if is_full(&error) => {
                tracing::warn!("the disk is full, so agents in terminals wait until there is room");
                None
            }
            Err(error) => return Err(Fault::io("cannot open the spools of reports", &error)),
        };
        Ok(Some(Self { host, desk, spool, others }))
    }

    /// What a reload of the configuration can replace.
    pub fn programs(&self) -> Host {
        Host(self.host.clone())
    }

    /// The terminals, for the hall.
    pub fn host(&self) -> Arc<dyn SessionHost> {
        self.host.clone()
    }

    /// Brings reports to the sessions until the task is ended. What was reported while no server
    /// ran comes first.
    pub fn listen(self, sessions: Sessions) -> JoinHandle<()> {
        let sink: Arc<dyn HookSink> = Arc::new(SessionHooks(sessions.clone()));
        let Self { desk, spool, mut others, .. } = self;
        tokio::spawn(async move {
            let spool = match spool {
                Some(spool) => spool,
                None => match desk.opened().await {
                    Ok(spool) => spool,
                    Err(error) => {
                        return tracing::error!(%error, "the spools of reports cannot be opened");
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
            // Nobody opens another one; those that are open go on.
            while spools.join_next().await.is_some() {}
        })
    }
}

/// The place where reports come in: the spool of the data folder, and those of other users.
struct Desk {
    folder: SpoolFolder,
    outside: UserSpools,
    url: String,
}

impl Desk {
    /// Opens all of them, as often as it takes.
    fn open(&self) -> io::Result<Spool> {
        self.folder.announce(&self.url)?;
        let spool = Spool::open(self.folder.clone())?;
        self.outside.take_up()?;
        Ok(spool)
    }

    /// Opens them once the disk has room for them.
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

/// The spool of programs that run as the server's own user. What was typed when the server died is
/// judged when all of it was brought.
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

/// The folder of the spools of other users: one for each data folder.
fn outside_of(data: &Path, config: &Config) -> PathBuf {
    let root = config.sessions.spool.clone().unwrap_or_else(|| PathBuf::from(OUTSIDE));
    let of = blake3::hash(data.as_os_str().as_bytes()).to_hex();
    root.join(&of[..FOLDER_CHARS])
}

/// The terminals of a running server, as far as the configuration says what runs in them.
#[derive(Clone)]
pub struct Host(Arc<TmuxHost>);

impl Host {
    /// Replaces the programs that can be started.
    pub fn replace(&self, programs: BTreeMap<String, Program>) {
        self.0.replace(programs);
    }

    /// Leaves nothing behind if no program lives in them.
    pub async fn leave(&self) {
        self.0.leave().await;
    }
}

/// The known programs, and the configured ones in their place where the names are the same.
///
/// # Errors
/// [`Fault`] when one of them makes no sense.
pub fn programs(config: &Config) -> Result<BTreeMap<String, Program>, Fault> {
    let mut programs = Program::known();
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

/// The sessions, as whoever brings reports knows them.
struct SessionHooks(Sessions);

#[async_trait]
impl HookSink for SessionHooks {
    async fn heard(&self, hook: Hook) -> Result<ReportOutcome, SessionError> {
        self.0.heard(hook).await
    }

    async fn ask(&self, hook: Hook) -> Permit {
        self.0.ask(hook).await
    }
}
