//! `moothall.toml`: found, filled in from the environment, and read section by section into the types of the crates that own them.

mod document;
#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use moothall_agents::AgentConfig;
use moothall_engine::sessions::SessionsConfig;
use moothall_kernel::policy::{KEYS as POLICY_KEYS, Policy};
use serde::Deserialize;

use crate::fault::{Exit, Fault};
use document::{Document, Node};
pub use document::{Variables, nearest};

/// The sections of the file.
const SECTIONS: [&str; 4] = ["server", "defaults", "sessions", "agents"];

/// Everything a configuration file says.
#[derive(Debug, Default)]
pub struct Config {
    /// `[server]`.
    pub server: ServerConfig,
    /// `[defaults]`: what a conversation starts with where it does not say otherwise.
    pub defaults: Policy,
    /// `[sessions]`.
    pub sessions: SessionsConfig,
    /// `[agents.<client>]`.
    pub agents: BTreeMap<String, AgentConfig>,
    /// The file it came from; nothing where there is none.
    pub file: Option<PathBuf>,
    /// What is allowed and unwise.
    pub warnings: Vec<String>,
}

/// `[server]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address and port to listen on.
    pub bind: Option<String>,
    /// Folder for everything that is kept.
    pub data: Option<PathBuf>,
    /// Who may do what.
    pub mode: Mode,
    /// More values of `Host` to accept, exactly as they are sent.
    pub allowed_hosts: Vec<String>,
    /// More origins of pages to accept, exactly as they are sent.
    pub allowed_origins: Vec<String>,
}

/// Who may do what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Whoever sits at this computer may converse; nobody else can reach the server.
    #[default]
    Local,
    /// Whoever has a token, as far as it allows.
    Token,
}

impl From<Mode> for moothall_engine::access::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Local => Self::Local,
            Mode::Token => Self::Token,
        }
    }
}

impl Config {
    /// Reads the named file, or the first that exists of `./moothall.toml` and `moothall/moothall.toml` in the XDG configuration folder.
    ///
    /// # Errors
    /// A fault with exit code 78 that names file, line and column.
    pub fn find(named: Option<&Path>, variables: &Variables) -> Result<Self, Fault> {
        let found = named.map(Path::to_owned).or_else(|| usual_places(variables).into_iter().find(|path| path.is_file()));
        let Some(file) = found else { return Ok(Self::default()) };
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Fault::new(Exit::Config, format!("cannot read the configuration {}", file.display()))
                .because(error)
                .try_this("name another with --config FILE, or leave it out: everything has a default")
        })?;
        let mut config = Self::parse(&file, text, variables)?;
        config.file = Some(file);
        Ok(config)
    }

    /// Reads a file's text.
    fn parse(file: &Path, text: String, variables: &Variables) -> Result<Self, Fault> {
        let document = Document::new(file, text);
        let mut config = Self::default();
        for (key, node) in document.entries(variables)? {
            match key.get_ref().as_str() {
                "server" => config.server = document.read("server", node)?,
                "defaults" => config.defaults = read_defaults(&document, node)?,
                "sessions" => config.sessions = document.read("sessions", node)?,
                "agents" => config.agents = read_agents(&document, node)?,
                other => return Err(unknown_section(&document, key.span(), other)),
            }
        }
        config.warnings = exposed_secrets(file, &document).into_iter().collect();
        Ok(config)
    }
}

/// A key at the top of the file may be a section's key that lost its section, which is worth saying.
fn unknown_section(document: &Document, span: std::ops::Range<usize>, key: &str) -> Fault {
    let homes = [("server", keys_of::<ServerConfig>()), ("defaults", &POLICY_KEYS[..]), ("sessions", keys_of::<SessionsConfig>())];
    match homes.iter().find(|(_, keys)| keys.contains(&key)) {
        Some((section, _)) => document
            .fault(Some(span), &format!("unknown key `{key}` at the top of the file"))
            .try_this(format!("write it below the line [{section}]")),
        None => document.unknown_key(span, key, "at the top of the file", &SECTIONS),
    }
}

fn read_defaults(document: &Document, node: Node<'_>) -> Result<Policy, Fault> {
    let mut policy = Policy::default();
    for (key, value) in document.table("defaults", node)? {
        let (name, place) = (key.get_ref(), value.span());
        if !POLICY_KEYS.contains(&name.as_str()) {
            return Err(document.unknown_key(key.span(), name, "in [defaults]", &POLICY_KEYS));
        }
        let given: serde_json::Value = document.read("defaults", value)?;
        policy.set(name, &given).map_err(|fault| document.fault(Some(place), &format!("`{name}` takes {}", fault.expected)))?;
    }
    Ok(policy)
}

fn read_agents(document: &Document, node: Node<'_>) -> Result<BTreeMap<String, AgentConfig>, Fault> {
    let mut agents = BTreeMap::new();
    for (key, value) in document.table("agents", node)? {
        let client = key.get_ref();
        if let Err(fault) = moothall_kernel::names::check_id(client) {
            return Err(document.fault(Some(key.span()), &format!("the agent name {client:?} {}", fault.explain())));
        }
        agents.insert(client.clone(), read_agent(document, client, value)?);
    }
    Ok(agents)
}

/// Reads one agent and tries it out, so that what it would complain about when it is needed is said now, with its place.
fn read_agent(document: &Document, client: &str, node: Node<'_>) -> Result<AgentConfig, Fault> {
    let section = format!("agents.{client}");
    let (whole, places) = (node.span(), places(&node));
    let agent: AgentConfig = document.read(&section, node)?;
    match agent.spec(client, "http://127.0.0.1") {
        Ok(_) => Ok(agent),
        Err(fault) => {
            let place = places.get(fault.key).cloned().unwrap_or(whole);
            Err(document.fault(Some(place), &format!("in [{section}], `{}`: {}", fault.key, fault.message)))
        }
    }
}

/// Where the keys of a table stand.
fn places(node: &Node<'_>) -> BTreeMap<String, std::ops::Range<usize>> {
    let table = node.get_ref().as_table();
    table.into_iter().flatten().map(|(key, _)| (key.get_ref().to_string(), key.span())).collect()
}

/// The keys that a section's type takes, in the order in which it declares them.
fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // The type is only asked for its keys: reading it fails on purpose.
    let _ = T::deserialize(KeyProbe(&mut keys));
    keys
}

/// A deserializer that answers nothing and remembers which keys it was asked for.
struct KeyProbe<'a>(&'a mut &'static [&'static str]);

impl<'de> serde::Deserializer<'de> for KeyProbe<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("only structures have keys"))
    }

    fn deserialize_struct<V: serde::de::Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(serde::de::Error::custom("the keys are known now"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// A file with secrets in it that other users of this computer can read.
#[cfg(unix)]
fn exposed_secrets(file: &Path, document: &Document) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    let secrets = document.literal_secrets();
    let exposed = mode & 0o044 != 0 && !secrets.is_empty();
    exposed.then(|| {
        let (file, keys) = (file.display(), secrets.join(", "));
        format!("{file} holds secrets ({keys}) and others on this computer can read it; run `chmod 600 {file}` or use ${{VAR}}")
    })
}

#[cfg(not(unix))]
fn exposed_secrets(_: &Path, _: &Document) -> Option<String> {
    None
}

fn usual_places(variables: &Variables) -> Vec<PathBuf> {
    let xdg = xdg_folder(variables, "XDG_CONFIG_HOME", ".config").map(|folder| folder.join("moothall").join("moothall.toml"));
    [Some(PathBuf::from("moothall.toml")), xdg].into_iter().flatten().collect()
}

/// Where data lives unless told otherwise: `moothall` in the XDG data folder.
pub fn usual_data_folder(variables: &Variables) -> Option<PathBuf> {
    xdg_folder(variables, "XDG_DATA_HOME", ".local/share").map(|folder| folder.join("moothall"))
}

/// Where what a person did is remembered: `moothall` in the XDG state folder.
pub fn usual_state_folder(variables: &Variables) -> Option<PathBuf> {
    xdg_folder(variables, "XDG_STATE_HOME", ".local/state").map(|folder| folder.join("moothall"))
}

/// An XDG folder: the variable where it is set and absolute, otherwise its usual place below the home folder.
fn xdg_folder(variables: &Variables, variable: &str, usual: &str) -> Option<PathBuf> {
    let set = variables.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| variables.get("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(home).join(usual)))
}

/// This process's environment, as far as it is text.
pub fn environment() -> Variables {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}
