//! Reload on SIGHUP: re-reads the configuration, applies the reloadable parts, and names the parts
//! that need a restart. An invalid file changes nothing.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use moothall_computers::bridge::Computers;
use moothall_engine::hall::Hall;
use moothall_engine::places::ProgramSlots;
use moothall_engine::registry::Registry;
use moothall_surfaces::{Surface, Tls};
use moothall_terminals::Sessions;

use super::{hosts, registry, session_terms, tell};
use crate::accounts;
use crate::cli::Serve;
use crate::config::{self, Config, StartupValues};
use crate::credential::StartupKey;
use crate::fault::Fault;
use crate::place::{StartupSettings, settle};
use crate::reach::Reach;
use crate::terminals::{Host, programs};

/// The reloadable parts of a running server.
pub(super) struct RunningServer<'a> {
    pub(super) args: &'a Serve,
    pub(super) hall: &'a Hall,
    pub(super) sessions: Sessions,
    pub(super) surface: Surface,
    pub(super) host: Option<Host>,
    pub(super) computers: &'a Computers,
    pub(super) address: SocketAddr,
    pub(super) tls: Option<Tls>,
    pub(super) places: Arc<ProgramSlots>,
    pub(super) posted: StartupKey,
    /// Values at the start of the server, so that repeated reloads still name the parts that need a
    /// restart.
    pub(super) started: StartupValues,
}

impl RunningServer<'_> {
    /// Reads the configuration again. Returns the new one, or, if it is invalid, `before`.
    pub(super) async fn reload(&self, before: Config) -> Config {
        match self.take_over(&before).await {
            Ok(now) => now,
            Err(fault) => {
                let why = fault.why.map_or_else(String::new, |why| format!(": {why}"));
                tell(
                    self.args.log,
                    &format!(
                        "The configuration was not reloaded; the old one stays in effect: {}{why}",
                        fault.what
                    ),
                );
                before
            }
        }
    }

    /// Checks the new configuration completely, then applies it and logs the changes. After an
    /// error, the old configuration is still in effect.
    async fn take_over(&self, before: &Config) -> Result<Config, Fault> {
        let settled = settle(&self.args.place, &config::environment())?;
        let now = &settled.config;
        accounts::must_be_possible(now)?;
        let agents = registry(now, self.address, self.places.clone(), self.args.demo_pace)?;
        let programs = programs(now)?;
        let said = applied(before, now, &names(&self.hall.registry()), &names(&agents));
        // No step below can fail, so the configuration is applied completely or not at all.
        self.host.iter().for_each(|host| host.replace(programs.clone()));
        self.replace(now, agents).await;
        now.warnings.iter().for_each(|warning| tell(self.args.log, &format!("warning: {warning}")));
        tell(self.args.log, &format!("The configuration was reloaded: {said}."));
        self.say_what_waits(&settled);
        Ok(settled.config)
    }

    /// Applies a checked configuration to the parts that are running: limits, budgets, retention,
    /// sessions, addresses and agents.
    async fn replace(&self, now: &Config, agents: Registry) {
        self.places.resize(now.limits.programs());
        self.hall.replace_budgets(&now.budgets);
        self.hall.set_retention(now.server.retention());
        let (config, clients) = session_terms(now);
        self.sessions.replace(config, clients);
        self.computers.configure(now.computers.clone());
        let reach = Reach::of(self.address, &now.server, self.tls.as_ref());
        self.posted.reached_by(&reach.others);
        self.surface.replace(
            hosts(&now.server, &reach),
            now.server.allowed_origins.clone(),
            now.limits.at_the_door(),
        );
        self.hall.replace(agents, now.defaults.clone()).await;
    }

    /// Logs the changed parts that need a restart.
    fn say_what_waits(&self, now: &StartupSettings) {
        let waiting = self.started.waiting(now);
        if !waiting.is_empty() {
            tell(
                self.args.log,
                &format!("A restart is needed for changes of {}.", waiting.join(", ")),
            );
        }
    }
}

/// Returns the names of the registry's agents, and the names that it reserves for agents elsewhere.
fn names(registry: &Registry) -> BTreeSet<String> {
    registry
        .iter()
        .map(|spec| spec.client.as_str())
        .chain(registry.kept_names())
        .map(str::to_owned)
        .collect()
}

/// Describes the changes, for people.
fn applied(
    before: &Config,
    now: &Config,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
) -> String {
    let changed = new
        .intersection(old)
        .filter(|client| before.agents.get(*client) != now.agents.get(*client));
    let lists: [(&str, Vec<&str>); 4] = [
        ("added: ", new.difference(old).map(String::as_str).collect()),
        ("changed: ", changed.map(String::as_str).collect()),
        ("removed: ", old.difference(new).map(String::as_str).collect()),
        ("other ", other_parts(before, now)),
    ];
    let said: Vec<String> = lists
        .into_iter()
        .filter(|(_, those)| !those.is_empty())
        .map(|(what, those)| format!("{what}{}", those.join(", ")))
        .collect();
    if said.is_empty() { "no changes".to_owned() } else { said.join("; ") }
}

/// Returns the parts, other than agents, that have changed and that a reload applies.
fn other_parts(before: &Config, now: &Config) -> Vec<&'static str> {
    let parts = [
        ("[defaults]", before.defaults != now.defaults),
        ("[limits]", before.limits != now.limits),
        ("[sessions]", before.sessions != now.sessions),
        ("[budgets]", before.budgets != now.budgets),
        ("[computers]", before.computers != now.computers),
        ("allowed_hosts", before.server.allowed_hosts != now.server.allowed_hosts),
        ("retention_days", before.server.retention_days != now.server.retention_days),
        ("allowed_origins", before.server.allowed_origins != now.server.allowed_origins),
    ];
    parts.into_iter().filter_map(|(part, changed)| changed.then_some(part)).collect()
}
