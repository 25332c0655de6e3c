//! `serve`: opens the log, the hall and the doors, and closes them in the opposite order.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use moothall_engine::access::{Secret, TokenKind};
use moothall_engine::hall::{Hall, HallError, HallParts};
use moothall_engine::ports::SystemClock;
use moothall_engine::registry::Registry;
use moothall_engine::sessions::SessionParts;
use moothall_kernel::time::Millis;
use moothall_store::{OpenError, SqliteLog};
use moothall_surfaces::{HttpOptions, serve};
use nix::sys::resource::{Resource, getrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::cli::{LogFormat, Serve};
use crate::commands::doctor::FILES_MIN;
use crate::config::{self, Config};
use crate::credential::Posted;
use crate::fault::{Exit, Fault};
use crate::gauges;
use crate::paint::{Paper, Style, note};
use crate::place::{Settled, USUAL_BIND, settle};
use crate::terminals::Terminals;

/// How long open work may take when the server is told to stop.
const DRAIN_WITHIN: Millis = Millis::from_secs(10);

pub async fn run(args: &Serve, paper: &Paper) -> Result<(), Fault> {
    start_logging(args.log);
    let settled = settle(&args.place, &config::environment())?;
    settled.config.warnings.iter().for_each(|warning| tell(args.log, &format!("warning: {warning}")));
    let mut stops = Stops::listen()?;
    let log = Arc::new(open_log(&settled.data)?);
    let key = Secret::fresh(TokenKind::Startup).map_err(|error| Fault::new(Exit::Failure, "cannot make a credential").because(error))?;
    let (listener, address, _posted) = listen_with(&settled, &key).await?;
    let registry = registry(&settled.config, address)?;
    let agents: Vec<String> = registry.iter().map(|spec| spec.client.clone()).collect();
    let terminals = Terminals::open(&settled.data, &format!("http://{address}"), &settled.config)?;
    let hall = open_hall(log.clone(), registry, &settled.config, terminals.as_ref()).await?;
    let ears = terminals.map(|terminals| terminals.listen(hall.clone()));
    announce(paper, &settled, &Doors { address, agents: &agents, key: &key })?;

    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let options = options(&settled, address, key, args.log);
    let doors = tokio::spawn(serve(listener, hall.clone(), options, async move {
        // The sender going away means the same as its word.
        let _ = stopped.await;
    }));
    let reason = tokio::select! {
        () = stops.first() => None,
        reason = hall.failed() => Some(reason),
    };
    if reason.is_none() {
        tell(args.log, "Stopping: open work has up to 10 seconds. Ctrl-C again stops at once.");
    }
    drop(stop);
    ears.inspect(|ears| ears.abort());
    tokio::select! {
        () = close(&hall, &log, doors) => {}
        () = stops.first() => return Err(Fault::new(Exit::Interrupted, "stopped at once; what was acknowledged is kept")),
    }
    match reason {
        None => Ok(()),
        Some(reason) => Err(Fault::new(Exit::Io, "the log cannot be written any more, so the server stopped")
            .because(reason)
            .try_this("check the disk, then start again: what was acknowledged is kept")),
    }
}

async fn close(hall: &Hall, log: &SqliteLog, doors: tokio::task::JoinHandle<()>) {
    hall.drain(DRAIN_WITHIN).await;
    let _ = tokio::time::timeout(std::time::Duration::from_millis(DRAIN_WITHIN.0), doors).await;
    if let Err(error) = log.close().await {
        tracing::error!(%error, "the log did not close cleanly; it will recover at the next start");
    }
}

/// SIGINT and SIGTERM: both ask for a calm end, and a second one for an immediate end.
struct Stops {
    interrupt: Signal,
    terminate: Signal,
}

impl Stops {
    fn listen() -> Result<Self, Fault> {
        let listen = |kind| signal(kind).map_err(|error| Fault::io("cannot listen for signals", &error));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn first(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Says something on standard error, where programs expect nothing but their lines.
fn tell(format: LogFormat, text: &str) {
    match format {
        LogFormat::Text => note(text),
        LogFormat::Json => tracing::warn!("{text}"),
    }
}

/// People read what is wrong; programs read all requests and turns too.
fn start_logging(format: LogFormat) {
    let usual = match format {
        LogFormat::Text => "warn",
        LogFormat::Json => "info",
    };
    let filter = EnvFilter::try_from_env("MOOTHALL_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(UNHEARD.into_iter().fold(filter, silence)).with_writer(io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(false).init(),
    }
}

/// Libraries that write what passes through them into their log, whatever level is asked for: providers' answers, and with them
/// whatever they repeat.
const UNHEARD: [&str; 1] = ["genai=off"];

fn silence(filter: EnvFilter, library: &str) -> EnvFilter {
    match library.parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

fn open_log(data: &Path) -> Result<SqliteLog, Fault> {
    SqliteLog::open(data).map_err(|error| match &error {
        OpenError::Locked { dir } => Fault::new(Exit::TryLater, format!("another server is using {}", dir.display()))
            .try_this("stop it, or give this one another folder with --data DIR"),
        OpenError::Newer { .. } => {
            Fault::new(Exit::Config, error.to_string()).try_this("use the newer version, or another folder with --data DIR")
        }
        OpenError::Absent { .. } | OpenError::Io { .. } | OpenError::Unusable { .. } => {
            Fault::new(Exit::Io, error.to_string()).try_this("see `moothall doctor`")
        }
    })
}

/// Listens, with the start-up credential in its place before anybody can ask for it.
async fn listen_with(settled: &Settled, key: &Secret) -> Result<(TcpListener, SocketAddr, Posted), Fault> {
    let post = |address: SocketAddr| Posted::new(&settled.data, address, key.reveal());
    // Nobody knows a port yet that the system is to choose.
    let early = if settled.bind.port() == 0 { None } else { Some(post(settled.bind)?) };
    let (listener, address) = listen(settled.bind).await?;
    let mut posted = early.map_or_else(|| post(address), Ok)?;
    posted.note(&settled.data, address.port(), &config::environment());
    Ok((listener, address, posted))
}

async fn listen(bind: SocketAddr) -> Result<(TcpListener, SocketAddr), Fault> {
    let bound = TcpListener::bind(bind).await.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Fault::new(Exit::Unavailable, format!("{bind} is taken by another program, perhaps another server"))
            .try_this("stop it, or use another port: --bind 127.0.0.1:0 picks a free one"),
        _ => Fault::new(Exit::Unavailable, format!("cannot listen on {bind}")).because(error).try_this("use another address with --bind"),
    })
}

/// The built-in agents and those that this computer offers, and the configured ones in their place where the names are the same.
fn registry(config: &Config, address: SocketAddr) -> Result<Registry, Fault> {
    let mut registry = Registry::default();
    let bridge = format!("http://{address}");
    let offered = moothall_agents::discover(|name| std::env::var(name).ok(), &bridge);
    moothall_agents::built_in().into_iter().chain(offered).for_each(|spec| registry.insert(spec));
    for (client, agent) in &config.agents {
        let spec = agent.spec(client, &bridge);
        registry.insert(spec.map_err(|fault| Fault::new(Exit::Config, format!("[agents.{client}]: {fault}")))?);
    }
    Ok(registry)
}

async fn open_hall(log: Arc<SqliteLog>, registry: Registry, config: &Config, terminals: Option<&Terminals>) -> Result<Hall, Fault> {
    let parts = HallParts {
        log,
        clock: Arc::new(SystemClock),
        registry,
        defaults: config.defaults.clone(),
        owner: uuid::Uuid::now_v7().to_string(),
    };
    let sessions = terminals.map(|terminals| SessionParts { host: terminals.host(), config: config.sessions.clone() });
    Hall::open_with(parts, sessions).await.map_err(|error| {
        let exit = if error == HallError::DiskFull { Exit::Io } else { Exit::Failure };
        Fault::new(exit, "cannot open the conversations").because(error).try_this("see `moothall doctor`")
    })
}

/// How many of the files that may be open are left to the log, its index, agents and their pipes: all of them where there are few.
const FILES_KEPT: usize = 256;

/// Connections for which there are files: the others wait, because a log that cannot open its own has to stop.
fn connections_max(files: u64, most: usize) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    most.min(files - FILES_KEPT.min(files / 4 * 3)).max(1)
}

fn options(settled: &Settled, address: SocketAddr, key: Secret, format: LogFormat) -> HttpOptions {
    let config = &settled.config;
    let mut options = HttpOptions::new(address);
    if let Ok((files, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        options.connections_max = connections_max(files, options.connections_max);
        if files < FILES_MIN {
            let most = options.connections_max;
            tell(
                format,
                &format!("warning: at most {files} open files, so {most} connections at a time; `ulimit -n {FILES_MIN}` allows more"),
            );
        }
    }
    options.gauges = gauges::of(&settled.data);
    options.mode = settled.mode.into();
    options.startup = Some(key);
    options.hosts.clone_from(&config.server.allowed_hosts);
    options.origins.clone_from(&config.server.allowed_origins);
    options
}

/// What there is to say about a server that begins.
struct Doors<'a> {
    address: SocketAddr,
    agents: &'a [String],
    key: &'a Secret,
}

/// Where it listens, who is there, and what to type next.
fn announce(paper: &Paper, settled: &Settled, doors: &Doors<'_>) -> Result<(), Fault> {
    let Doors { address, agents, key } = *doors;
    let url = format!("http://{address}");
    // A fragment stays in the browser: it is in no request and no log.
    let page = format!("{url}/#key={}", key.reveal());
    let data = std::path::absolute(&settled.data).unwrap_or_else(|_| settled.data.clone());
    if paper.json {
        return paper
            .object(&json!({"listening": url, "page": page, "data": data, "agents": agents, "version": env!("CARGO_PKG_VERSION")}));
    }
    let elsewhere = if address.port() == USUAL_BIND.port() { String::new() } else { format!(" --server {url}") };
    let lines = [
        format!("Moothall listens on {}", paper.paint(Style::Bold, &url)),
        format!("  page    {}", paper.paint(Style::Plain, &page)),
        format!("  data    {}", paper.paint(Style::Plain, &data.display().to_string())),
        format!("  agents  {}", paper.paint(Style::Plain, &agents.join(", "))),
        "Next, in another terminal (from the sources: cargo run --release -- instead of moothall):".to_owned(),
        format!("  moothall{elsewhere} new \"First talk\""),
        format!("  moothall{elsewhere} say - \"@analyst where do we begin?\" --wait"),
    ];
    lines.iter().try_for_each(|line| paper.line(line))
}

#[cfg(test)]
mod tests {
    use super::connections_max;

    #[test]
    fn connections_leave_files_to_the_log() {
        for (files, connections) in [(0, 1), (16, 4), (64, 16), (1024, 768), (20_000, 16_384), (u64::MAX, 16_384)] {
            assert_eq!(connections_max(files, 16_384), connections, "{files}");
        }
    }
}
