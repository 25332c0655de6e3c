//! `serve`: opens the log, the listener and the hall, and closes them in the opposite order.

mod reload;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_channels::Channels;
use moothall_computers::bridge::Computers;
use moothall_engine::access::{Secret, TokenKind};
use moothall_engine::hall::{Hall, HallError, HallParts};
use moothall_engine::places::ProgramSlots;
use moothall_engine::ports::{Store, SystemClock, TargetKind, Upkeep};
use moothall_engine::registry::Registry;
use moothall_engine::sessions::ClientRights;
use moothall_kernel::time::Millis;
use moothall_store::{OpenError, SqliteLog};
use moothall_surfaces::{HttpOptions, Surface, Tls, here, serve_through};
use moothall_terminals::{SessionParts, Sessions, SessionsConfig};
use nix::sys::resource::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing_subscriber::EnvFilter;

use crate::accounts;
use crate::cli::{DemoPace, LogFormat, Serve};
use crate::commands::announce::Doors;
use crate::commands::doctor::{FILES_MIN, warning_of_folder};
use crate::config::{self, Config, ServerConfig, StartupValues, TlsConfig};
use crate::credential::StartupKey;
use crate::fault::{Exit, Fault};
use crate::gauges;
use crate::own_program;
use crate::owner;
use crate::paint::{Printer, note};
use crate::place::{StartupSettings, settle};
use crate::reach::Reach;
use crate::service;
use crate::terminals::{Host, Terminals};
use crate::trail::Trails;
use reload::RunningServer;

/// Longest wait for running turns at shutdown.
const DRAIN_WITHIN: Millis = Millis::from_secs(10);
/// Minimum time for open requests and streams to end after the turns, even if the turns took all of
/// [`DRAIN_WITHIN`].
const DOORS_WITHIN_MIN: Duration = Duration::from_secs(1);

/// Runs the server until a signal stops it or its log cannot be written, then closes it. Returns an
/// error immediately if a second signal comes during the close.
pub async fn run(args: &Serve, printer: &Printer) -> Result<(), Fault> {
    start_logging(args.log);
    let settled = settle(&args.place, &config::environment())?;
    let tls = settled.tls.as_ref().map(certificate).transpose()?;
    accounts::must_be_possible(&settled.config)?;
    settled
        .config
        .warnings
        .iter()
        .for_each(|warning| tell(args.log, &format!("warning: {warning}")));
    warning_of_folder(&settled.data).iter().for_each(|warning| tell(args.log, warning));
    // Signals are caught before the log is opened, because a signal after that has to close the log
    // in order.
    let mut stops = StopSignals::listen()?;
    let store = Store::of(Arc::new(open_log(&settled.data)?));
    let key = Secret::fresh(TokenKind::Startup)
        .map_err(|error| Fault::new(Exit::Failure, "cannot create a credential").because(error))?;
    let (listener, address, posted) = listen_with(&settled, tls.as_ref(), &key).await?;
    if let Some(later) = posted.later() {
        tell(
            args.log,
            "warning: the disk is full, so startup.key is not written yet; until then, commands \
             of this user need a token",
        );
        tell(
            args.log,
            "warning: free some space; the page's link below and all reading work, and writing \
             resumes by itself",
        );
        tokio::spawn(later);
    }
    let places = ProgramSlots::new(settled.config.limits.programs());
    let registry = registry(&settled.config, address, places.clone(), args.demo_pace)?;
    let agents: Vec<String> = registry.iter().map(|spec| spec.client.clone()).collect();
    own_program::remove_unused(&config::environment());
    let terminals = Terminals::open(&settled.data, &here(address), &settled.config)?;
    let sessions = sessions_of(&settled.config, terminals.as_ref());
    let hall = open_hall(store.clone(), registry, &settled.config, &sessions).await?;
    carry_harvests(&hall, &settled.config).await?;
    let channels = open_channels(&hall, &settled).await?;
    let computers = open_computers(&hall, &settled).await?;
    let host = terminals.as_ref().map(Terminals::programs);
    let listening = terminals.map(|terminals| terminals.listen(sessions.clone()));
    let reach = Reach::of(address, &settled.config.server, tls.as_ref());
    let doors = Doors {
        address,
        reach: &reach,
        mode: settled.mode,
        tls: tls.is_some(),
        data: &settled.data,
        agents: &agents,
        key: &key,
    };
    owner::warning(&settled).iter().for_each(|warning| tell(args.log, warning));
    doors.warning().iter().for_each(|warning| tell(args.log, &format!("warning: {warning}")));
    doors.announce(printer)?;

    let (stop, stopped) = oneshot::channel::<()>();
    let options =
        HttpOptions { tls: tls.clone(), ..options(&settled, &reach, address, key, args.log) };
    let surface = Surface::new(hall.clone(), options);
    let doors = tokio::spawn(serve_through(surface.clone(), listener, async move {
        // A dropped sender also means stop.
        let _ = stopped.await;
    }));
    service::ready();
    let left = host.clone();
    let started = StartupValues::with(&settled);
    hall.set_retention(settled.config.server.retention());
    let house = RunningServer {
        args,
        hall: &hall,
        sessions,
        surface,
        host,
        computers: &computers,
        address,
        tls,
        places,
        posted,
        started,
    };
    let mut config = settled.config;
    let reason = loop {
        tokio::select! {
            request = stops.next() => match request {
                SignalRequest::Stop => break None,
                SignalRequest::Reload => config = house.reload(config).await,
            },
            reason = hall.wait_for_failure() => break Some(reason),
        }
    };
    service::stopping();
    if reason.is_none() {
        tell(
            args.log,
            "Stopping: running turns have up to 10 seconds. Ctrl-C again stops at once.",
        );
    }
    // The channels close before the turns end. The next start receives messages that people write
    // from now on.
    drop(channels);
    computers.close().await;
    // Programs in terminals go on after this server ends. Their later reports stay in the spool.
    listening.inspect(|listening| listening.abort());
    // If the log cannot be written, answers could not be stored: do not wait for turns.
    let within = if reason.is_none() { DRAIN_WITHIN } else { Millis(0) };
    tokio::select! {
        () = close(&hall, within, &*store.upkeep, stop, doors, left) => {}
        () = stops.first() => return Err(Fault::new(Exit::Interrupted, "stopped at once; \
                                                                        acknowledged writes are \
                                                                        kept")),
    }
    match reason {
        None => Ok(()),
        Some(reason) => {
            Err(Fault::new(Exit::Io, "the server stopped, because it cannot write to the log")
                .because(reason)
                .try_this("check the disk, then start again; acknowledged writes are kept"))
        }
    }
}

/// Loads the certificate and its key.
fn certificate(files: &TlsConfig) -> Result<Tls, Fault> {
    Tls::open(&files.cert, &files.key).map_err(|fault| {
        Fault::new(Exit::Config, "cannot use the certificate").because(fault).try_this(
            "set `cert` and `key` of [server.tls], or --tls-cert and --tls-key, to PEM files that \
             this user can read",
        )
    })
}

/// Lets running turns end while readers can still see them. Then closes the listener, the tmux
/// server if no program runs in it, and the log.
async fn close(
    hall: &Hall,
    within: Millis,
    upkeep: &dyn Upkeep,
    stop: oneshot::Sender<()>,
    doors: JoinHandle<()>,
    terminals: Option<Host>,
) {
    let begun = Instant::now();
    hall.drain(within).await;
    drop(stop);
    let left =
        Duration::from_millis(DRAIN_WITHIN.0).saturating_sub(begun.elapsed()).max(DOORS_WITHIN_MIN);
    let _ = tokio::time::timeout(left, doors).await;
    // The tmux server ends before the log is unlocked, because another server may start programs in
    // it from then on.
    if let Some(terminals) = terminals {
        terminals.leave().await;
    }
    if let Err(error) = upkeep.close().await {
        tracing::error!(%error, "the log did not close cleanly; it will recover at the next start");
    }
}

/// Signal handlers. The first SIGINT or SIGTERM asks for an orderly shutdown, and a second one for
/// an immediate exit. SIGHUP asks for a reload of the configuration, or for a shutdown if this
/// server's terminal has closed.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    terminals: [bool; 3],
}

/// Meaning of a signal.
enum SignalRequest {
    Stop,
    Reload,
}

/// Returns true for each of standard input, output and error that is a terminal. A closed terminal
/// counts as false.
fn terminals() -> [bool; 3] {
    [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()]
}

impl StopSignals {
    /// Installs the handlers, and stores for each standard stream if it is a terminal now.
    fn listen() -> Result<Self, Fault> {
        let listen =
            |kind| signal(kind).map_err(|error| Fault::io("cannot listen for signals", &error));
        let (interrupt, terminate) =
            (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        Ok(Self {
            interrupt,
            terminate,
            hangup: listen(SignalKind::hangup())?,
            terminals: terminals(),
        })
    }

    /// Waits for a signal, and returns its meaning. SIGHUP means stop if a standard stream has lost
    /// its terminal since the start, otherwise reload.
    async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.interrupt.recv() => SignalRequest::Stop,
            _ = self.terminate.recv() => SignalRequest::Stop,
            _ = self.hangup.recv() => {
                let is_here = terminals() == self.terminals;
                if is_here { SignalRequest::Reload } else { SignalRequest::Stop }
            }
        }
    }

    /// Waits for a stop signal; ignores reloads.
    async fn first(&mut self) {
        while matches!(self.next().await, SignalRequest::Reload) {}
    }
}

/// Writes a message to standard error, in the format of the log.
fn tell(format: LogFormat, text: &str) {
    match format {
        LogFormat::Text => note(text),
        LogFormat::Json => tracing::warn!("{text}"),
    }
}

/// Starts logging to standard error. `MOOTHALL_LOG` sets the level. Without it, text logs show only
/// problems, and JSON logs also show requests and turns.
fn start_logging(format: LogFormat) {
    let usual = match format {
        LogFormat::Text => "warn",
        LogFormat::Json => "info",
    };
    let filter = EnvFilter::try_from_env("MOOTHALL_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => {
            log.json().flatten_event(true).with_current_span(false).with_span_list(false).init()
        }
    }
}

/// Opens the log of a data folder. Each kind of failure has its own remedy.
fn open_log(data: &Path) -> Result<SqliteLog, Fault> {
    SqliteLog::open(data).map_err(|error| match &error {
        OpenError::Locked { dir } => {
            Fault::new(Exit::TryLater, format!("another server is using {}", dir.display()))
                .try_this("stop that server, or use another folder with --data DIR")
        }
        OpenError::Newer { .. } => Fault::new(Exit::Config, error.to_string())
            .try_this("use the newer version, or another folder with --data DIR"),
        OpenError::Full { .. } => Fault::new(Exit::TryLater, error.to_string()).try_this(
            "free some space on that disk, then start again; acknowledged writes are kept",
        ),
        OpenError::Damaged { .. } => Fault::new(Exit::Io, error.to_string())
            .because("a start would silently lose acknowledged writes")
            .try_this(
                "copy the folder, and restore the newest backup that passes `moothall verify`: \
                 docs/operations.md, \"Damage\"",
            ),
        OpenError::Absent { .. } | OpenError::Io { .. } | OpenError::Unusable { .. } => {
            Fault::new(Exit::Io, error.to_string()).try_this("see `moothall doctor`")
        }
    })
}

/// Starts listening, and writes the start-up credential before the first request is answered,
/// unless the disk is full.
async fn listen_with(
    settled: &StartupSettings,
    tls: Option<&Tls>,
    key: &Secret,
) -> Result<(TcpListener, SocketAddr, StartupKey), Fault> {
    let post = |address: SocketAddr| {
        let reach = Reach::of(address, &settled.config.server, tls);
        StartupKey::new(&settled.data, address, &reach.others, key.reveal())
    };
    // The file contains the port. For port 0 the system chooses the port while listening, so the
    // file is written after that.
    let early = if settled.bind.port() == 0 { None } else { Some(post(settled.bind)?) };
    let (listener, address) = listen(settled.bind).await?;
    let mut posted = early.map_or_else(|| post(address), Ok)?;
    posted.note(&settled.data, address.port(), &config::environment());
    Ok((listener, address, posted))
}

/// Binds the address. Returns the listener with its actual address, which has a port even if `bind`
/// has port 0.
async fn listen(bind: SocketAddr) -> Result<(TcpListener, SocketAddr), Fault> {
    let bound = open_door(bind)
        .and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Fault::new(
            Exit::Unavailable,
            format!("{bind} is in use by another program, perhaps another server"),
        )
        .try_this("stop that program, or use another port: --bind 127.0.0.1:0 picks a free one"),
        _ => Fault::new(Exit::Unavailable, format!("cannot listen on {bind}"))
            .because(error)
            .try_this("use another address with --bind"),
    })
}

/// Maximum number of connections that wait to be accepted. It is enough for many clients that
/// connect again after a restart. The system's limit may be lower.
const BACKLOG: u32 = 4096;
/// Send buffer of a connection. Accepted connections inherit it from the listener.
const SEND_BUFFER_BYTES: u32 = 256 * 1024;

/// Opens the listening socket with the options of this server.
fn open_door(bind: SocketAddr) -> io::Result<TcpListener> {
    let socket = if bind.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server can take the address while the system still has connections of the former
    // server.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(bind)?;
    socket.listen(BACKLOG)
}

/// Builds the registry: the built-in agents and those found on this computer, then the configured
/// agents, which replace others of their name. Absent agents are left out. The names of agents that
/// run elsewhere are reserved.
fn registry(
    config: &Config,
    address: SocketAddr,
    places: Arc<ProgramSlots>,
    pace: DemoPace,
) -> Result<Registry, Fault> {
    let mut registry = Registry::default();
    let bridge = here(address);
    let offered = if config.discover {
        moothall_agents::discover(|name| std::env::var(name).ok(), &bridge)
    } else {
        Vec::new()
    };
    let usual = moothall_agents::built_in(pace.into()).into_iter().chain(offered);
    usual
        .filter(|spec| !config.absent.contains(&spec.client))
        .for_each(|spec| registry.insert(spec));
    for (client, agent) in config.agents.iter().filter(|(_, agent)| agent.is_enabled()) {
        let spec = agent.spec(client, &bridge);
        let mut spec =
            spec.map_err(|fault| Fault::new(Exit::Config, format!("[agents.{client}]: {fault}")))?;
        if spec.agent.abilities().lives_in_session && spec.run_as.is_none() {
            spec.run_as.clone_from(&config.sessions.run_as);
        }
        spec.run_as.take_if(|user| accounts::is_own(user));
        registry.insert(spec);
    }
    let elsewhere = config.agents.iter().filter(|(_, agent)| agent.is_elsewhere());
    elsewhere.for_each(|(client, _)| registry.keep_name(client.clone()));
    registry.share(places);
    Ok(registry)
}

/// Opens the hall with the stored conversations.
async fn open_hall(
    store: Store,
    registry: Registry,
    config: &Config,
    sessions: &Sessions,
) -> Result<Hall, Fault> {
    let parts = HallParts {
        store,
        clock: Arc::new(SystemClock),
        registry,
        defaults: config.defaults.clone(),
        budgets: config.budgets.clone(),
        owner: uuid::Uuid::now_v7().to_string(),
    };
    Hall::open_with(parts, Arc::new(sessions.clone())).await.map_err(|error| {
        // With this status the unit starts the server again, after room was made.
        let exit = if error == HallError::DiskFull { Exit::TryLater } else { Exit::Failure };
        Fault::new(exit, "cannot open the conversations")
            .because(error)
            .try_this("see `moothall doctor`")
    })
}

/// Registers the delivery handler that carries harvests to their trails.
async fn carry_harvests(hall: &Hall, config: &Config) -> Result<(), Fault> {
    let trails = Trails { hall: hall.weak(), folder: config.server.trails.clone() };
    hall.register_handler(TargetKind::Trail, Arc::new(trails)).await.map_err(|error| {
        Fault::new(Exit::Failure, "cannot read the pending deliveries to trails").because(error)
    })
}

/// Opens the other computers that are paired with this one.
async fn open_computers(hall: &Hall, settled: &StartupSettings) -> Result<Computers, Fault> {
    Computers::open(hall, settled.config.computers.clone(), settled.data.clone())
        .await
        .map_err(|error| Fault::new(Exit::Failure, "cannot open the computers").because(error))
}

/// Opens the channels to chats of other products.
async fn open_channels(hall: &Hall, settled: &StartupSettings) -> Result<Channels, Fault> {
    let (config, folder) = (settled.config.channels.clone(), settled.data.clone());
    Channels::open(hall, settled.mode.into(), config, folder)
        .await
        .map_err(|error| Fault::new(Exit::Failure, "cannot open the channels").because(error))
}

/// Creates the sessions; without terminals, none can be started.
fn sessions_of(config: &Config, terminals: Option<&Terminals>) -> Sessions {
    Sessions::new(terminals.map(|terminals| {
        let (config, clients) = session_terms(config);
        SessionParts { host: terminals.host(), config, clients }
    }))
}

/// Returns the configuration of sessions, and the rights of each configured agent.
fn session_terms(config: &Config) -> (SessionsConfig, BTreeMap<String, ClientRights>) {
    let clients = config
        .agents
        .iter()
        .map(|(client, agent)| (client.clone(), agent.client_rights()))
        .collect();
    (SessionsConfig { most: config.limits.sessions, ..config.sessions.clone() }, clients)
}

/// Returns the values of `Host` that are accepted in addition to the bound address.
fn hosts(config: &ServerConfig, reach: &Reach) -> Vec<String> {
    config.allowed_hosts.iter().chain(&reach.hosts).cloned().collect()
}

/// Number of open files that are reserved for the log, its index, agents and their pipes. If the
/// limit of open files is low, fewer are reserved.
const FILES_KEPT: usize = 256;

/// Returns the maximum number of connections for a limit of open files: at most `most`. Further
/// connections wait, because the server has to stop if the log cannot open its files.
fn connections_max(files: u64, most: usize) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    // With a low limit, a quarter of it stays for connections, because the whole reserve would
    // leave none.
    most.min(files - FILES_KEPT.min(files / 4 * 3)).max(1)
}

/// Returns the options of the HTTP surface. Warns if the limit of open files reduces the number of
/// connections.
fn options(
    settled: &StartupSettings,
    reach: &Reach,
    address: SocketAddr,
    key: Secret,
    format: LogFormat,
) -> HttpOptions {
    let config = &settled.config;
    let mut options = HttpOptions::new(address);
    if let Ok((files, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        options.connections_max = connections_max(files, options.connections_max);
        if files < FILES_MIN {
            let most = options.connections_max;
            tell(
                format,
                &format!(
                    "warning: the limit of {files} open files allows {most} connections at a \
                     time; raise it with `ulimit -n {FILES_MIN}`"
                ),
            );
        }
    }
    options.limits = config.limits.at_the_door();
    options.gauges = gauges::of(&settled.data);
    options.mode = settled.mode.into();
    options.startup = Some(key);
    options.other_users = config.server.other_users;
    options.unasked = config.server.unasked.into();
    options.invite_code.clone_from(&config.server.invite_code);
    options.hosts = hosts(&config.server, reach);
    options.origins.clone_from(&config.server.allowed_origins);
    options
}

#[cfg(test)]
mod tests {
    use super::connections_max;

    #[test]
    fn connections_leave_files_to_the_log() {
        for (files, connections) in
            [(0, 1), (16, 4), (64, 16), (1024, 768), (20_000, 16_384), (u64::MAX, 16_384)]
        {
            assert_eq!(connections_max(files, 16_384), connections, "{files}");
        }
    }
}
