//! The configuration section `[agents.<client>]`, and how it becomes an entry of the registry.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use moothall_engine::agent::Agent;
use moothall_engine::registry::AgentSpec;
use moothall_engine::run_once::RunOnce;
use moothall_engine::sessions::{ClientRights, Housed};
use moothall_kernel::participant::{OnLost, Profile, Runtime};
use moothall_kernel::time::Millis;
use serde::Deserialize;

use crate::command::{CommandSpec, Stdin, is_own_variable};
use crate::llm::{self, Llm, LlmSpec, Provider};
use crate::script::{Line, ScriptSpec};
use crate::terminal::{Program, Reads};

/// One configured agent. Which keys make sense depends on its runtime; see [`AgentConfig::spec`].
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// How it runs: `command`, `script`, `llm` or `terminal`. Understood by itself where `command`, `replies` or `provider` is given.
    pub runtime: Option<Runtime>,
    /// `false` takes an agent out of the registry, whether it is configured here, built in or found on this computer.
    pub enabled: Option<bool>,
    /// One sentence for people.
    pub summary: Option<String>,
    /// What an invite of it starts from.
    pub profile: ProfileConfig,
    /// The model behind it.
    pub model: Option<String>,
    /// Time limit for a turn, in seconds.
    pub timeout: Option<f64>,
    /// What happens to a turn that a restart interrupted: `rerun` or `fail`.
    pub on_lost: Option<OnLost>,
    /// `command`, `terminal`: program and arguments. For `command`, `{prompt}` in an argument is replaced by the prompt.
    pub command: Option<Vec<String>>,
    /// `command`, `terminal`: where it runs.
    pub cwd: Option<PathBuf>,
    /// `command`, `terminal`: variables added to the few it inherits.
    pub env: BTreeMap<String, String>,
    /// `command`, `terminal`: the user that it runs as; the server's own where unset.
    pub run_as: Option<String>,
    /// `terminal`: as which program's its screen is read.
    pub screen: Option<Reads>,
    /// `terminal`: what its sessions reach: their own conversations, or all.
    pub reach: Option<ReachKey>,
    /// `terminal`: whether agents may start it without asking a person.
    pub startable_by_agents: Option<bool>,
    /// `command`: what it reads, `json` or `prompt`.
    pub stdin: Option<Stdin>,
    /// `script`: what it says, turn after turn.
    pub replies: Option<Vec<Line>>,
    /// `llm`: whose protocol: `openai`, `anthropic`, `gemini`, `ollama`, or `openai_responses`.
    pub provider: Option<Provider>,
    /// `llm`: its address, for a gateway or a server of one's own.
    pub base_url: Option<String>,
    /// `llm`: its key.
    pub api_key: Option<String>,
    /// `llm`: what it is told about itself, after what the conversation tells it.
    pub system: Option<String>,
    /// `llm`: longest answer in tokens.
    pub max_tokens: Option<u32>,
    /// `llm`: how freely it chooses, from 0 to 2.
    pub temperature: Option<f64>,
    /// `llm`: tokens of system text, history and question together.
    pub context_tokens: Option<usize>,
    /// `llm`: price of a million tokens read.
    pub price_input: Option<f64>,
    /// `llm`: price of a million tokens written.
    pub price_output: Option<f64>,
}

/// What the sessions of a client reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReachKey {
    /// Their homes, and the conversations that they are in or made.
    Own,
    /// Everything.
    All,
}

/// What an invite of a configured agent starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileConfig {
    /// The model behind it.
    pub model: Option<String>,
    /// Names it answers to together with others.
    pub roles: Option<Vec<String>>,
    /// The name people read.
    pub nickname: Option<String>,
}

/// What is wrong with a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// The key it is about, below `[agents.<client>]`.
    pub key: &'static str,
    /// What is wrong and what to do, in one or two sentences.
    pub message: String,
}

impl ConfigFault {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
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
    /// Without the key and the values of variables: both may be secrets. An address may carry one too.
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
            .field("replies", &self.replies)
            .field("provider", &self.provider)
            .field("base_url", &hidden(&self.base_url))
            .field("api_key", &hidden(&self.api_key))
            .field("system", &self.system)
            .field("max_tokens", &self.max_tokens)
            .field("temperature", &self.temperature)
            .field("context_tokens", &self.context_tokens)
            .field("price_input", &self.price_input)
            .field("price_output", &self.price_output)
            .finish()
    }
}

impl AgentConfig {
    /// What its sessions may, and who may start them.
    pub fn client_rights(&self) -> ClientRights {
        ClientRights { reaches_all: self.reach == Some(ReachKey::All), startable_by_agents: self.startable_by_agents.unwrap_or_default() }
    }

    /// Whether there is such an agent at all.
    pub fn is_enabled(&self) -> bool {
        self.enabled != Some(false)
    }

    /// The registry's entry for this section. `bridge_url` is the server's own address, which programs are told.
    ///
    /// # Errors
    /// [`ConfigFault`] when the runtime cannot be told or is not available, when a key is missing or belongs to another
    /// runtime, or when a value makes no sense. Whether a program is installed is not looked at: see [`CommandSpec::check`].
    pub fn spec(&self, client: &str, bridge_url: &str) -> Result<AgentSpec, ConfigFault> {
        let runtime = self.runtime()?;
        self.refuse_keys_of_others(runtime)?;
        let agent: Arc<dyn Agent> = match runtime {
            Runtime::Command => Arc::new(RunOnce::new(self.command_spec(bridge_url)?)),
            Runtime::Script => Arc::new(RunOnce::new(self.script_spec()?)),
            Runtime::Llm => Arc::new(RunOnce::new(Llm::new(self.llm_spec()?))),
            Runtime::Terminal => Arc::new(self.terminal_agent(client)?),
            Runtime::Remote => return Err(no_section()),
        };
        let summary = self.summary.clone().unwrap_or_else(|| self.describe());
        Ok(AgentSpec {
            client: client.to_owned(),
            summary,
            profile: self.start_profile(client, runtime)?,
            origin: "configured",
            run_as: self.run_as.clone(),
            agent,
        })
    }

    /// The program of a `command` agent, e.g. to check that it is installed.
    ///
    /// # Errors
    /// [`ConfigFault`] when the section describes no program, or one that makes no sense.
    pub fn command_spec(&self, bridge_url: &str) -> Result<CommandSpec, ConfigFault> {
        let argv = checked_argv(self.command.as_deref().unwrap_or_default())?;
        self.check_env()?;
        Ok(CommandSpec {
            argv,
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            run_as: self.run_as.clone(),
            stdin: self.stdin.unwrap_or_default(),
            bridge_url: bridge_url.to_owned(),
            timeout: self.time_limit()?,
            on_lost: self.on_lost.unwrap_or(OnLost::Rerun),
        })
    }

    /// The program of a `terminal` agent; nothing where the runtime is another one. Without a `command`, it is the known program of
    /// that name.
    ///
    /// # Errors
    /// [`ConfigFault`] when there is no program, a key belongs to another runtime, or a value makes no sense.
    pub fn terminal_program(&self, client: &str) -> Result<Option<Program>, ConfigFault> {
        if self.runtime != Some(Runtime::Terminal) {
            return Ok(None);
        }
        self.refuse_keys_of_others(Runtime::Terminal)?;
        self.check_env()?;
        let known = Program::known().remove(client);
        let mut program = match (&self.command, known) {
            (Some(argv), known) => {
                Program { reads: known.map(|program| program.reads).unwrap_or_default(), ..Program::new(checked_argv(argv)?) }
            }
            (None, Some(known)) => known,
            (None, None) => return Err(ConfigFault::new("command", NO_PROGRAM)),
        };
        program.summary = self.summary.clone().unwrap_or(program.summary);
        program.reads = self.screen.unwrap_or(program.reads);
        Ok(Some(Program {
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            run_as: self.run_as.clone(),
            timeout: self.time_limit()?,
            ..program
        }))
    }

    /// A `terminal` agent: every participant that it is gets a session of its own.
    fn terminal_agent(&self, client: &str) -> Result<Housed, ConfigFault> {
        let program = self.terminal_program(client)?;
        Ok(Housed { timeout: program.and_then(|program| program.timeout) })
    }

    fn script_spec(&self) -> Result<ScriptSpec, ConfigFault> {
        match self.replies.as_deref() {
            None | Some([]) => {
                Err(ConfigFault::new("replies", "A script agent needs something to say: replies = [\"first\", \"[PASS]\"]."))
            }
            Some(replies) => Ok(ScriptSpec { replies: replies.to_vec(), timeout: self.time_limit()? }),
        }
    }

    /// The model of an `llm` agent.
    ///
    /// # Errors
    /// [`ConfigFault`] when provider, model or key is missing, or a value makes no sense.
    pub fn llm_spec(&self) -> Result<LlmSpec, ConfigFault> {
        let provider = self.provider.ok_or_else(|| {
            ConfigFault::new("provider", "Say whose model it is: provider = \"openai\", \"anthropic\", \"gemini\" or \"ollama\".")
        })?;
        let base_url = self.base_url.as_deref().map(|url| provider.base_url(url)).transpose();
        let base_url = base_url.map_err(|why| ConfigFault::new("base_url", why))?;
        let api_key = self.api_key.clone().filter(|key| !key.trim().is_empty());
        if api_key.is_none() && base_url.is_none() && provider.needs_key() {
            return Err(ConfigFault::new("api_key", "This provider needs a key: api_key = \"${NAME_OF_A_VARIABLE}\"."));
        }
        if api_key.as_deref().is_some_and(|key| !key.bytes().all(|byte| (b' '..=b'~').contains(&byte))) {
            return Err(ConfigFault::new("api_key", "The key holds a character that no key has, perhaps the end of a line."));
        }
        Ok(LlmSpec {
            model: self.llm_model()?,
            base_url,
            api_key,
            system: self.system.clone(),
            timeout: self.time_limit()?,
            max_tokens: self.max_tokens.map(|tokens| positive("max_tokens", tokens)).transpose()?,
            temperature: self.temperature.map(|value| within("temperature", value, 2.0)).transpose()?,
            context_tokens: self.context_tokens.map_or(Ok(llm::CONTEXT_TOKENS), |tokens| positive("context_tokens", tokens))?,
            price_input: within("price_input", self.price_input.unwrap_or_default(), PRICE_MAX)?,
            price_output: within("price_output", self.price_output.unwrap_or_default(), PRICE_MAX)?,
            ..LlmSpec::new(provider, "")
        })
    }

    fn llm_model(&self) -> Result<String, ConfigFault> {
        match self.model.as_deref().or(self.profile.model.as_deref()).map(str::trim) {
            None | Some("") => Err(ConfigFault::new("model", "Say which model: model = \"name\", as the provider calls it.")),
            Some(model) if model.contains(|c: char| c.is_whitespace() || c.is_control()) || model.contains("::") => {
                Err(ConfigFault::new("model", format!("{model:?} is no model's name.")))
            }
            Some(model) => Ok(model.to_owned()),
        }
    }

    fn runtime(&self) -> Result<Runtime, ConfigFault> {
        let given = [
            (Runtime::Command, "command", self.command.is_some()),
            (Runtime::Script, "replies", self.replies.is_some()),
            (Runtime::Llm, "provider", self.provider.is_some()),
        ];
        let mut given = given.into_iter().filter_map(|(runtime, key, given)| given.then_some((runtime, key)));
        match (self.runtime, given.next(), given.next()) {
            (Some(runtime), _, _) | (None, Some((runtime, _)), None) => Ok(runtime),
            (None, Some((_, one)), Some((_, other))) => {
                Err(ConfigFault::new(other, format!("This agent has both {one} and {other}; it can only have one.")))
            }
            (None, None, _) => Err(ConfigFault::new(
                "runtime",
                "Say how it runs: give it command = [\"program\"], replies = [\"text\"], or provider = \"openai\" and a model.",
            )),
        }
    }

    fn refuse_keys_of_others(&self, runtime: Runtime) -> Result<(), ConfigFault> {
        let given = [
            (Runtime::Command, "command", self.command.is_some()),
            (Runtime::Command, "cwd", self.cwd.is_some()),
            (Runtime::Command, "env", !self.env.is_empty()),
            (Runtime::Command, "run_as", self.run_as.is_some()),
            (Runtime::Command, "stdin", self.stdin.is_some()),
            (Runtime::Terminal, "screen", self.screen.is_some()),
            (Runtime::Terminal, "reach", self.reach.is_some()),
            (Runtime::Terminal, "startable_by_agents", self.startable_by_agents.is_some()),
            (Runtime::Script, "replies", self.replies.is_some()),
            (Runtime::Llm, "provider", self.provider.is_some()),
            (Runtime::Llm, "base_url", self.base_url.is_some()),
            (Runtime::Llm, "api_key", self.api_key.is_some()),
            (Runtime::Llm, "system", self.system.is_some()),
            (Runtime::Llm, "max_tokens", self.max_tokens.is_some()),
            (Runtime::Llm, "temperature", self.temperature.is_some()),
            (Runtime::Llm, "context_tokens", self.context_tokens.is_some()),
            (Runtime::Llm, "price_input", self.price_input.is_some()),
            (Runtime::Llm, "price_output", self.price_output.is_some()),
        ];
        if runtime == Runtime::Remote {
            return Err(no_section());
        }
        // A program is described in the same way whether it runs for one turn or lives in a terminal.
        let shared = |key| runtime == Runtime::Terminal && matches!(key, "command" | "cwd" | "env" | "run_as");
        match given.into_iter().find(|(owner, key, given)| *given && *owner != runtime && !shared(*key)) {
            Some((owner, key, _)) => {
                let message = format!("This key belongs to runtime {}; this agent's runtime is {}.", name(owner), name(runtime));
                Err(ConfigFault::new(key, message))
            }
            None if runtime == Runtime::Script && self.on_lost == Some(OnLost::Fail) => {
                Err(ConfigFault::new("on_lost", "A script agent always says the same again, so it is always rerun."))
            }
            None if runtime == Runtime::Terminal && self.on_lost.is_some() => {
                Err(ConfigFault::new("on_lost", "A program in a terminal outlives the server, so its turns go on after a restart."))
            }
            None if runtime == Runtime::Llm && self.on_lost == Some(OnLost::Fail) => {
                Err(ConfigFault::new("on_lost", "A model is asked again after a restart; only a command agent can fail instead."))
            }
            None => Ok(()),
        }
    }

    fn check_env(&self) -> Result<(), ConfigFault> {
        for (variable, value) in &self.env {
            if variable.is_empty() || variable.contains(['=', '\0']) || value.contains('\0') {
                return Err(ConfigFault::new(
                    "env",
                    format!("{variable:?} cannot be set: it holds a character that variables may not hold."),
                ));
            }
            if self.run_as.is_some() && is_of_the_linker(variable) {
                return Err(ConfigFault::new("env", format!("{variable} would reach what changes the user, with the server's rights.")));
            }
            if is_own_variable(variable) {
                return Err(ConfigFault::new("env", format!("{variable} is the server's own; programs do not get MOOTHALL_ variables.")));
            }
        }
        Ok(())
    }

    fn time_limit(&self) -> Result<Option<Millis>, ConfigFault> {
        let Some(seconds) = self.timeout else { return Ok(None) };
        match Millis::from_secs_f64(seconds) {
            Some(limit) if limit.0 > 0 => Ok(Some(limit)),
            _ => Err(ConfigFault::new("timeout", format!("{seconds} is no time limit; give seconds, more than 0."))),
        }
    }

    fn start_profile(&self, client: &str, runtime: Runtime) -> Result<Profile, ConfigFault> {
        if let (Some(outer), Some(inner)) = (&self.model, &self.profile.model)
            && outer != inner
        {
            return Err(ConfigFault::new("model", format!("The model is given twice and differs: {outer} here, {inner} in profile.")));
        }
        let nickname = self.profile.nickname.as_deref().map(moothall_kernel::names::nickname).transpose();
        let nickname = nickname.map_err(|fault| ConfigFault::new("profile", format!("The nickname {}.", fault.explain())))?;
        let model = self.model.clone().or_else(|| self.profile.model.clone()).unwrap_or_else(|| name(runtime).to_owned());
        Ok(Profile { client: Some(client.to_owned()), model: Some(model), roles: self.profile.roles.clone(), nickname })
    }

    fn describe(&self) -> String {
        match (self.command.as_deref(), self.provider) {
            (Some([program, ..]), _) if self.runtime == Some(Runtime::Terminal) => format!("Runs {program} in a terminal."),
            (None, None) if self.runtime == Some(Runtime::Terminal) => "Lives in a terminal.".to_owned(),
            (Some([program, ..]), _) => format!("Runs {program} for each turn."),
            (_, Some(provider)) => {
                let model = self.model.as_deref().or(self.profile.model.as_deref()).unwrap_or_default();
                format!("Asks the model {model} ({}) for each turn.", provider.as_str())
            }
            _ => "Says what its script says.".to_owned(),
        }
    }
}

const NO_PROGRAM: &str = "This agent needs a program: command = [\"program\", \"argument\"].";

fn checked_argv(argv: &[String]) -> Result<Vec<String>, ConfigFault> {
    if argv.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(ConfigFault::new("command", NO_PROGRAM));
    }
    if argv.iter().any(|argument| argument.contains('\0')) {
        return Err(ConfigFault::new("command", "An argument holds a NUL character."));
    }
    Ok(argv.to_vec())
}

/// Whether a variable makes every program that sees it load something.
pub fn is_of_the_linker(variable: &str) -> bool {
    variable.starts_with("LD_") || variable.starts_with("DYLD_") || variable == "GLIBC_TUNABLES"
}

/// Highest price of a million tokens that is believed.
const PRICE_MAX: f64 = 1_000_000.0;

fn within(key: &'static str, value: f64, max: f64) -> Result<f64, ConfigFault> {
    if (0.0..=max).contains(&value) { Ok(value) } else { Err(ConfigFault::new(key, format!("{value} is not between 0 and {max}."))) }
}

fn positive<N: Default + PartialEq>(key: &'static str, tokens: N) -> Result<N, ConfigFault> {
    if tokens == N::default() { Err(ConfigFault::new(key, "Give a number of tokens, more than 0.")) } else { Ok(tokens) }
}

const fn name(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Script => "script",
        Runtime::Command => "command",
        Runtime::Llm => "llm",
        Runtime::Terminal => "terminal",
        Runtime::Remote => "remote",
    }
}

fn no_section() -> ConfigFault {
    ConfigFault::new("runtime", "A remote agent needs no section: invite it by any client name, and it connects by itself.")
}
