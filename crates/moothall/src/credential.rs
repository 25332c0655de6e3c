//! The credential that the command line sends to a server: a given token, or the start-up
//! credential of a server whose data folder this user can read.
//!
//! A server writes its start-up credential into its data folder, readable by its owner only. It
//! notes the data folder of its port in the state folder, so that the command line finds it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moothall_agents::terminal::hooks::SpoolFolder;
use moothall_surfaces::here;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use crate::config::{Variables, usual_data_folder, usual_state_folder};
use crate::fault::{Exit, Fault};
use crate::in_session::is_inside;
use crate::place::{USUAL_SERVER, usual_bind};
use crate::profile::Profile;
use crate::reach::own_port;

/// Name of the start-up credential's file in the data folder.
const KEY_FILE: &str = "startup.key";
/// Variable that holds a token.
const TOKEN_VARIABLE: &str = "MOOTHALL_TOKEN";
/// Variable with the session's own token, and that token's prefix.
const SESSION_VARIABLE: &str = "MOOTHALL_SESSION_TOKEN";
const SESSION_TOKEN: &str = "ses_";
/// Prefixes of a start-up credential and of an agent's token.
const STARTUP: &str = "boot_";
const AGENT: &str = "agt_";
const HOME_VARIABLE: &str = "MOOTHALL_URL";
const SPOOL_VARIABLE: &str = "MOOTHALL_SPOOL";
/// Variable that names the file with an MCP client's token.
pub const CLIENT_VARIABLE: &str = "MOOTHALL_AGENT_TOKEN_FILE";

/// Given options for the server and the credential. All are optional.
#[derive(Clone, Copy, Debug, Default)]
pub struct CredentialOptions<'a> {
    /// Address of the server.
    pub server: Option<&'a str>,
    /// File with a token.
    pub token_file: Option<&'a Path>,
    /// Data folder of the running server whose start-up credential to use.
    pub data: Option<&'a Path>,
    /// Name of a profile.
    pub profile: Option<&'a str>,
    /// Certificates to trust.
    pub cacert: Option<&'a Path>,
}

/// The chosen server, and its credential.
#[derive(Clone, Debug)]
pub struct ResolvedServer {
    /// Address of the server, as a URL.
    pub server: String,
    /// Credential for each request.
    pub credential: Credential,
    /// Folder of the current session, if its own server is used. The server's address in it may
    /// change.
    pub spool: Option<PathBuf>,
    /// Certificates to trust, if not the system's.
    pub cacert: Option<PathBuf>,
    /// Addresses for other computers, if the start-up credential lists them.
    pub others: Vec<String>,
}

impl ResolvedServer {
    /// Chooses the server, in this order: inside a session, its own server unless another is named;
    /// the named server; that of the data folder or credential; that of the profile; the configured
    /// one; the one running on the default data folder; the default address.
    ///
    /// # Errors
    /// A named file cannot be read, or a person's credential is requested inside a session.
    pub fn find(said: &CredentialOptions<'_>, variables: &Variables) -> Result<Self, Fault> {
        let profile = said.profile.filter(|name| !name.is_empty());
        if is_inside(variables) && (said.data.is_some() || profile.is_some()) {
            return Err(persons_alone());
        }
        let given = match (said.data, said.token_file) {
            (Some(data), _) => Some(FileCredential::posted(data)?),
            (None, Some(file)) => Some(FileCredential::read(file)?),
            (None, None) => None,
        };
        if is_inside(variables)
            && given.as_ref().is_some_and(|given| given.token.starts_with(STARTUP))
        {
            return Err(persons_alone());
        }
        let profile = profile.map(|name| Profile::read(name, variables)).transpose()?;
        let named = said.server.map(str::trim).filter(|server| !server.is_empty());
        // The default address counts as "not given": a session has its own default.
        let handed = given.as_ref().and_then(|given| given.server.clone());
        let own = own_server(variables).filter(|_| {
            handed.is_none() && profile.is_none() && named.is_none_or(|named| named == USUAL_SERVER)
        });
        let spool = own.is_some().then(|| spool_of(variables)).flatten();
        let server = own
            .or_else(|| named.map(str::to_owned))
            .or(handed)
            .or_else(|| profile.as_ref().map(|profile| profile.server.clone()))
            .or_else(|| usual_bind(variables).map(here))
            .or_else(|| usual_server(variables))
            .unwrap_or_else(|| USUAL_SERVER.to_owned());
        let profile = profile.filter(|profile| {
            named.is_none_or(|named| {
                named.trim_end_matches('/') == profile.server.trim_end_matches('/')
            })
        });
        let known = profile.clone().or_else(|| Profile::of_server(&server, variables));
        let others = given.as_ref().map(|given| given.others.clone());
        let credential = match (given, profile) {
            (Some(given), _) => Credential::Given(given.token),
            (None, Some(profile)) => Credential::Joined(profile.token),
            (None, None) => Credential::find(&server, variables),
        };
        let cacert =
            said.cacert.map(Path::to_owned).or_else(|| known.and_then(|profile| profile.cacert));
        let others =
            others.filter(|others| !others.is_empty()).unwrap_or_else(|| credential.others());
        Ok(Self { server, credential, spool, cacert, others })
    }
}

/// Returns the address of the server that runs on the default data folder.
fn usual_server(variables: &Variables) -> Option<String> {
    FileCredential::posted(&usual_data_folder(variables)?).ok()?.server
}

/// Returns the refusal of a person's credential that was requested inside a session.
fn persons_alone() -> Fault {
    Fault::new(
        Exit::Denied,
        "start-up credentials and profiles cannot be used inside a session: they belong to a \
         person",
    )
    .try_this(
        "omit --data, --profile and the start-up credential: the session has its own token; or \
         run the command outside of the session",
    )
}

/// A credential from a file, with its server if the file names it.
struct FileCredential {
    token: String,
    server: Option<String>,
    others: Vec<String>,
}

impl FileCredential {
    /// Reads a plain token file, or the file that a server writes into its data folder.
    fn read(file: &Path) -> Result<Self, Fault> {
        let text = fs::read_to_string(file).map_err(|error| {
            Fault::new(Exit::Usage, format!("cannot read the token file {}", file.display()))
                .because(error)
        })?;
        Ok(match serde_json::from_str::<KeyFile>(&text) {
            Ok(kept) => Self { token: kept.key, server: Some(kept.server), others: kept.others },
            Err(_) => Self { token: text.trim().to_owned(), server: None, others: Vec::new() },
        })
    }

    /// Reads the start-up credential of the server on a data folder.
    fn posted(data: &Path) -> Result<Self, Fault> {
        Self::read(&key_file(data)).map_err(|fault| {
            Fault {
                what: format!("cannot read the start-up credential in {}", data.display()),
                exit: Exit::Denied,
                ..fault
            }
            .try_this(
                "only a running server has one, for the user that runs it: start the server, or \
                 run this as that user (sudo)",
            )
        })
    }
}

/// A credential for a server.
#[derive(Clone, Debug)]
pub enum Credential {
    /// No credential.
    None,
    /// Withheld: a person's credential exists, but this process runs inside a session.
    Withheld,
    /// A given token.
    Given(String),
    /// The token of a profile.
    Joined(String),
    /// The start-up credential in this file, read again for each request, because a restarted
    /// server has another one.
    Startup {
        /// File that holds it.
        file: PathBuf,
        /// Port of the server.
        port: u16,
    },
}

impl Credential {
    /// Returns the kind of the credential, without its value.
    pub const fn kind(&self) -> &'static str {
        match self {
            Credential::None => "none",
            Credential::Withheld => "withheld, because this process runs inside a session",
            Credential::Given(_) => "a given token",
            Credential::Joined(_) => "the token of a profile",
            Credential::Startup { .. } => "the start-up credential of this server",
        }
    }

    /// True if this is the start-up credential of a server that runs as the caller's own user.
    pub fn is_own_startup(&self) -> bool {
        let Credential::Startup { file, .. } = self else { return false };
        file.metadata().is_ok_and(|found| found.uid() == geteuid().as_raw())
    }
}

/// Content of the start-up credential's file.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    /// Address of the key's server. The key is sent to no other.
    server: String,
    key: String,
    /// Addresses for other computers.
    #[serde(default)]
    others: Vec<String>,
    /// Id of the server's process. Servers of earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid: Option<i32>,
}

impl Credential {
    /// Finds the credential if none was named: the session's at its own server, the variable's, the
    /// start-up credential, or a profile's. A session's token goes to no other server. Inside a
    /// session, start-up credentials and profiles are withheld.
    pub fn find(server: &str, variables: &Variables) -> Self {
        let session =
            variables.get(SESSION_VARIABLE).filter(|token| token.starts_with(SESSION_TOKEN));
        if let Some(token) = session.filter(|_| is_home(server, variables)) {
            return Credential::Given(token.clone());
        }
        if let Some(token) = variables.get(TOKEN_VARIABLE).filter(|token| !token.trim().is_empty())
        {
            return Credential::Given(token.trim().to_owned());
        }
        match (startup_of(server, variables), Profile::of_server(server, variables)) {
            (None, None) => Credential::None,
            (Some(_), _) | (_, Some(_)) if is_inside(variables) => Credential::Withheld,
            (Some(startup), None) => startup,
            // The file may be gone, or be of another port. Then the profile is the better one.
            (Some(startup), Some(_)) if startup.read().is_some() => startup,
            (_, Some(profile)) => Credential::Joined(profile.token),
        }
    }

    /// Drops a person's credentials: start-up credentials, and tokens a person got by joining.
    pub fn without_person_keys(self) -> Self {
        match self {
            Credential::Given(token) if !token.starts_with(STARTUP) => Credential::Given(token),
            Credential::Joined(token) if token.starts_with(AGENT) => Credential::Joined(token),
            Credential::Given(_)
            | Credential::Joined(_)
            | Credential::None
            | Credential::Withheld
            | Credential::Startup { .. } => Credential::None,
        }
    }

    /// Falls back to the token that `mcp install` made for a client outside of sessions.
    pub fn or_of_client(self, variables: &Variables) -> Self {
        match self {
            Credential::None | Credential::Withheld => {
                let kept =
                    variables.get(CLIENT_VARIABLE).and_then(|file| fs::read_to_string(file).ok());
                kept.map_or(Credential::None, |token| Credential::Given(token.trim().to_owned()))
            }
            given @ (Credential::Given(_) | Credential::Joined(_) | Credential::Startup { .. }) => {
                given
            }
        }
    }

    /// Returns the current token, if there is one.
    pub fn read(&self) -> Option<String> {
        match self {
            Credential::None | Credential::Withheld => None,
            Credential::Given(token) | Credential::Joined(token) => Some(token.clone()),
            Credential::Startup { file, port } => kept(file, *port).map(|kept| kept.key),
        }
    }

    /// Returns the addresses for other computers, if known.
    fn others(&self) -> Vec<String> {
        match self {
            Credential::None
            | Credential::Withheld
            | Credential::Given(_)
            | Credential::Joined(_) => Vec::new(),
            Credential::Startup { file, port } => {
                kept(file, *port).map(|kept| kept.others).unwrap_or_default()
            }
        }
    }
}

/// Returns the path of the start-up credential in a data folder.
pub fn key_file(data: &Path) -> PathBuf {
    data.join(KEY_FILE)
}

/// Returns the address and the process of the newest server on a data folder, if this user may know
/// them. A server that was killed leaves them behind.
pub fn startup_of_folder(data: &Path) -> Option<(String, Option<i32>)> {
    let kept: KeyFile = serde_json::from_slice(&fs::read(key_file(data)).ok()?).ok()?;
    Some((kept.server, kept.pid))
}

/// Reads the file if it belongs to the server on this port.
fn kept(file: &Path, port: u16) -> Option<KeyFile> {
    let kept: KeyFile = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (own_port(&kept.server) == Some(port)).then_some(kept)
}

/// True if the server is the one of the current session.
fn is_home(server: &str, variables: &Variables) -> bool {
    own_server(variables)
        .is_some_and(|own| own.trim_end_matches('/') == server.trim_end_matches('/'))
}

/// Returns the session's server: its current address from the spool, or the one at the session's
/// start.
fn own_server(variables: &Variables) -> Option<String> {
    let began = variables.get(HOME_VARIABLE).filter(|url| url.starts_with("http://"));
    spool_of(variables).and_then(|spool| SpoolFolder::server(&spool)).or_else(|| began.cloned())
}

fn spool_of(variables: &Variables) -> Option<PathBuf> {
    variables.get(SPOOL_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns the start-up credential of a server on this computer.
fn startup_of(server: &str, variables: &Variables) -> Option<Credential> {
    let port = own_port(server)?;
    let data = fs::read_to_string(place_of(port, variables)?).ok()?;
    Some(Credential::Startup { file: key_file(Path::new(data.trim_end_matches('\n'))), port })
}

/// Returns the file that notes the data folder of a port.
fn place_of(port: u16, variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|folder| folder.join("servers").join(port.to_string()))
}

/// The start-up credential's file; removed on drop.
pub struct StartupKey {
    key: PathBuf,
    place: Option<PathBuf>,
    /// Content of the file, written or still to be written.
    kept: Arc<Mutex<KeyFile>>,
    /// True if the disk was full.
    unwritten: bool,
}

/// Delay between attempts to write to a full disk.
pub const WRITE_AGAIN: Duration = Duration::from_secs(5);

impl StartupKey {
    /// Writes the start-up credential for this user's command line. If the port is known, the file
    /// is written before the server listens, so that a client waiting for a restart never sends the
    /// previous run's credential.
    ///
    /// A full disk is not an error: `serve` prints a link to the page, and the file is written
    /// later.
    ///
    /// # Errors
    /// The data folder cannot be written to.
    pub fn new(
        data: &Path,
        address: SocketAddr,
        others: &[String],
        key: &str,
    ) -> Result<Self, Fault> {
        let file = key_file(data);
        let kept = KeyFile {
            server: here(address),
            key: key.to_owned(),
            others: others.to_vec(),
            pid: i32::try_from(std::process::id()).ok(),
        };
        let written = kept.write(&file).or_else(|error| match is_full(&error) {
            // Delete the stale start-up key first: on a full disk its space is needed.
            true => fs::remove_file(&file).and_then(|()| kept.write(&file)).map_err(|_| error),
            false => Err(error),
        });
        let unwritten = match written {
            Ok(()) => false,
            Err(error) if is_full(&error) => true,
            Err(error) => {
                return Err(Fault::new(Exit::Io, format!("cannot write {}", file.display()))
                    .because(error)
                    .try_this("see `moothall doctor`"));
            }
        };
        Ok(Self { key: file, place: None, kept: Arc::new(Mutex::new(kept)), unwritten })
    }

    /// Returns a task that writes the file as soon as the disk has space. `None` if the file is
    /// written already.
    pub fn later(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        let (file, kept) = (self.key.clone(), self.unwritten.then(|| self.kept.clone())?);
        Some(async move {
            loop {
                tokio::time::sleep(WRITE_AGAIN).await;
                let written = kept.lock().unwrap_or_else(PoisonError::into_inner).write(&file);
                match written {
                    Ok(()) => return,
                    Err(error) if is_full(&error) => {}
                    Err(error) => {
                        return tracing::warn!(%error, "cannot write the start-up credential");
                    }
                }
            }
        })
    }

    /// Updates the addresses for other computers. If the write fails, the file keeps the old ones.
    pub fn reached_by(&self, others: &[String]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.others == others {
            return;
        }
        kept.others = others.to_vec();
        if let Err(error) = kept.write(&self.key) {
            tracing::warn!(%error, "cannot write the server's addresses for other computers into \
                                    startup.key");
        }
    }

    /// Notes the data folder of this server's port.
    pub fn note(&mut self, data: &Path, port: u16, variables: &Variables) {
        self.place = note_place(data, port, variables);
    }
}

impl KeyFile {
    fn write(&self, file: &Path) -> io::Result<()> {
        write_private(file, &serde_json::to_vec(self).unwrap_or_default())
    }
}

impl Drop for StartupKey {
    /// Removes the files. A file left by a crash is harmless: the next run has another credential.
    fn drop(&mut self) {
        for file in std::iter::once(&self.key).chain(&self.place) {
            let _ = fs::remove_file(file);
        }
    }
}

/// Notes the data folder of the port. Failure is not fatal: clients then need a token.
fn note_place(data: &Path, port: u16, variables: &Variables) -> Option<PathBuf> {
    let (place, data) = (place_of(port, variables)?, std::path::absolute(data).ok()?);
    let written = place
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| write_private(&place, data.as_os_str().as_encoded_bytes()));
    written
        .inspect_err(|error| {
            tracing::debug!(%error, "cannot record the location of the start-up credential")
        })
        .ok()?;
    Some(place)
}

/// True if the disk or the user's quota is full.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Writes a file that is never readable by other users, and replaces the old one atomically.
pub fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    // A crash may leave this file. It is made anew, because `mode` applies to new files only.
    let _ = fs::remove_file(&unfinished);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .and_then(|mut file| file.write_all(bytes));
    written
        .and_then(|()| fs::rename(&unfinished, file))
        .inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

#[cfg(test)]
mod tests;
