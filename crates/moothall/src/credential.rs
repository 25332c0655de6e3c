//! The credential that the command line shows to a server: a token that it was given, or the start-up credential of a server whose data
//! folder this user can read.
//!
//! A server writes its start-up credential into its data folder, for its owner alone, and notes in the state folder which data folder
//! goes with its port, so that nobody has to say.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use moothall_agents::terminal::hooks::SpoolFolder;
use serde::{Deserialize, Serialize};

use crate::config::{Variables, usual_state_folder};
use crate::fault::{Exit, Fault};
use crate::place::USUAL_SERVER;

/// The start-up credential in its data folder.
const KEY_FILE: &str = "startup.key";
/// The variable that holds a token.
const TOKEN_VARIABLE: &str = "MOOTHALL_TOKEN";
/// What the environment of a session says: its own token, what that begins with, and its own server.
const SESSION_VARIABLE: &str = "MOOTHALL_SESSION_TOKEN";
const SESSION_TOKEN: &str = "ses_";
const HOME_VARIABLE: &str = "MOOTHALL_URL";
const SPOOL_VARIABLE: &str = "MOOTHALL_SPOOL";

/// The server that is meant, and what to show to it.
#[derive(Clone, Debug)]
pub struct Meant {
    /// Its address.
    pub server: String,
    /// What to show.
    pub credential: Credential,
    /// The folder of the session that this runs in, where its own server is meant: that one may be somewhere else the next time.
    pub spool: Option<PathBuf>,
}

impl Meant {
    /// The server that was named; inside a session the session's own, where nothing else was said.
    ///
    /// # Errors
    /// The token file cannot be read.
    pub fn find(server: &str, token_file: Option<&Path>, variables: &Variables) -> Result<Self, Fault> {
        let own = own_server(variables).filter(|_| server == USUAL_SERVER);
        let spool = own.is_some().then(|| spool_of(variables)).flatten();
        let server = own.unwrap_or_else(|| server.to_owned());
        Ok(Self { credential: Credential::find(token_file, &server, variables)?, server, spool })
    }
}

/// What to show to a server.
#[derive(Clone, Debug)]
pub enum Credential {
    /// Nothing.
    None,
    /// A token that was given.
    Given(String),
    /// The start-up credential in this file, read anew for each request: a server that was started again has another one.
    Startup {
        /// Where it is.
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
}

impl Credential {
    /// Finds what to show to a server: the token in the file, the session's at its own server, the one in the variable, or the start-up
    /// credential. A session's token goes nowhere else, and inside a session the start-up credential is not looked for.
    ///
    /// # Errors
    /// The token file cannot be read.
    pub fn find(token_file: Option<&Path>, server: &str, variables: &Variables) -> Result<Self, Fault> {
        if let Some(file) = token_file {
            let text = fs::read_to_string(file)
                .map_err(|error| Fault::new(Exit::Usage, format!("cannot read the token file {}", file.display())).because(error))?;
            return Ok(Credential::Given(text.trim().to_owned()));
        }
        let session = variables.get(SESSION_VARIABLE).filter(|token| token.starts_with(SESSION_TOKEN));
        if let Some(token) = session.filter(|_| is_home(server, variables)) {
            return Ok(Credential::Given(token.clone()));
        }
        if let Some(token) = variables.get(TOKEN_VARIABLE).filter(|token| !token.trim().is_empty()) {
            return Ok(Credential::Given(token.trim().to_owned()));
        }
        let startup = if session.is_none() { startup_of(server, variables) } else { None };
        Ok(startup.unwrap_or(Credential::None))
    }

    /// The same without the start-up credential, which is a person's.
    pub fn given(self) -> Self {
        match self {
            Credential::Given(token) => Credential::Given(token),
            Credential::None | Credential::Startup { .. } => Credential::None,
        }
    }

    /// The credential itself, as far as there is one now.
    pub fn read(&self) -> Option<String> {
        match self {
            Credential::None => None,
            Credential::Given(token) => Some(token.clone()),
            Credential::Startup { file, port } => {
                let kept: KeyFile = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
                (loopback_port(&kept.server) == Some(*port)).then_some(kept.key)
            }
        }
    }
}

/// Whether a server is the one of the session that this runs in.
fn is_home(server: &str, variables: &Variables) -> bool {
    own_server(variables).is_some_and(|own| own.trim_end_matches('/') == server.trim_end_matches('/'))
}

/// The server of the session that this runs in: where it is now, which it says in its spool, or where it was when the session began.
fn own_server(variables: &Variables) -> Option<String> {
    let began = variables.get(HOME_VARIABLE).filter(|url| url.starts_with("http://"));
    spool_of(variables).and_then(|spool| SpoolFolder::server(&spool)).or_else(|| began.cloned())
}

fn spool_of(variables: &Variables) -> Option<PathBuf> {
    variables.get(SPOOL_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The start-up credential of a server on this computer, wherever its data folder is.
fn startup_of(server: &str, variables: &Variables) -> Option<Credential> {
    let port = loopback_port(server)?;
    let data = fs::read_to_string(place_of(port, variables)?).ok()?;
    Some(Credential::Startup { file: Path::new(data.trim_end_matches('\n')).join(KEY_FILE), port })
}

/// The port of an address on this computer.
fn loopback_port(server: &str) -> Option<u16> {
    let url = reqwest::Url::parse(server).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']);
    let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if here { url.port_or_known_default() } else { None }
}

/// Where it is noted which data folder goes with a port.
fn place_of(port: u16, variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|folder| folder.join("servers").join(port.to_string()))
}

/// The start-up credential in its file, for as long as this lives.
#[derive(Debug)]
pub struct Posted {
    key: PathBuf,
    place: Option<PathBuf>,
}

impl Posted {
    /// Writes the start-up credential for the command line of this user. Where the port is known, this comes before listening on it, so
    /// that a client that waits for a server to come back never shows it the credential of the run before.
    ///
    /// # Errors
    /// The data folder cannot be written to.
    pub fn new(data: &Path, address: SocketAddr, key: &str) -> Result<Self, Fault> {
        let file = data.join(KEY_FILE);
        let loopback = if address.ip().is_unspecified() { IpAddr::from([127, 0, 0, 1]) } else { address.ip() };
        let server = format!("http://{}", SocketAddr::new(loopback, address.port()));
        let kept = KeyFile { server, key: key.to_owned() };
        write_private(&file, &serde_json::to_vec(&kept).unwrap_or_default()).map_err(|error| {
            Fault::new(Exit::Io, format!("cannot write {}", file.display())).because(error).try_this("see `moothall doctor`")
        })?;
        Ok(Self { key: file, place: None })
    }

    /// Notes which data folder goes with a port that is this server's now.
    pub fn note(&mut self, data: &Path, port: u16, variables: &Variables) {
        self.place = note_place(data, port, variables);
    }
}

impl Drop for Posted {
    /// What is left after a crash opens nothing: the next run has another credential.
    fn drop(&mut self) {
        for file in std::iter::once(&self.key).chain(&self.place) {
            let _ = fs::remove_file(file);
        }
    }
}

/// Notes which data folder goes with the port. A server that may not write there works all the same: its clients need a token.
fn note_place(data: &Path, port: u16, variables: &Variables) -> Option<PathBuf> {
    let (place, data) = (place_of(port, variables)?, std::path::absolute(data).ok()?);
    let written =
        place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write_private(&place, data.as_os_str().as_encoded_bytes()));
    written.inspect_err(|error| tracing::debug!(%error, "the place of the start-up credential was not noted")).ok()?;
    Some(place)
}

/// Writes a file that nobody else can read, at no moment.
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let _ = fs::remove_file(&unfinished);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?.write_all(bytes)?;
    fs::rename(&unfinished, file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn home(folder: &Path) -> Variables {
        Variables::from([("XDG_STATE_HOME".to_owned(), folder.join("state").display().to_string())])
    }

    fn post(data: &Path, address: SocketAddr, key: &str, variables: &Variables) -> Posted {
        let mut posted = Posted::new(data, address, key).unwrap();
        posted.note(data, address.port(), variables);
        posted
    }

    #[test]
    fn the_start_up_credential_is_found_by_its_port_and_is_the_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (variables, address) = (home(folder.path()), "127.0.0.1:4711".parse().unwrap());
        let posted = post(folder.path(), address, "boot_1", &variables);
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        for server in ["http://127.0.0.1:4711", "http://localhost:4711/", "http://[::1]:4711"] {
            assert_eq!(Credential::find(None, server, &variables).unwrap().read().as_deref(), Some("boot_1"), "{server}");
        }
        for server in ["http://127.0.0.1:4712", "http://moothall.test:4711", "http://10.0.0.1:4711", "nonsense"] {
            assert_eq!(Credential::find(None, server, &variables).unwrap().read(), None, "{server}");
        }
        let found = Credential::find(None, "http://127.0.0.1:4711", &variables).unwrap();
        let again = post(folder.path(), address, "boot_2", &variables);
        assert_eq!(found.read().as_deref(), Some("boot_2"));
        drop((posted, again));
        assert_eq!(found.read(), None);
    }

    #[test]
    fn a_key_is_shown_to_its_own_server_alone() {
        let folder = tempfile::tempdir().unwrap();
        let variables = home(folder.path());
        let _old = post(folder.path(), "127.0.0.1:4711".parse().unwrap(), "boot_1", &variables);
        let _new = post(folder.path(), "127.0.0.1:4712".parse().unwrap(), "boot_2", &variables);
        let shown = |server: &str| Credential::find(None, server, &variables).unwrap().read();
        assert_eq!((shown("http://127.0.0.1:4711"), shown("http://127.0.0.1:4712").as_deref()), (None, Some("boot_2")));
    }

    #[test]
    fn a_sessions_token_goes_to_its_own_server_only() {
        let folder = tempfile::tempdir().unwrap();
        let _posted = post(folder.path(), "127.0.0.1:7000".parse().unwrap(), "boot_1", &home(folder.path()));
        let ask = |server: &str, own: &str, token: &str| {
            let mut variables = home(folder.path());
            variables.extend([(HOME_VARIABLE.to_owned(), own.to_owned()), (SESSION_VARIABLE.to_owned(), token.to_owned())]);
            let meant = Meant::find(server, None, &variables).unwrap();
            (meant.server.trim_end_matches('/').to_owned(), meant.credential.read())
        };
        let (usual, own, token) = (USUAL_SERVER, "http://127.0.0.1:6000/", Some("ses_x".to_owned()));
        assert_eq!(ask(usual, own, "ses_x"), ("http://127.0.0.1:6000".into(), token));
        assert_eq!(ask("http://127.0.0.1:7000", own, "ses_x"), ("http://127.0.0.1:7000".into(), None), "nor a person's credential");
        assert_eq!(ask("http://127.0.0.1:7000", own, "").1.as_deref(), Some("boot_1"));
        // What a client's configuration leaves where there is no such variable.
        assert_eq!(ask(usual, "$MOOTHALL_URL", "$MOOTHALL_SESSION_TOKEN"), (usual.into(), None));
        assert_eq!(ask(usual, own, ""), ("http://127.0.0.1:6000".into(), None));
    }

    #[test]
    fn what_a_person_holds_is_not_given_on() {
        let startup = Credential::Startup { file: PathBuf::from("startup.key"), port: 1 };
        assert!(matches!(startup.given(), Credential::None));
        assert!(matches!(Credential::Given("agt_x".into()).given(), Credential::Given(_)));
    }

    #[test]
    fn a_token_that_is_given_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "pat_file\n").unwrap();
        let mut variables = home(folder.path());
        variables.insert(TOKEN_VARIABLE.into(), " pat_variable ".into());
        let find = |file: Option<&Path>| Credential::find(file, "http://127.0.0.1:1", &variables).map(|found| found.read());
        assert_eq!(find(Some(&file)).unwrap().as_deref(), Some("pat_file"));
        assert_eq!(find(None).unwrap().as_deref(), Some("pat_variable"));
        assert_eq!(find(Some(&folder.path().join("none"))).unwrap_err().exit, Exit::Usage);
    }
}
