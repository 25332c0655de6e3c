//! As whom the agents of a configuration run, and whether that can be.

use moothall_agents::config::is_of_the_linker;
use moothall_agents::run_as::Account;

use crate::config::Config;
use crate::fault::{Exit, Fault};

/// A user that programs run as.
pub struct NamedUser<'a> {
    /// The section of the configuration that names the user.
    pub section: String,
    /// The user, as that section has it.
    pub user: &'a str,
    /// Whether the programs live in terminals.
    pub in_terminals: bool,
}

/// Every user that is named, with the section that does.
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

/// Whether this is the user whom this process is.
pub fn is_own(user: &str) -> bool {
    Account::find(user).is_ok_and(|account| account.is_own())
}

impl NamedUser<'_> {
    /// Whether this process may start programs so.
    ///
    /// # Errors
    /// In words for people.
    pub fn allowed(&self) -> Result<Account, String> {
        if self.in_terminals { Account::of_terminal(self.user) } else { Account::of(self.user) }
    }

    fn fault(&self, why: &str) -> Fault {
        Fault::new(Exit::Config, format!("in {}, `run_as`: {why}", self.section)).try_this(
            "name a user that exists, start the server as root, or take `run_as` out: then its programs are the server's own user",
        )
    }
}

/// Whether this process may start what the configuration says, as whom it says.
///
/// # Errors
/// A [`Fault`] that names the first section that cannot be obeyed.
pub fn must_be_possible(config: &Config) -> Result<(), Fault> {
    check_variables(config)?;
    named(config)
        .iter()
        .try_for_each(|named| named.allowed().map(drop).map_err(|why| named.fault(&why)))
}

/// Whether the users exist; gives what this process could not do, which the server's may.
///
/// # Errors
/// A [`Fault`] that names the first section that no server could obey.
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

/// What is set for a program reaches what changes its user, which has the server's rights.
fn check_variables(config: &Config) -> Result<(), Fault> {
    if config.sessions.run_as.is_none() {
        return Ok(());
    }
    let terminals = config.agents.iter().filter(|(_, agent)| agent.lives_in_session());
    for (client, agent) in terminals {
        if let Some(variable) = agent.env.keys().find(|variable| is_of_the_linker(variable)) {
            let what = format!(
                "in [agents.{client}], `env`: {variable} would reach what changes the user, with the server's rights"
            );
            return Err(Fault::new(Exit::Config, what)
                .try_this("take it out, or `run_as` out of [sessions]"));
        }
    }
    Ok(())
}
