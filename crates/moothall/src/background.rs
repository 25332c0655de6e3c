//! The server in the background: it begins with the first command that needs one, and `stop-server`
//! ends it.
//!
//! Its settings are the user's own, never those of the folder in which the command was typed: a
//! folder that comes from elsewhere must not decide which programs a server runs.

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

/// Name of the configuration of a folder.
const FILE: &str = "moothall.toml";
/// Name of the log in the state folder.
const LOG: &str = "server.log";
/// Size from which a log is put aside when a server begins, in bytes.
const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// Time for a server to begin. A log of a million events takes a few seconds.
const BEGINS_WITHIN: Duration = Duration::from_secs(60);
/// Time for a server to stop: its turns have ten seconds.
const STOPS_WITHIN: Duration = Duration::from_secs(20);
/// Time between two looks at a server that begins or stops.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time to connect to a server on this computer.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);
/// Lines of the log that are shown if a server did not begin.
const LINES_SHOWN: usize = 5;
/// Variables that belong to the command, not to the server.
const OF_THE_COMMAND: [&str; 3] = ["MOOTHALL_TOKEN", "MOOTHALL_SERVER", "MOOTHALL_PROFILE"];

/// Returns a server that runs: the resolved one, or a new one in the background if the command
/// names no server and none runs. Says so in one line. `clients` are the agents that the command
/// names: if the server lacks the key of one and this shell has it, that is said too.
///
/// # Errors
/// A server was begun and did not come up.
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

/// True if a command may begin a server: a person's, on this computer, that names no other server.
/// The first process of a container is a service, which its operator starts.
fn may_begin(said: &CredentialOptions<'_>, variables: &Variables) -> bool {
    let is_named = |name: Option<&str>| name.is_some_and(|name| !name.trim().is_empty());
    let names_one = is_named(said.server) || is_named(said.profile);
    let has_credential = said.token_file.is_some() || said.data.is_some();
    !names_one && !has_credential && std::process::id() != 1 && !is_inside(variables)
}

/// True if this folder has a configuration, unless it is the home folder, in which a server begins.
fn is_foreign(variables: &Variables) -> bool {
    let (here, home) = (std::env::current_dir().ok(), home(variables));
    Path::new(FILE).exists() && here != fs::canonicalize(home).ok()
}

fn home(variables: &Variables) -> PathBuf {
    variables.get("HOME").map_or_else(|| "/".into(), PathBuf::from)
}

/// True if a server answers at this address, as far as a connection tells.
pub async fn listens(server: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(server) else { return true };
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return true;
    };
    let host = host.trim_matches(['[', ']']);
    let connected = tokio::time::timeout(CONNECTS_WITHIN, TcpStream::connect((host, port))).await;
    // A busy server may time out too, so only a refusal proves that none listens.
    !matches!(connected, Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Says if the server is of another version than this command.
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

/// Says which key of an agent this shell has and the server lacks. Only a server of this user on
/// Linux shows its environment.
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

/// Begins a server, and waits until it answers. If another command has begun one at the same time,
/// that one is joined.
async fn begin(variables: &Variables) -> Result<(), Fault> {
    let data = look(&LocationOptions::default(), variables)?.data;
    let log = log_file(variables)?;
    let mut child = spawn(&log, variables)?;
    let begun = Instant::now();
    while begun.elapsed() < BEGINS_WITHIN {
        let has_ended = matches!(child.try_wait(), Ok(Some(_)));
        let is_locked = is_in_use(&data).unwrap_or(false);
        // A child that found the folder taken has ended too, while the other server still starts.
        if has_ended && !is_locked {
            break;
        }
        if is_locked
            && let Some((server, pid)) = startup_of_folder(&data)
            && listens(&server).await
        {
            // The server of another command that began at once ends by itself: the folder is taken.
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

/// Returns the file of the log of servers that ran in the background.
pub fn log_of(variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|folder| folder.join(LOG))
}

/// Returns the file of the log. A large one of earlier servers is put aside.
fn log_file(variables: &Variables) -> Result<PathBuf, Fault> {
    let folder = usual_state_folder(variables).ok_or_else(|| {
        Fault::new(Exit::Config, "HOME and XDG_STATE_HOME are not set")
            .try_this("start the server in another terminal: moothall serve --data DIR")
    })?;
    fs::create_dir_all(&folder)
        .map_err(|error| Fault::io(format!("cannot make {}", folder.display()), &error))?;
    let log = folder.join(LOG);
    if fs::metadata(&log).is_ok_and(|log| log.len() > LOG_BYTES_MAX) {
        // Ignored: a log that cannot be moved only grows.
        let _ = fs::rename(&log, log.with_extension("log.1"));
    }
    Ok(log)
}

/// Opens the log for this user alone, because a server prints a link with its credential.
fn private_log(log: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(log)
}

fn not_begun(log: &Path) -> Fault {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n  ");
    Fault::new(Exit::Unavailable, "no server runs, and one in the background did not begin")
        .because(format!("its log {} ends with:\n  {end}", log.display()))
        .try_this("mend that, then try again; moothall doctor looks at everything it needs")
}

/// Stops the server of a data folder, and waits until it has. Returns false if none runs there.
///
/// # Errors
/// The server is another user's, or did not stop in time.
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

/// Sends the signal to the server, and returns its process. A server that does not answer has
/// begun to stop already, or begins: until then, the file may name the process of an earlier one.
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
