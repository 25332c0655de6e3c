//! Checks of agents (program, version, login, hooks and user) and of models (key and address).
//!
//! Findings never contain a secret: a variable appears by its name, an address by its host.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use moothall_agents::command::CommandSpec;
use moothall_agents::llm::LlmSpec;
use moothall_agents::logins::Login;
use moothall_agents::run_as::Account;
use moothall_agents::terminal::Program;
use moothall_agents::{AgentConfig, discover};
use nix::unistd::{User, geteuid};
use tokio::process::Command;
use tokio::time::timeout;

use super::models;
use super::{Finding, Verdict};
use crate::accounts;
use crate::config::Config;

/// Time limit for printing a version.
const VERSION_WITHIN: Duration = Duration::from_secs(10);
const VERSION_CHARS_MAX: usize = 60;

/// A program that runs for an agent.
pub struct Runs {
    client: String,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Option<std::path::PathBuf>,
    run_as: Option<String>,
    in_terminal: bool,
    login: Option<&'static Login>,
    /// True if the configuration names the agent, so that its program must exist.
    wanted: bool,
}

/// Checks all agents. With `ping`, sends a request to the address of each model.
pub async fn examine(config: &Config, ping: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all = programs(config);
    for program in &all {
        findings.extend(program.examine().await);
    }
    findings.extend(of_own_user(&all));
    let elsewhere = config.agents.iter().filter(|(_, agent)| agent.is_elsewhere());
    findings.extend(elsewhere.map(|(client, _)| {
        Finding::new(
            "agent",
            Verdict::Info,
            format!(
                "{client} runs elsewhere: its name is reserved for a client that connects by itself"
            ),
        )
    }));
    for (client, spec) in models_of(config) {
        findings.push(models::examine(&client, &spec, ping).await);
    }
    findings
}

/// Returns the programs of the configured agents, then, with discovery, those found on this
/// computer whose names the configuration does not use.
fn programs(config: &Config) -> Vec<Runs> {
    let enabled = config.agents.iter().filter(|(_, agent)| agent.is_enabled());
    let mut all: Vec<Runs> =
        enabled.filter_map(|(client, agent)| configured(config, client, agent)).collect();
    if config.discover {
        let found = discover(|name| std::env::var(name).ok(), "");
        let programs = found.into_iter().filter(|spec| spec.agent.abilities().runs_programs);
        let new = programs.filter(|spec| {
            !config.agents.contains_key(&spec.client) && !config.absent.contains(&spec.client)
        });
        all.extend(new.map(|spec| found_here(spec.client)));
    }
    all
}

/// Returns the entry of a program that discovery found; its client name is also its command.
fn found_here(client: String) -> Runs {
    let (login, argv) = (Login::of(&client), vec![client.clone()]);
    Runs {
        client,
        argv,
        env: BTreeMap::new(),
        cwd: None,
        run_as: None,
        in_terminal: false,
        login,
        wanted: false,
    }
}

/// Returns the program of a configured agent; `None` if the agent has no program. An agent in a
/// terminal runs as the user of `[sessions]` unless it names its own.
fn configured(config: &Config, client: &str, agent: &AgentConfig) -> Option<Runs> {
    let in_terminal = agent.lives_in_session();
    let (argv, login) = match agent.terminal_program(client).ok().flatten() {
        Some(program) => (program.argv.clone(), Program::login(&program)),
        None => (
            agent.command.clone()?,
            agent.command.as_ref().and_then(|argv| Login::of(argv.first()?)),
        ),
    };
    let run_as =
        agent.run_as.clone().or_else(|| config.sessions.run_as.clone().filter(|_| in_terminal));
    let (client, env, cwd) = (client.to_owned(), agent.env.clone(), agent.cwd.clone());
    Some(Runs { client, argv, env, cwd, run_as, in_terminal, login, wanted: true })
}

impl Runs {
    /// Checks the program, its login, its hooks and its user.
    async fn examine(&self) -> Vec<Finding> {
        let account = self.account();
        let allowed = account.as_ref().and_then(|account| account.as_ref().ok());
        let mut findings = vec![self.found(allowed).await];
        findings.extend(self.login.map(|login| self.logged_in(login, allowed)));
        findings.extend(self.login.and_then(|login| self.hooks_off(login, allowed)));
        findings.extend(
            self.run_as
                .as_ref()
                .zip(account.as_ref())
                .map(|(user, account)| self.as_whom(user, account)),
        );
        findings
    }

    /// Returns the account of `run_as`, or the reason why this process may not start programs as
    /// it; `None` without `run_as`.
    fn account(&self) -> Option<Result<Account, String>> {
        let user = self.run_as.as_deref()?;
        Some(
            accounts::NamedUser { section: String::new(), user, in_terminals: self.in_terminal }
                .allowed(),
        )
    }

    /// Checks that the program exists. Asks only known programs for their version.
    async fn found(&self, account: Option<&Account>) -> Finding {
        let spec = CommandSpec {
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            ..CommandSpec::new(self.argv.clone())
        };
        match spec.check() {
            Ok(file) => {
                let how = if self.in_terminal { "in a terminal" } else { "for each turn" };
                // An unknown program might take `--version` for a task.
                let known = Login::of(self.argv.first().map_or("", String::as_str)).is_some();
                let version = if known {
                    version(&file.to_string_lossy(), account).await
                } else {
                    String::new()
                };
                Finding::new(
                    "agent",
                    Verdict::Ok,
                    format!("{} runs {}{version}, {how}", self.client, file.display()),
                )
            }
            Err(fault) => {
                Finding::new("agent", Verdict::Fail, format!("{}: {}", self.client, fault.message))
                    .fix(format!(
                        "install it, or correct [agents.{}] in the configuration",
                        self.client
                    ))
            }
        }
    }

    /// Returns the value that an environment variable has for the program.
    fn variable(&self, account: Option<&Account>, name: &str) -> Option<String> {
        match (self.env.get(name), account.filter(|account| !account.is_own())) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(account)) if name == "HOME" => {
                Some(account.home().to_string_lossy().into_owned())
            }
            (None, Some(account)) if account.hides(name) => None,
            (None, _) => std::env::var(name).ok(),
        }
    }

    /// Warns if a program in a terminal has its hooks switched off. Without hooks, a session's
    /// answers are read from the program's record, and come late.
    fn hooks_off(&self, login: &Login, account: Option<&Account>) -> Option<Finding> {
        let here = std::env::current_dir().ok();
        let project = self.cwd.as_deref().or(here.as_deref());
        let off = login.hooks_off(|name| self.variable(account, name), project);
        let (file, key) = off.filter(|_| self.in_terminal)?;
        let found = format!("{}: {key} in {file} disables its hooks", self.client);
        let fix = format!("remove {key}: without hooks each answer comes 15 s late");
        Some(Finding::new("hooks", Verdict::Warn, found).fix(fix))
    }

    /// Checks that the program finds its login. A missing login is a warning for a configured
    /// agent, and only information for a discovered one.
    fn logged_in(&self, login: &Login, account: Option<&Account>) -> Finding {
        let other = account.filter(|account| !account.is_own());
        let client = &self.client;
        if let Some(by) = login.find_login(|name| self.variable(account, name)) {
            return Finding::new("login", Verdict::Ok, format!("{client}: by {by}"));
        }
        let (verdict, key) =
            (if self.wanted { Verdict::Warn } else { Verdict::Info }, login.keys[0]);
        let user = other
            .map_or_else(|| "the server's user".to_owned(), |account| account.name().to_owned());
        Finding::new("login", verdict, format!("{client}: login not found in the variables and \
                                                files that its vendor documents"))
            .fix(format!("as {user}, {}; or set {key} for the server, or env = {{ {key} = \"…\" }} in [agents.{client}]", login.by_hand))
    }

    /// Reports the user of the program. Fails if this process may not run it as that user.
    fn as_whom(&self, user: &str, account: &Result<Account, String>) -> Finding {
        match account {
            Ok(_) => Finding::new("runs as", Verdict::Ok, format!("{}: {user}", self.client)),
            Err(why) => Finding::new("runs as", Verdict::Fail, format!("{}: {why}", self.client))
                .fix(
                    "run this as the user of the server; name an existing user, start the server \
                     as root, or remove `run_as`",
                ),
        }
    }
}

/// Returns one finding for all agents that run as the server's own user.
fn of_own_user(all: &[Runs]) -> Option<Finding> {
    let own = |program: &&Runs| program.run_as.as_deref().is_none_or(accounts::is_own);
    let clients: Vec<&str> =
        all.iter().filter(own).map(|program| program.client.as_str()).collect();
    if clients.is_empty() {
        return None;
    }
    let user = geteuid();
    let name = User::from_uid(user)
        .ok()
        .flatten()
        .map_or_else(|| format!("user {user}"), |user| user.name);
    let reach = if user.is_root() {
        "everything on this computer"
    } else {
        "all data of the server: its key, its log, other sessions"
    };
    let verdict = if user.is_root() { Verdict::Warn } else { Verdict::Info };
    let found = format!(
        "{}: run as the server's own user ({name} here), with access to {reach}",
        clients.join(", ")
    );
    Some(Finding::new("runs as", verdict, found).fix(
        "set run_as = \"USER\" in their sections or in [sessions], and run the server as root \
         (docs/security.md)",
    ))
}

/// Returns the first line of a program's `--version`, for people. Runs it as the user of `run_as`,
/// if any.
async fn version(file: &str, account: Option<&Account>) -> String {
    let before = account.map_or(Ok(Vec::new()), Account::command_prefix).unwrap_or_default();
    let mut words = before.iter().map(String::as_str).chain([file, "--version"]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if let Some(account) = account {
        command.env("HOME", account.home()).current_dir("/");
    }
    match timeout(VERSION_WITHIN, command.output()).await {
        Ok(Ok(output)) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let first: String =
                said.lines().next().unwrap_or_default().chars().take(VERSION_CHARS_MAX).collect();
            format!(" ({})", first.trim())
        }
        Ok(Ok(_) | Err(_)) => " (version unknown)".to_owned(),
        Err(_) => format!(" (version unknown: no answer within {} s)", VERSION_WITHIN.as_secs()),
    }
}

/// Returns the models of the configured agents without invalid ones. With discovery, adds the
/// models whose variable is set and whose names the configuration does not use.
fn models_of(config: &Config) -> Vec<(String, LlmSpec)> {
    let enabled =
        config.agents.iter().filter(|(_, agent)| agent.is_enabled() && agent.provider.is_some());
    let mut all: Vec<(String, LlmSpec)> = enabled
        .filter_map(|(client, agent)| Some((client.clone(), agent.llm_spec().ok()?)))
        .collect();
    if config.discover {
        let offered = moothall_agents::discover::models(|name| std::env::var(name).ok());
        all.extend(offered.into_iter().filter(|(client, _)| {
            !config.agents.contains_key(client) && !config.absent.contains(client)
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(argv: &[&str]) -> Runs {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Runs { argv, wanted: true, ..found_here("x".to_owned()) }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_a_failure() {
        assert_eq!(of(&["surely-no-such-program"]).found(None).await.verdict, Verdict::Fail);
        assert_eq!(of(&["sh"]).found(None).await.verdict, Verdict::Ok);
    }

    #[test]
    fn a_login_is_named_and_never_shown() {
        let mut codex = Runs { login: Login::of("codex"), ..of(&["codex"]) };
        codex.env.extend([
            ("HOME".to_owned(), "/nonexistent".to_owned()),
            ("CODEX_HOME".to_owned(), "/nonexistent".to_owned()),
        ]);
        codex.env.extend(
            ["CODEX_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"]
                .map(|name| (name.to_owned(), String::new())),
        );
        let none = codex.logged_in(codex.login.unwrap(), None);
        assert!(none.verdict == Verdict::Warn && none.fix.unwrap().contains("codex login"));
        codex.env.insert("OPENAI_API_KEY".to_owned(), "CANARY".to_owned());
        let found = codex.logged_in(codex.login.unwrap(), None);
        assert_eq!((found.verdict, found.found.as_str()), (Verdict::Ok, "x: by OPENAI_API_KEY"));
    }

    #[test]
    fn who_is_the_servers_own_user_is_said_once() {
        let found = of_own_user(&[of(&["a"]), of(&["b"])]).unwrap();
        assert!(
            found.found.starts_with("x, x: run as the server's own user")
                && found.fix.unwrap().contains("run_as")
        );
        let other = Runs { run_as: Some("nobody".to_owned()), ..of(&["a"]) };
        assert!(of_own_user(&[other]).is_none() || accounts::is_own("nobody"));
    }
}
