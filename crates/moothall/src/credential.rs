//! The credential that the command line shows to a server: a token that it was given, or the
//! start-up credential of a server whose data folder this user can read.
//!
//! A server writes its start-up credential into its data folder, for its owner alone, and notes in
//! the state folder which data folder goes with its port, so that nobody has to say.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moothall_agents::terminal::hooks::SpoolFolder;
use moothall_surfaces::here;
use serde::{Deserialize, Serialize};

use crate::config::{Variables, usual_data_folder, usual_state_folder};
use crate::fault::{Exit, Fault};
use crate::in_session::is_inside;
use crate::place::{USUAL_SERVER, usual_bind};
use crate::profile::Profile;
use crate::reach::own_port;

/// The start-up credential in its data folder.
const KEY_FILE: &str = "startup.key";
/// The variable that holds a token.
const TOKEN_VARIABLE: &str = "MOOTHALL_TOKEN";
/// What the environment of a session says: its own token, what that begins with, and its own
/// server.
const SESSION_VARIABLE: &str = "MOOTHALL_SESSION_TOKEN";
const SESSION_TOKEN: &str = "ses_";
/// How a start-up credential and an agent's token begin.
const STARTUP: &str = "boot_";
const AGENT: &str = "agt_";
const HOME_VARIABLE: &str = "MOOTHALL_URL";
const SPOOL_VARIABLE: &str = "MOOTHALL_SPOOL";
/// The variable that names the file with the token of a client over MCP.
pub const CLIENT_VARIABLE: &str = "MOOTHALL_AGENT_TOKEN_FILE";

/// What was said about the server and the credential. Nothing of it has to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct CredentialOptions<'a> {
    /// The address of the server.
    pub server: Option<&'a str>,
    /// A file with a token.
    pub token_file: Option<&'a Path>,
    /// The data folder of a running server, whose start-up credential is meant.
    pub data: Option<&'a Path>,
    /// The name of a profile.
    pub profile: Option<&'a str>,
    /// The certificates to trust.
    pub cacert: Option<&'a Path>,
}

/// The server that is meant, and what to show to it.
#[derive(Clone, Debug)]
pub struct ResolvedServer {
    /// The address of the server, as a URL.
    pub server: String,
    /// What is shown to the server with each request.
    pub credential: Credential,
    /// The folder of the session that this runs in, where its own server is meant: that one may be
    /// somewhere else the next time.
    pub spool: Option<PathBuf>,
    /// The certificates to trust, where they are not the system's.
    pub cacert: Option<PathBuf>,
    /// How others reach it, where its start-up credential tells.
    pub others: Vec<String>,
}

impl ResolvedServer {
    /// The server that was named, or whose data folder or credential was; inside a session the
    /// session's own; that of the profile; the one that the configuration describes; the one that
    /// runs on the usual data folder; and otherwise the usual one.
    ///
    /// # Errors
    /// A file that was named cannot be read.
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
        // Who says the usual one says nothing: inside a session, and there alone, that is another.
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

/// Returns where the server of the usual data folder listens, while it runs.
fn usual_server(variables: &Variables) -> Option<String> {
    FileCredential::posted(&usual_data_folder(variables)?).ok()?.server
}

/// Inside a session nothing acts as a person, also where somebody asks for it.
fn persons_alone() -> Fault {
    Fault::new(Exit::Denied, "inside a session, start-up credentials and profiles are out of reach: they are a person's").try_this(
        "leave out --data, --profile and the start-up credential; the session has a token of its own, and people act outside of it",
    )
}

/// A credential from a file, and whose it is where the file says so.
struct FileCredential {
    token: String,
    server: Option<String>,
    others: Vec<String>,
}

impl FileCredential {
    /// A file with a token alone, or the one that a server leaves in its data folder.
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

    /// The start-up credential of the server that runs on a data folder.
    fn posted(data: &Path) -> Result<Self, Fault> {
        Self::read(&key_file(data)).map_err(|fault| {
            Fault { what: format!("cannot read the start-up credential in {}", data.display()), exit: Exit::Denied, ..fault }
                .try_this("it is there while the server runs, for the user who runs it: start the server, or be that user (sudo)")
        })
    }
}

/// What to show to a server.
#[derive(Clone, Debug)]
pub enum Credential {
    /// No credential is shown.
    None,
    /// Nothing, although there is a start-up credential: this runs inside a session, and that is a
    /// person's.
    Withheld,
    /// A token that was given.
    Given(String),
    /// The token of a profile.
    Joined(String),
    /// The start-up credential in this file, read anew for each request: a server that was started
    /// again has another one.
    Startup {
        /// The file that holds it.
        file: PathBuf,
        /// The port of the server.
        port: u16,
    },
}

/// What the file says.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    /// Whose key it is. It is shown to nobody else.
    server: String,
    key: String,
    /// How others reach it.
    #[serde(default)]
    others: Vec<String>,
}

impl Credential {
    /// Finds what to show to a server where nothing was named: the session's at its own server, the
    /// one in the variable, the start-up credential, or what was given when somebody joined. A
    /// session's token goes nowhere else, and inside a session neither the start-up credential nor
    /// a profile is looked for.
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
            (Some(startup), Some(_)) if startup.read().is_some() => startup,
            (_, Some(profile)) => Credential::Joined(profile.token),
        }
    }

    /// The same without what is a person's: the start-up credential, wherever it comes from, and
    /// what a person got by joining.
    pub fn given(self) -> Self {
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

    /// The same, or where that is nothing, what `mcp install` has made for a client outside of
    /// sessions.
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

    /// The credential itself, as far as there is one now.
    pub fn read(&self) -> Option<String> {
        match self {
            Credential::None | Credential::Withheld => None,
            Credential::Given(token) | Credential::Joined(token) => Some(token.clone()),
            Credential::Startup { file, port } => kept(file, *port).map(|kept| kept.key),
        }
    }

    /// How others reach the server, as far as the credential tells.
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

/// The file of the start-up credential of a server with this data folder.
pub fn key_file(data: &Path) -> PathBuf {
    data.join(KEY_FILE)
}

/// What a file says of the server on this port.
fn kept(file: &Path, port: u16) -> Option<KeyFile> {
    let kept: KeyFile = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (own_port(&kept.server) == Some(port)).then_some(kept)
}

/// Whether a server is the one of the session that this runs in.
fn is_home(server: &str, variables: &Variables) -> bool {
    own_server(variables)
        .is_some_and(|own| own.trim_end_matches('/') == server.trim_end_matches('/'))
}

/// The server of the session that this runs in: where it is now, which it says in its spool, or
/// where it was when the session began.
fn own_server(variables: &Variables) -> Option<String> {
    let began = variables.get(HOME_VARIABLE).filter(|url| url.starts_with("http://"));
    spool_of(variables).and_then(|spool| SpoolFolder::server(&spool)).or_else(|| began.cloned())
}

fn spool_of(variables: &Variables) -> Option<PathBuf> {
    variables.get(SPOOL_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The start-up credential of a server on this computer, wherever its data folder is.
fn startup_of(server: &str, variables: &Variables) -> Option<Credential> {
    let port = own_port(server)?;
    let data = fs::read_to_string(place_of(port, variables)?).ok()?;
    Some(Credential::Startup { file: key_file(Path::new(data.trim_end_matches('\n'))), port })
}

/// Where it is noted which data folder goes with a port.
fn place_of(port: u16, variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|folder| folder.join("servers").join(port.to_string()))
}

/// The start-up credential in its file, for as long as this lives.
pub struct StartupKey {
    key: PathBuf,
    place: Option<PathBuf>,
    /// What the file says, or is to say.
    kept: Arc<Mutex<KeyFile>>,
    /// There was no room for it.
    unwritten: bool,
}

/// How long to wait before it is tried again to write the credential to a disk that was full.
pub const WRITE_AGAIN: Duration = Duration::from_secs(5);

impl StartupKey {
    /// Writes the start-up credential for the command line of this user. Where the port is known,
    /// this comes before listening on it, so that a client that waits for a server to come back
    /// never shows it the credential of the run before.
    ///
    /// A full disk is no error: the page can be opened with what `serve` prints, and the file is
    /// written later.
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
        let kept = KeyFile { server: here(address), key: key.to_owned(), others: others.to_vec() };
        let written = kept.write(&file).or_else(|error| match is_full(&error) {
            // The credential of the run before opens nothing, and may leave just the room for this
            // one.
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

    /// Writes the credential once there is room for it; nothing where it is written.
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
                        return tracing::warn!(%error, "the start-up credential cannot be written");
                    }
                }
            }
        })
    }

    /// Tells the command line how others reach the server now. Where that cannot be written the
    /// file goes on saying what it said.
    pub fn reached_by(&self, others: &[String]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.others == others {
            return;
        }
        kept.others = others.to_vec();
        if let Err(error) = kept.write(&self.key) {
            tracing::warn!(%error, "how others reach the server is not written into startup.key");
        }
    }

    /// Notes which data folder goes with a port that is this server's now.
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
    /// What is left after a crash opens nothing: the next run has another credential.
    fn drop(&mut self) {
        for file in std::iter::once(&self.key).chain(&self.place) {
            let _ = fs::remove_file(file);
        }
    }
}

/// Notes which data folder goes with the port. A server that may not write there works all the
/// same: its clients need a token.
fn note_place(data: &Path, port: u16, variables: &Variables) -> Option<PathBuf> {
    let (place, data) = (place_of(port, variables)?, std::path::absolute(data).ok()?);
    let written = place
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| write_private(&place, data.as_os_str().as_encoded_bytes()));
    written
        .inspect_err(
            |error| tracing::debug!(%error, "the place of the start-up credential was not noted"),
        )
        .ok()?;
    Some(place)
}

/// Whether there was no room on the disk, or in its user's part of it.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Writes a file that nobody else can read, at no moment.
pub fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
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
