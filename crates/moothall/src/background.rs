//! The server in the background. The first command that needs a server starts it, and `stop-server`
//! ends it.
//!
//! It runs in the user's home folder, so its settings are the user's own. The configuration of the
//! folder in which the command was typed does not count, because a folder from other people must
//! not decide which programs a server runs.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use moothall_agents::discover::key_variables;
use moothall_store::is_in_use;
use moothall_surfaces::wire::Ping;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::net::TcpStream;

use crate::cli::LocationOptions;
use crate::client::Client;
use crate::config::{self, Variables, usual_state_folder};
use crate::credential::{Credential, CredentialOptions, ResolvedServer, startup_of_folder};
use crate::fault::{Exit, Fault};
use crate::in_session::is_inside;
use crate::paint::note;
use crate::place::look;

/// Name of the configuration file of a folder.
const FILE: &str = "moothall.toml";
/// Name of the log in the state folder.
const LOG: &str = "server.log";
/// Size in bytes above which the log is renamed when a server begins.
const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// Time for a server to begin. A log of a million events takes a few seconds.
const BEGINS_WITHIN: Duration = Duration::from_secs(60);
/// Time for a server to stop: its turns have ten seconds.
const STOPS_WITHIN: Duration = Duration::from_secs(20);
/// Time between two looks at a server that begins or stops.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time to connect to a server on this computer.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);
/// Number of the log's last lines that are shown if a server did not begin.
const LINES_SHOWN: usize = 5;
/// Variables that choose the server and the credential of a command. The new server does not
/// inherit them.
const OF_THE_COMMAND: [&str; 3] = ["MOOTHALL_TOKEN", "MOOTHALL_SERVER", "MOOTHALL_PROFILE"];

/// Begins a server in the background if none listens at the resolved address, and returns it. If
/// the command may not begin a server, returns `resolved` unchecked. If a server listens already,
/// returns `resolved`, and warns if that server is of another version, or lacks a key that this
/// shell has for one of the agents in `clients`.
///
/// # Errors
/// No server listens and the current folder has a configuration of its own, or a server was begun
/// and did not come up.
pub async fn running(
    said: &CredentialOptions<'_>,
    resolved: ResolvedServer,
    clients: &[String],
    variables: &Variables,
) -> Result<ResolvedServer, Fault> {
    if !may_begin(said, variables) {
        return Ok(resolved);
    }
    if listens(&resolved.server).await {
        tell_version(&resolved.server).await;
        tell_keys(&resolved.credential, clients, variables);
        return Ok(resolved);
    }
    if is_foreign(variables) {
        return Err(Fault::new(Exit::Unavailable, "no server runs")
            .because(format!("{FILE} of this folder configures one, which is yours to start"))
            .try_this(format!("read {FILE}, and start it in another terminal: moothall serve")));
    }
    begin(variables).await?;
    ResolvedServer::find(said, variables)
}

/// True if a command may begin a server: it names no server, profile, token file or data folder,
/// and does not run in a session. The first process of a container (process 1) may not, because its
/// operator starts the server as a service.
fn may_begin(said: &CredentialOptions<'_>, variables: &Variables) -> bool {
    let is_named = |name: Option<&str>| name.is_some_and(|name| !name.trim().is_empty());
    let names_one = is_named(said.server) || is_named(said.profile);
    let has_credential = said.token_file.is_some() || said.data.is_some();
    !names_one && !has_credential && std::process::id() != 1 && !is_inside(variables)
}

/// True if the current folder has a configuration and is not the home folder. A server in the
/// background starts in the home folder and would not read that configuration.
fn is_foreign(variables: &Variables) -> bool {
    let (here, home) = (std::env::current_dir().ok(), home(variables));
    Path::new(FILE).exists() && here != fs::canonicalize(home).ok()
}

fn home(variables: &Variables) -> PathBuf {
    variables.get("HOME").map_or_else(|| "/".into(), PathBuf::from)
}

/// True if a program seems to listen at this address. False only if the connection is refused.
pub async fn listens(server: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(server) else { return true };
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return true;
    };
    let host = host.trim_matches(['[', ']']);
    let connected = tokio::time::timeout(CONNECTS_WITHIN, TcpStream::connect((host, port))).await;
    // A connection to a busy server may time out, so only a refusal proves that no server listens.
    !matches!(connected, Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Warns if the server is of another version than this command.
async fn tell_version(server: &str) {
    const OWN: &str = env!("CARGO_PKG_VERSION");
    let Ok(client) = Client::new(server, None) else { return };
    if let Ok(Ping { version, .. }) = client.get("/ping").await
        && version != OWN
    {
        note(&format!(
            "warning: the server runs version {version}, and this command is {OWN}. To restart \
             it: moothall stop-server, then this command again"
        ));
    }
}

/// Warns for each agent if this shell has a key of it and the server has none. Does nothing if the
/// server's environment cannot be read: it is readable only on Linux, and only for a server of this
/// user.
fn tell_keys(credential: &Credential, clients: &[String], variables: &Variables) {
    let Credential::Startup { file, .. } = credential else { return };
    let Some(data) = file.parent() else { return };
    let Some(pid) = startup_of_folder(data).and_then(|(_, pid)| pid) else { return };
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return };
    let text = String::from_utf8_lossy(&environment);
    let set = text.split('\0').filter_map(|pair| pair.split_once('='));
    let set: BTreeSet<&str> =
        set.filter(|(_, value)| !value.is_empty()).map(|(name, _)| name).collect();
    for client in clients {
        let keys = key_variables(client);
        let is_here = |key: &&&str| variables.get(**key).is_some_and(|value| !value.is_empty());
        let found = keys.iter().find(is_here).filter(|_| !keys.iter().any(|key| set.contains(key)));
        if let Some(key) = found {
            note(&format!(
                "warning: the server lacks {key}, which this shell has and {client} may need. To \
                 give it: moothall stop-server, then this command again"
            ));
        }
    }
}

/// Begins a server, and waits until it listens. If another command begins a server at the same
/// time, waits until the server that has the data folder listens. Fails if the server ends, or does
/// not listen within [`BEGINS_WITHIN`].
async fn begin(variables: &Variables) -> Result<(), Fault> {
    let data = look(&LocationOptions::default(), variables)?.data;
    let log = log_file(variables)?;
    let mut child = spawn(&log, variables)?;
    let begun = Instant::now();
    while begun.elapsed() < BEGINS_WITHIN {
        let has_ended = matches!(child.try_wait(), Ok(Some(_)));
        let is_locked = is_in_use(&data).unwrap_or(false);
        // A child ends too if it finds the folder locked. The server that has the lock still starts
        // then.
        if has_ended && !is_locked {
            break;
        }
        if is_locked
            && let Some((server, pid)) = startup_of_folder(&data)
            && listens(&server).await
        {
            // If two commands began servers at the same time, the server that lacks the folder ends
            // by itself. Only the command of the other one prints the note.
            if pid == i32::try_from(child.id()).ok() {
                note(&format!(
                    "Moothall runs in the background now: {server}   Log: {}   To stop it: \
                     moothall stop-server",
                    log.display()
                ));
            }
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(not_begun(&log))
}

/// Starts `serve` in the home folder, with its output in the log.
fn spawn(log: &Path, variables: &Variables) -> Result<Child, Fault> {
    let failed = |error: io::Error| Fault::io("cannot start a server in the background", &error);
    let program = std::env::current_exe().map_err(failed)?;
    let out = private_log(log).map_err(failed)?;
    let mut command = Command::new(program);
    for name in OF_THE_COMMAND {
        command.env_remove(name);
    }
    command
        .arg("serve")
        .current_dir(home(variables))
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(out)
        // The keys that stop this command must not reach the server.
        .process_group(0);
    command.spawn().map_err(failed)
}

/// Returns the path of the log of servers in the background. `None` if the state folder is unknown.
pub fn log_of(variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|folder| folder.join(LOG))
}

/// Returns the path of the log, and creates its folder. Renames a log of earlier servers that is
/// larger than [`LOG_BYTES_MAX`].
fn log_file(variables: &Variables) -> Result<PathBuf, Fault> {
    let folder = usual_state_folder(variables).ok_or_else(|| {
        Fault::new(Exit::Config, "HOME and XDG_STATE_HOME are not set")
            .try_this("start the server in another terminal: moothall serve --data DIR")
    })?;
    fs::create_dir_all(&folder)
        .map_err(|error| Fault::io(format!("cannot make {}", folder.display()), &error))?;
    let log = folder.join(LOG);
    if fs::metadata(&log).is_ok_and(|log| log.len() > LOG_BYTES_MAX) {
        // Ignored: a log that cannot be renamed only grows further.
        let _ = fs::rename(&log, log.with_extension("log.1"));
    }
    Ok(log)
}

/// Opens the log for this user alone, because a server prints a link with its credential.
fn private_log(log: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(log)
}

/// Returns the error for a server that did not begin, with the end of its log.
fn not_begun(log: &Path) -> Fault {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n  ");
    Fault::new(Exit::Unavailable, "no server runs, and one in the background did not begin")
        .because(format!("its log {} ends with:\n  {end}", log.display()))
        .try_this("mend that, then try again; moothall doctor looks at everything it needs")
}

/// Stops the server of a data folder, and waits until the folder is free. Returns false if no
/// server runs on it.
///
/// # Errors
/// The caller runs in a session, the server is another user's, or it did not stop in time.
pub async fn stop(data: &Path) -> Result<bool, Fault> {
    if is_inside(&config::environment()) {
        return Err(Fault::new(Exit::Denied, "a program in a session cannot stop the server")
            .try_this("stop it from a terminal of your own"));
    }
    let is_running = || is_in_use(data).map_err(|error| of_another_user(data).because(error));
    if !is_running()? {
        return Ok(false);
    }
    let (begun, mut asked) = (Instant::now(), None);
    while is_running()? {
        if asked.is_none() {
            asked = ask_to_stop(data).await?;
        }
        if begun.elapsed() > STOPS_WITHIN {
            return Err(not_stopped(data, asked));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(true)
}

/// Sends the signal to the server, and returns its process id. Returns `None` and sends nothing if
/// the server does not listen: it has begun to stop already, or it still starts. While it starts,
/// the file may name the process of an earlier server.
async fn ask_to_stop(data: &Path) -> Result<Option<i32>, Fault> {
    let (server, pid) = startup_of_folder(data).ok_or_else(|| of_another_user(data))?;
    let Some(pid) = pid.filter(|pid| *pid > 0) else { return Err(of_another_user(data)) };
    if !listens(&server).await {
        return Ok(None);
    }
    kill(Pid::from_raw(pid), Signal::SIGTERM)
        .map_err(|errno| of_another_user(data).because(errno))?;
    Ok(Some(pid))
}

/// Returns the error for a server that did not stop in time. `asked` is the process that got the
/// signal.
fn not_stopped(data: &Path, asked: Option<i32>) -> Fault {
    let data = data.display();
    let fault = Fault::new(Exit::TimedOut, format!("the server on {data} has not stopped yet"));
    match asked {
        Some(pid) => fault.try_this(format!("look again, or end it at once: kill -9 {pid}")),
        None => fault
            .because("it does not answer")
            .try_this("try again; moothall doctor tells what it needs"),
    }
}

fn of_another_user(data: &Path) -> Fault {
    Fault::new(Exit::Denied, format!("cannot stop a server on {}", data.display()))
        .because("only the user that runs a server can read its startup.key")
        .try_this(
            "run this as that user; a service is stopped by its manager: systemctl stop moothall",
        )
}
