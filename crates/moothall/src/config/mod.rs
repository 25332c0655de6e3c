//! `moothall.toml`: finds the files, replaces references such as `${VAR}`, and reads each section
//! into the type of the crate that owns it.

mod document;
mod example;
mod channel_entries;
mod schema;
mod parts;
mod places;
mod restart;
mod secrets;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use moothall_agents::AgentConfig;
use moothall_channels::ChannelsConfig;
use moothall_computers::bridge::config::ComputersConfig;
use moothall_engine::budgets::BudgetsConfig;
use moothall_kernel::policy::{KEYS as POLICY_KEYS, Policy};
use moothall_kernel::time::Millis;
use moothall_surfaces::Limits;
use moothall_terminals::SessionsConfig;
use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use crate::fault::Fault;
pub use document::{Document, Entries, Node, Variables, names_a_secret, nearest};
pub use example::example;
pub use places::{environment, usual_bind, usual_data_folder, usual_state_folder};
use places::{files, texts};
pub use restart::{StartupValues, needs_restart};
pub use schema::schema;

/// The key of `[agents]` that does not name an agent.
const DISCOVER: &str = "discover";

/// The sections of the file.
const SECTIONS: [&str; 8] =
    ["server", "limits", "defaults", "sessions", "budgets", "channels", "computers", "agents"];

/// A complete configuration.
#[derive(Debug)]
pub struct Config {
    /// `[server]`: listen address and access.
    pub server: ServerConfig,
    /// `[limits]`: limits of a principal, a thread or an address.
    pub limits: LimitsConfig,
    /// `[defaults]`: policy of a conversation that does not set its own.
    pub defaults: Policy,
    /// `[sessions]`: settings of all sessions.
    pub sessions: SessionsConfig,
    /// `[budgets]`: spending limits.
    pub budgets: BudgetsConfig,
    /// `[channels]`: chats of other products.
    pub channels: ChannelsConfig,
    /// `[computers]`: rights of other computers.
    pub computers: ComputersConfig,
    /// `[agents]`: true if agents found on this computer are offered without a section of their
    /// own.
    pub discover: bool,
    /// `[agents.<client>]`: agents, by the name under which they are invited.
    pub agents: BTreeMap<String, AgentConfig>,
    /// Agent names that cannot be invited: switched off, or with a variable that is not set.
    pub absent: BTreeSet<String>,
    /// File with the highest precedence, if there is one.
    pub file: Option<PathBuf>,
    /// Files with secrets that other users of this computer can read; each has a warning too.
    pub exposed: Vec<PathBuf>,
    /// Warnings about valid but unsafe settings, and about agents that were left out.
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
            channels: ChannelsConfig::default(),
            computers: ComputersConfig::default(),
            discover: true,
            agents: BTreeMap::new(),
            absent: BTreeSet::new(),
            file: None,
            exposed: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// `[server]`: listen address and access.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address and port to listen on.
    pub bind: Option<String>,
    /// Folder for all stored data.
    pub data: Option<PathBuf>,
    /// Access mode of a server.
    pub mode: Mode,
    /// In local mode: true if other users of this computer have access too.
    pub other_users: bool,
    /// In local mode: rights of a caller without a credential if the system does not identify the
    /// caller's process.
    pub unasked: UnknownPeerRule,
    /// Code that agents need to register. Unset: registration is open in local mode, closed in
    /// token mode.
    pub invite_code: Option<String>,
    /// Additional values of `Host` to accept, compared exactly.
    pub allowed_hosts: Vec<String>,
    /// Additional origins of pages to accept, compared exactly.
    pub allowed_origins: Vec<String>,
    /// Days without an event after which an archived conversation is deleted. Unset: never.
    pub retention_days: Option<NonZeroU32>,
    /// Folder for copies of harvests, with a file for each rhythm. Unset: harvests are only in
    /// their conversations.
    pub trails: Option<PathBuf>,
    /// `[server.tls]`: the certificate; without one, the server does not use TLS.
    pub tls: Option<TlsConfig>,
}

impl ServerConfig {
    /// Returns the age at which archived conversations are deleted.
    pub fn retention(&self) -> Option<Millis> {
        self.retention_days.map(|days| Millis::from_secs(u64::from(days.get()) * 24 * 3600))
    }
}

/// `[server.tls]`: the files of a certificate, both PEM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// Certificate chain, the server's own certificate first.
    pub cert: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
}

/// `[limits]`: limits of a principal, a thread or an address, and of concurrent work. 0 means
/// unlimited, except for `programs` and `sessions`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Writing requests of a principal per second. Only in token mode, like the following limits up
    /// to `streams_per_principal`.
    pub writes_per_second: u32,
    /// Number of writing requests allowed in one burst.
    pub writes_burst: u32,
    /// Invitations into one thread per minute.
    pub invites_per_minute: u32,
    /// Wrong keys and codes from one address per minute, before the answer is 429.
    pub logins_per_minute: u32,
    /// Open event streams of one principal.
    pub streams_per_principal: u32,
    /// Connections from one address. Connections from this computer are not counted.
    pub connections_per_address: usize,
    /// Upper bound of the number of agent messages without a human that a task may request.
    pub task_exchanges: NonZeroU32,
    /// Concurrent programs of `command` agents. Unset: four per processor, at least eight.
    pub programs: Option<usize>,
    /// Concurrent terminal sessions.
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
    /// Returns the number of concurrent programs.
    pub fn programs(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.programs.unwrap_or_else(|| (4 * processors).max(8))
    }

    /// Returns the limits that the surfaces enforce.
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

/// Access mode of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Conversations from this computer need no token
    #[default]
    Local,
    /// Every request needs a token with the right it uses
    Token,
}

/// Rights of a caller without a credential if the system does not identify the caller's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownPeerRule {
    /// Only signing in.
    #[default]
    Refuse,
    /// Everything that needs no credential, except starting programs.
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
    /// Reads the named file. Without one, reads `moothall/moothall.toml` in the XDG configuration
    /// folder and `./moothall.toml`, which overrides it. Files of agents in `agents.d` next to each
    /// of these belong to it. Environment variables override all files.
    ///
    /// # Errors
    /// A fault with exit code 78 that names file, line and column, or the variable.
    pub fn find(named: Option<&Path>, variables: &Variables) -> Result<Self, Fault> {
        Self::of(named, variables, Document::of(texts(named, variables)?, variables))
    }

    /// Reads the configuration as [`Config::find`] does, but runs no command in it, so that the
    /// configuration of other people can be read safely.
    ///
    /// # Errors
    /// As [`Config::find`].
    pub fn inspect(named: Option<&Path>, variables: &Variables) -> Result<Self, Fault> {
        let document = Document::of(texts(named, variables)?, variables);
        Self::of(named, variables, document.without_commands())
    }

    fn of(named: Option<&Path>, variables: &Variables, document: Document) -> Result<Self, Fault> {
        let file = files(named, variables).pop();
        Ok(Self { file, ..Self::read(&document, variables)? })
    }

    /// Reads a configuration from a file's text.
    #[cfg(test)]
    fn parse(file: &Path, text: String, variables: &Variables) -> Result<Self, Fault> {
        Self::read(&Document::new(file, text), variables)
    }

    /// Reads a document and replaces its references. An unknown section is an error. A secret in a
    /// file that other users can read gives a warning.
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
                "channels" => config.channels = document.read("channels", node)?,
                "computers" => config.computers = document.read("computers", node)?,
                "agents" => read_agents(document, node, variables, &mut config)?,
                other => return Err(unknown_section(document, key.span(), other)),
            }
        }
        for (file, warning) in exposed_secrets(document) {
            config.exposed.push(file);
            config.warnings.push(warning);
        }
        Ok(config)
    }
}

/// Returns the error for an unknown top-level key. The key may belong to a section whose header is
/// missing; the error then names that section.
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

/// Reads `[defaults]`, key by key, so that each error names its line.
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

/// Reads `[agents]`. An agent with a reference that has no value, such as an unset variable, is
/// left out with a warning, because the other agents do not need it. A disabled agent gives no
/// warning.
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
                config.warnings.push(format!("{}; the agent {client} is left out", fault.what));
                config.absent.insert(client.clone());
            }
        }
    }
    Ok(())
}

/// Reads one agent. Builds its spec only for a check, so that its errors are reported now, with
/// their position. A section that only disables the agent, or reserves its name, needs no check.
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

/// Returns the spans of a table's keys.
fn places(node: &Node<'_>) -> BTreeMap<String, std::ops::Range<usize>> {
    let table = node.get_ref().as_table();
    table.into_iter().flatten().map(|(key, _)| (key.get_ref().to_string(), key.span())).collect()
}

/// Returns the keys of a section's type, in declaration order.
fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // The probe only records the keys; deserialization fails on purpose.
    let _ = T::deserialize(KeyProbe(&mut keys));
    keys
}

/// A deserializer that records the keys of the type and then fails.
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

/// Returns the files with secrets that other users of this computer can read, each with a warning.
fn exposed_secrets(document: &Document) -> Vec<(PathBuf, String)> {
    use std::os::unix::fs::PermissionsExt;
    let exposed = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
    };
    let literal = document.literal_secrets().into_iter();
    let literal = literal.filter(|(_, secrets)| !secrets.is_empty()).map(|(file, secrets)| {
        let (name, keys) = (file.display(), secrets.join(", "));
        let warning = format!(
            "{name} contains secrets ({keys}), and other users of this computer can read it; run \
             `chmod 600 {name}` or use ${{VAR}}"
        );
        (file.to_owned(), warning)
    });
    let whole = document.secret_files().into_iter().map(|file| {
        let name = file.display();
        let warning = format!(
            "{name} contains a secret, and other users of this computer can read it; run `chmod \
             600 {name}`"
        );
        (file, warning)
    });
    literal.chain(whole).filter(|(file, _)| exposed(file)).collect()
}

/// A key that is set in the configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Section and key, e.g. `server.bind`.
    pub key: String,
    /// Value as written. A literal secret in it is replaced by the beginning of its hash.
    pub value: toml::Value,
    /// File and line, or the variable.
    pub origin: String,
}

/// Returns all settings as written, with literal secrets replaced.
///
/// # Errors
/// A file cannot be read, or is not valid TOML.
pub fn settings(named: Option<&Path>, variables: &Variables) -> Result<Vec<Setting>, Fault> {
    let document = Document::of(texts(named, variables)?, variables);
    let mut found = Vec::new();
    for (key, node) in document.entries()? {
        gather(&document, key.into_inner(), node, &mut found)?;
    }
    Ok(found)
}

/// Returns the texts of the configuration that are or may be secret: the values of keys for
/// secrets, and of the `env` of agents, both as written and with their references replaced. Leaves
/// out a replaced text that cannot be read, and the outputs of commands, which are not run. Empty
/// if the configuration cannot be read.
pub fn secrets(named: Option<&Path>, variables: &Variables) -> Vec<String> {
    let Ok(files) = texts(named, variables) else { return Vec::new() };
    let document = Document::of(files, variables).without_commands();
    let mut found = Vec::new();
    for (key, node) in document.entries().unwrap_or_default() {
        secret_texts(key.get_ref(), &node, &mut |span, text| {
            found.extend(document.filled(&span, text, variables).ok().flatten());
            found.push(text.to_owned());
        });
    }
    found
}

/// Calls a function with each text at or below a key if the text's own key is that of a secret, or
/// is in the `env` of an agent.
fn secret_texts(key: &str, node: &Node<'_>, found: &mut impl FnMut(std::ops::Range<usize>, &str)) {
    match node.get_ref() {
        DeValue::Table(table) => {
            for (name, value) in table {
                secret_texts(&format!("{key}.{}", name.get_ref()), value, found);
            }
        }
        DeValue::Array(items) => items.iter().for_each(|item| secret_texts(key, item, found)),
        DeValue::String(text) if names_a_secret(key) || key.contains(".env.") => {
            found(node.span(), text);
        }
        _ => {}
    }
}

/// Appends all settings at or below a key, each with its origin: a line of a file, or a variable.
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

/// Replaces each literal secret at or below a key by the beginning of its hash, by which its owner
/// can recognise it. A text with a reference stays as it is.
fn shown(key: &str, value: toml::Value) -> toml::Value {
    match value {
        toml::Value::String(text) if names_a_secret(key) && !text.contains("${") => {
            toml::Value::String(format!(
                "(secret, hash {})",
                &blake3::hash(text.as_bytes()).to_hex()[..8]
            ))
        }
        toml::Value::Array(items) => {
            toml::Value::Array(items.into_iter().map(|item| shown(key, item)).collect())
        }
        toml::Value::Table(table) => toml::Value::Table(
            table
                .into_iter()
                .map(|(name, value)| {
                    let value = shown(&format!("{key}.{name}"), value);
                    (name, value)
                })
                .collect(),
        ),
        other => other,
    }
}
