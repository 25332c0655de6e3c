//! The users in `run_as` of a configuration, and the check that this process may start programs as
//! them.

use moothall_agents::config::is_of_the_linker;
use moothall_agents::run_as::Account;

use crate::config::Config;
use crate::fault::{Exit, Fault};

/// A user that programs run as.
pub struct NamedUser<'a> {
    /// Section of the configuration that names the user.
    pub section: String,
    /// User name in that section.
    pub user: &'a str,
    /// True if the programs run in terminals.
    pub in_terminals: bool,
}

/// Returns the users that `run_as` names in `[sessions]` and in the sections of enabled agents,
/// each with its section.
pub fn named(config: &Config) -> Vec<NamedUser<'_>> {
    let enabled = config.agents.iter().filter(|(_, agent)| agent.is_enabled());
    let agents = enabled.filter_map(|(client, agent)| {
        let user = agent.run_as.as_deref()?;
        Some(NamedUser {
            section: format!("[agents.{client}]"),
            user,
            in_terminals: agent.lives_in_session(),
        })
    });
    let sessions = config.sessions.run_as.as_deref();
    let sessions = sessions.map(|user| NamedUser {
        section: "[sessions]".to_owned(),
        user,
        in_terminals: true,
    });
    sessions.into_iter().chain(agents).collect()
}

/// True if this process runs as the user.
pub fn is_own(user: &str) -> bool {
    Account::find(user).is_ok_and(|account| account.is_own())
}

impl NamedUser<'_> {
    /// Checks that this process may start programs as the user.
    ///
    /// # Errors
    /// The reason, as text for people.
    pub fn allowed(&self) -> Result<Account, String> {
        if self.in_terminals { Account::of_terminal(self.user) } else { Account::of(self.user) }
    }

    fn fault(&self, why: &str) -> Fault {
        Fault::new(Exit::Config, format!("in {}, `run_as`: {why}", self.section)).try_this(
            "name an existing user, start the server as root, or remove `run_as`: the \
             programs then run as the server's own user",
        )
    }
}

/// Checks that this process may run every enabled agent as its configured user, and that no agent
/// sets a variable that is forbidden with `run_as`.
///
/// # Errors
/// A [`Fault`] that names the first section that fails.
pub fn must_be_possible(config: &Config) -> Result<(), Fault> {
    check_variables(config)?;
    named(config)
        .iter()
        .try_for_each(|named| named.allowed().map(drop).map_err(|why| named.fault(&why)))
}

/// Checks that each user exists and is not root, and that no agent sets a variable that is
/// forbidden with `run_as`. A user as whom this process cannot start programs gives only a warning,
/// because the server perhaps runs with more rights.
///
/// # Errors
/// A [`Fault`] that names the first section that fails for any server.
pub fn check(config: &Config) -> Result<Vec<String>, Fault> {
    check_variables(config)?;
    let mut warnings = Vec::new();
    for named in named(config) {
        Account::find(named.user).map_err(|why| named.fault(&why))?;
        warnings.extend(
            named.allowed().err().map(|why| format!("in {}, `run_as`: {why}", named.section)),
        );
    }
    Ok(warnings)
}

/// If `[sessions]` has a `run_as`, rejects variables of the dynamic linker in the `env` of agents
/// in terminals: they would also apply to the helper that changes the user, which has the server's
/// rights.
fn check_variables(config: &Config) -> Result<(), Fault> {
    if config.sessions.run_as.is_none() {
        return Ok(());
    }
    let terminals = config.agents.iter().filter(|(_, agent)| agent.lives_in_session());
    for (client, agent) in terminals {
        if let Some(variable) = agent.env.keys().find(|variable| is_of_the_linker(variable)) {
            let what = format!(
                "in [agents.{client}], `env`: {variable} would also apply to the helper that \
                 changes the user, which has the server's rights"
            );
            return Err(Fault::new(Exit::Config, what)
                .try_this("remove the variable, or `run_as` from [sessions]"));
        }
    }
    Ok(())
}
