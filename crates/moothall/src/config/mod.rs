//! `moothall.toml`: found, filled in from the environment, and read section by section into the
//! types of the crates that own them.

mod document;
#[cfg(test)]
mod example;
mod restart;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use moothall_agents::AgentConfig;
use moothall_engine::budgets::BudgetsConfig;
use moothall_kernel::policy::{KEYS as POLICY_KEYS, Policy};
use moothall_kernel::time::Millis;
use moothall_surfaces::Limits;
use moothall_terminals::SessionsConfig;
use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use crate::fault::{Exit, Fault};
use document::names_a_secret;
pub use document::{Document, Entries, Node, Variables, nearest};
pub use restart::{StartupValues, needs_restart};

/// The key of `[agents]` that is no agent.
const DISCOVER: &str = "discover";

/// The sections of the file.
const SECTIONS: [&str; 6] = ["server", "limits", "defaults", "sessions", "budgets", "agents"];

/// Everything a configuration file says.
#[derive(Debug)]
pub struct Config {
    /// `[server]`: where the server listens, and whom it lets in.
    pub server: ServerConfig,
    /// `[limits]`: what one principal, thread or address may have.
    pub limits: LimitsConfig,
    /// `[defaults]`: what a conversation starts with where it does not say otherwise.
    pub defaults: Policy,
    /// `[sessions]`: what holds for all sessions.
    pub sessions: SessionsConfig,
    /// `[budgets]`: what may be spent.
    pub budgets: BudgetsConfig,
    /// `[agents]`: whether agents are offered that were not configured but found on this computer.
    pub discover: bool,
    /// `[agents.<client>]`: the agents, by the name under which they are invited.
    pub agents: BTreeMap<String, AgentConfig>,
    /// Names that nobody may be invited under: switched off, or with a variable that is not set.
    pub absent: BTreeSet<String>,
    /// The file it came from; nothing where there is none.
    pub file: Option<PathBuf>,
    /// What is allowed and unwise.
    pub warnings: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            server: ServerConfig::default(),
            defaults: Policy::default(),
            sessions: SessionsConfig::default(),
            budgets: BudgetsConfig::default(),
            limits: LimitsConfig::default(),
            discover: true,
            agents: BTreeMap::new(),
            absent: BTreeSet::new(),
            file: None,
            warnings: Vec::new(),
        }
    }
}

/// `[server]`: where the server listens, and whom it lets in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address and port to listen on.
    pub bind: Option<String>,
    /// Folder for everything that is kept.
    pub data: Option<PathBuf>,
    /// Who may do what.
    pub mode: Mode,
    /// In local mode: whether other users of this computer may come too.
    pub other_users: bool,
    /// In local mode: the rights of a caller without a credential if the system does not say whose
    /// process it is.
    pub unasked: UnknownPeerRule,
    /// What agents need to register; open in local mode, and closed in token mode, where it is
    /// unset.
    pub invite_code: Option<String>,
    /// More values of `Host` to accept, exactly as they are sent.
    pub allowed_hosts: Vec<String>,
    /// More origins of pages to accept, exactly as they are sent.
    pub allowed_origins: Vec<String>,
    /// After how many days without an event archived conversations are deleted; never where it is
    /// unset.
    pub retention_days: Option<NonZeroU32>,
    /// The folder to which the harvests of gatherings are written too, a file for each rhythm;
    /// nowhere else where it is unset.
    pub trails: Option<PathBuf>,
    /// `[server.tls]`: the certificate; without one the server speaks no TLS.
    pub tls: Option<TlsConfig>,
}

impl ServerConfig {
    /// The age at which archived conversations are deleted.
    pub fn retention(&self) -> Option<Millis> {
        self.retention_days.map(|days| Millis::from_secs(u64::from(days.get()) * 24 * 3600))
    }
}

/// `[server.tls]`: the files of a certificate, both PEM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// The chain, the server's own certificate first.
    pub cert: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
}

/// `[limits]`: what one principal, thread or address may have, and how much runs at once. 0 means
/// no limit, but for what runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Requests of a principal that change something, each second. In token mode, as all of these
    /// but the last three.
    pub writes_per_second: u32,
    /// How many of them may come at once.
    pub writes_burst: u32,
    /// Invitations into one thread, each minute.
    pub invites_per_minute: u32,
    /// Wrong keys and codes from one address, each minute, before their answer is 429.
    pub logins_per_minute: u32,
    /// Streams of events that one principal has open.
    pub streams_per_principal: u32,
    /// Connections from one address that is not this computer's.
    pub connections_per_address: usize,
    /// Most that a task may ask for as the number of words that its agents exchange before a person
    /// has to go on.
    pub task_exchanges: NonZeroU32,
    /// Programs of `command` agents that run at once; unset: four for each processor, at least
    /// eight.
    pub programs: Option<usize>,
    /// Terminal sessions that live at once.
    pub sessions: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            writes_per_second: limits.writes_per_second,
            writes_burst: limits.writes_burst,
            invites_per_minute: limits.invites_per_minute,
            logins_per_minute: limits.logins_per_minute,
            streams_per_principal: limits.streams_per_principal,
            connections_per_address: limits.connections_per_address,
            task_exchanges: limits.task_exchanges,
            programs: None,
            sessions: 64,
        }
    }
}

impl LimitsConfig {
    /// Programs that run at once.
    pub fn programs(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.programs.unwrap_or_else(|| (4 * processors).max(8))
    }

    /// What of it the ways in keep to.
    pub fn at_the_door(&self) -> Limits {
        Limits {
            writes_per_second: self.writes_per_second,
            writes_burst: self.writes_burst,
            invites_per_minute: self.invites_per_minute,
            logins_per_minute: self.logins_per_minute,
            streams_per_principal: self.streams_per_principal,
            connections_per_address: if self.connections_per_address == 0 {
                usize::MAX
            } else {
                self.connections_per_address
            },
            task_exchanges: self.task_exchanges,
        }
    }
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

/// The rights of a caller without a credential if the system does not say whose process it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownPeerRule {
    /// Sign in.
    #[default]
    Refuse,
    /// All that takes no credential, except what makes a program run.
    Converse,
}

impl From<UnknownPeerRule> for moothall_surfaces::UnknownPeerRights {
    fn from(unasked: UnknownPeerRule) -> Self {
        match unasked {
            UnknownPeerRule::Refuse => Self::SignIn,
            UnknownPeerRule::Converse => Self::Converse,
        }
    }
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
    /// Reads the named file, or `./moothall.toml` over `moothall/moothall.toml` in the XDG
    /// configuration folder, and variables over them.
    ///
    /// # Errors
    /// A fault with exit code 78 that names file, line and column, or the variable.
    pub fn find(named: Option<&Path>, variables: &Variables) -> Result<Self, Fault> {
        let files = texts(named, variables)?;
        let file = files.last().map(|(file, _)| file.clone());
        Ok(Self { file, ..Self::read(&Document::of(files, variables), variables)? })
    }

    /// Reads a file's text.
    #[cfg(test)]
    fn parse(file: &Path, text: String, variables: &Variables) -> Result<Self, Fault> {
        Self::read(&Document::new(file, text), variables)
    }

    fn read(document: &Document, variables: &Variables) -> Result<Self, Fault> {
        let mut config = Self::default();
        for (key, mut node) in document.entries()? {
            if key.get_ref() != "agents" {
                document.fill(&mut node, variables)?;
            }
            match key.get_ref().as_str() {
                "server" => config.server = document.read("server", node)?,
                "defaults" => config.defaults = read_defaults(document, node)?,
                "limits" => config.limits = document.read("limits", node)?,
                "sessions" => config.sessions = document.read("sessions", node)?,
                "budgets" => config.budgets = document.read("budgets", node)?,
                "agents" => read_agents(document, node, variables, &mut config)?,
                other => return Err(unknown_section(document, key.span(), other)),
            }
        }
        config.warnings.extend(exposed_secrets(document));
        Ok(config)
    }
}

/// A key at the top of the file may be a section's key that lost its section, which is worth
/// saying.
fn unknown_section(document: &Document, span: std::ops::Range<usize>, key: &str) -> Fault {
    let homes = [
        ("server", keys_of::<ServerConfig>()),
        ("limits", keys_of::<LimitsConfig>()),
        ("defaults", &POLICY_KEYS[..]),
        ("sessions", keys_of::<SessionsConfig>()),
    ];
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
        policy.set(name, &given).map_err(|fault| {
            document.fault(Some(place), &format!("`{name}` takes {}", fault.expected))
        })?;
    }
    Ok(policy)
}

/// Reads `[agents]`. An agent of which a variable is not set is left out, with a word: the others
/// can do without it.
fn read_agents(
    document: &Document,
    node: Node<'_>,
    variables: &Variables,
    config: &mut Config,
) -> Result<(), Fault> {
    for (key, mut value) in document.table("agents", node)? {
        let client = key.get_ref();
        if client == DISCOVER && value.get_ref().as_bool().is_some() {
            config.discover = document.read("agents", value)?;
            continue;
        }
        if let Err(fault) = moothall_kernel::names::check_id(client) {
            return Err(document.fault(
                Some(key.span()),
                &format!("the agent name {client:?} {}", fault.explain()),
            ));
        }
        if let Some(DeValue::String(line)) =
            value.get_ref().get("command").map(toml::Spanned::get_ref)
        {
            let span =
                value.get_ref().get("command").map_or_else(|| value.span(), toml::Spanned::span);
            return Err(document.command_line(span, line));
        }
        match document.fill(&mut value, variables) {
            Ok(()) => {
                let agent = read_agent(document, client, value)?;
                if !agent.is_enabled() {
                    config.absent.insert(client.clone());
                }
                config.agents.insert(client.clone(), agent);
            }
            Err(fault)
                if value
                    .get_ref()
                    .get("enabled")
                    .and_then(|enabled| enabled.get_ref().as_bool())
                    == Some(false) =>
            {
                drop(fault)
            }
            Err(fault) => {
                config
                    .warnings
                    .push(format!("{}; without it there is no agent {client}", fault.what));
                config.absent.insert(client.clone());
            }
        }
    }
    Ok(())
}

/// Reads one agent and tries it out, so that what it would complain about when it is needed is said
/// now, with its place.
fn read_agent(document: &Document, client: &str, node: Node<'_>) -> Result<AgentConfig, Fault> {
    let section = format!("agents.{client}");
    let (whole, places) = (node.span(), places(&node));
    let agent: AgentConfig = document.read(&section, node)?;
    if agent.only_takes_away() {
        return Ok(agent);
    }
    match agent.spec(client, "http://127.0.0.1") {
        Ok(_) => Ok(agent),
        Err(fault) => {
            let place = places.get(fault.key).cloned().unwrap_or(whole);
            Err(document
                .fault(Some(place), &format!("in [{section}], `{}`: {}", fault.key, fault.message)))
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
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Files with secrets in them that other users of this computer can read.
#[cfg(unix)]
fn exposed_secrets(document: &Document) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let exposed = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
    };
    let found = document
        .literal_secrets()
        .into_iter()
        .filter(|(file, secrets)| !secrets.is_empty() && exposed(file));
    let told = found.map(|(file, secrets)| {
        let (file, keys) = (file.display(), secrets.join(", "));
        format!("{file} holds secrets ({keys}) and others on this computer can read it; run `chmod 600 {file}` or use ${{VAR}}")
    });
    told.collect()
}

#[cfg(not(unix))]
fn exposed_secrets(_: &Document) -> Vec<String> {
    Vec::new()
}

/// The texts of the configuration, the weightiest last.
fn texts(named: Option<&Path>, variables: &Variables) -> Result<Vec<(PathBuf, String)>, Fault> {
    let usual =
        || usual_places(variables).into_iter().rev().filter(|path| path.is_file()).collect();
    let files: Vec<PathBuf> = named.map_or_else(usual, |file| vec![file.to_owned()]);
    let read = |file: PathBuf| match std::fs::read_to_string(&file) {
        Ok(text) => Ok((file, text)),
        Err(error) => Err(Fault::new(
            Exit::Config,
            format!("cannot read the configuration {}", file.display()),
        )
        .because(error)
        .try_this("name another with --config FILE, or leave it out: everything has a default")),
    };
    files.into_iter().map(read).collect()
}

/// Something that is set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Its section and key, e.g. `server.bind`.
    pub key: String,
    /// As it is written; a secret by the beginning of its hash.
    pub value: toml::Value,
    /// The file and the line, or the variable.
    pub origin: String,
}

/// Everything that is set, as it is written.
///
/// # Errors
/// Files that cannot be read, or are no TOML.
pub fn settings(named: Option<&Path>, variables: &Variables) -> Result<Vec<Setting>, Fault> {
    let document = Document::of(texts(named, variables)?, variables);
    let mut found = Vec::new();
    for (key, node) in document.entries()? {
        gather(&document, key.into_inner(), node, &mut found)?;
    }
    Ok(found)
}

fn gather(
    document: &Document,
    key: String,
    node: Node<'_>,
    found: &mut Vec<Setting>,
) -> Result<(), Fault> {
    if matches!(node.get_ref(), DeValue::Table(_)) {
        let inner = document.table(&key, node)?;
        return inner.into_iter().try_for_each(|(name, value)| {
            gather(document, format!("{key}.{}", name.get_ref()), value, found)
        });
    }
    let origin = document.origin(&node.span());
    let value: toml::Value = document.read(&key, node)?;
    found.push(Setting { value: shown(&key, value), key, origin });
    Ok(())
}

/// A secret is recognised by its owner, and by nobody else.
fn shown(key: &str, value: toml::Value) -> toml::Value {
    match value {
        toml::Value::String(text) if names_a_secret(key) && !text.contains("${") => {
            toml::Value::String(format!(
                "(secret, hash {})",
                &blake3::hash(text.as_bytes()).to_hex()[..8]
            ))
        }
        other => other,
    }
}

/// Where the usual configuration makes a server listen, whatever else is in it.
pub fn usual_bind(variables: &Variables) -> Option<String> {
    if let Some(bind) = variables.get("MOOTHALL_SERVER__BIND") {
        return Some(bind.clone());
    }
    let text =
        usual_places(variables).iter().find_map(|file| std::fs::read_to_string(file).ok())?;
    let table: toml::Table = text.parse().ok()?;
    Some(table.get("server")?.get("bind")?.as_str()?.to_owned())
}

fn usual_places(variables: &Variables) -> Vec<PathBuf> {
    let xdg = xdg_folder(variables, "XDG_CONFIG_HOME", ".config")
        .map(|folder| folder.join("moothall").join("moothall.toml"));
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

/// An XDG folder: the variable where it is set and absolute, otherwise its usual place below the
/// home folder.
fn xdg_folder(variables: &Variables, variable: &str, usual: &str) -> Option<PathBuf> {
    let set = variables.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| {
        variables
            .get("HOME")
            .filter(|home| !home.is_empty())
            .map(|home| Path::new(home).join(usual))
    })
}

/// This process's environment, as far as it is text.
pub fn environment() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
