//! The configuration section `[agents.<client>]`, and its conversion into an entry of the registry.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use moothall_engine::registry::AgentSpec;
use moothall_engine::sessions::ClientRights;
use moothall_kernel::participant::{OnLost, Profile, Runtime};
use moothall_kernel::time::Millis;
use serde::Deserialize;

use crate::command::{Stdin, is_own_variable};
use crate::llm::Provider;
use crate::runtimes::{self, RuntimeEntry};
use crate::script::ScriptLine;
use crate::spending::Prices;
use crate::terminal::Vendor;

/// Highest price of a million tokens that is accepted.
const PRICE_MAX: f64 = 1_000_000.0;

/// One configured agent. Its runtime decides which keys make sense; see [`AgentConfig::spec`].
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// The runtime: `command`, `script`, `llm` or `terminal`. Implied by `command`, `replies` or
    /// `provider`. `remote` reserves the name for a client that connects by itself, and takes no
    /// other key.
    #[serde(deserialize_with = "runtimes::word")]
    pub runtime: Option<Runtime>,
    /// `false` removes an agent from the registry, whether it is configured, built in or
    /// discovered.
    pub enabled: Option<bool>,
    /// One sentence for people.
    pub summary: Option<String>,
    /// Default profile of its participants.
    pub profile: ProfileConfig,
    /// The model's name.
    pub model: Option<String>,
    /// Time limit for a turn, in seconds.
    pub timeout: Option<f64>,
    /// The rule for a turn that a restart interrupted: `rerun` or `fail`.
    pub on_lost: Option<OnLost>,
    /// `command`, `terminal`: program and arguments. For `command`, `{prompt}` in an argument is
    /// replaced by the prompt.
    pub command: Option<Vec<String>>,
    /// `command`, `terminal`: the working directory.
    pub cwd: Option<PathBuf>,
    /// `command`, `terminal`: variables added to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// `command`, `terminal`: the user that the program runs as; the server's own if unset.
    pub run_as: Option<String>,
    /// `terminal`: the known program whose screen this one draws.
    pub screen: Option<Vendor>,
    /// `terminal`: the conversations that its sessions reach: their own, or all.
    pub reach: Option<ReachKey>,
    /// `terminal`: true if agents may start it without asking a person.
    pub startable_by_agents: Option<bool>,
    /// `command`: the input on stdin, `json` or `prompt`.
    pub stdin: Option<Stdin>,
    /// `command`: longest transcript in a prompt, in bytes.
    pub transcript_bytes: Option<usize>,
    /// `script`: the answers, turn after turn.
    pub replies: Option<Vec<ScriptLine>>,
    /// `llm`: the protocol: `openai`, `anthropic`, `gemini`, `ollama`, or `openai_responses`.
    pub provider: Option<Provider>,
    /// `llm`: the address of a gateway or of one's own server.
    pub base_url: Option<String>,
    /// `llm`: the key that the provider asks for, if any.
    pub api_key: Option<String>,
    /// `llm`: system text that follows the conversation's own.
    pub system: Option<String>,
    /// `llm`: longest answer in tokens.
    pub max_tokens: Option<u32>,
    /// `llm`: sampling temperature, from 0 to 2.
    pub temperature: Option<f64>,
    /// `llm`: tokens of system text, history and question together.
    pub context_tokens: Option<usize>,
    /// `llm`: true if the model's template already opens its thoughts, so that its answer has only
    /// the closing tag.
    pub thinks_first: Option<bool>,
    /// `llm`, `command`, `terminal`: price of a million tokens read.
    pub price_input: Option<f64>,
    /// `command`, `terminal`: price of a million tokens read from a provider's cache.
    pub price_cached: Option<f64>,
    /// `llm`, `command`, `terminal`: price of a million tokens written.
    pub price_output: Option<f64>,
}

/// The conversations that the sessions of a client reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReachKey {
    /// The homes of the sessions, and the conversations that the sessions have joined or made.
    Own,
    /// All conversations.
    All,
}

/// The default profile of a configured agent's participants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileConfig {
    /// The model's name.
    pub model: Option<String>,
    /// Roles: names that an agent shares with others.
    pub roles: Option<Vec<String>>,
    /// The name for people.
    pub nickname: Option<String>,
}

/// A fault of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// The key at fault, below `[agents.<client>]`.
    pub key: &'static str,
    /// The fault and its cure, in one or two sentences.
    pub message: String,
}

impl ConfigFault {
    pub(crate) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for ConfigFault {}

impl fmt::Debug for AgentConfig {
    /// Leaves out the key, the address and the values of variables: all may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |value: &Option<String>| value.as_ref().map(|_| "…");
        f.debug_struct("AgentConfig")
            .field("runtime", &self.runtime)
            .field("enabled", &self.enabled)
            .field("summary", &self.summary)
            .field("profile", &self.profile)
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .field("on_lost", &self.on_lost)
            .field("command", &self.command.as_ref().map(|argv| argv.first()))
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("run_as", &self.run_as)
            .field("screen", &self.screen)
            .field("reach", &self.reach)
            .field("startable_by_agents", &self.startable_by_agents)
            .field("stdin", &self.stdin)
            .field("transcript_bytes", &self.transcript_bytes)
            .field("replies", &self.replies)
            .field("provider", &self.provider)
            .field("base_url", &hidden(&self.base_url))
            .field("api_key", &hidden(&self.api_key))
            .field("system", &self.system)
            .field("max_tokens", &self.max_tokens)
            .field("temperature", &self.temperature)
            .field("context_tokens", &self.context_tokens)
            .field("thinks_first", &self.thinks_first)
            .field("price_input", &self.price_input)
            .field("price_cached", &self.price_cached)
            .field("price_output", &self.price_output)
            .finish()
    }
}

impl AgentConfig {
    /// Returns the rights of its sessions, and the rule for starting them.
    pub fn client_rights(&self) -> ClientRights {
        ClientRights {
            reaches_all: self.reach == Some(ReachKey::All),
            startable_by_agents: self.startable_by_agents.unwrap_or_default(),
        }
    }

    /// True if this server runs the agent.
    pub fn is_enabled(&self) -> bool {
        self.enabled != Some(false) && !self.is_elsewhere()
    }

    /// True if the section only reserves a name for a client that runs elsewhere.
    pub fn is_elsewhere(&self) -> bool {
        self.runtime == Some(Runtime::REMOTE)
    }

    /// True if the section only says that this server runs no agent of its name.
    pub fn only_takes_away(&self) -> bool {
        let Self { enabled, runtime, .. } = self;
        let rest = Self { enabled: None, runtime: None, ..self.clone() };
        (*enabled == Some(false) || self.is_elsewhere())
            && (runtime.is_none() || self.is_elsewhere())
            && rest == Self::default()
    }

    /// Returns the registry's entry for this section. `bridge_url` is the server's own address,
    /// which is passed to programs.
    ///
    /// # Errors
    /// [`ConfigFault`] if the runtime is unclear or unavailable, a key is missing or belongs only
    /// to other runtimes, or a value makes no sense. A missing program is not an error here: see
    /// [`crate::command::CommandSpec::check`].
    pub fn spec(&self, client: &str, bridge_url: &str) -> Result<AgentSpec, ConfigFault> {
        let entry = self.entry()?;
        self.refuse_keys_of_others(entry)?;
        let agent = (entry.build)(self, client, bridge_url)?;
        let summary = self.summary.clone().unwrap_or_else(|| (entry.describe)(self));
        Ok(AgentSpec {
            client: client.to_owned(),
            summary,
            profile: self.start_profile(client, &entry.runtime)?,
            origin: "configured",
            run_as: self.run_as.clone(),
            agent,
        })
    }

    /// True if the participants of this agent live in sessions. False if the runtime is unclear.
    pub fn lives_in_session(&self) -> bool {
        self.entry().is_ok_and(|entry| entry.abilities.lives_in_session)
    }

    /// Returns the runtime that the section names, or else the one that a key of the section
    /// implies. Fails if the section names an unavailable runtime, and if none or several are
    /// implied.
    fn entry(&self) -> Result<&'static RuntimeEntry, ConfigFault> {
        if let Some(runtime) = &self.runtime {
            return runtimes::found(runtime).ok_or_else(no_section);
        }
        let mut implied = runtimes::ALL
            .iter()
            .filter_map(|entry| Some((*entry, entry.implied_by.filter(|key| self.has(key))?)));
        match (implied.next(), implied.next()) {
            (Some((entry, _)), None) => Ok(entry),
            (Some((_, one)), Some((_, other))) => Err(ConfigFault::new(
                other,
                format!("This agent has both {one} and {other}; remove one of them."),
            )),
            (None, _) => Err(ConfigFault::new(
                "runtime",
                "The agent has nothing to run: give command = [\"program\"], replies = \
                 [\"text\"], or provider = \"openai\" and a model.",
            )),
        }
    }

    /// True if the section has this key. It is false for every key that is not in the table of a
    /// runtime, such as `summary`.
    pub(crate) fn has(&self, key: &str) -> bool {
        match key {
            "command" => self.command.is_some(),
            "cwd" => self.cwd.is_some(),
            "env" => !self.env.is_empty(),
            "run_as" => self.run_as.is_some(),
            "stdin" => self.stdin.is_some(),
            "screen" => self.screen.is_some(),
            "reach" => self.reach.is_some(),
            "startable_by_agents" => self.startable_by_agents.is_some(),
            "transcript_bytes" => self.transcript_bytes.is_some(),
            "replies" => self.replies.is_some(),
            "provider" => self.provider.is_some(),
            "base_url" => self.base_url.is_some(),
            "api_key" => self.api_key.is_some(),
            "system" => self.system.is_some(),
            "max_tokens" => self.max_tokens.is_some(),
            "temperature" => self.temperature.is_some(),
            "context_tokens" => self.context_tokens.is_some(),
            "thinks_first" => self.thinks_first.is_some(),
            "price_input" => self.price_input.is_some(),
            "price_cached" => self.price_cached.is_some(),
            "price_output" => self.price_output.is_some(),
            _ => false,
        }
    }

    /// Returns the configured prices of tokens. Fails if one is out of range.
    pub(crate) fn prices(&self) -> Result<Prices, ConfigFault> {
        let price = |key: &'static str, price: Option<f64>| {
            price.map(|price| within(key, price, PRICE_MAX)).transpose()
        };
        Ok(Prices {
            input: price("price_input", self.price_input)?,
            cached: price("price_cached", self.price_cached)?,
            output: price("price_output", self.price_output)?,
        })
    }

    /// Rejects a key that belongs only to other runtimes, and a rule for lost turns that this
    /// runtime refuses.
    pub(crate) fn refuse_keys_of_others(&self, entry: &RuntimeEntry) -> Result<(), ConfigFault> {
        let others =
            runtimes::ALL.iter().flat_map(|owner| owner.keys.iter().map(move |key| (owner, *key)));
        if let Some((owner, key)) =
            others.into_iter().find(|(_, key)| self.has(key) && !entry.keys.contains(key))
        {
            let message = format!(
                "This key belongs to runtime {}; this agent's runtime is {}.",
                owner.runtime, entry.runtime
            );
            return Err(ConfigFault::new(key, message));
        }
        let refused = self.on_lost.and_then(|on_lost| (entry.refuses_on_lost)(on_lost));
        refused.map_or(Ok(()), |why| Err(ConfigFault::new("on_lost", why)))
    }

    /// Rejects a variable that cannot be set, and one of the server's own. With `run_as` it also
    /// rejects one that would affect the program that changes the user.
    pub(crate) fn check_env(&self) -> Result<(), ConfigFault> {
        for (variable, value) in &self.env {
            if variable.is_empty() || variable.contains(['=', '\0']) || value.contains('\0') {
                return Err(ConfigFault::new(
                    "env",
                    format!(
                        "{variable:?} cannot be set: it contains a character that is not allowed \
                         in variables."
                    ),
                ));
            }
            if self.run_as.is_some() && is_of_the_linker(variable) {
                return Err(ConfigFault::new(
                    "env",
                    format!(
                        "{variable} cannot be set: it would affect the program that changes the \
                         user, which has the server's rights."
                    ),
                ));
            }
            if is_own_variable(variable) {
                return Err(ConfigFault::new(
                    "env",
                    format!(
                        "{variable} is reserved for the server; programs do not get MOOTHALL_ \
                         variables."
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Returns the configured time limit for a turn, if there is one. Fails if it is not more than
    /// 0.
    pub(crate) fn time_limit(&self) -> Result<Option<Millis>, ConfigFault> {
        let Some(seconds) = self.timeout else { return Ok(None) };
        match Millis::from_secs_f64(seconds) {
            Some(limit) if limit.0 > 0 => Ok(Some(limit)),
            _ => Err(ConfigFault::new(
                "timeout",
                format!("{seconds} is not a valid time limit; give seconds, more than 0."),
            )),
        }
    }

    /// Returns the profile that participants of this agent begin with. The model is the configured
    /// one, or else the runtime's name. Fails if two different models are given or the nickname is
    /// not valid.
    fn start_profile(&self, client: &str, runtime: &Runtime) -> Result<Profile, ConfigFault> {
        if let (Some(outer), Some(inner)) = (&self.model, &self.profile.model)
            && outer != inner
        {
            return Err(ConfigFault::new(
                "model",
                format!(
                    "The model is given twice with different values: {outer} here, {inner} in \
                     profile."
                ),
            ));
        }
        let nickname =
            self.profile.nickname.as_deref().map(moothall_kernel::names::nickname).transpose();
        let nickname = nickname.map_err(|fault| {
            ConfigFault::new("profile", format!("The nickname {}.", fault.explain()))
        })?;
        let model = self
            .model
            .clone()
            .or_else(|| self.profile.model.clone())
            .unwrap_or_else(|| runtime.to_string());
        Ok(Profile {
            client: Some(client.to_owned()),
            model: Some(model),
            roles: self.profile.roles.clone(),
            nickname,
        })
    }
}

pub(crate) const NO_PROGRAM: &str =
    "This agent needs a program: command = [\"program\", \"argument\"].";

/// Returns the program and its arguments. Fails if the program is missing or an argument has a NUL
/// character.
pub(crate) fn checked_argv(argv: &[String]) -> Result<Vec<String>, ConfigFault> {
    if argv.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(ConfigFault::new("command", NO_PROGRAM));
    }
    if argv.iter().any(|argument| argument.contains('\0')) {
        return Err(ConfigFault::new("command", "An argument contains a NUL character."));
    }
    Ok(argv.to_vec())
}

/// True if the dynamic linker or the C library of every program reads this variable: it can make a
/// program load a library, or load its libraries in another way.
pub fn is_of_the_linker(variable: &str) -> bool {
    variable.starts_with("LD_") || variable.starts_with("DYLD_") || variable == "GLIBC_TUNABLES"
}

pub(crate) fn within(key: &'static str, value: f64, max: f64) -> Result<f64, ConfigFault> {
    if (0.0..=max).contains(&value) {
        Ok(value)
    } else {
        Err(ConfigFault::new(key, format!("{value} is not between 0 and {max}.")))
    }
}

pub(crate) fn tokens_above_zero<N: Default + PartialEq>(
    key: &'static str,
    tokens: N,
) -> Result<N, ConfigFault> {
    if tokens == N::default() {
        Err(ConfigFault::new(key, "Give a number of tokens, more than 0."))
    } else {
        Ok(tokens)
    }
}

fn no_section() -> ConfigFault {
    ConfigFault::new(
        "runtime",
        "A remote agent runs elsewhere and connects by itself. `runtime = \"remote\"` reserves \
         its name, and takes no other key.",
    )
}
